use fulmar_terminal::{Attributes, Column, Row};

use crate::{after, on};

/// A full screen.
const FULL: &str = "abcdefgh\nijklmnop\nqrstuvwx\nyzABCDEF";

/// On a full screen of 4 rows by 8 columns, `bytes` leave `after`.
#[track_caller]
fn full(bytes: &str, after: &str) {
    on(4, 8, FULL, bytes, after);
}

/// The same with margins at the third and the sixth column, and at the second and third row.
#[track_caller]
fn inside(bytes: &str, after: &str) {
    full(&format!("\x1b[?69h\x1b[3;6s\x1b[2;3r{bytes}"), after);
}

#[test]
fn an_index_to_the_side_scrolls_at_the_margin_alone() {
    inside("\x1b[2;4H\x1b6", "abcdefgh\nij│klmnop\nqrstuvwx\nyzABCDEF");
    inside("\x1b[2;3H\x1b6", "abcdefgh\nij│ klmop\nqr stuwx\nyzABCDEF");
    inside("\x1b[1;3H\x1b6", "ab│cdefgh\nijklmnop\nqrstuvwx\nyzABCDEF");
    inside(
        "\x1b[2;2H\x1b6\x1b6",
        "abcdefgh\n│ijklmnop\nqrstuvwx\nyzABCDEF",
    );
    inside("\x1b[2;5H\x1b9", "abcdefgh\nijklm│nop\nqrstuvwx\nyzABCDEF");
    inside("\x1b[2;6H\x1b9", "abcdefgh\nijlmn│ op\nqrtuv wx\nyzABCDEF");
    inside("\x1b[4;6H\x1b9", "abcdefgh\nijklmnop\nqrstuvwx\nyzABC│DEF");
    inside(
        "\x1b[2;7H\x1b9\x1b9",
        "abcdefgh\nijklmno│p\nqrstuvwx\nyzABCDEF",
    );
    full("\x1b[2;1H\x1b6", " abcdefg\n│ ijklmno\n qrstuvw\n yzABCDE");
    full("\x1b[2;8H\x1b9", "bcdefgh\njklmnop│\nrstuvwx\nzABCDEF");
}

