use super::*;
use crate::canvas::Canvas;
use crate::input_line::InputLine;
use crate::testing::{screen, text};
use fulmar_terminal::{Clustering, Screen, Size, Terminal};
use proptest::prelude::*;

const PASTE_MODE: &str = "\x1b[?2004h";

/// Applies keys to a screen and returns its first row with a bar for the caret, or `None`.
///
/// `typed` is how many columns left of the cursor are the user's own.
fn after(screen: &Screen, typed: u16, key: Key, variant: u8) -> Option<String> {
    let (canvas, _) = applied(screen, typed, key, variant)?;
    let row = canvas.caret().row.0;
    Some(with_caret(
        &text(canvas.screen(), row),
        canvas.caret().column.0,
    ))
}

fn applied(screen: &Screen, typed: u16, key: Key, variant: u8) -> Option<(Canvas, InputLine)> {
    let mut canvas = Canvas::new(screen);
    let mut line = InputLine::at_caret(&canvas, typed, None);
    let mut edit = EditState {
        canvas: &mut canvas,
        line: &mut line,
        overwrite: false,
    };
    apply_rule(key, variant, &mut edit)?;
    Some((canvas, line))
}

/// Puts a bar at a column; a wide character takes two.
fn with_caret(text: &str, column: u16) -> String {
    let mut out = String::new();
    let mut at = 0;
    for character in text.chars() {
        if at == column {
            out.push('¦');
        }
        out.push(character);
        at += fulmar_terminal::char_columns(character);
    }
    if at <= column {
        (at..column).for_each(|_| out.push(' '));
        out.push('¦');
    }
    out
}

/// A row of 50 columns as it is written, `¦` where the cursor is; `typed` counts from the margin.
fn written(before: &str) -> (Screen, u16) {
    let (left, right) = before.split_once('¦').expect("a cursor");
    let bytes = format!("{PASTE_MODE}{left}\x1b7{right}\x1b8");
    (screen(1, 50, &bytes), 0)
}

/// Before, the margin's column, the key, its variant, after; an empty string for no rule.
type Triple<'a> = (&'a str, u16, Key, u8, &'a str);

