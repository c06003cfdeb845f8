//! Whatever is written: the terminal holds its promises, its caps, and does a bounded work.

use fulmar_terminal::{
    CELL_TEXT_MAX, Clustering, Column, Glyph, ModeFlags, Reflow, Row, Screen, Size, Terminal,
};
use proptest::prelude::*;

/// The most cells and rows that a byte may touch on average on a screen of 80x24: all of them with
/// three bytes, the shortest sequence that has a say on more than a row.
///
/// Source: docs/threat-model.md §6, "CPU for 1 MB of the worst input".
const WORK_PER_BYTE_MAX: u64 = 80 * 24 / 3;

/// Checks all that a screen promises to whoever reads it.
#[track_caller]
fn assert_whole(screen: &Screen) {
    let size = screen.size();
    let cursor = screen.cursor();
    assert!(size.contains(cursor.position));
    let has_sides = screen.modes().has(ModeFlags::SIDE_MARGINS);
    assert!(!cursor.pending_wrap || has_sides || cursor.position.column == size.last_column());
    assert_eq!(screen.rows().len(), usize::from(size.rows()));
    for row in screen.rows() {
        assert_eq!(row.columns(), size.columns());
        for column in 0..size.columns() {
            let cell = &row.cells()[usize::from(column)];
            let next = row.cells().get(usize::from(column) + 1);
            assert_eq!(cell.is_wide(), next.is_some_and(|next| next.is_spacer()));
            match row.glyph(Column(column)) {
                Glyph::Cluster(text) => assert!(text.chars().count() > 1),
                Glyph::Char(c) => assert!(!c.is_control()),
                Glyph::Blank => assert!(cell.is_blank()),
                Glyph::Spacer => assert!(column > 0),
            }
        }
    }
}

/// A piece of what a hostile program might write.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let wide = prop::sample::select(vec![
        "漢",
        "字é",
        "\u{301}",
        "🚀\u{200d}",
        "\u{9b}",
        "\u{90}",
        "👍🏽",
        "❤\u{fe0f}",
        "🇩🇪",
        "\u{fe0f}",
        "\u{600}",
        "\x1b[?2027h",
        "\x1b[?2027l",
        "\x1b[?69h\x1b[2;5s",
        "\x1b[?69h\x1b[3;4s",
        "\x1b[?69l",
        "\x1b[1\"q",
        "\x1b[0\"q",
    ]);
    prop_oneof![
        3 => "[a-z ]{1,40}".prop_map(String::into_bytes),
        2 => wide.prop_map(|text| text.as_bytes().to_vec()),
        2 => "[\x00-\x1f]".prop_map(String::into_bytes),
        8 => "\x1b\\[[?>! ]?([0-9]{0,3};){0,4}[0-9]{0,6}[ !$']?[@-~]".prop_map(String::into_bytes),
        1 => "\x1b\\[([0-9]{0,2};){4,8}[0-9]{0,2}\\$[rtvxz{]".prop_map(String::into_bytes),
        2 => "\x1b\\[([0-9]{1,3}[;:]){1,6}m".prop_map(String::into_bytes),
        2 => "\x1b[#()]?[0-~]".prop_map(String::into_bytes),
        2 => "\x1b\\]([0128]|52);[a-z;:=/]{0,9}(\x07|\x1b\\\\)?".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

/// A terminal whose programs may or may not have grapheme clusters.
fn terminal(clustering: Clustering, size: Size) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.set_clustering(clustering);
    terminal
}

fn clustering() -> impl Strategy<Value = Clustering> {
    prop::sample::select(vec![
        Clustering::Unknown,
        Clustering::Switchable,
        Clustering::Permanent,
    ])
}

