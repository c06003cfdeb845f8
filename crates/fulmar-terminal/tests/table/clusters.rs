//! Cells that hold grapheme clusters.

use fulmar_terminal::{CLUSTER_TEXT_MAX, Clustering, Column, Glyph, Row, Size, Terminal};

use crate::{drawn, padded};

/// Returns a terminal of `rows` by `columns` with grapheme clusters that has seen `bytes`.
fn after(rows: u16, columns: u16, bytes: &str) -> Terminal {
    let mut terminal = Terminal::new(Size::new(rows, columns).expect("a small size"));
    terminal.set_clustering(Clustering::Permanent);
    terminal.process(bytes.as_bytes());
    terminal
}

/// On a screen of `rows` by `columns` with grapheme clusters, `bytes` give what is drawn.
#[track_caller]
fn clusters(rows: u16, columns: u16, bytes: &str, wanted: &str) {
    let terminal = after(rows, columns, bytes);
    let (drawn, wanted) = (drawn(terminal.screen()), padded(wanted, rows));
    assert!(
        drawn == wanted,
        "{bytes:?} gives\n{drawn}\nand not\n{wanted}\n"
    );
}

/// `bytes` take so many columns, and are one cell.
#[track_caller]
fn one_cell(text: &str, columns: u16) {
    let terminal = after(1, 9, text);
    let screen = terminal.screen();
    let glyph = screen.row(Row(0)).glyph(Column(0));
    assert_eq!(glyph, Glyph::Cluster(text), "{text}");
    assert_eq!(screen.cursor().position.column.0, columns, "{text}");
    let cell = screen.row(Row(0)).cells()[0];
    assert_eq!(cell.width(), columns, "{text}");
}

#[test]
fn a_cluster_is_one_cell() {
    one_cell("e\u{301}\u{302}", 1);
    one_cell("👍🏽", 2);
    one_cell("👨\u{200d}👩\u{200d}👧\u{200d}👦", 2);
    one_cell(
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        2,
    );
    one_cell("\u{1100}\u{1161}\u{11a8}", 2);
    one_cell("한\u{11a8}", 2);
    one_cell("👍\u{fe0e}", 2);
    one_cell("❤\u{fe0e}", 1);
}

#[test]
fn a_cell_becomes_wide() {
    one_cell("❤\u{fe0f}", 2);
    one_cell("1\u{fe0f}\u{20e3}", 2);
    one_cell("🇩🇪", 2);
    one_cell("⛹🏽", 2);
    one_cell("🏳\u{fe0f}\u{200d}🌈", 2);
    one_cell("न\u{93e}", 2);
    one_cell("a\u{fe0f}", 1);
}

#[test]
fn what_is_behind_a_cluster_is_a_cell_of_its_own() {
    clusters(1, 9, "🇩🇪🇫|", "🇩🇪🇫|│");
    clusters(1, 9, "a❤\u{fe0f}b", "a❤\u{fe0f}b│");
    clusters(1, 9, "\u{600}12", "\u{600}12│");
    clusters(1, 9, "👍🏽👋🏿.", "👍🏽👋🏿.│");
    let terminal = after(1, 9, "👍🏽👋🏿\u{600}12");
    let row = terminal.screen().row(Row(0));
    assert_eq!(row.glyph(Column(2)), Glyph::Cluster("👋🏿"));
    assert_eq!(row.glyph(Column(4)), Glyph::Cluster("\u{600}1"));
    assert_eq!(row.glyph(Column(6)), Glyph::Char('2'));
}

#[test]
fn a_cell_that_becomes_wide_takes_the_next_one() {
    clusters(1, 6, "abcdef\x1b[2G❤\u{fe0f}", "a❤\u{fe0f}│def");
    clusters(1, 6, "a漢字b\x1b[H❤\u{fe0f}", "❤\u{fe0f}│ 字b");
    clusters(1, 6, "abcdef\x1b[4h\x1b[2G❤\u{fe0f}", "a❤\u{fe0f}│bcd");
    clusters(1, 3, "a❤\u{fe0f}", "a❤\u{fe0f}│");
}

#[test]
fn a_cell_that_becomes_wide_at_the_end_of_a_row_goes_to_the_next() {
    clusters(2, 3, "ab❤\u{fe0f}x", "ab\n❤\u{fe0f}x│");
    clusters(2, 3, "ab\x1b[31m❤\x1b[32m\u{fe0f}x", "ab\n❤\u{fe0f}x│");
    let terminal = after(2, 3, "ab\x1b[31m❤\x1b[32m\u{fe0f}x");
    let row = terminal.screen().row(Row(1));
    let color = |column| row.style(Column(column)).foreground;
    assert_eq!(color(0), fulmar_terminal::Color::indexed(1));
    assert_eq!(color(2), fulmar_terminal::Color::indexed(2));
    assert!(terminal.screen().row(Row(0)).is_wrapped());
}

#[test]
fn what_would_need_a_column_that_is_not_there_is_left_out() {
    clusters(1, 3, "\x1b[?7lab❤\u{fe0f}", "ab❤│");
    clusters(2, 1, "❤\u{fe0f}\u{301}", "❤\u{301}│");
    clusters(1, 3, "\x1b[?7lab🇩🇪", "ab🇩│");
}

#[test]
fn a_move_ends_a_cluster() {
    clusters(1, 9, "🇩\x1b[3G🇪\x1b[2G🇫", "🇩🇫│🇪");
    clusters(1, 9, "👩\u{200d}\x1b[3G👩", "👩\u{200d}👩│");
    // A mark still goes to the character under the cursor.
    clusters(1, 9, "abc\x1b[2G\u{301}", "a│b\u{301}c");
}