fn check(table: &[Triple<'_>]) {
    for &(before, margin, key, variant, expected) in table {
        let (screen, _) = written(before);
        let typed = screen.cursor().position.column.0 - margin;
        let found = after(&screen, typed, key, variant).unwrap_or_default();
        assert_eq!(found, expected, "{key:?}/{variant} on {before:?}");
    }
}

#[test]
fn ends_of_the_line() {
    check(&[
        ("$ ls -l¦", 2, Key::Home, 0, "$ ¦ls -l"),
        ("$ ls¦ -l", 2, Key::Control('a'), 0, "$ ¦ls -l"),
        ("$ ¦ls -l", 2, Key::Home, 0, "$ ¦ls -l"),
        ("$ ¦ls -l", 2, Key::End, 0, "$ ls -l¦"),
        ("$ ls¦ -l", 2, Key::Control('e'), 0, "$ ls -l¦"),
        ("$ ls -l¦", 2, Key::End, 0, "$ ls -l¦"),
        (
            "$ ¦ls -l               12:30",
            2,
            Key::End,
            0,
            "$ ls -l¦               12:30",
        ),
        (
            "│ > ¦text              │",
            4,
            Key::End,
            0,
            "│ > text¦              │",
        ),
        ("$ ¦漢字", 2, Key::End, 0, "$ 漢字¦"),
        ("Name: wolf¦", 6, Key::Home, 0, "Name: ¦wolf"),
        // A suggestion at the caret is accepted, one further right is not text.
        ("$ l¦\x1b[90ms -l\x1b[m", 2, Key::End, 0, "$ ls -l¦"),
        ("$ ¦l\x1b[90ms -l\x1b[m", 2, Key::End, 0, "$ l¦s -l"),
        (
            "$ ¦l\x1b[90ms -l\x1b[m",
            2,
            Key::Control('e'),
            0,
            "$ l¦s -l",
        ),
    ]);
}

#[test]
fn removal_of_everything_on_one_side() {
    check(&[
        ("$ ls -l¦", 2, Key::Control('u'), 0, "$ ¦"),
        ("$ ls¦ -l", 2, Key::Control('u'), 0, "$ ¦ -l"),
        ("$ ls¦ -l", 2, Key::Control('u'), 1, "$ ¦"),
        ("$ ¦ls -l", 2, Key::Control('u'), 0, "$ ¦ls -l"),
        (
            "$ ls -l¦            12:30",
            2,
            Key::Control('u'),
            0,
            "$ ¦                 12:30",
        ),
        ("$ a  b   c¦", 2, Key::Control('u'), 0, "$ ¦"),
        ("$ l¦\x1b[90ms -l\x1b[m", 2, Key::Control('u'), 0, "$ ¦"),
        ("$ 漢字¦x", 2, Key::Control('u'), 0, "$ ¦x"),
        ("$ ls¦ -l", 2, Key::Control('k'), 0, "$ ls¦"),
        (
            "$ ¦ls -l            12:30",
            2,
            Key::Control('k'),
            0,
            "$ ¦                 12:30",
        ),
        ("$ ls¦", 2, Key::Control('k'), 0, "$ ls¦"),
        ("$ l¦\x1b[90ms -l\x1b[m", 2, Key::Control('k'), 0, ""),
        ("$ ¦ls", 2, Key::Delete, 0, "$ ¦s"),
        ("$ l¦s  x", 2, Key::Delete, 0, "$ l¦   x"),
        ("$ ¦漢字", 2, Key::Delete, 0, "$ ¦字"),
        ("$ ls¦", 2, Key::Delete, 0, ""),
        ("$ ls¦\x1b[90m -l\x1b[m", 2, Key::Delete, 0, ""),
    ]);
}

#[test]
fn words_in_their_four_notions() {
    check(&[
        (
            "$ cp a.rs /tmp/new¦",
            2,
            Key::Alt('b'),
            0,
            "$ cp a.rs /tmp/¦new",
        ),
        (
            "$ cp a.rs /tmp/new¦",
            2,
            Key::Alt('b'),
            1,
            "$ cp a.rs ¦/tmp/new",
        ),
        (
            "$ cp a.rs /tmp/new¦",
            2,
            Key::WordLeft,
            2,
            "$ cp a.rs ¦/tmp/new",
        ),
        ("$ ¦cp a.rs", 2, Key::Alt('b'), 0, "$ ¦cp a.rs"),
        ("$ ¦cp a.rs", 2, Key::Alt('f'), 0, "$ cp¦ a.rs"),
        ("$ ¦cp a.rs", 2, Key::Alt('f'), 4, "$ cp ¦a.rs"),
        ("$ cp¦ a.rs", 2, Key::WordRight, 0, "$ cp a¦.rs"),
        ("$ cp¦ a.rs", 2, Key::WordRight, 1, "$ cp a.rs¦"),
        ("$ cp¦", 2, Key::Alt('f'), 0, "$ cp¦"),
        (
            "$ cp a.rs /tmp/new¦",
            2,
            Key::Control('w'),
            1,
            "$ cp a.rs ¦",
        ),
        (
            "$ cp a.rs /tmp/new¦",
            2,
            Key::AltBackspace,
            0,
            "$ cp a.rs /tmp/¦",
        ),
        ("$ cp a.rs¦ new", 2, Key::Control('w'), 1, "$ cp ¦ new"),
        ("$ ¦cp", 2, Key::Control('w'), 1, "$ ¦cp"),
        ("$ 漢字 字¦", 2, Key::Control('w'), 1, "$ 漢字 ¦"),
        ("$ 漢字 字¦", 2, Key::Alt('b'), 0, "$ 漢字 ¦字"),
        ("$ ¦cp a.rs", 2, Key::Alt('d'), 0, "$ ¦ a.rs"),
        ("$ ¦cp a.rs", 2, Key::Alt('d'), 4, "$ ¦a.rs"),
        ("$ cp¦", 2, Key::Alt('d'), 0, ""),
        // One word of a suggestion.
        (
            "$ g¦\x1b[90mit add .\x1b[m",
            2,
            Key::Alt('f'),
            0,
            "$ git¦ add .",
        ),
    ]);
}

#[test]
fn one_character_to_the_right() {
    check(&[
        ("$ ¦ls", 2, Key::Right, 0, "$ l¦s"),
        ("$ ls¦", 2, Key::Right, 0, "$ ls¦"),
        ("$ ¦漢字", 2, Key::Control('f'), 0, "$ 漢¦字"),
        (
            "$ g¦\x1b[90mit add .\x1b[m",
            2,
            Key::Right,
            0,
            "$ git add .¦",
        ),
        (
            "$ ¦g\x1b[90mit add .\x1b[m",
            2,
            Key::Right,
            0,
            "$ g¦it add .",
        ),
        ("Name: wolf¦", 6, Key::Right, 0, ""),
    ]);
}

#[test]
fn an_accepted_suggestion_is_not_grey_any_more() {
    let (screen, _) = written("$ l¦\x1b[90ms -l\x1b[m");
    let (canvas, line) = applied(&screen, 1, Key::End, 0).unwrap();
    let row = canvas.row(fulmar_terminal::Row(0));
    assert!((0..7).all(|column| !crate::text::is_grey(row, column)));
    assert_eq!(line.end, 7);
}

/// Rows of an editor of 8 rows, `¦` where the cursor is, and vim's mark below.
fn edited(rows: &str, mark: &str) -> Screen {
    let bytes = rows.replace('\n', "\r\n").replace('¦', "\x1b7");
    screen(8, 40, &format!("{bytes}\x1b[8;1H{mark}\x1b8"))
}

fn all_rows(canvas: &Canvas) -> String {
    let caret = canvas.caret();
    let rows = (0..7).map(|row| {
        let line = text(canvas.screen(), row);
        if row == caret.row.0 {
            with_caret(&line, caret.column.0)
        } else {
            line
        }
    });
    rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn after_in_editor(rows: &str, mark: &str, key: Key) -> Option<String> {
    let (canvas, _) = applied(&edited(rows, mark), 0, key, 0)?;
    Some(all_rows(&canvas))
}

#[test]
fn an_emptied_line_shows_what_it_showed_when_it_was_empty() {
    let (empty, _) = written("│ > ¦\x1b[2mTry this\x1b[m          │");
    let mut canvas = Canvas::new(&empty);
    let mut line = InputLine::at_caret(&canvas, 0, None);
    let mut press = |key| {
        let mut edit = EditState {
            canvas: &mut canvas,
            line: &mut line,
            overwrite: false,
        };
        apply_rule(key, 0, &mut edit).expect("a rule");
        with_caret(&text(canvas.screen(), 0), canvas.caret().column.0)
    };
    assert_eq!(press(Key::Text('T')), "│ > T¦                 │");
    assert_eq!(press(Key::Text('o')), "│ > To¦                │");
    assert_eq!(press(Key::Control('u')), "│ > ¦Try this          │");
    assert_eq!(press(Key::Text('x')), "│ > x¦                 │");
    assert_eq!(press(Key::Backspace), "│ > ¦Try this          │");
}

#[test]
fn a_suggestion_stays_as_long_as_it_is_agreed_with() {
    check(&[
        (
            "$ g¦\x1b[90mit add .\x1b[m",
            2,
            Key::Text('i'),
            0,
            "$ gi¦t add .",
        ),
        ("$ g¦\x1b[90mit add .\x1b[m", 2, Key::Text('r'), 0, "$ gr¦"),
    ]);
}

#[test]
fn rows_of_an_editor() {
    let mark = "-- INSERT --";
    let table = [
        ("one\ntw¦o\nthree", Key::Up, Some("on¦e\ntwo\nthree")),
        ("one\ntw¦o\nthree", Key::Down, Some("one\ntwo\nth¦ree")),
        ("one\nlonger¦\nx", Key::Down, Some("one\nlonger\nx¦")),
        (
            "one\nlonger¦\nx",
            Key::Control('p'),
            Some("one¦\nlonger\nx"),
        ),
        (
            "  1 one\n  2 lo¦nger\n  3",
            Key::Down,
            Some("  1 one\n  2 longer\n  3 ¦"),
        ),
        ("漢字\na¦bc", Key::Up, Some("¦漢字\nabc")),
        // Not beyond the text, not off the window.
        ("o¦ne\n~\n~", Key::Down, None),
        ("one\ntw¦o\n", Key::Down, None),
        ("o¦ne\ntwo", Key::Up, None),
        ("\n\n\n\n\n\nla¦st", Key::Down, None),
        (
            "1234567890123456789012345678901234567890a¦\nb",
            Key::Up,
            None,
        ),
        // At the edge a row opens, which numbers move down with.
        (
            "12345678901234567890123456789012345678¦\nb",
            Key::Text('x'),
            Some("12345678901234567890123456789012345678x¦\nb"),
        ),
        (
            "123456789012345678901234567890123456789¦\nb",
            Key::Text('x'),
            Some("123456789012345678901234567890123456789x\n¦\nb"),
        ),
        (
            "  1 45678901234567890123456789012345678¦\n  2 b",
            Key::Text('x'),
            Some("  1 45678901234567890123456789012345678x\n    ¦\n  2 b"),
        ),
        // Beyond the text the row opens with the next character.
        (
            "123456789012345678901234567890123456789¦\n~",
            Key::Text('x'),
            Some("123456789012345678901234567890123456789x\n¦~"),
        ),
        ("1\n¦~\n~", Key::Text('x'), Some("1\nx¦\n~")),
        // A line of two rows, the first of which ends with a blank.
        (
            "a\n123456789012345678901234567890123456789\nlo¦ng\nb",
            Key::Up,
            None,
        ),
        (
            "a\n123456789012345678901234567890123456789\nlong\nb¦",
            Key::Up,
            None,
        ),
        (
            "123456789012345678901234567890123456789\nlong¦\nb",
            Key::Home,
            None,
        ),
        ("one two¦", Key::Home, Some("¦one two")),
        (
            "  1 one two¦\n  2 x",
            Key::Home,
            Some("  1 ¦one two\n  2 x"),
        ),
        ("  1 ¦one two\n  2 x", Key::End, Some("  1 one two¦\n  2 x")),
        ("one two¦", Key::Control('u'), None),
        ("one¦ two", Key::Control('k'), None),
    ];
    for (rows, key, expected) in table {
        let found = after_in_editor(rows, mark, key);
        assert_eq!(found.as_deref(), expected, "{key:?} on {rows:?}");
    }
}

#[test]
fn keys_that_editors_have_for_something_else() {
    let emacs = "-UUU:----F1  a  All (Text) ---";
    let table = [
        ("one¦ two", "^X Exit", Key::Control('w'), None),
        ("one¦ two", emacs, Key::Control('w'), None),
        ("one¦ two", "-- INSERT --", Key::Control('w'), Some("¦ two")),
        ("one¦ two", emacs, Key::Control('k'), Some("one¦")),
        ("one¦ two", "^X Exit", Key::Control('k'), None),
        ("one two¦", emacs, Key::Control('k'), None),
        (
            "one¦ two",
            "-- REPLACE --",
            Key::Text('x'),
            Some("onex¦two"),
        ),
        (
            "one¦ two",
            "-- INSERT --",
            Key::Text('x'),
            Some("onex¦ two"),
        ),
        ("one¦ two", "-- REPLACE --", Key::Backspace, None),
    ];
    for (rows, mark, key, expected) in table {
        let found = after_in_editor(rows, mark, key);
        assert_eq!(found.as_deref(), expected, "{key:?} in {mark:?}");
    }
}

fn after_split(rows: &str, indents: bool) -> Option<String> {
    let screen = edited(rows, "-- INSERT --");
    let (canvas, line) = applied(&screen, 0, Key::Enter, u8::from(!indents))?;
    assert_eq!(
        line.row,
        canvas.caret().row,
        "the new row is the one that is edited"
    );
    Some(all_rows(&canvas))
}

#[test]
fn enter_splits_a_line_of_an_editor() {
    let table = [
        ("one¦\ntwo", true, Some("one\n¦\ntwo")),
        ("on¦e\ntwo\n~", true, Some("on\n¦e\ntwo")),
        ("  on¦e\ntwo", true, Some("  on\n  ¦e\ntwo")),
        ("  on¦e\ntwo", false, Some("  on\n¦e\ntwo")),
        (
            "  1 one¦\n  2 two\n  3 six",
            true,
            Some("  1 one\n  2 ¦\n  3 two\n    six"),
        ),
        ("¦one", true, Some("\n¦one")),
        // The last row of the window scrolls.
        ("\n\n\n\n\n\nla¦st", true, None),
        ("a\nb¦\nc\nd\ne\nf\ng", true, Some("a\nb\n¦\nc\nd\ne\nf")),
    ];
    for (rows, indents, expected) in table {
        assert_eq!(after_split(rows, indents).as_deref(), expected, "{rows:?}");
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    prop::sample::select(vec![
        Key::Text('x'),
        Key::Text('漢'),
        Key::Text('\u{301}'),
        Key::Text(' '),
        Key::Backspace,
        Key::Delete,
        Key::Left,
        Key::Right,
        Key::Up,
        Key::Down,
        Key::Home,
        Key::End,
        Key::WordLeft,
        Key::WordRight,
        Key::Control('u'),
        Key::Control('k'),
        Key::Control('w'),
        Key::Alt('d'),
        Key::AltBackspace,
        Key::Enter,
        Key::Tab,
        Key::Escape,
    ])
}

#[test]
fn at_the_right_edge_of_a_pane_the_text_goes_on_in_the_next_row_of_the_pane() {
    let table = [
        ("$ 123¦│x\n     │y", None),
        ("$ 12¦ │x\n     │y", Some("$ 12a│x\n     │y")),
        ("$ 12¦ │x\ntaken│y", None),
    ];
    for (rows, expected) in table {
        let found = after_at_prompt(rows, 2, Key::Text('a'));
        assert_eq!(found.as_deref(), expected, "{rows:?}");
    }
    let screen = screen(4, 10, "│$ 12 │x\r\n│     │y\r\n└─────┘\x1b[1;6H");
    let (canvas, _) = applied(&screen, 2, Key::Text('a'), 0).expect("a rule");
    assert_eq!(canvas.caret(), crate::testing::at(1, 1));
    let beside = "one¦       │ two\n          │ six";
    assert_eq!(after_in_editor(beside, "-- INSERT --", Key::Enter), None);
}

#[test]
fn a_right_prompt_goes_when_the_text_comes_near() {
    let row = |length: usize, blanks: usize, prompt: &str| {
        let text = "x".repeat(length);
        format!("$ {text}¦{}{prompt}", " ".repeat(blanks))
    };
    let far = row(36, 3, "12:30:45");
    let near = row(37, 2, "12:30:45");
    let gone = row(38, 0, "");
    check(&[
        (&far, 2, Key::Text('x'), 0, &near),
        (&near, 2, Key::Text('x'), 0, &gone),
    ]);
}

#[test]
fn submitted_lines_are_brought_back_where_they_fit() {
    let lines = ["ls -l", "a line too long for it"];
    let screen = screen(2, 20, &format!("{PASTE_MODE}$ "));
    let mut canvas = Canvas::new(&screen);
    let mut line = InputLine::at_caret(&canvas, 0, None);
    line.submitted = lines.map(Box::from).into();
    let mut press = |key, recalled: Option<usize>| {
        line.recalled = recalled.unwrap_or(line.recalled);
        let mut edit = EditState {
            canvas: &mut canvas,
            line: &mut line,
            overwrite: false,
        };
        apply_rule(key, 0, &mut edit)?;
        Some(with_caret(
            &text(canvas.screen(), 0),
            canvas.caret().column.0,
        ))
    };
    assert_eq!(press(Key::Down, None), None);
    assert_eq!(press(Key::Up, None).as_deref(), Some("$ ls -l¦"));
    assert_eq!(press(Key::Up, None), None, "no room");
    assert_eq!(press(Key::Down, None).as_deref(), Some("$ ¦"));
    assert_eq!(press(Key::Up, Some(2)), None, "another line than is there");
    assert_eq!(press(Key::Text('x'), Some(0)).as_deref(), Some("$ x¦"));
    assert_eq!(press(Key::Up, None), None, "the line was changed");
}

#[test]
fn a_line_with_combining_marks_is_not_brought_back() {
    let screen = screen(2, 20, &format!("{PASTE_MODE}$ "));
    let mut canvas = Canvas::new(&screen);
    let mut line = InputLine::at_caret(&canvas, 0, None);
    line.submitted = [Box::from("e\u{301}")].into();
    let mut edit = EditState {
        canvas: &mut canvas,
        line: &mut line,
        overwrite: false,
    };
    assert_eq!(apply_rule(Key::Up, 0, &mut edit), None);
}

#[test]
fn more_than_the_next_row_holds_is_not_pulled_in() {
    let screen = screen(4, 10, &format!("{PASTE_MODE}$ abcdefgh\r\nij\x1b[1;3H"));
    let mut canvas = Canvas::new(&screen);
    let mut line = InputLine::at_caret(&canvas, 0, None);
    // Blanks were typed that cannot be seen.
    line.end = 25;
    let mut edit = EditState {
        canvas: &mut canvas,
        line: &mut line,
        overwrite: false,
    };
    assert_eq!(apply_rule(Key::Control('k'), 0, &mut edit), None);
}

/// Rows of 10 columns behind a prompt, `¦` where the cursor is.
fn after_at_prompt(rows: &str, margin: u16, key: Key) -> Option<String> {
    let bytes = rows.replace('\n', "\r\n").replace('¦', "\x1b7");
    let screen = screen(4, 10, &format!("{PASTE_MODE}{bytes}\x1b8"));
    let typed = screen.cursor().position.column.0 - margin;
    let (canvas, _) = applied(&screen, typed, key, 0)?;
    let rows: Vec<String> = (0..4).map(|row| text(canvas.screen(), row)).collect();
    Some(rows.join("\n").trim_end().to_owned())
}

#[test]
fn the_rows_of_a_long_line_close_up_together() {
    let at_prompt = [
        ("$ abcd¦efgh\nijkl", Key::Backspace, Some("$ abcefghi\njkl")),
        ("$ abcd¦efgh\nijkl", Key::Delete, Some("$ abcdfghi\njkl")),
        (
            "$ a b¦cdefg\nhijkl",
            Key::Control('w'),
            Some("$ a cdefgh\nijkl"),
        ),
        (
            "$ abcd¦efgh\nijklmnopqr\nst",
            Key::Backspace,
            Some("$ abcefghi\njklmnopqrs\nt"),
        ),
        ("$ abcd¦efgh\n漢字", Key::Backspace, None),
    ];
    for (rows, key, expected) in at_prompt {
        let found = after_at_prompt(rows, 2, key);
        assert_eq!(found.as_deref(), expected, "{key:?} on {rows:?}");
    }
    let full = "1234567890123456789012345678901234567890";
    let wrapped = format!("ab¦{}\ncd\nef", &full[2..]);
    let in_editors = [
        ("-- INSERT --", Some(format!("a¦{}c\nd\nef", &full[2..]))),
        // It may scroll sideways.
        ("^X Exit", None),
    ];
    for (mark, expected) in in_editors {
        assert_eq!(
            after_in_editor(&wrapped, mark, Key::Backspace),
            expected,
            "{mark}"
        );
    }
    let numbered = "  1 a¦34567890123456789012345678901234567\n  2 b\n  3 c";
    assert_eq!(
        after_in_editor(numbered, "-- INSERT --", Key::Backspace),
        None
    );
}

#[test]
fn a_cluster_that_comes_in_from_the_next_row_is_as_wide_as_it_stands_there() {
    let mut terminal = Terminal::new(Size::new(2, 10).expect("a size"));
    terminal.set_clustering(Clustering::Permanent);
    terminal.process(format!("{PASTE_MODE}$ abcd\x1b7efgh❤\u{fe0f}i\x1b8").as_bytes());
    // One of its two columns would come in.
    assert!(applied(terminal.screen(), 4, Key::Backspace, 0).is_none());
}

proptest! {
    /// Whatever is on the screen and whatever was typed, rules change a screen of the same size.
    #[test]
    fn any_keys_on_any_screen(
        bytes in "(\x1b\\[[0-9;?]{0,6}[A-Hmhl]|[a-z $>|│─漢\u{301}1-9~\r\n]|-- INSERT --){0,60}",
        keys in prop::collection::vec((any_key(), 0..9_u8), 1..20),
        typed in 0..20_u16,
        rows in 1..7_u16,
        columns in 1..30_u16,
    ) {
        let screen = screen(rows, columns, &bytes);
        let mut canvas = Canvas::new(&screen);
        let mut line = InputLine::at_caret(&canvas, typed, None);
        for (key, variant) in keys {
            let before = canvas.clone();
            let mut edit = EditState { canvas: &mut canvas, line: &mut line, overwrite: false };
            let outcome = apply_rule(key, variant, &mut edit);
            prop_assert_eq!(canvas.size(), screen.size());
            prop_assert!(canvas.size().contains(canvas.caret()));
            if outcome.is_some() {
                let changes = before.changes(&canvas);
                prop_assert!(changes.len() <= usize::from(rows) * usize::from(columns));
            }
        }
    }
}

#[test]
fn what_was_there_before_the_caret_came_may_stay() {
    let screen = edited("abc def¦\n", "-- INSERT --");
    let press = |typed, variant| after(&screen, typed, Key::Backspace, variant).unwrap();
    assert_eq!(press(3, 0), "abc de¦");
    assert_eq!(press(3, 1), "abc de¦");
    assert_eq!(press(0, 0), "abc de¦");
    assert_eq!(press(0, 1), "abc def¦");
    // Elsewhere than in an editor with modes there is one way.
    for mark in ["^X Exit", "nothing"] {
        let screen = edited("abc def¦\n", mark);
        let found = after(&screen, 1, Key::Backspace, 1);
        assert_eq!(found.unwrap(), "abc de¦", "{mark}");
    }
}

#[test]
fn what_was_pushed_out_of_sight_does_not_come_back() {
    let full = "1234567890¦123456789012345678901234567890";
    let screen = edited(
        &format!("{}\nnext", &full[..full.len() - 1]),
        "-- INSERT --",
    );
    let mut canvas = Canvas::new(&screen);
    let mut line = InputLine::at_caret(&canvas, 0, None);
    let mut press = |key| {
        let mut edit = EditState {
            canvas: &mut canvas,
            line: &mut line,
            overwrite: false,
        };
        apply_rule(key, 0, &mut edit)
    };
    // There is room for one.
    assert!(press(Key::Text('x')).is_some() && press(Key::Backspace).is_some());
    assert!(press(Key::Text('x')).is_some() && press(Key::Text('y')).is_some());
    assert_eq!(press(Key::Backspace), None);
}

/// A box of 30 columns with these rows inside, `¦` where the cursor is.
fn boxed(rows: &[&str]) -> Screen {
    let width = |row: &str| row.chars().filter(|c| *c != '¦').count();
    let inner: String = rows
        .iter()
        .map(|row| format!("│{row}{}│\r\n", " ".repeat(28 - width(row))))
        .collect();
    let lines = "─".repeat(28);
    let inner = inner.replace('¦', "\x1b7");
    screen(5, 30, &format!("╭{lines}╮\r\n{inner}╰{lines}╯\x1b8"))
}

#[test]
fn near_the_inner_edge_of_a_box_text_has_no_rule() {
    let typed = |row: &str| applied(&boxed(&[row]), 0, Key::Text('x'), 0).is_some();
    assert!(typed(" > 123456789012345678901¦"));
    assert!(!typed(" > 1234567890123456789012¦"));
    assert!(!typed(" 123456789012345678901234¦"));
    // The row of a shell, also in the left pane of a window, is used to its end.
    let pane = "\x1b[1;21H│\x1b[2;21H│\x1b[1;1H$ 1234567890123456";
    for (row, typed) in [(pane, 16), ("$ 12345678901234567890123456", 26)] {
        let canvas = applied(&screen(2, 30, row), typed, Key::Text('x'), 0);
        assert!(canvas.is_some(), "{row}");
    }
}

#[test]
fn in_the_lower_row_of_a_box_nothing_is_known_of_the_removal_of_a_line() {
    let killed = |rows: &[&str]| applied(&boxed(rows), 3, Key::Control('u'), 0).is_some();
    assert!(killed(&[" > one¦"]));
    assert!(killed(&["", "   two¦"]));
    assert!(!killed(&[" > one", "   two¦"]));
}
