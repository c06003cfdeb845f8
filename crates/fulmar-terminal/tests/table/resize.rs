//! Resizes of the window, and the rows that stay.

use crate::{drawn, padded, support};
use fulmar_terminal::{Reflow, ScrollbackLimits, Size, Terminal, unpack_line};

/// On a screen of `before` rows by 8 columns, a window of `after` rows leaves what is drawn there.
#[track_caller]
fn resized((before, after): (u16, u16), bytes: &str, wanted: &str) {
    let mut terminal = support::terminal(size(before), "│");
    terminal.process(bytes.as_bytes());
    terminal.resize(size(after));
    assert_eq!(drawn(terminal.screen()), padded(wanted, after));
}

#[test]
fn the_row_of_the_cursor_and_what_is_above_it_stay() {
    resized((4, 2), "a\r\nb\r\nc\r\n$ ", "c\n$ │");
    resized((4, 1), "a\r\nb\r\nc\r\n$ ", "$ │");
}

#[test]
fn empty_rows_below_the_cursor_go_first_and_others_last() {
    resized((4, 2), "a\r\nb\r\n\x1b[H", "│a\nb");
    resized((4, 3), "a\r\nb\r\nc\x1b[2;2H", "a\nb│\nc");
    resized((4, 2), "a\r\nb\r\nc\r\nd\x1b[3;1H", "│c\nd");
    resized((4, 2), "a\r\nb\r\nc\r\nd\x1b[H", "│a\nb");
    resized((4, 2), "a\r\nb\x1b[44m\x1b[J\x1b[2;2H", "a\nb│");
}

#[test]
fn a_taller_window_has_empty_rows_at_its_bottom() {
    resized((2, 4), "a\r\nb", "a\nb│");
}

fn size(rows: u16) -> Size {
    Size::new(rows, 8).expect("a small size")
}

/// A terminal of four rows that is one of `rows` after it has shown `bytes`.
fn short(rows: u16, bytes: &str) -> Terminal {
    let mut terminal = support::terminal(size(4), "│");
    terminal.process(bytes.as_bytes());
    terminal.resize(size(rows));
    terminal
}

#[test]
fn a_saved_cursor_stays_at_its_text() {
    resized((4, 2), "a\r\nb\r\nc\x1b7\r\n$ \x1b8", "c│\n$");
    let mut terminal = short(2, "a\r\nb\r\nc\x1b7\r\n$ ");
    terminal.process(b"\x1b8");
    assert_eq!(drawn(terminal.screen()), "c│\n$");
    terminal.resize(size(4));
    terminal.process(b"\x1b[H\x1b8");
    assert_eq!(drawn(terminal.screen()), "a\nb\nc│\n$");
}

#[test]
fn where_no_cursor_was_saved_that_is_home() {
    let mut terminal = short(2, "a\r\nb\r\nc\r\n$ ");
    terminal.resize(size(4));
    terminal.process(b"\x1b8");
    assert_eq!(drawn(terminal.screen()), "│a\nb\nc\n$");
}

#[test]
fn a_taller_window_brings_back_the_rows_that_have_left() {
    let mut terminal = short(1, "a\r\nb\r\nc\r\n$ ");
    assert_eq!(drawn(terminal.screen()), "$ │");
    terminal.resize(size(3));
    assert_eq!(drawn(terminal.screen()), "b\nc\n$ │");
    terminal.resize(size(6));
    assert_eq!(drawn(terminal.screen()), padded("a\nb\nc\n$ │", 6));
}

#[test]
fn rows_that_scroll_off_a_short_screen_come_back_too() {
    let mut terminal = short(2, "a\r\nb\r\nc\r\n$ ");
    terminal.process(b"ls\r\nd\r\n$ ");
    terminal.resize(size(4));
    assert_eq!(drawn(terminal.screen()), "c\n$ ls\nd\n$ │");
    let mut terminal = short(2, "a\r\nb\r\nc\r\n$ ");
    terminal.process(b"\x1b[1S\x1b[1Sd\r\ne\r\nf");
    terminal.resize(size(4));
    assert_eq!(drawn(terminal.screen()), padded("\n  d\ne\nf│", 4));
}

#[test]
fn what_a_program_clears_does_not_come_back() {
    for clear in ["\x1b[H\x1b[2J\x1b[3J$ ", "\x1bc$ "] {
        let mut terminal = short(2, "a\r\nb\r\nc\r\n$ ");
        terminal.process(clear.as_bytes());
        terminal.resize(size(4));
        assert_eq!(drawn(terminal.screen()), padded("$ │", 4));
    }
}

#[test]
fn lines_that_an_editor_deletes_do_not_come_back() {
    let mut terminal = short(2, "a\r\nb\r\nc\r\n$ ");
    terminal.process(b"\x1b[H\x1b[1M");
    terminal.resize(size(4));
    assert_eq!(drawn(terminal.screen()), padded("a\nb\n│$", 4));
}