/// Pieces that scroll, wrap and insert between margins.
fn between_margins() -> impl Strategy<Value = String> {
    let fixed = [
        "\n",
        "\n\n\n",
        "\x0b\n",
        "漢字",
        "\x1b[?69h",
        "\x1b[20h",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[41m",
        "\x1b[44m",
        "\r",
        "\x1bM",
    ];
    prop_oneof![
        prop::sample::select(fixed.map(str::to_owned).to_vec()),
        "[a-z]{1,9}",
        "\x1b\\[[1-4];[1-8]H",
        "\x1b\\[[1-4];[2-8]s",
        "\x1b\\[[1-2];[3-4]r",
    ]
}

fn reflow() -> impl Strategy<Value = Reflow> {
    prop::sample::select(vec![Reflow::All, Reflow::AboveCursor, Reflow::Off])
}

fn size() -> impl Strategy<Value = Size> {
    (1..9_u16, 1..12_u16).prop_map(|(rows, columns)| Size::new(rows, columns).expect("small"))
}

proptest! {
    #[test]
    fn any_bytes_leave_a_whole_screen(bytes: Vec<u8>) {
        let mut terminal = Terminal::new(Size::new(3, 5).expect("small"));
        terminal.process(&bytes);
        assert_whole(terminal.screen());
    }

    #[test]
    fn any_sequences_and_resizes_leave_a_whole_screen(
        clustering in clustering(),
        first in size(),
        reflow in reflow(),
        steps in prop::collection::vec((piece(), prop::option::weighted(0.05, size())), 0..60),
    ) {
        let mut terminal = terminal(clustering, first);
        for (piece, resize) in steps {
            terminal.process(&piece);
            if let Some(size) = resize {
                terminal.resize_with(size, reflow);
            }
            assert_whole(terminal.screen());
        }
    }

    #[test]
    fn a_snapshot_never_changes(
        before in prop::collection::vec(piece(), 0..20),
        after in prop::collection::vec(piece(), 0..20),
    ) {
        let mut terminal = Terminal::new(Size::new(4, 9).expect("small"));
        terminal.process(&before.concat());
        let snapshot = terminal.screen().clone();
        let said = format!("{snapshot:?}");
        terminal.process(&after.concat());
        prop_assert_eq!(format!("{snapshot:?}"), said);
    }

    #[test]
    fn input_taken_in_slices_leaves_the_same_screen(
        clustering in clustering(),
        pieces in prop::collection::vec(piece(), 1..60),
        slices in prop::collection::vec(1..400_u64, 1..20),
    ) {
        let bytes = pieces.concat();
        let mut whole = terminal(clustering, Size::new(4, 9).expect("small"));
        let mut sliced = whole.clone();
        whole.process(&bytes);
        let mut rest = &bytes[..];
        for work_max in slices.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let taken = sliced.process_within(rest, *work_max);
            prop_assert!(taken > 0);
            rest = &rest[taken..];
        }
        prop_assert_eq!(whole.screen(), sliced.screen());
        prop_assert_eq!(whole.take_replies(), sliced.take_replies());
    }

    #[test]
    fn a_repetition_is_the_character_as_often(
        before in prop::collection::vec(piece(), 0..30),
        wraps: bool,
        inserts: bool,
        margins in prop::option::of((1..5_u16, 2..7_u16)),
        sides in prop::option::of((1..8_u16, 2..10_u16)),
        place in (1..7_u16, 1..10_u16),
        size in size(),
        c in prop::sample::select(vec!["x", "漢", "é", "e\u{301}", "👍🏽", "❤\u{fe0f}", "🇩🇪"]),
        count in 1..200_usize,
    ) {
        let clustering = if c.chars().count() > 1 { Clustering::Permanent } else { Clustering::Unknown };
        let mut repeated = terminal(clustering, size);
        repeated.process(&before.concat());
        // What was unfinished ends here, and so do the sets of characters.
        repeated.process(b"\x18\x1b(B\x1b)B\x1b*B\x1b+B\x0f");
        if let Some((top, bottom)) = margins {
            repeated.process(format!("\x1b[{top};{bottom}r").as_bytes());
        }
        match sides {
            Some((left, right)) => repeated.process(format!("\x1b[?69h\x1b[{left};{right}s").as_bytes()),
            None => repeated.process(b"\x1b[?69l"),
        };
        let mode = |is_set: bool| if is_set { 'h' } else { 'l' };
        let modes = format!("\x1b[?7{}\x1b[4{}", mode(wraps), mode(inserts));
        repeated.process(format!("{modes}\x1b[{};{}H{c}", place.0, place.1).as_bytes());
        let mut printed = repeated.clone();
        repeated.process(format!("\x1b[{count}b").as_bytes());
        // A wide character for which there is no room is not printed, and so not the last that was.
        let ends_at_edge = sides.is_some() || place.1 >= size.columns();
        let has_room = size.columns() > 1 && (wraps || !ends_at_edge);
        let is_printed = match c {
            "漢" => has_room,
            // Without a wrap, a part of such a cluster is printed where there is no room for the whole.
            "👍🏽" | "❤\u{fe0f}" | "🇩🇪" => has_room && wraps,
            _ => true,
        };
        if is_printed {
            printed.process(c.repeat(count).as_bytes());
            prop_assert_eq!(repeated.screen(), printed.screen());
        }
        assert_whole(repeated.screen());
    }

    #[test]
    fn between_margins_it_makes_no_difference_how_input_is_cut(
        pieces in prop::collection::vec(between_margins(), 0..25),
    ) {
        let text = pieces.concat();
        let [mut whole, mut single] = [(); 2].map(|()| terminal(Clustering::Unknown, Size::new(4, 8).expect("small")));
        whole.process(text.as_bytes());
        for byte in text.as_bytes() {
            single.process(&[*byte]);
        }
        prop_assert!(whole.screen() == single.screen(), "{text:?}");
    }

    #[test]
    fn any_sequences_do_a_bounded_work(clustering in clustering(), pieces in prop::collection::vec(piece(), 1..200)) {
        assert_work_is_bounded(clustering, &pieces.concat());
    }
}

