//! The main screen in a window of another width.

use crate::{drawn, padded};
use fulmar_terminal::{Clustering, Color, Column, Reflow, Row, Size, Terminal};

fn size((rows, columns): (u16, u16)) -> Size {
    Size::new(rows, columns).expect("a small size")
}

/// Resizes behind something that was drawn and changes nothing: of resizes in a row only the last counts.
fn resize(terminal: &mut Terminal, to: (u16, u16)) {
    terminal.process(b"\x1b[m");
    terminal.resize(size(to));
}

fn after(first: (u16, u16), bytes: &str) -> Terminal {
    let mut terminal = Terminal::new(size(first));
    terminal.process(bytes.as_bytes());
    terminal
}

#[track_caller]
fn shows(terminal: &Terminal, wanted: &str) {
    let rows = terminal.screen().size().rows();
    assert_eq!(drawn(terminal.screen()), padded(wanted, rows));
}

/// `bytes` draw on a screen of the first size something that looks so in a window of the second, and as before in one of the first.
#[track_caller]
fn reflows(first: (u16, u16), bytes: &str, second: (u16, u16), wanted: &str) {
    let mut terminal = after(first, bytes);
    let before = drawn(terminal.screen());
    resize(&mut terminal, second);
    shows(&terminal, wanted);
    resize(&mut terminal, first);
    assert_eq!(drawn(terminal.screen()), before);
}

#[test]
fn a_line_is_cut_anew() {
    reflows((4, 8), "abcdefghij\r\n$ ", (4, 12), "abcdefghij\n$ │");
    reflows((4, 8), "abcdefghij\r\n$ ", (4, 4), "abcd\nefgh\nij\n$ │");
    reflows((4, 8), "abcdefgh\r\nij\r\n$ ", (4, 12), "abcdefgh\nij\n$ │");
    reflows((6, 4), "\r\nabcde\r\n\r\nf", (6, 2), "\nab\ncd\ne\n\nf│");
}

#[test]
fn rows_leave_at_the_top_and_come_back() {
    reflows((3, 8), "abcdef\r\nghijkl\r\n$ ", (3, 3), "ghi\njkl\n$ │");
    reflows((3, 8), "abcdef\r\nghijkl\r\n$ ", (2, 3), "jkl\n$ │");
    reflows((3, 8), "abcdef\r\nghijkl\r\n$ ", (1, 1), " │");
}

#[test]
fn a_line_whose_beginning_has_left_comes_back_whole() {
    let mut terminal = after((2, 4), "abcdefgh\r\n$ ");
    // The first row was scrolled off before, and nobody has kept it.
    resize(&mut terminal, (2, 8));
    shows(&terminal, "efgh\n$ │");
    let mut terminal = after((2, 8), "abcdefgh\r\n$ ");
    resize(&mut terminal, (2, 3));
    shows(&terminal, "gh\n$ │");
    terminal.process(b"\r\n");
    resize(&mut terminal, (3, 8));
    shows(&terminal, "abcdefgh\n$\n│");
}

#[test]
fn the_cursor_stays_at_its_character() {
    reflows((4, 8), "abcdefghij\x1b[1;7H", (4, 4), "abcd\nef│gh\nij");
    reflows((4, 8), "abcdefghij\x1b[1;5H", (4, 4), "abcd\n│efgh\nij");
    reflows((4, 8), "abcdefghij\x1b[2;1H", (4, 5), "abcde\nfgh│ij");
    reflows((4, 8), "abcdefgh", (4, 4), "abcd\nefgh│");
    reflows((4, 8), "abcdefgh", (4, 12), "abcdefgh│");
    // There is no other row before something is written to it.
    reflows((4, 8), "abcd", (4, 4), "abcd│");
}

#[test]
fn right_of_the_text_the_cursor_stays_in_its_row() {
    let mut terminal = after((4, 8), "ab\x1b[1;7H");
    resize(&mut terminal, (4, 4));
    shows(&terminal, "ab │");
    resize(&mut terminal, (4, 8));
    shows(&terminal, "ab │");
    let mut terminal = after((4, 8), "abcdefghij\x1b[2;6H");
    resize(&mut terminal, (4, 5));
    shows(&terminal, "abcde\nfghi│j");
}

#[test]
fn what_is_printed_next_goes_on_with_the_line() {
    let mut terminal = after((4, 8), "abcdefgh");
    resize(&mut terminal, (4, 12));
    terminal.process(b"ij");
    resize(&mut terminal, (4, 4));
    terminal.process("k\u{301}lm".as_bytes());
    shows(&terminal, "abcd\nefgh\nijk\u{301}l\nm│");
    resize(&mut terminal, (4, 20));
    terminal.process("\u{302}".as_bytes());
    shows(&terminal, "abcdefghijk\u{301}lm\u{302}│");
}

#[test]
fn a_saved_cursor_stays_at_its_character() {
    let mut terminal = after((3, 8), "abcdef\x1b7gh\r\n$ ");
    resize(&mut terminal, (3, 4));
    terminal.process(b"\x1b8");
    shows(&terminal, "abcd\nef│gh\n$");
}