#[test]
fn a_pending_wrap_stays_when_rows_come_or_go() {
    let mut terminal = short(2, "a\r\nb\r\nc\r\n12345678");
    terminal.process(b"9");
    assert_eq!(drawn(terminal.screen()), "12345678\n9│");
}

#[test]
fn a_mark_still_belongs_to_the_character_before_the_resize() {
    let mut terminal = short(2, "a\r\nb\r\nc\r\ne");
    terminal.process("\u{301}".as_bytes());
    assert_eq!(drawn(terminal.screen()), "c\ne\u{301}│");
}

/// The lines above the screen that have come since the number `from`, and the next number.
fn above(terminal: &Terminal, from: u64) -> (Vec<String>, u64) {
    let history = terminal.history().expect("it is kept");
    let lines = (from.max(history.first())..history.end()).map(|number| {
        let mut packed = Vec::new();
        assert!(history.read(number, &mut packed), "{number}");
        let rows = unpack_line(&packed, 80).expect("what was packed");
        let mut text = String::new();
        rows.iter().for_each(|row| row.push_text(&mut text));
        text
    });
    (lines.collect(), history.end())
}

fn with_history(mut terminal: Terminal) -> Terminal {
    terminal.keep_history(ScrollbackLimits::default());
    terminal
}

#[test]
fn lines_that_leave_are_kept_once_somebody_wants_them() {
    let mut terminal = support::terminal(size(2), "│");
    terminal.process(b"a\r\nb\r\nc");
    assert!(terminal.history().is_none());
    let mut terminal = with_history(terminal);
    terminal.process(b"\r\nd\r\n\x1b[5Se\r\n");
    let (lines, next) = above(&terminal, 0);
    assert_eq!(lines, ["b", "c", "d", "", ""]);
    terminal.process(b"\x1b[r\x1b[?1049h1\r\n2\r\n3\r\n4\x1b[?1049l\x1b[1M");
    assert_eq!(above(&terminal, next).0, [""; 0]);
    terminal.process(b"\x1b[H\x1b[Jz\x1b[3b");
    terminal.process(b"\x1b[3J\x1b[H\x1b[Jz\x1b[42b\r\n\n");
    assert_eq!(terminal.history().map(|history| history.first()), Some(5));
    assert_eq!(above(&terminal, 0).0, ["z".repeat(43)]);
}

#[test]
fn rows_that_scroll_below_others_are_not_kept() {
    let mut terminal = with_history(support::terminal(size(3), "│"));
    terminal.process(b"a\r\n\x1b[2;3rb\n\n\n\x1b[1;2r\x1b[2;1H\n\n");
    assert_eq!(above(&terminal, 0).0, ["b", ""]);
}

#[test]
fn a_window_takes_lines_back_with_their_numbers() {
    let mut terminal = with_history(support::terminal(size(3), "│"));
    terminal.process(b"a\r\nb\r\n$ ");
    terminal.resize(size(1));
    assert_eq!(above(&terminal, 0).0, ["a", "b"]);
    terminal.process(b"\r\nc");
    assert_eq!(above(&terminal, 0).0, ["a", "b", "$ "]);
    terminal.resize(size(3));
    assert_eq!(drawn(terminal.screen()), "b\n$\nc│");
    assert_eq!(above(&terminal, 0).0, ["a"]);
    terminal.process("\r\n".repeat(256).as_bytes());
    let (lines, next) = above(&terminal, 0);
    assert_eq!(
        lines.get(..5),
        Some(&["a", "b", "$ ", "c", ""].map(str::to_owned)[..])
    );
    assert_eq!(next, 257);
    terminal.process(b"\x1b[3J");
    assert_eq!(above(&terminal, 0), (Vec::new(), 257));
}

/// Three lines that have left and come back, with numbers from 0 on.
fn with_lines_that_came_back() -> Terminal {
    let mut terminal = with_history(support::terminal(size(4), "│"));
    terminal.process(b"a\r\nb\r\nc\r\n$ ");
    terminal.resize(size(1));
    terminal.process(b"x");
    assert_eq!(above(&terminal, 0).0, ["a", "b", "c"]);
    terminal.resize(size(4));
    assert_eq!(above(&terminal, 0), (Vec::new(), 0));
    terminal
}

