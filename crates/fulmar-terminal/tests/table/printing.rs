use fulmar_terminal::Row;

use crate::{after, on, screen};

#[test]
fn text_replaces_what_is_there() {
    screen("ab│cd", "x", "abx│d");
    screen("│", "héé", "héé│");
    screen("ab│cd", "x\x7fy", "abxy│");
}

#[test]
fn the_last_column_leaves_a_wrap_pending() {
    on(2, 4, "│", "abcd", "abcd│");
    on(2, 4, "│", "abcde", "abcd\ne│");
    on(2, 4, "abcd│", "\rx", "x│bcd");
    on(2, 4, "abcd│", "\nx", "abcd\n   x│");
    on(2, 4, "abcd│", "\x08x", "abx│d");
    on(2, 4, "abcd│", "\x1b[Dx", "abx│d");
    on(2, 4, "abcd│", "\x1b[4Gx", "abcx│");
    on(2, 4, "abcd│", "\x1b[31m\x1b[?25lx", "abcd\nx│");
    on(2, 4, "abcd│", "\tx", "abcd\nx│");
    on(2, 4, "abcd│", "\x07x", "abcd\nx│");
}

#[test]
fn a_wrap_at_the_bottom_scrolls() {
    on(2, 4, "ab\ncd│", "efgh", "cdef\ngh│");
    on(3, 4, "a\nb\nc│", "\x1b[1;2r\x1b[2;1Hvwxyz", "vwxy\nz│\nc");
    on(3, 4, "a\nb\nc│", "\x1b[1;2r\x1b[3;1Hvwxyz", "a\nb\nz│wxy");
}

#[test]
fn without_autowrap_the_last_column_is_overwritten() {
    on(2, 4, "ab│", "\x1b[?7lcdefg", "abcg│");
    on(2, 4, "ab│", "\x1b[?7lcdef\x1b[?7hg", "abcf\ng│");
    on(2, 4, "ab│", "\x1b[?7lé漢cdé", "abéé│");
}

#[test]
fn a_row_knows_that_its_text_runs_on() {
    let is_wrapped = |bytes: &str, row| after(bytes).screen().row(Row(row)).is_wrapped();
    let full = "x".repeat(80);
    assert!(!is_wrapped(&full, 0));
    assert!(is_wrapped(&format!("{full}y"), 0));
    assert!(!is_wrapped(&format!("{full}y"), 1));
    assert!(!is_wrapped(&format!("{full}\r\ny"), 0));
    for end in [
        "\x1b[K",
        "\x1b[2K",
        "\x1b[80Gz",
        "\x1b[@",
        "\x1b[P",
        "\x1b[80G\x1b[X",
        "\x1b[J",
    ] {
        assert!(!is_wrapped(&format!("{full}y\x1b[H{end}"), 0), "{end:?}");
    }
    assert!(is_wrapped(&format!("{full}y\x1b[Hz"), 0));
    assert!(is_wrapped(&format!("{full}y\x1b[H\x1b[1K"), 0));
}

#[test]
fn insert_mode_pushes_the_rest_of_the_row() {
    screen("a│bc", "\x1b[4hxy", "axy│bc");
    screen("a│bcdefgh", "\x1b[4hxy", "axy│bcdef");
    screen("a│bc", "\x1b[4hx\x1b[4ly", "axy│c");
    screen("a│bc", "\x1b[4h漢", "a漢│bc");
}

#[test]
fn the_last_character_is_repeated() {
    screen("│", "a\x1b[3b", "aaaa│");
    screen("│", "é\x1b[b", "éé│");
    screen("│", "a\x1b[2;3H\x1b[b", "a\n  a│");
    screen("ab│", "\x1bc\x1b[5b", "│");
    on(2, 4, "│", "a\x1b[5b", "aaaa\naa│");
}

#[test]
fn a_count_beyond_the_screen_ends_in_the_same_column() {
    on(2, 4, "│", "a\x1b[1001b", "aaaa\naa│");
    on(2, 4, "│", "a\x1b[65535b", "aaaa\naaaa│");
}

#[test]
fn a_mark_joins_the_character_before_it() {
    screen("│", "e\u{301}x", "e\u{301}x│");
    screen("│", "漢\u{301}x", "漢\u{301}x│");
    on(2, 4, "│", "abce\u{301}", "abce\u{301}│");
}

#[test]
fn a_mark_after_a_move_joins_the_character_under_the_cursor() {
    screen("ab│c", "\x1b[D\u{301}", "a│b\u{301}c");
    screen("│ab", "x\x1b[31m\u{301}", "x\u{301}│b");
}

#[test]
fn a_mark_on_nothing_gets_a_cell() {
    screen("a│", "\x1b[2;3H\u{301}x", "a\n  \u{a0}\u{301}x│");
}

#[test]
fn damaged_text_is_marked() {
    let drawn = |bytes: &[u8]| {
        let mut terminal = after("");
        terminal.process(bytes);
        let mut text = String::new();
        terminal.screen().row(Row(0)).push_text(&mut text);
        text
    };
    assert_eq!(
        drawn(b"A\xf0\x80\x80\xafB"),
        "A\u{fffd}\u{fffd}\u{fffd}\u{fffd}B"
    );
    assert_eq!(drawn(b"caf\xe9 x"), "caf\u{fffd} x");
    assert_eq!(drawn(b"a\x9b1mb"), "a\u{fffd}1mb");
    assert_eq!(drawn(b"a\xe6\xbc\x1b[1mb"), "a\u{fffd}b");
    assert_eq!(drawn(b"a\xe6\xbc\nb"), "a\u{fffd}");
    assert_eq!(drawn("é\u{85}".as_bytes()), "é");
}
