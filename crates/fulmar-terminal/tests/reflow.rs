//! The text of the main screen, whatever happens to its window.

use fulmar_terminal::{
    CellRow, Clustering, Column, Glyph, Reflow, Row, ScrollbackLimits, SharedRow, Size, Terminal,
};
use proptest::prelude::*;

/// Changes nothing, but ends a run of resizes, of which only the last would count.
const DRAWN: &[u8] = b"\x1b[m";

/// A piece of what a program without a full screen writes.
fn piece() -> impl Strategy<Value = String> {
    let characters = prop::sample::select(vec![
        "漢",
        "字é",
        "e\u{301}",
        "👍🏽",
        "🇩🇪",
        "❤\u{fe0f}",
        "─",
        "한",
    ]);
    let sequences = prop::sample::select(vec![
        "\r\n",
        "\r\n",
        "\r\n",
        "\r",
        "\t",
        "\x08",
        "\x1b[31;44m",
        "\x1b[m",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[3X",
        "\x1b[2P",
        "\x1b[2@",
        "\x1b[7C",
        "\x1b[A",
        "\x1b]8;;http://a.b/\x07",
        "\x1b]8;;\x07",
        "\x1b[5b",
    ]);
    prop_oneof![
        4 => "[a-z ]{1,30}",
        2 => characters.prop_map(str::to_owned),
        3 => sequences.prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..50).prop_map(|pieces| pieces.concat())
}

/// No window of a single column, where wide characters have no place.
fn window() -> impl Strategy<Value = Size> {
    let small = (1..9_u16, 2..14_u16);
    let large = (1..500_u16, 2..500_u16);
    prop_oneof![4 => small, 1 => large]
        .prop_map(|(rows, columns)| Size::new(rows, columns).expect("a window"))
}

fn windows() -> impl Strategy<Value = Vec<Size>> {
    prop::collection::vec(window(), 1..8)
}

fn terminal(clustering: Clustering, size: Size, text: &str) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.set_clustering(clustering);
    terminal.process(text.as_bytes());
    terminal
}

fn clustering() -> impl Strategy<Value = Clustering> {
    prop::sample::select(vec![Clustering::Unknown, Clustering::Permanent])
}

/// Appends the text of a row; of one that runs on, also what is erased in it, but for the gap that a wide character leaves.
fn push_text(row: &CellRow, line: &mut String) {
    for column in (0..row.columns()).map(Column) {
        let is_last = column.0 + 1 == row.columns();
        match row.glyph(column) {
            Glyph::Blank if row.is_wrapped() && is_last => {}
            Glyph::Blank => line.push(' '),
            Glyph::Spacer => {}
            Glyph::Char(c) => line.push(c),
            Glyph::Cluster(text) => line.push_str(text),
        }
    }
}

/// The lines of text above the screen and on it, those that are empty at its end left out.
fn lines(terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![String::new()];
    for row in terminal.rows_above().chain(terminal.screen().rows()) {
        push_text(row, lines.last_mut().expect("never empty"));
        if !row.is_wrapped() {
            lines.push(String::new());
        }
    }
    let mut lines: Vec<String> = lines
        .iter()
        .map(|line| line.trim_end_matches(' ').to_owned())
        .collect();
    let written = lines.iter().rposition(|line| !line.is_empty());
    lines.truncate(written.map_or(0, |last| last + 1));
    lines
}

/// Returns what is under the cursor, or at the beginning of the next row if the next character goes there.
fn at_cursor(terminal: &Terminal) -> Option<char> {
    let cursor = terminal.screen().cursor();
    let (row, column) = if cursor.pending_wrap {
        if cursor.position.row == terminal.screen().size().last_row() {
            return None;
        }
        (cursor.position.row.0 + 1, Column(0))
    } else {
        (cursor.position.row.0, cursor.position.column)
    };
    match terminal.screen().row(Row(row)).glyph(column) {
        Glyph::Char(c) => Some(c),
        _ => None,
    }
}

