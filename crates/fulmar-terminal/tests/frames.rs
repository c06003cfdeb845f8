//! The contract of frames, for random screens and for recorded programs:
//! `p(p(a).apply(b.diff_from(a))) == p(b)`, and a frame is empty exactly when nothing changed.

use std::fmt::Write as _;

use fulmar_terminal::{
    CellRow, Checker, Clustering, Colors, Column, Glyph, LINKS_MAX, MouseEncodings, Reflow, Row,
    Screen, Size, Style, Terminal, TerminalReport, Vocabulary,
};
use proptest::prelude::*;

/// The vocabulary of a reader that puts grapheme clusters into its cells.
fn clusters(vocabulary: Vocabulary) -> Vocabulary {
    Vocabulary {
        clusters: true,
        ..vocabulary
    }
}

/// The vocabularies that differ in what the differ does.
fn vocabularies() -> Vec<(&'static str, Vocabulary)> {
    vec![
        ("stock", Vocabulary::STOCK),
        ("rich", Vocabulary::RICH),
        ("full", Vocabulary::FULL),
        ("rich clusters", clusters(Vocabulary::RICH)),
        ("clusters", clusters(Vocabulary::FULL)),
        ("plain", Vocabulary::PLAIN),
        (
            "no erasing in colour",
            Vocabulary {
                back_color_erase: false,
                ..Vocabulary::FULL
            },
        ),
        (
            "palette",
            Vocabulary {
                colors: Colors::Palette,
                mouse_encodings: MouseEncodings::Stock,
                erase_characters: false,
                ..Vocabulary::STOCK
            },
        ),
    ]
}

/// One step of a random program.
fn step() -> impl Strategy<Value = String> {
    let number = 0_u16..30;
    prop_oneof![
        8 => "[a-z ]{1,12}",
        2 => "[ -~]{20,60}",
        2 => prop::sample::select(vec![
            "你", "好你好你好", "é", "e\u{301}", "─│┌", "\u{1f469}", "👍🏽", "⌚", "\u{200d}",
            "\u{fe0f}", "\u{301}", "ａ", "한", "\u{e0b0}", "\u{ad}", "\u{2630}", "\u{3248}",
            "\u{9be}", "e\u{20dd}\u{485}",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec![
            "❤", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "🇩🇪", "🇩", "👩\u{200d}👩\u{200d}👧", "🏽", "🏳\u{fe0f}\u{200d}🌈",
            "⛹🏽", "⌚\u{fe0e}", "न\u{93e}", "क\u{94d}ष\u{93f}", "\u{1100}\u{1161}", "\u{11a8}", "\u{600}1",
            "\u{200b}", "e\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}\u{20dd}",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["\r\n", "\r", "\n", "\x08", "\t", "\x07", "\x1bM", "\x1bD"])
            .prop_map(str::to_owned),
        4 => (number.clone(), number.clone()).prop_map(|(r, c)| format!("\x1b[{r};{c}H")),
        3 => (number.clone(), prop::sample::select(vec!['A', 'B', 'C', 'D', 'G', 'd', 'L', 'M',
            'P', '@', 'X', 'S', 'T', 'b'])).prop_map(|(n, letter)| format!("\x1b[{n}{letter}")),
        2 => (0..3_u16, prop::sample::select(vec!['J', 'K'])).prop_map(|(n, l)| format!("\x1b[{n}{l}")),
        4 => prop::sample::select(vec![
            "0", "1", "2", "3", "4", "5", "7", "8", "9", "53", "22", "24", "27", "31", "42", "97",
            "38;5;200", "48;5;17", "48;2;1;2;3", "38;2;250;128;3", "4:3", "58:5:9", "39", "49",
        ]).prop_map(|n| format!("\x1b[{n}m")),
        1 => (number.clone(), number).prop_map(|(t, b)| format!("\x1b[{t};{b}r")),
        2 => prop::sample::select(vec![
            "\x1b[?25l", "\x1b[?25h", "\x1b[?5h", "\x1b[?5l", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h",
            "\x1b[?6l", "\x1b[?2004h", "\x1b[?2004l", "\x1b[?1000h", "\x1b[?1003h", "\x1b[?9h",
            "\x1b[?1000l", "\x1b[?1006h", "\x1b[?1006l", "\x1b[?1016h", "\x1b[?1004h", "\x1b[?1h",
            "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2027h", "\x1b[?2027l", "\x1b[4h", "\x1b[4l", "\x1b[4 q", "\x1b[0 q",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\x1b]0;both\x07", "\x1b]2;title\x07", "\x1b]1;icon\x07", "\x1b]2;\x07",
            "\x1b]52;c;aGk=\x07", "\x1b]52;c;?\x07", "\x1b]8;;https://example.org\x1b\\",
            "\x1b]8;id=a;http://a.b/\x07", "\x1b]8;;javascript:1\x07", "\x1b]8;;\x07", "\x1bc",
            "\x1b]4;1;#123;200;#abc\x07", "\x1b]104\x07", "\x1b]11;#fff;rgb:1/2/3\x1b\\", "\x1b]111\x07", "\x1b]4;1;?\x07",
            "\x1b[>5u", "\x1b[=2;2u", "\x1b[<u",
            "\x1b7", "\x1b8", "\x1b#8", "\x1b(0", "\x1b(B", "\x1b[!p",
        ]).prop_map(str::to_owned),
        // Longer than stock takes.
        1 => Just(format!("\x1b]52;c;{}\x07", "A".repeat(16_384))),
    ]
}

fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(step(), 0..40).prop_map(|steps| steps.concat())
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        6 => (1..12_u16, 1..30_u16),
        1 => (1..4_u16, 1..4_u16),
        1 => Just((24, 80)),
    ]
    .prop_map(|(rows, columns)| Size::new(rows, columns).expect("small"))
}

fn run(size: Size, bytes: &str) -> Terminal {
    run_with(Clustering::Unknown, size, bytes)
}

fn run_with(clustering: Clustering, size: Size, bytes: &str) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.set_report(TerminalReport {
        clustering,
        keyboard: true,
        ..TerminalReport::default()
    });
    terminal.process(bytes.as_bytes());
    terminal
}

fn clustering() -> impl Strategy<Value = Clustering> {
    prop::sample::select(vec![
        Clustering::Unknown,
        Clustering::Switchable,
        Clustering::Permanent,
    ])
}

/// Draws both screens side by side in words, for a tired reader.
fn drawn(name: &str, screen: &Screen) -> String {
    let mut text = format!(
        "{name}: {}, cursor {:?}, {:?}, title {:?}/{:?}, clipboard {:?}\n",
        screen.size(),
        screen.cursor(),
        screen.modes(),
        screen.title(),
        screen.icon_name(),
        screen.clipboard(),
    );
    for index in 0..screen.size().rows() {
        let row = screen.row(Row(index));
        let mut line = String::new();
        row.push_text(&mut line);
        let mut last = Style::default();
        let mut styles = String::new();
        for column in 0..row.columns() {
            let style = row.style(Column(column));
            if style != last {
                let _ = write!(styles, " {column}:{style:?}");
                last = style;
            }
            if row.glyph(Column(column)) == Glyph::Spacer {
                let _ = write!(styles, " {column}:spacer");
            }
        }
        let wrap = if row.is_wrapped() { "↩" } else { "" };
        let _ = writeln!(text, "  {index:2} |{line}|{wrap}{styles}");
    }
    text
}

/// Returns what a reader that shows `projected` makes of a frame to a screen of `size`.
fn read(projected: &Screen, size: Size, frame: &[u8], vocabulary: &Vocabulary) -> Screen {
    let mut reader = projected.clone();
    reader.resize(size);
    reader.apply(frame);
    reader.projected(vocabulary)
}