#[track_caller]
fn assert_work_is_bounded(clustering: Clustering, bytes: &[u8]) {
    let mut terminal = terminal(clustering, Size::default());
    terminal.process(bytes);
    // A row is begun before the first byte is paid for.
    let allowed = WORK_PER_BYTE_MAX * (bytes.len() as u64 + 8);
    let work = terminal.screen().work();
    assert!(
        work <= allowed,
        "{work} for {} bytes, {allowed} allowed",
        bytes.len()
    );
}

#[test]
fn the_worst_sequences_do_a_bounded_work() {
    for worst in [
        "\x1b[J",
        "\x1b[2J",
        "\x1b[44m\x1b[J\x1b[m\x1b[J",
        "\x1b[L",
        "\x1b[M",
        "\x1b[99S",
        "\x1b[T",
        "\n",
        "\x1bM",
        "\x1b#8",
        "\x1bc",
        "\x1b['}",
        "\x1b['~",
        "\x1b[ @",
        "\x1b[ A",
        "\x1b[@",
        "\x1b[P",
        "\x1b[?47h\x1b[?47l",
        "x\x1b[65535b",
        "\x1b[b",
        "\x1b[65535I",
        "\x1b[65535Z",
        "\x1b[65535;65535r",
        "e\u{301}",
        "漢\x08",
        "\x1b]8;;x:y\x07x",
        "\x1b7\x1b8",
        "\x1b[65535@",
        "\x1b[42$x",
        "\x1b[$z",
        "\x1b[;;;;;2$v",
        "\x1b[;;;;1$r",
        "\x1b[?J",
        "\x1b[${",
        "\x1b[2*x\x1b[;;;;1$t",
        "\x1b6",
        "\x1b[;80H\x1b9",
    ] {
        assert_work_is_bounded(Clustering::Unknown, worst.repeat(1000).as_bytes());
    }
    let long = format!("e{}", "\u{301}".repeat(31));
    for worst in [
        "👍🏽",
        "🇩🇪\x1b[65535b",
        "\x1b[65535b",
        "\x1b[4h\x1b[H❤\u{fe0f}",
    ] {
        assert_work_is_bounded(
            Clustering::Permanent,
            format!("{long}{}", worst.repeat(1000)).as_bytes(),
        );
    }
}

/// Copies of cells that each have a link or a cluster of their own are the worst input: six times the work of others at most.
///
/// Source: docs/threat-model.md §6, "processor for 1 MB of the worst input".
#[test]
fn copies_of_cells_with_links_work_six_times_as_much_at_most() {
    let size = Size::default();
    for cells in ["\x1b]8;;a:\x07x\x1b]8;;b:\x07y", "e\u{301}"] {
        let mut terminal = Terminal::new(size);
        terminal.process(cells.repeat(24 * 80).as_bytes());
        for copy in ["\x1b[;;;;;2$v", "\x1b[;;;;;;2$v", "\x1b[;40;;;;;2$v"] {
            let before = terminal.screen().work();
            let input = copy.repeat(1000);
            terminal.process(input.as_bytes());
            let work = terminal.screen().work() - before;
            let a_byte = work / input.len() as u64;
            assert!(a_byte <= 6 * WORK_PER_BYTE_MAX, "{a_byte} for {copy:?}");
        }
    }
}