fn has_marker(row: &SharedRow) -> bool {
    (0..row.columns()).any(|column| row.glyph(Column(column)) == Glyph::Char('@'))
}

proptest! {
    /// The cursor is in an empty row below all text: what is below it may have to go.
    #[test]
    fn whatever_the_windows_the_lines_are_the_same(
        size in window(), clustering in clustering(), text in text(), windows in windows(),
    ) {
        let mut terminal = terminal(clustering, size, &text);
        terminal.process(b"\x1b[500;1H\r\n");
        let before = lines(&terminal);
        for window in windows.into_iter().chain([size]) {
            terminal.process(DRAWN);
            terminal.resize(window);
            prop_assert_eq!(&lines(&terminal), &before, "{}", window);
        }
    }

    #[test]
    fn the_cursor_stays_at_its_character(
        size in window(), clustering in clustering(), text in text(), windows in windows(),
    ) {
        let mut terminal = terminal(clustering, size, &text);
        terminal.process(b"\x1b7@\x1b8");
        prop_assume!(at_cursor(&terminal) == Some('@'));
        for window in windows {
            // Of what is below the cursor a window of one row may show nothing.
            let window = Size::new(window.rows() + 1, window.columns()).expect("a window");
            terminal.process(DRAWN);
            terminal.resize(window);
            prop_assert_eq!(at_cursor(&terminal), Some('@'), "{}", window);
        }
    }

    #[test]
    fn a_restored_cursor_is_at_its_character(
        size in window(), text in text(), windows in windows(),
    ) {
        let mut terminal = terminal(Clustering::Unknown, size, &text);
        terminal.process(b"\x1b[A\r\x1b7@\x1b[500;1H");
        let is_there = |terminal: &Terminal| {
            let mut restored = terminal.clone();
            restored.process(b"\x1b8");
            at_cursor(&restored) == Some('@')
        };
        prop_assume!(is_there(&terminal));
        for window in windows {
            terminal.process(DRAWN);
            terminal.resize(window);
            if terminal.rows_above().any(has_marker) {
                // It has left with its text, and is at home.
                return Ok(());
            }
            prop_assert!(is_there(&terminal), "{}", window);
        }
    }

    #[test]
    fn resizes_with_nothing_drawn_in_between_are_the_last_one(
        size in window(), text in text(), windows in windows(),
        reflow in prop::sample::select(vec![Reflow::All, Reflow::AboveCursor, Reflow::Off]),
    ) {
        let whole = terminal(Clustering::Unknown, size, &text);
        let (mut once, mut often) = (whole.clone(), whole.clone());
        for &window in &windows {
            often.resize_with(window, reflow);
        }
        once.resize_with(*windows.last().expect("at least one"), reflow);
        prop_assert_eq!(once.screen(), often.screen());
        prop_assert!(once.rows_above().eq(often.rows_above()));
        often.resize_with(size, reflow);
        prop_assert_eq!(often.screen(), whole.screen());
    }
}

/// The most text there is, in the window that makes most rows of it: no more is kept than may be.
#[test]
fn what_is_kept_has_a_bound() {
    let size = Size::new(1024, 1024).expect("the largest");
    let mut terminal = Terminal::new(size);
    terminal.keep_history(ScrollbackLimits::default());
    terminal.process("x".repeat(1024 * 1024).as_bytes());
    terminal.resize(Size::new(1, 1).expect("the smallest"));
    assert_eq!(terminal.rows_above().len(), 16_384);
    // It is one line, which is cut twice before it is a million characters long.
    let history = terminal.history().expect("it is kept");
    assert_eq!(history.end(), (1024 * 1024 - 1 - 16_384) / (32 * 1024 + 1));
    terminal.resize(size);
    assert_eq!(lines(&terminal), ["x".repeat(16_384 + 1)]);
}