fn assert_contract(a: &Screen, b: &Screen) {
    for (name, vocabulary) in vocabularies() {
        let frame = b.diff_from(a, &vocabulary);
        assert_reaches(name, a, b, &frame, &vocabulary);
        assert_eq!(
            frame.is_empty(),
            b.is_same(a, &vocabulary),
            "{name}: a frame is empty exactly when nothing changed: {:?}",
            String::from_utf8_lossy(&frame)
        );
        let pushing = b.diff_pushing(&[], Some(a), &vocabulary);
        assert_reaches(name, a, b, &pushing, &vocabulary);
        let told = b.projected(&vocabulary);
        assert_eq!(
            told.projected(&vocabulary),
            told,
            "{name}: nothing is left to tell"
        );
        assert_parts_lead_there(name, a, b, &vocabulary);
        let mut reader = blank_reader(b.size(), &vocabulary);
        reader.apply(b"garbage\x1b[31;7m\x1b[2;3r\x1b[?2004h\x1b[?1003h\x1b[?25l\x1b[?1006h");
        let repaint = b.repaint(&vocabulary);
        assert_reaches(name, &reader, b, &repaint, &vocabulary);
        let repaint = b.diff_pushing(&[], None, &vocabulary);
        assert_reaches(name, &reader, b, &repaint, &vocabulary);
    }
}

/// Returns a blank screen that reads frames of `vocabulary`.
fn blank_reader(size: Size, vocabulary: &Vocabulary) -> Screen {
    Screen::new(size).projected(vocabulary)
}

fn assert_reaches(name: &str, a: &Screen, b: &Screen, frame: &[u8], vocabulary: &Vocabulary) {
    let mut checker = Checker::default();
    if let Err(violation) = checker.check(frame).and_then(|()| checker.finish()) {
        panic!("{name}: {violation}");
    }
    if *vocabulary == Vocabulary::STOCK {
        assert_is_for_stock(frame);
    }
    let start = a.projected(vocabulary);
    let reached = read(&start, b.size(), frame, vocabulary);
    let wanted = b.projected(vocabulary);
    assert!(
        reached == wanted,
        "{name}: {:?}\n{}{}{}",
        String::from_utf8_lossy(frame),
        drawn("from", &start),
        drawn("reached", &reached),
        drawn("wanted", &wanted),
    );
}

/// Asserts that a frame has nothing but what docs/protocol.md §7 lists.
fn assert_is_for_stock(frame: &[u8]) {
    const MODES: [&str; 13] = [
        "5", "7", "9", "25", "1000", "1001", "1002", "1003", "1004", "1005", "1006", "1015", "2004",
    ];
    let frame = String::from_utf8_lossy(frame);
    for sequence in frame.split("\x1b[").skip(1) {
        let end = sequence
            .find(|c| matches!(c, '@'..='~'))
            .expect("a final byte");
        let (parameters, rest) = sequence.split_at(end);
        let is_listed = match (parameters.strip_prefix('?'), rest.as_bytes()[0]) {
            (Some(mode), b'h' | b'l') => MODES.contains(&mode),
            (None, b'J' | b'K') => parameters.is_empty(),
            (None, b'A'..=b'D' | b'H' | b'L' | b'M' | b'X' | b'm' | b'r') => parameters
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b';'),
            _ => false,
        };
        assert!(is_listed, "CSI {sequence:.20?} of {frame:?}");
    }
    for string in frame.split("\x1b]").skip(1) {
        let is_listed = ["0;", "1;", "2;", "52;c;"]
            .iter()
            .any(|begins| string.starts_with(begins));
        assert!(is_listed, "OSC {string:.20?} of {frame:?}");
    }
}

/// Small frames one after the other reach the same screen, by way of real ones.
fn assert_parts_lead_there(name: &str, a: &Screen, b: &Screen, vocabulary: &Vocabulary) {
    let mut at = a.clone();
    for _ in 0..=b.size().rows() {
        let (frame, between) = b.diff_within(&at, vocabulary, 60);
        let Some(between) = between else {
            assert_reaches(name, &at, b, &frame, vocabulary);
            return;
        };
        assert_reaches(name, &at, &between, &frame, vocabulary);
        assert!(!between.is_same(&at, vocabulary), "{name}: a part goes on");
        at = between;
    }
    panic!("{name}: more parts than rows");
}

