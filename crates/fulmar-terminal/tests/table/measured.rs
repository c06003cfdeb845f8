//! Cases in which a random walk of sequences, beside xterm 379 with the same bytes, once found a difference.

use crate::{after, on, screen};

#[track_caller]
fn reply(bytes: &str, wanted: &str) {
    let replies = after(bytes).take_replies();
    assert_eq!(String::from_utf8_lossy(&replies), wanted, "{bytes:?}");
}

#[test]
fn the_test_pattern_removes_margins_and_attributes_and_nothing_else() {
    reply(
        "\x1b[?69h\x1b[4;6s\x1b#8\x1b[?69$p\x1bP$qs\x1b\\",
        "\x1b[?69;1$y\x1bP1$r1;80s\x1b\\",
    );
    reply(
        "\x1b[1;3;4;7m\x1b[44m\x1b[1\"q\x1b#8\x1bP$qm\x1b\\\x1bP$q\"q\x1b\\",
        "\x1bP1$r0;44m\x1b\\\x1bP1$r1\"q\x1b\\",
    );
}

#[test]
fn margins_at_the_sides_stay_where_they_are_allowed_again() {
    reply(
        "\x1b[?69h\x1b[2;5s\x1b[?69h\x1bP$qs\x1b\\",
        "\x1bP1$r2;5s\x1b\\",
    );
    reply(
        "\x1b[?69h\x1b[6;9s\x1b[?69h\x1b[3;3s\x1bP$qs\x1b\\",
        "\x1bP1$r6;9s\x1b\\",
    );
    reply(
        "\x1b[?69h\x1b[2;5s\x1b[?69l\x1b[?69h\x1bP$qs\x1b\\",
        "\x1bP1$r1;80s\x1b\\",
    );
}

#[test]
fn a_wrap_stays_pending_where_columns_move() {
    on(2, 4, "abcd│", "\x1b[1 @e", "bcd\ne│");
    on(2, 4, "abcd│", "\x1b[1 Ae", " abc\ne│");
    on(2, 4, "abcd│", "\x1b[1'~e", "abc\ne│");
    on(2, 4, "abcd│", "\x1b[1'}e", "abc\ne│");
}

#[test]
fn a_run_of_changed_attributes_stays_between_the_margins_in_origin_mode() {
    let reversed = |bytes: &str| {
        let terminal = after(bytes);
        let rows = terminal.screen().rows().take(4);
        let row = |row: &fulmar_terminal::SharedRow| {
            let cell = |cell: &fulmar_terminal::Cell| {
                let is_reversed = cell
                    .attributes()
                    .contains(fulmar_terminal::Attributes::INVERSE);
                if is_reversed { '#' } else { '.' }
            };
            row.cells().iter().take(10).map(cell).collect::<String>()
        };
        rows.map(row).collect::<Vec<_>>()
    };
    assert_eq!(
        reversed("\x1b[?69h\x1b[6;10s\x1b[?6h\x1b[2;2;4;2;7$r"),
        ["..........", "......####", ".....#####", ".....##..."]
    );
    assert_eq!(
        reversed("\x1b[?69h\x1b[6;10s\x1b[2;2;4;7;7$r"),
        ["..........", ".#########", "##########", "#######..."]
    );
}

#[test]
fn the_cursor_is_where_it_was_behind_these() {
    screen(
        "",
        "\x1b[?69h\x1b[3;6s\x1b#8\x1b[Hx",
        "x│EEEEEEE\nEEEEEEEE\nEEEEEEEE\nEEEEEEEE",
    );
}