#[test]
fn a_rectangle_is_filled() {
    full(
        "\x1b[3;5H\x1b[42;2;3;3;6$x",
        "abcdefgh\nij****op\nqr**│**wx\nyzABCDEF",
    );
    full(
        "\x1b[H\x1b[42;2;3;99;99$x",
        "│abcdefgh\nij******\nqr******\nyz******",
    );
    full("\x1b[H\x1b[42$x", "│********\n********\n********\n********");
    full(
        "\x1b[H\x1b[233;1;1;1;2$x",
        "│éécdefgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
    full(
        "\x1b[H\x1b[31;1;1;1;2$x\x1b[127;1;1;1;2$x\x1b[159;1;1;1;2$x",
        "│abcdefgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
    full(
        "\x1b[H\x1b[42;3;3;2;4$x\x1b[42;2;4;3;3$x",
        "│abcdefgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
    inside(
        "\x1b[?6h\x1b[42;1;2;9;9$x\x1b[?6l",
        "│abcdefgh\nijk***op\nqrs***wx\nyzABCDEF",
    );
    inside(
        "\x1b[H\x1b[42;1;2;2;9$x",
        "│a*******\ni*******\nqrstuvwx\nyzABCDEF",
    );
}

#[test]
fn a_rectangle_is_erased() {
    full(
        "\x1b[3;5H\x1b[2;3;3;6$z",
        "abcdefgh\nij    op\nqr  │  wx\nyzABCDEF",
    );
    full("\x1b[H\x1b[3$z", "│abcdefgh\nijklmnop\n\n");
    inside(
        "\x1b[?6h\x1b[1;2;2;2$z\x1b[?6l",
        "│abcdefgh\nijk mnop\nqrs uvwx\nyzABCDEF",
    );
}

#[test]
fn a_rectangle_is_copied() {
    full(
        "\x1b[2;2H\x1b[1;1;2;3;1;3;4;1$v",
        "abcdefgh\ni│jklmnop\nqrsabcwx\nyzAijkEF",
    );
    full(
        "\x1b[H\x1b[1;1;3;3;1;2;2;1$v",
        "│abcdefgh\niabcmnop\nqijkuvwx\nyqrsCDEF",
    );
    full(
        "\x1b[H\x1b[2;2;4;4;1;1;1;1$v",
        "│jkldefgh\nrstlmnop\nzABtuvwx\nyzABCDEF",
    );
    full(
        "\x1b[H\x1b[1;1;1;4;1;1;3;1$v",
        "│ababcdgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
    full(
        "\x1b[H\x1b[1;1;2;4;1;4;7;1$v",
        "│abcdefgh\nijklmnop\nqrstuvwx\nyzABCDab",
    );
    full(
        "\x1b[H\x1b[;;;;;2;2$v",
        "│abcdefgh\niabcdefg\nqijklmno\nyqrstuvw",
    );
    inside(
        "\x1b[?6h\x1b[1;1;1;2;1;2;3;1$v\x1b[?6l",
        "│abcdefgh\nijklmnop\nqrstklwx\nyzABCDEF",
    );
}

#[test]
fn a_copy_takes_looks_and_texts_along() {
    let terminal = after("\x1b[1;7mx\x1b[me\u{301}漢\x1b[1;1;1;4;1;3;5;1$v\x1b[1;4;1;4;1;5;1;1$v");
    let row = terminal.screen().row(Row(2));
    let mut text = String::new();
    row.push_text(&mut text);
    assert_eq!(text, "    xe\u{301}漢");
    let bold = Attributes::BOLD | Attributes::INVERSE;
    assert_eq!(row.style(Column(4)).attributes, bold);
    // The right half of a wide character alone is a space.
    assert!(!terminal.screen().row(Row(4)).cells()[0].is_spacer());
}

/// After `bytes` the first three rows have these attributes: a letter for each of the first four cells and the last one.
#[track_caller]
fn looks(bytes: &str, wanted: [&str; 3]) {
    let terminal = after(&format!("abcd\r\nefgh\r\nijkl{bytes}"));
    let looks = [0, 1, 2].map(|row| {
        let cells = terminal.screen().row(Row(row)).cells();
        let looks = [0, 1, 2, 3, 79].map(|column: usize| match cells[column].attributes() {
            Attributes::BOLD => 'b',
            Attributes::INVERSE => 'i',
            attributes if attributes == Attributes::BOLD | Attributes::INVERSE => 'B',
            attributes if attributes.is_empty() => '.',
            _ => 'x',
        });
        looks.iter().collect::<String>()
    });
    assert_eq!(looks, wanted, "{bytes:?}");
}

#[test]
fn attributes_change_in_a_rectangle_or_as_text_runs() {
    looks("\x1b[1;2;3;3;1$r", [".bbbb", "bbbbb", "bbb.."]);
    looks("\x1b[2*x\x1b[1;2;3;3;1$r", [".bb..", ".bb..", ".bb.."]);
    looks(
        "\x1b[2*x\x1b[1;2;3;3;1$r\x1b[1*x\x1b[1;2;1;3;7$r",
        [".BB..", ".bb..", ".bb.."],
    );
    looks(
        "\x1b[2*x\x1b[1;2;3;3;1;7$r\x1b[2;1;2;4;22$r",
        [".BB..", ".ii..", ".BB.."],
    );
    looks(
        "\x1b[2*x\x1b[1;2;3;3;1;7$r\x1b[2;1;2;4$r\x1b[2;1;2;4;0$r",
        [".BB..", ".....", ".BB.."],
    );
}

#[test]
fn attributes_are_reversed() {
    looks(
        "\x1b[2*x\x1b[1;1;1;2;1$r\x1b[1;2;2;3;1$t",
        ["b.b..", ".bb..", "....."],
    );
    looks(
        "\x1b[2*x\x1b[1;1;1;2;1$r\x1b[1;2;2;3;1;7$t",
        ["biB..", ".BB..", "....."],
    );
    looks(
        "\x1b[2*x\x1b[1;1;1;2;4;5$r\x1b[1;2;1;3;0$t",
        ["xBx..", ".....", "....."],
    );
}

#[test]
fn a_wide_character_changes_as_a_whole() {
    let terminal = after("漢字x\x1b[2*x\x1b[1;2;1;3;1$r");
    let cells = terminal.screen().row(Row(0)).cells();
    let bold = [0, 1, 2, 3, 4].map(|column: usize| cells[column].attributes() == Attributes::BOLD);
    assert_eq!(bold, [false, false, true, true, false]);
    on(1, 8, "漢字x│", "\x1b[42;1;2;1;3$x", " ** x│");
    on(1, 8, "漢字x│", "\x1b[1;2;1;3$z", "    x│");
}