/// The shortest input that moves more than a row each time: no cell is moved twice by it.
#[test]
fn a_line_feed_between_margins_moves_each_cell_once() {
    let size = Size::default();
    let mut terminal = varied(size);
    terminal.process(b"\x1b[?69h\x1b[2;80s\x1b[24;2H");
    let before = terminal.screen().work();
    terminal.process(&b"\n\x07".repeat(1000));
    // With one for each row, and that of the two functions.
    let cells = u64::from(size.rows() + 2) * u64::from(size.columns() + 1);
    let work = terminal.screen().work() - before;
    assert!(work <= 1000 * cells, "{work}");
}

/// Several line feeds in a row are one scroll.
#[test]
fn line_feeds_between_margins_move_each_cell_once_together() {
    let size = Size::default();
    let mut terminal = varied(size);
    terminal.process(b"\x1b[?69h\x1b[2;80s\x1b[24;2H");
    let before = terminal.screen().work();
    terminal.process(&[b'\n'; 1000]);
    let work = terminal.screen().work() - before;
    assert!(work <= 20_000, "{work}");
}

/// Rows that are one in memory, as a repetition leaves them, are changed as others.
#[test]
fn rows_that_share_memory_lose_their_wrap_as_others_do() {
    let ways = ["\x1b[?69h\x1b[2;8s\x1b[4;3H\n", "\x1b[1;2;2;8;1;2;2$v"];
    for way in ways {
        let [printed, repeated] = ["a".repeat(32), "a\x1b[31b".to_owned()].map(|text| {
            let mut terminal = Terminal::new(Size::new(4, 8).expect("small"));
            terminal.process(text.as_bytes());
            terminal.process(way.as_bytes());
            terminal
        });
        assert!(printed.screen() == repeated.screen(), "{way:?}");
    }
}

/// Input that makes as much work as it can, a piece of each kind.
const WORST: [&str; 20] = [
    "\x1b]8;;a:\x07x\x1b]8;;b:\x07y\x1b[;;23;;;2$v",
    "\x1b[;;;;1;4;5;7;1;4;5;7$t",
    "\x1b[${",
    "\x1b[42$x",
    "\x1b[;;;;;2$v",
    "\x1b[;;;;1$t",
    "\x1b[ @",
    "\x1b['}",
    "\n\n\n\n",
    "\x1b[@",
    "\x1b[4096I\x1b[4096Z",
    "x\x1b[65535b",
    "漢\x1b[65535b",
    "\x1b[?7l漢\x1b[65535b",
    "\x1b[4h漢\x1b[65535b",
    "\x1b#8\x1b[ @",
    "\x1bc",
    "👍🏽\x1b[65535b",
    "\x1b[4h👍🏽\x1b[65535b",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\x1b[65535b",
];

/// Returns a screen of which no two rows are the same, and with a tab stop in every column.
fn varied(size: Size) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.process("\x1bH\x1b[C".repeat(usize::from(size.columns())).as_bytes());
    for row in 1..=size.rows() {
        terminal.process(format!("\x1b[{row}H{row}").as_bytes());
    }
    terminal.process(b"\x1b[H");
    terminal
}

/// All cells of the largest screen, and of the one behind it.
const FUNCTION_WORK_MAX: u64 = 3 * Size::CELLS_MAX as u64;

#[test]
fn input_is_taken_until_its_work_is_done_and_no_further() {
    for size in [Size::default(), Size::new(256, 4096).expect("the largest")] {
        for worst in WORST {
            let mut terminal = varied(size);
            terminal.set_clustering(Clustering::Permanent);
            let before = terminal.screen().work();
            let work_max = 1 << 20;
            let input = worst.repeat((1 << 22) / worst.len());
            let taken = terminal.process_within(input.as_bytes(), work_max);
            let work = terminal.screen().work() - before;
            assert!(taken > 0 && work > 1 << 19, "{taken}, {work} for {worst:?}");
            let made_max = work_max + FUNCTION_WORK_MAX;
            assert!(work <= made_max, "{work} for {worst:?} at {size}");
        }
    }
}

