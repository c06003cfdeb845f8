use fulmar_terminal::{Attributes, Column, Row, Vocabulary};

use crate::{after, on, screen};

/// The rows that [`guarded`] begins with, whose cells in the columns 3 to 5 are protected.
const ROWS: [[&str; 3]; 4] = [
    ["ab", "cde", "fgh"],
    ["ij", "klm", "nop"],
    ["qr", "stu", "vwx"],
    ["yz", "ABC", "DEF"],
];

/// On a full screen of four rows, in each of which three cells are protected, `bytes` leave `after`.
#[track_caller]
fn guarded(bytes: &str, after: &str) {
    let rows = (1..).zip(ROWS);
    let drawn = rows.map(|(row, [a, b, c])| format!("\x1b[{row}H{a}\x1b[1\"q{b}\x1b[\"q{c}"));
    let drawn: String = drawn.collect();
    on(4, 8, "│", &format!("{drawn}{bytes}"), after);
}

#[test]
fn a_row_is_erased_around_protected_cells() {
    guarded("\x1b[2;4H\x1b[?K", "abcdefgh\nijk│lm\nqrstuvwx\nyzABCDEF");
    guarded(
        "\x1b[2;4H\x1b[?1K",
        "abcdefgh\n  k│lmnop\nqrstuvwx\nyzABCDEF",
    );
    guarded("\x1b[2;4H\x1b[?2K", "abcdefgh\n  k│lm\nqrstuvwx\nyzABCDEF");
    guarded("\x1b[2;4H\x1b[2K", "abcdefgh\n   │\nqrstuvwx\nyzABCDEF");
    screen(
        "│",
        "ab\x1b[1\"qcd\x1b[mef\x1b[2\"qgh\x1b[1;1H\x1b[?2K",
        "│  cdef",
    );
}

#[test]
fn the_screen_is_erased_around_protected_cells() {
    guarded("\x1b[2;4H\x1b[?J", "abcdefgh\nijk│lm\n  stu\n  ABC");
    guarded("\x1b[2;4H\x1b[?1J", "  cde\n  k│lmnop\nqrstuvwx\nyzABCDEF");
    guarded("\x1b[2;4H\x1b[?2J", "  cde\n  k│lm\n  stu\n  ABC");
    guarded(
        "\x1b[2;4H\x1b[?3J",
        "abcdefgh\nijk│lmnop\nqrstuvwx\nyzABCDEF",
    );
    guarded("\x1b[2;4H\x1b[2J", "\n   │");
}

#[test]
fn a_rectangle_is_erased_around_protected_cells() {
    guarded(
        "\x1b[H\x1b[2;2;3;7${",
        "│abcdefgh\ni klm  p\nq stu  x\nyzABCDEF",
    );
    guarded("\x1b[H\x1b[${", "│  cde\n  klm\n  stu\n  ABC");
    guarded(
        "\x1b[H\x1b[2;2;3;7$z",
        "│abcdefgh\ni      p\nq      x\nyzABCDEF",
    );
}

#[test]
fn protection_is_saved_with_the_cursor_and_goes_with_a_reset() {
    screen("│", "\x1b[1\"q\x1b7\x1b[\"q\x1b8ab\x1b[?2K", "ab│");
    screen("│", "\x1b[1\"q\x1b[!pab\x1b[?2K", "  │");
    screen("│", "\x1b[1\"qab\x1b[\"q\x1b[1;1Hx\x1b[?2K", " │b");
    screen("│", "\x1b[1\"qab\x1b[\"q\x1b[1;1H\x1b[@\x1b[?2K", "│ ab");
}

#[test]
fn a_wide_character_is_protected_as_a_whole() {
    screen("│", "漢\x1b[1\"q字\x1b[\"q漢\x1b[?2K", "  字  │");
    screen("│", "漢\x1b[1\"q字\x1b[\"q漢\x1b[H\x1b[1;1;1;8${", "│  字");
}

#[test]
fn a_rectangle_erased_around_protected_cells_keeps_its_look() {
    let terminal = after("\x1b[7mab\x1b[m\x1b[${");
    let row = terminal.screen().row(Row(0));
    assert_eq!(row.style(Column(1)).attributes, Attributes::INVERSE);
}

#[test]
fn no_reader_of_frames_is_told_what_is_protected() {
    let (guarded, plain) = (after("\x1b[1\"qab"), after("ab"));
    for vocabulary in [Vocabulary::STOCK, Vocabulary::RICH, Vocabulary::FULL] {
        assert!(guarded.screen().is_same(plain.screen(), &vocabulary));
    }
}