/// A quarter of the usual number (256, or `PROPTEST_CASES`): each case is for several vocabularies.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: usual.cases.div_ceil(4),
        failure_persistence: None,
        ..usual
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_frame_leads_from_one_screen_to_the_next(
        size in size(), clustering in clustering(), first in program(), second in program(),
    ) {
        let mut terminal = run_with(clustering, size, &first);
        let a = terminal.screen().clone();
        terminal.process(second.as_bytes());
        assert_contract(&a, terminal.screen());
    }

    #[test]
    fn a_frame_leads_from_any_screen_to_any_other(
        sizes in (size(), size()), clustering in (clustering(), clustering()),
        first in program(), second in program(),
    ) {
        let a = run_with(clustering.0, sizes.0, &first);
        let b = run_with(clustering.1, sizes.1, &second);
        assert_contract(a.screen(), b.screen());
    }

    #[test]
    fn a_resized_screen_is_painted_anew(sizes in (size(), size()), clustering in clustering(), text in program()) {
        let mut terminal = run_with(clustering, sizes.0, &text);
        let a = terminal.screen().clone();
        terminal.resize(sizes.1);
        assert_contract(&a, terminal.screen());
    }
}

/// As wide or high as windows get, or a few cells.
fn window() -> impl Strategy<Value = Size> {
    let side = || prop_oneof![1_u16..500, 1_u16..10];
    (side(), side()).prop_map(|(rows, columns)| Size::new(rows, columns).expect("a window"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases().cases.div_ceil(2), ..cases() })]

    /// A window that is dragged: each screen is told to a reader that was told those before.
    #[test]
    fn a_storm_of_resizes_is_told_in_either_vocabulary(
        first in window(), clustering in clustering(),
        reflow in prop::sample::select(vec![Reflow::All, Reflow::AboveCursor, Reflow::Off]),
        steps in prop::collection::vec((window(), program()), 1..6),
    ) {
        for (name, vocabulary) in [("stock", Vocabulary::STOCK), ("rich", clusters(Vocabulary::RICH))] {
            let mut terminal = run_with(clustering, first, "");
            let mut told = terminal.screen().clone();
            for (window, program) in &steps {
                terminal.process(program.as_bytes());
                terminal.resize_with(*window, reflow);
                let frame = terminal.screen().diff_from(&told, &vocabulary);
                assert_reaches(name, &told, terminal.screen(), &frame, &vocabulary);
                told = terminal.screen().clone();
            }
        }
    }
}

/// Characters of the random programs that other terminals may take for wider or narrower, or not
/// know at all; those that take no column anywhere come last.
const DISPUTED: [char; 34] = [
    '\u{1f469}',
    '\u{1f467}',
    '\u{1f44d}',
    '\u{1f3fd}',
    '\u{1f3f3}',
    '\u{1f308}',
    '\u{1f1e9}',
    '\u{1f1ea}',
    '\u{231a}',
    '\u{26f9}',
    '\u{2764}',
    '\u{20dd}',
    '\u{20e3}',
    '\u{485}',
    '\u{e0b0}',
    '\u{ad}',
    '\u{2630}',
    '\u{3248}',
    '\u{600}',
    '\u{915}',
    '\u{928}',
    '\u{937}',
    '\u{93e}',
    '\u{93f}',
    '\u{94d}',
    '\u{9be}',
    '\u{1100}',
    '\u{1161}',
    '\u{11a8}',
    '\u{200b}',
    '\u{302e}',
    '\u{200d}',
    '\u{fe0e}',
    '\u{fe0f}',
];

/// For each disputed character what a reader takes it for: nothing, a mark, narrow or wide.
fn readers() -> impl Strategy<Value = Vec<&'static str>> {
    let columns = prop::sample::select(vec!["", "\u{334}", "\u{3b1}", "\u{9f98}"]);
    let none = prop::sample::select(vec!["", "\u{334}"]);
    let (columns, none) = (
        prop::collection::vec(columns, 31),
        prop::collection::vec(none, 3),
    );
    (columns, none).prop_map(|(columns, none)| [columns, none].concat())
}

/// Returns a frame as such a reader takes it.
fn taken(frame: &[u8], reader: &[&str]) -> String {
    let taken_for = |character| {
        let index = DISPUTED.iter().position(|&disputed| disputed == character);
        index.map_or(String::from(character), |index| reader[index].to_owned())
    };
    let frame = std::str::from_utf8(frame).expect("a frame is text");
    frame.chars().map(taken_for).collect()
}