#[test]
fn what_leaves_in_the_place_of_lines_that_came_back_has_new_numbers() {
    let mut terminal = with_lines_that_came_back();
    terminal.process(b"\x1b[H\x1b[Jd\r\ne\r\nf\r\ng\r\nh\r\n");
    assert_eq!(above(&terminal, 0).0, ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_line_that_was_changed_has_a_new_number_and_so_have_those_behind_it() {
    let mut terminal = with_lines_that_came_back();
    terminal.process(b"\x1b[2;1HB\x1b[4;1H\n");
    assert_eq!(above(&terminal, 0).0, ["a"]);
    terminal.process(b"\n\n");
    assert_eq!(above(&terminal, 0).0, ["a", "b", "c", "B", "c"]);
}

#[test]
fn a_line_of_several_rows_that_was_changed_leaves_whole() {
    let mut terminal = with_history(support::terminal(size(4), "│"));
    terminal.process(b"12345678abc\r\nd\r\n$ ");
    terminal.resize(size(1));
    terminal.process(b"x");
    terminal.resize(size(3));
    assert_eq!(drawn(terminal.screen()), "abc\nd\n$ x│");
    terminal.process(b"\x1b[HABC\x1b[3;1H\n\n");
    assert_eq!(
        above(&terminal, 0).0,
        ["12345678abc", "d", "12345678ABC", "d"]
    );
}

#[test]
fn windows_that_change_with_nothing_drawn_enter_no_line_twice() {
    for reflow in [Reflow::All, Reflow::AboveCursor, Reflow::Off] {
        for first in [(1, 8), (1, 20), (2, 8), (3, 10)] {
            let mut terminal = with_history(support::terminal(size(4), "│"));
            terminal.process(b"12345678abc\r\nd\r\n$ ");
            for (rows, columns) in [first, (2, 12), (1, 20), (4, 13), (4, 8)] {
                let window = Size::new(rows, columns).expect("a small size");
                terminal.resize_with(window, reflow);
            }
            if reflow == Reflow::All {
                assert_eq!(above(&terminal, 0), (Vec::new(), 0), "all came back");
            }
            terminal.process(b"\x1b[4;1H\n\n\n\n");
            let text = above(&terminal, 0).0.concat();
            // Where rows are no lines any more, the beginning of one may have left alone before.
            let is_cropped = reflow == Reflow::Off && first == (3, 10);
            let before = if is_cropped { "12345678" } else { "" };
            let wanted = format!("{before}12345678abcd$ ");
            assert_eq!(text, wanted, "{reflow:?} {first:?}");
        }
    }
}

#[test]
fn a_line_of_very_many_cells_keeps_its_numbers() {
    let mut terminal = with_history(support::terminal(size(3), "│"));
    terminal.process(b"a\r\nb\r\n$ ");
    terminal.resize(size(1));
    terminal.process("x".repeat(40_000).as_bytes());
    terminal.process(b"\r\ny\r\n");
    let (before, end) = above(&terminal, 0);
    assert_eq!(end, 5, "two of them are of the long one");
    terminal.process(&b"z\r\n".repeat(1000));
    let (after, _) = above(&terminal, 0);
    assert!(after.starts_with(&before));
}

#[test]
fn no_number_comes_again_for_other_lines_when_all_are_cleared() {
    let mut terminal = with_history(support::terminal(size(3), "│"));
    terminal.process(b"a\r\nb\r\n$ ");
    terminal.resize(size(1));
    terminal.process(b"x");
    terminal.resize(size(3));
    assert_eq!(above(&terminal, 0), (Vec::new(), 0));
    terminal.process(b"\x1b[3J\n\n\n");
    let history = terminal
        .history()
        .map(|history| (history.clears(), history.first()));
    assert_eq!(history, Some((1, 2)));
    assert_eq!(above(&terminal, 0).1, 5);
}

#[test]
fn the_screen_below_a_full_screen_program_keeps_its_prompt() {
    let mut terminal = support::terminal(size(4), "│");
    terminal.process(b"a\r\nb\r\nc\r\n$ \x1b[?1049h\x1b[Htop\x1b[4;1Hbottom");
    terminal.resize(size(2));
    assert_eq!(drawn(terminal.screen()).lines().next(), Some("top"));
    terminal.process(b"\x1b[?1049l");
    assert_eq!(drawn(terminal.screen()), "c\n$ │");
}

#[test]
fn the_screen_below_a_full_screen_program_comes_back_whole() {
    let mut terminal = short(4, "a\r\nb\r\nc\r\n$ \x1b[?1049h\x1b[Htop\x1b[4;1Hbottom");
    terminal.resize(size(1));
    terminal.process(b"x\r\ny\r\n");
    terminal.resize(size(4));
    terminal.process(b"\x1b[?1049l");
    assert_eq!(drawn(terminal.screen()), "a\nb\nc\n$ │");
}

#[test]
fn the_screen_below_a_program_that_saves_no_cursor_keeps_its_last_rows() {
    let mut terminal = short(4, "a\r\nb\r\nc\x1b[?47h");
    terminal.resize(size(2));
    terminal.process(b"\x1b[?47l\x1b[2;2H");
    assert_eq!(drawn(terminal.screen()), "b\nc│");
}