#[test]
fn a_rendition_ends_no_cluster() {
    one_cell("👍🏽", 2);
    clusters(1, 9, "👍\x1b[31m🏽x", "👍🏽x│");
}

#[test]
fn a_mark_without_a_cluster_joins_the_cell_before_it() {
    clusters(1, 9, "a\u{200b}b", "a\u{200b}b│");
}

#[test]
fn a_cluster_holds_text_up_to_its_cap() {
    let marks = (CLUSTER_TEXT_MAX - 1) / 2;
    let text_of = |count: usize| {
        let terminal = after(1, 9, &format!("e{}|", "\u{301}".repeat(count)));
        let row = terminal.screen().row(Row(0));
        assert_eq!(row.glyph(Column(1)), Glyph::Char('|'));
        match row.glyph(Column(0)) {
            Glyph::Cluster(text) => text.len(),
            glyph => panic!("{glyph:?}"),
        }
    };
    assert_eq!(text_of(marks), CLUSTER_TEXT_MAX - 1);
    assert_eq!(text_of(marks + 1), CLUSTER_TEXT_MAX - 1);
}

#[test]
fn a_cluster_is_repeated_as_a_whole() {
    clusters(1, 9, "👍🏽\x1b[2b|", "👍🏽👍🏽👍🏽|│");
    clusters(
        2,
        5,
        "e\u{301}\x1b[5b",
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}\ne\u{301}│",
    );
    clusters(2, 5, "❤\u{fe0f}\x1b[2b", "❤\u{fe0f}❤\u{fe0f}\n❤\u{fe0f}│");
    clusters(
        2,
        5,
        "❤\u{fe0f}\x1b[65535b",
        "❤\u{fe0f}❤\u{fe0f}\n❤\u{fe0f}❤\u{fe0f}│",
    );
    clusters(1, 5, "\x1b[?7l🇩🇪\x1b[9b", "🇩🇪🇩🇪│");
    clusters(1, 9, "🇩\x1b[3b", "🇩🇩🇩🇩│");
    // Behind a move, what was printed last is a character.
    clusters(1, 9, "👍🏽\x1b[C\x1b[b", "👍🏽 👍│");
    let repeated = after(3, 7, "\x1b[31m🇩🇪\x1b[32m\x1b[7b");
    let typed = after(3, 7, &format!("\x1b[31m🇩🇪\x1b[32m{}", "🇩🇪".repeat(7)));
    for row in (0..3).map(Row) {
        assert_eq!(repeated.screen().row(row), typed.screen().row(row));
    }
}

#[test]
fn repeated_clusters_keep_their_link() {
    let mut terminal = after(1, 13, "");
    for n in 0..30 {
        let link = format!("http://a.b/{n}");
        terminal.process(format!("x\x1b]8;;{link}\x07👍🏽\x1b[4b\x1b]8;;\x07\r").as_bytes());
        let row = terminal.screen().row(Row(0));
        for column in 1..11 {
            let shown = row.link(Column(column)).map(|link| &*link.uri);
            assert_eq!(shown, Some(&*link), "{column}");
        }
    }
}

/// A program with this say that writes `bytes` and asks for mode 2027 gets this answer; an emoji with a
/// skin tone then takes so many columns.
#[track_caller]
fn asked(clustering: Clustering, bytes: &str, answer: u16, columns: u16) {
    let mut terminal = Terminal::new(Size::new(1, 9).expect("a small size"));
    terminal.set_clustering(clustering);
    terminal.process(format!("{bytes}\x1b[?2027$p").as_bytes());
    let replies = terminal.take_replies();
    let wanted = format!("\x1b[?2027;{answer}$y");
    assert_eq!(String::from_utf8_lossy(&replies), wanted, "{bytes:?}");
    terminal.process("👍🏽".as_bytes());
    let column = terminal.screen().cursor().position.column.0;
    assert_eq!(column, columns, "{bytes:?}");
}

#[test]
fn the_owner_of_a_screen_says_whether_programs_can_switch_clusters() {
    for bytes in ["", "\x1b[?2027h", "\x1b[?2027l", "\x1bc"] {
        asked(Clustering::Unknown, bytes, 0, 4);
        asked(Clustering::Permanent, bytes, 3, 2);
    }
    for off in ["", "\x1b[?2027h\x1b[?2027l", "\x1b[?2027h\x1bc"] {
        asked(Clustering::Switchable, off, 2, 4);
    }
    for on in ["\x1b[?2027h", "\x1b[?25;2027h", "\x1b[?2027h\x1b[!p"] {
        asked(Clustering::Switchable, on, 1, 2);
    }
}

#[test]
fn a_screen_that_gets_another_owner_forgets_what_a_program_had_set() {
    let mut terminal = Terminal::new(Size::default());
    terminal.set_clustering(Clustering::Switchable);
    terminal.process(b"\x1b[?2027h");
    assert!(terminal.screen().is_clustering());
    terminal.set_clustering(Clustering::Unknown);
    assert!(!terminal.screen().is_clustering());
}

#[test]
fn without_clusters_each_character_is_by_itself() {
    crate::on(1, 9, "│", "👍🏽", "👍🏽│");
    crate::on(1, 9, "│", "❤\u{fe0f}x", "❤\u{fe0f}x│");
    let mut terminal = crate::after("👍🏽❤\u{fe0f}🇩🇪");
    let row = terminal.screen().row(Row(0)).clone();
    assert_eq!(row.glyph(Column(2)), Glyph::Char('🏽'));
    assert_eq!(terminal.screen().cursor().position.column.0, 7);
    // What is there stays as it is.
    terminal.set_clustering(Clustering::Permanent);
    assert_eq!(*terminal.screen().row(Row(0)), row);
}