/// Returns the look of a cell of a projected screen.
fn look(row: &CellRow, column: Column) -> (Glyph<'_>, Style) {
    (row.glyph(column), row.style(column))
}

/// Every cell that no disputed character stands in is as wanted.
fn assert_neighbours(name: &str, shown: &Screen, wanted: &Screen, frame: &str) {
    for row in (0..wanted.size().rows()).map(Row) {
        let (shown_row, wanted_row) = (shown.row(row), wanted.row(row));
        let is_disputed = |column| match wanted_row.glyph(column) {
            Glyph::Char(character) => DISPUTED.contains(&character),
            Glyph::Cluster(text) => text.contains(DISPUTED),
            Glyph::Blank | Glyph::Spacer => false,
        };
        let mut skipped = false;
        for column in (0..wanted_row.columns()).map(Column) {
            skipped = is_disputed(column) || skipped && wanted_row.glyph(column) == Glyph::Spacer;
            assert!(
                skipped || look(wanted_row, column) == look(shown_row, column),
                "{name}, {row:?}, {column:?}: {frame:?}\n{}{}",
                drawn("shown", shown),
                drawn("wanted", wanted),
            );
        }
    }
    assert_eq!(shown.cursor(), wanted.cursor(), "{name}: {frame:?}");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_reader_with_other_widths_shows_the_neighbours_right(
        size in size(), clustering in (clustering(), clustering()),
        first in program(), second in program(), reader in readers(),
    ) {
        let mut terminal = run_with(clustering.0, size, &first);
        let a = terminal.screen().clone();
        terminal.process(second.as_bytes());
        let b = terminal.screen();
        for (name, vocabulary) in vocabularies() {
            let mut shown = Screen::new(size);
            shown.set_clustering(clustering.1);
            for (from, to) in [(&Screen::new(size), &a), (&a, b)] {
                let frame = taken(&to.diff_from(from, &vocabulary), &reader);
                shown.apply(frame.as_bytes());
                let shown = shown.projected(&vocabulary);
                assert_neighbours(name, &shown, &to.projected(&vocabulary), &frame);
            }
        }
    }
}

#[test]
fn a_disputed_character_stands_on_a_blank_and_its_neighbours_are_drawn_anew() {
    let frame = |before: &str, after: &str| {
        let size = Size::new(2, 7).expect("small");
        let (a, b) = (run(size, before), run(size, after));
        let frame = b.screen().diff_from(a.screen(), &Vocabulary::STOCK);
        String::from_utf8(frame).expect("a frame is text")
    };
    assert_eq!(
        frame("abcdef\r", "a\u{e0b0}cdef\r"),
        "a \x08\u{e0b0}\x1b[;3Hc\r"
    );
    // Six columns, if all three are taken for wide.
    assert_eq!(
        frame("abcdef\r", "e\u{20dd}\u{485}cdef\r"),
        " \re\u{20dd}\u{485}\x1b[;2Hcdef \r"
    );
    assert_eq!(
        frame("abcdefg\r", "abcdef\u{e0b0}\r"),
        "\x1b[6C \x1b[;7H\x1b[?7l\u{e0b0}\x1b[?7h\x1b[H"
    );
}

/// Returns the frame that shows what `bytes` leave on a screen that is clustering, to a reader of `vocabulary`.
fn clusters_told(bytes: &str, vocabulary: &Vocabulary) -> String {
    let size = Size::new(1, 12).expect("small");
    let (a, b) = (
        run_with(Clustering::Permanent, size, ""),
        run_with(Clustering::Permanent, size, bytes),
    );
    let frame = b.screen().diff_from(a.screen(), vocabulary);
    String::from_utf8(frame).expect("a frame is text")
}

#[test]
fn cells_that_would_be_one_cluster_do_not_join_at_the_reader() {
    let vocabulary = clusters(Vocabulary::FULL);
    let told = |bytes| clusters_told(bytes, &vocabulary).replace("\x1b[?25l", "");
    // One flag, and its two halves. What is right of them is drawn after them.
    assert_eq!(told("🇩🇪\r"), "  \r🇩🇪\x1b[;3H\x1b[K\r\x1b[?25h");
    assert_eq!(
        told("🇩\x1b[2G🇪\r"),
        " \r🇩\x1b[;2H \x08🇪\x1b[;3H\x1b[K\r\x1b[?25h"
    );
}