#[test]
fn wide_characters_leave_a_gap_at_the_margin_that_is_no_text() {
    reflows((4, 8), "a漢字漢b", (4, 4), "a漢\n字漢\nb│");
    reflows((4, 8), "漢字漢字", (4, 3), "漢\n字\n漢\n字│");
    reflows((4, 3), "漢字漢字", (4, 8), "漢字漢字│");
    // On the left half, and on the right one.
    reflows((2, 8), "漢字\x1b[1;3H", (2, 3), "漢\n│字");
    reflows((2, 8), "漢字\x1b[1;4H", (2, 3), "漢\n字│");
}

#[test]
fn in_a_single_column_wide_characters_have_no_place() {
    let mut terminal = after((4, 8), "a漢b");
    resize(&mut terminal, (4, 1));
    shows(&terminal, "a\nb│");
}

#[test]
fn clusters_links_and_colours_go_with_their_characters() {
    let mut terminal = Terminal::new(size((4, 8)));
    terminal.set_clustering(Clustering::Permanent);
    terminal.process("ab\x1b[31m\x1b]8;;http://a.b/\x07c👍🏽\x1b]8;;\x07\x1b[mde\u{301}".as_bytes());
    for columns in [4, 2, 3, 5, 8] {
        resize(&mut terminal, (4, columns));
    }
    shows(&terminal, "abc👍🏽de\u{301}│");
    let row = terminal.screen().row(Row(0));
    let linked: Vec<bool> = (0..8).map(|n| row.link(Column(n)).is_some()).collect();
    assert_eq!(
        linked,
        [false, false, true, true, true, false, false, false]
    );
    assert_eq!(row.style(Column(3)).foreground, Color::indexed(1));
}

#[test]
fn what_was_erased_between_words_stays_between_them() {
    reflows((4, 8), "a\x1b[1;7Hbc", (4, 3), "a\n\nbc│");
    let mut terminal = after((4, 8), "a\x1b[1;7Hbc");
    for columns in [5, 4, 3, 2, 1, 6, 8] {
        resize(&mut terminal, (4, columns));
    }
    shows(&terminal, "a     bc│");
}

#[test]
fn the_background_of_a_row_goes_to_the_new_margin() {
    let mut terminal = after((2, 8), "\x1b[44mabcde\x1b[K\x1b[m\r\n");
    for columns in [4, 12] {
        resize(&mut terminal, (2, columns));
        let row = u16::from(columns == 4);
        let row = terminal.screen().row(Row(row - u16::from(columns == 4)));
        let last = row.style(Column(columns - 1)).background;
        assert_eq!(last, Color::indexed(4), "{columns}");
    }
}

#[test]
fn the_main_screen_below_a_full_screen_program_is_cut_anew() {
    let mut terminal = after(
        (3, 8),
        "abcdef\r\n$ vi\x1b[?1049h\x1b[Htop line\x1b[3;1Hend",
    );
    resize(&mut terminal, (3, 4));
    shows(&terminal, "top\n\nend│");
    terminal.process(b"\x1b[?1049l");
    shows(&terminal, "abcd\nef\n$ vi│");
}

#[test]
fn without_reflow_rows_are_cropped() {
    let mut terminal = after((3, 8), "abcdefghij\r\n$ ");
    terminal.resize_with(size((3, 4)), Reflow::Off);
    shows(&terminal, "abcd\nij\n$ │");
    terminal.process(b"\x1b[m");
    terminal.resize_with(size((3, 8)), Reflow::Off);
    shows(&terminal, "abcd\nij\n$ │");
}

/// A shell with half a line typed, in a window that becomes one of the second size.
fn half_typed(second: (u16, u16)) -> Terminal {
    let mut terminal = after((4, 8), "one line of text\r\n$ echo half");
    terminal.resize_with(size(second), Reflow::AboveCursor);
    terminal
}

#[test]
fn the_line_of_the_cursor_stays_in_its_rows_for_a_shell_that_draws_it_anew() {
    shows(&half_typed((4, 4)), " of\ntext\n$ ec\nalf│");
    shows(&half_typed((4, 20)), "one line of text\n$ echo h\nalf│");
    let mut terminal = half_typed((4, 4));
    terminal.process(b"\x1b[A\r\x1b[J$ echo half");
    shows(&terminal, "text\n$ ec\nho h\nalf│");
    terminal.resize_with(size((4, 20)), Reflow::AboveCursor);
    terminal.process(b"\x1b[2A\r\x1b[J$ echo half");
    shows(&terminal, "one line of text\n$ echo half│");
}

#[test]
fn a_window_that_was_small_for_a_moment_has_cost_nothing() {
    let whole = half_typed((4, 8));
    for reflow in [Reflow::All, Reflow::AboveCursor, Reflow::Off] {
        for moments in [&[(1, 1)][..], &[(2, 4), (9, 3), (1, 40)]] {
            let mut terminal = half_typed((4, 8));
            terminal.process(b"\x1b[?1049htop");
            terminal.process(b"\x1b[?1049l");
            for &moment in moments {
                terminal.resize_with(size(moment), reflow);
            }
            terminal.resize_with(size((4, 8)), reflow);
            assert_eq!(drawn(terminal.screen()), drawn(whole.screen()));
        }
    }
}
