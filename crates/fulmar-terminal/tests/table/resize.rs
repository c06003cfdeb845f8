//! Resizes of the window, and the rows that stay.

use crate::{drawn, padded, support};
use fulmar_terminal::Size;

/// On a screen of `before` rows by 8 columns, a window of `after` rows leaves what is drawn there.
#[track_caller]
fn resized((before, after): (u16, u16), bytes: &str, wanted: &str) {
    let size = |rows| Size::new(rows, 8).expect("a small size");
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
fn below_the_cursor_rows_go_first() {
    resized((4, 2), "a\r\nb\r\nc\r\nd\x1b[H", "│a\nb");
    resized((4, 2), "a\r\nb\r\nc\r\nd\x1b[3;1H", "b\n│c");
}

#[test]
fn a_taller_window_has_empty_rows_at_its_bottom() {
    resized((2, 4), "a\r\nb", "a\nb│");
}

#[test]
fn a_saved_cursor_stays_at_its_text() {
    resized((4, 2), "a\r\nb\r\nc\x1b7\r\n$ \x1b8", "b\nc│");
    let saved = "a\r\nb\r\nc\x1b7\r\n$ ";
    let size = |rows| Size::new(rows, 8).expect("a small size");
    let mut terminal = support::terminal(size(4), "│");
    terminal.process(saved.as_bytes());
    terminal.resize(size(2));
    terminal.process(b"\x1b8");
    assert_eq!(drawn(terminal.screen()), "c│\n$");
}

#[test]
fn the_screen_below_a_full_screen_program_keeps_its_prompt() {
    let size = |rows| Size::new(rows, 8).expect("a small size");
    let mut terminal = support::terminal(size(4), "│");
    terminal.process(b"a\r\nb\r\nc\r\n$ \x1b[?1049h\x1b[Htop\x1b[4;1Hbottom");
    terminal.resize(size(2));
    assert_eq!(drawn(terminal.screen()).lines().next(), Some("top"));
    terminal.process(b"\x1b[?1049l");
    assert_eq!(drawn(terminal.screen()), "c\n$ │");
}