#[test]
fn a_reader_without_clusters_is_told_what_takes_as_many_columns() {
    let told = |bytes| clusters_told(bytes, &Vocabulary::STOCK);
    assert_eq!(told("👍🏽x\r"), "  \r👍\x1b[;3Hx\r");
    assert_eq!(told("🇩🇪x\r"), " \r🇩\x1b[;2H \x08🇪\x1b[;3Hx\r");
    assert_eq!(told("❤\u{fe0f}x\r"), " \r❤\u{fe0f}\x1b[;2H x\r");
}

#[test]
fn a_reader_with_clusters_is_told_what_takes_as_many_columns() {
    let vocabulary = clusters(Vocabulary::STOCK);
    let size = Size::new(1, 12).expect("small");
    let (a, b) = (run(size, ""), run(size, "❤\u{fe0f}x👍🏽\r"));
    let frame = b.screen().diff_from(a.screen(), &vocabulary);
    assert_eq!(
        String::from_utf8_lossy(&frame),
        " \r❤\x1b[;2Hx  \x08\x08👍\x1b[;5H  \x08\x08🏽\x1b[H"
    );
}

#[test]
fn a_line_of_an_agreed_script_costs_its_text() {
    let blank = run(Size::default(), "");
    for line in [
        "❯ Dobrý večer ✓",
        "καλησπέρα",
        "добрый вечер",
        "ערב טוב",
        "مساء الخير",
        "สวัสดี",
        "晩上好",
    ] {
        let shown = run(Size::default(), line);
        let frame = shown.screen().diff_from(blank.screen(), &Vocabulary::STOCK);
        assert_eq!(String::from_utf8_lossy(&frame), line);
    }
}

#[test]
fn a_space_keeps_its_whole_rendition() {
    let size = Size::new(2, 10).expect("small");
    let blank = Screen::new(size);
    for rendition in ["1", "1;7", "3", "5", "8", "31", "33;44", "38;5;200"] {
        let written = run(size, &format!("\x1b[{rendition}m  \x1b[m x"));
        for (name, vocabulary) in [("stock", Vocabulary::STOCK), ("full", Vocabulary::FULL)] {
            let frame = written.screen().diff_from(&blank, &vocabulary);
            let shown = read(&blank, size, &frame, &vocabulary);
            for column in [0, 1, 2].map(Column) {
                let [shown, wanted] =
                    [&shown, written.screen()].map(|screen| screen.row(Row(0)).style(column));
                assert_eq!(shown, wanted, "{name}, {rendition}, {column:?}");
            }
        }
    }
}

#[test]
fn a_space_with_nothing_but_a_background_is_an_erased_cell() {
    let size = Size::new(2, 10).expect("small");
    for background in ["49", "44"] {
        let written = run(size, &format!("\x1b[{background}m     "));
        let erased = run(size, &format!("\x1b[{background}m\x1b[5X\x1b[5C"));
        for (name, vocabulary) in vocabularies() {
            let frame = written.screen().diff_from(erased.screen(), &vocabulary);
            assert_eq!(String::from_utf8_lossy(&frame), "", "{name}, {background}");
        }
    }
}

#[test]
fn a_bell_is_rung_once() {
    let mut terminal = run(Size::default(), "x");
    let a = terminal.screen().clone();
    terminal.process(b"\x07\x07\x07");
    assert_eq!(terminal.screen().diff_from(&a, &Vocabulary::STOCK), b"\x07");
}

#[test]
fn a_screen_that_scrolled_costs_about_a_line() {
    let mut text = String::new();
    for line in 0..24 {
        let _ = write!(
            text,
            "\r\nline {line} with some text that should not be sent twice"
        );
    }
    let mut terminal = run(Size::default(), &text);
    let a = terminal.screen().clone();
    terminal.process(b"\r\none more");
    let frame = terminal.screen().diff_from(&a, &Vocabulary::STOCK);
    assert_eq!(frame, b"\n\rone more");
}