/// Rows that a repetition fills are one row, so a screen of them costs a row and a place for each.
#[test]
fn a_repetition_works_for_two_rows_however_many_it_fills() {
    for size in [
        Size::new(100, 400),
        Size::new(100, 401),
        Size::new(256, 4096),
    ] {
        let size = size.expect("within the bounds");
        for setting in ["", "\x1b[4h", "\x1b[?7l", "\x1b[2;9r"] {
            // A cluster is copied into each cell.
            for (c, factor) in [("x", 12), ("漢", 12), ("👍🏽", 16)] {
                let mut terminal = varied(size);
                terminal.set_clustering(Clustering::Permanent);
                terminal.process(format!("{setting}{c}").as_bytes());
                let before = terminal.screen().work();
                terminal.process(b"\x1b[65535b");
                let work = terminal.screen().work() - before;
                let allowed = factor * (u64::from(size.rows()) + u64::from(size.columns()));
                assert!(
                    work <= allowed,
                    "{work} of {allowed}: {setting:?}{c} at {size}"
                );
            }
        }
    }
}

#[test]
fn a_resize_is_work_too() {
    let mut terminal = varied(Size::default());
    let before = terminal.screen().work();
    terminal.resize(Size::new(24, 81).expect("in bounds"));
    assert!(terminal.screen().work() - before >= 24 * 80);
}

#[test]
fn work_is_counted() {
    let mut terminal = varied(Size::default());
    let before = terminal.screen().work();
    terminal.process(b"\x1b[ @");
    assert!(terminal.screen().work() - before >= 24 * 80);
}

#[test]
fn a_cell_holds_text_up_to_its_cap() {
    let text_of = |marks: usize| {
        let mut terminal = Terminal::new(Size::default());
        terminal.process(format!("éx\x08\x08{}", "\u{301}".repeat(marks)).as_bytes());
        match terminal.screen().row(Row(0)).glyph(Column(0)) {
            Glyph::Cluster(text) => text.len(),
            glyph => panic!("{glyph:?}"),
        }
    };
    let at_cap = CELL_TEXT_MAX / 2 - 1;
    assert_eq!(text_of(at_cap), CELL_TEXT_MAX);
    assert_eq!(text_of(at_cap + 1), CELL_TEXT_MAX);
}

#[test]
fn the_first_32_parameters_of_a_sequence_count() {
    let style_after = |count: usize| {
        let mut terminal = Terminal::new(Size::default());
        terminal.process(format!("\x1b[{}0m", "1;".repeat(count - 1)).as_bytes());
        terminal.screen().style().clone()
    };
    assert!(style_after(32).is_plain());
    assert!(!style_after(33).is_plain());
}

#[test]
fn a_flood_of_marks_and_links_on_one_row_is_forgotten_when_overwritten() {
    let mut terminal = Terminal::new(Size::new(1, 10).expect("small"));
    let lines = (0..5000).map(|n| format!("\x1b]8;;x:{n}\x07e\u{301}\x1b[58:5:{}mf\r", n % 256));
    terminal.process(lines.collect::<String>().as_bytes());
    // The side table of a row is bounded by its width, whatever was once in it.
    assert!(format!("{:?}", terminal.screen().row(Row(0))).len() < 20_000);
}

#[test]
fn a_snapshot_shares_the_rows_that_do_not_change() {
    let mut terminal = Terminal::new(Size::default());
    terminal.process(&b"text\r\n".repeat(20));
    let snapshot = terminal.screen().clone();
    terminal.process(b"\x1b[5;1Hx\x1b[24;1H\n");
    let shared = (0..23).filter(|&row| {
        let (before, after) = (snapshot.row(Row(row + 1)), terminal.screen().row(Row(row)));
        fulmar_terminal::SharedRow::ptr_eq(before, after)
    });
    assert_eq!(shared.count(), 22);
}