#[test]
fn an_attribute_that_stock_cannot_show_wakes_nobody() {
    let a = run(Size::default(), "dim");
    let b = run(Size::default(), "\x1b[2mdim\x1b[m");
    assert!(b.screen().is_same(a.screen(), &Vocabulary::STOCK));
    assert!(!b.screen().is_same(a.screen(), &Vocabulary::FULL));
}

#[test]
fn strings_are_cut_to_what_stock_keeps() {
    let a = run(Size::default(), "");
    let long = "x".repeat(300);
    let b = run(
        Size::default(),
        &format!("\x1b]2;{long}\x07\x1b]52;c;{}\x07", "A".repeat(16_380)),
    );
    let frame = b.screen().diff_from(a.screen(), &Vocabulary::STOCK);
    let title = "x".repeat(254);
    assert_eq!(frame, format!("\x1b]2;{title}\x07").into_bytes());
    let c = run(
        Size::default(),
        &format!("\x1b]52;c;{}\x07", "A".repeat(16_376)),
    );
    assert_eq!(
        c.screen().diff_from(a.screen(), &Vocabulary::STOCK).len(),
        16_384
    );
}

#[test]
fn the_largest_screen_is_drawn_to_its_end() {
    let size = Size::new(256, 4096).expect("the largest size");
    let mut terminal = Terminal::new(size);
    for cell in 0..u32::from(size.rows()) * u32::from(size.columns() / 16) {
        let colour = 31 + cell % 7;
        terminal.process(format!("\x1b[{colour}mfifteen letters \x1b[m").as_bytes());
    }
    let frame = terminal.screen().repaint(&Vocabulary::STOCK);
    let mut reader = Screen::new(size);
    reader.apply(&frame);
    assert!(reader.is_same(terminal.screen(), &Vocabulary::STOCK));
}

#[test]
fn what_comes_with_the_rows_counts_for_a_part() {
    let a = run(Size::default(), "");
    let title = "x".repeat(200);
    let b = run(
        Size::default(),
        &format!("\x1b]2;{title}\x07one\r\ntwo\r\nthree"),
    );
    let vocabulary = Vocabulary::STOCK;
    let (frame, between) = b.screen().diff_within(a.screen(), &vocabulary, 150);
    let between = between.expect("three rows can be parted");
    assert!(frame.len() < b.screen().diff_from(a.screen(), &vocabulary).len());
    let (_, rest) = b.screen().diff_within(&between, &vocabulary, 150);
    assert_eq!(rest, None);
}

/// A writer forgets old screens sooner than a reader, which needs room for the links of both.
#[test]
fn a_reader_that_keeps_old_screens_takes_all_links_of_a_new_one() {
    const LINKS: usize = LINKS_MAX / 2 + 200;
    let vocabulary = Vocabulary::FULL;
    let mut program = Terminal::new(Size::default());
    let mut reader = program.screen().clone();
    let mut told = program.screen().clone();
    let mut kept = Vec::new();
    for turn in 0..4 {
        let links: String = (0..LINKS)
            .map(|n| format!("\x1b]8;;http://x/{turn}/{n}\x07x"))
            .collect();
        for bytes in ["\x1b]8;;\x07\x1b[H\x1b[J", &links] {
            program.process(bytes.as_bytes());
            reader.apply(&program.screen().diff_from(&told, &vocabulary));
            told = program.screen().clone();
            kept.push(reader.clone());
            assert!(reader.is_same(&told, &vocabulary), "turn {turn}");
        }
        let cells = told
            .rows()
            .flat_map(|row| (0..80).map(|n| row.link(Column(n))));
        assert_eq!(cells.flatten().count(), LINKS);
    }
}

#[test]
fn a_reader_has_a_bound_on_links_whatever_it_is_sent() {
    let mut reader = Screen::new(Size::default());
    for n in 0..LINKS_MAX + 10 {
        reader.apply(format!("\x1b]8;;http://x/{n}\x07x").as_bytes());
    }
    let cells = reader
        .rows()
        .flat_map(|row| (0..80).map(|n| row.link(Column(n))));
    assert_eq!(cells.flatten().count(), LINKS_MAX);
}
