use crate::on;

/// A full screen.
const FULL: &str = "abcdefgh\nijklmnop\nqrstuvwx\nyzABCDEF";

/// With margins at the third and the sixth of eight columns, `bytes` turn `before` into `after`.
#[track_caller]
fn sided(before: &str, bytes: &str, after: &str) {
    on(4, 8, before, &format!("\x1b[?69h\x1b[3;6s{bytes}"), after);
}

#[test]
fn text_wraps_at_the_right_margin_and_goes_on_at_the_left_one() {
    sided("│", "\x1b[1;1Habcdefghijkl", "abcdef\n  ghij\n  kl│");
    sided("│", "\x1b[1;7Habcd", "      ab\n  cd│");
    sided("│", "\x1b[1;3Habcd", "  abcd│");
    sided(
        "│",
        "\x1b[4;3Habcdefghijklm",
        "  abcd\n  efgh\n  ijkl\n  m│",
    );
    sided("│", "\x1b[?7l\x1b[1;3Habcdxyz", "  abcz│");
    sided("│", "\x1b[?69l\x1b[Habcdefghi", "abcdefgh\ni│");
    on(4, 8, "│", "\x1b[3;6s\x1b[Habcdefghi", "abcdefgh\ni│");
}

#[test]
fn left_and_right_margins_need_two_columns_and_are_given_up_with_their_mode() {
    on(4, 8, "a│", "\x1b[?69h", "a│");
    on(4, 8, "a│", "\x1b[?69h\x1b[2;2H\x1b[3;3s", "a\n │");
    on(4, 8, "a│", "\x1b[?69h\x1b[2;2H\x1b[4;3s", "a\n │");
    on(4, 8, "a│", "\x1b[?69h\x1b[2;2H\x1b[3;4s", "│a");
    on(
        4,
        8,
        "a│",
        "\x1b[?69h\x1b[2;2H\x1b[3s\x1b[1;8Hxyz",
        "a      x\n  yz│",
    );
    on(
        4,
        8,
        "a│",
        "\x1b[?69h\x1b[3;99s\x1b[1;8Hxyz",
        "a      x\n  yz│",
    );
    sided("a│", "\x1b[s\x1b[1;6Hxyz", "a    xyz│");
    on(4, 8, "a│", "\x1b[?69h\x1b[2;2H\x1b[?69l", "a\n │");
}

#[test]
fn controls_heed_the_margins_at_the_sides() {
    sided(
        FULL,
        "\x1b[2;5H\r",
        "abcdefgh\nij│klmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;2H\r",
        "abcdefgh\n│ijklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;8H\r",
        "abcdefgh\nij│klmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x08\x08\x08",
        "abcdefgh\nij│klmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;2H\x08\x08\x08",
        "abcdefgh\n│ijklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1bE",
        "abcdefgh\nijklmnop\nqr│stuvwx\nyzABCDEF",
    );
    on(4, 20, "│", "\x1b[?69h\x1b[3;14s\t", "        │");
    on(4, 20, "│", "\x1b[?69h\x1b[3;14s\t\t", "             │");
    on(
        4,
        20,
        "│",
        "\x1b[?69h\x1b[3;14s\x1b[1;15H\t",
        "                │",
    );
    on(
        4,
        20,
        "│",
        "\x1b[?69h\x1b[3;14s\x1b[1;15H\t\t",
        "                   │",
    );
    on(4, 20, "│", "\x1b[?69h\x1b[3;14s\x1b[1;12H\x1b[9Z", "│");
}

#[test]
fn relative_moves_stop_at_the_margins_at_the_sides() {
    sided("│", "\x1b[2;4H\x1b[9C", "\n     │");
    sided("│", "\x1b[2;7H\x1b[9C", "\n       │");
    sided("│", "\x1b[2;1H\x1b[9C", "\n     │");
    sided("│", "\x1b[2;4H\x1b[9D", "\n  │");
    sided("│", "\x1b[2;8H\x1b[9D", "\n  │");
    sided("│", "\x1b[2;2H\x1b[9D", "\n│");
    sided("│", "\x1b[2;3r\x1b[2;1H\x1b[9B", "\n\n│");
    sided("│", "\x1b[2;3r\x1b[3;8H\x1b[9A", "\n       │");
    sided("│", "\x1b[2;5H\x1b[E", "\n\n  │");
    sided("│", "\x1b[2;2H\x1b[E", "\n\n│");
    sided("│", "\x1b[2;5H\x1b[F", "  │");
    sided("│", "\x1b[2;5H\x1b[9a", "\n       │");
}

#[test]
fn absolute_moves_count_from_the_margins_in_origin_mode() {
    sided("│", "\x1b[2;7H", "\n      │");
    sided("│", "\x1b[2;5H\x1b[1G", "\n│");
    sided("│", "\x1b[2;3r\x1b[?6h", "\n  │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[2;2H", "\n\n   │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[9;9H", "\n\n     │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[2G", "\n   │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[9G", "\n     │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[9`", "\n     │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[1;3H\x1b[2d", "\n\n    │");
    sided("│", "\x1b[2;3r\x1b[?6h\x1b[?6l", "│");
    sided("│", "\x1b[2;5H\x1b[?6h\r", "  │");
    sided("│", "\x1b[2;2H\x1b7\x1b[?6h\x1b8\x1b[1;1Hx", "x│");
    sided(
        "│",
        "\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b7\x1b[?6l\x1b[H\x1b8x",
        "\n\n   x│",
    );
}

#[test]
fn what_is_between_the_margins_scrolls() {
    sided(
        FULL,
        "\x1b[4;4H\n",
        "abklmngh\nijstuvop\nqrABCDwx\nyz │   EF",
    );
    sided(
        FULL,
        "\x1b[4;2H\n",
        "abcdefgh\nijklmnop\nqrstuvwx\ny│zABCDEF",
    );
    sided(
        FULL,
        "\x1b[4;7H\x1bD",
        "abcdefgh\nijklmnop\nqrstuvwx\nyzABCD│EF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[3;6H\x1bD",
        "abcdefgh\nijstuvop\nqr   │ wx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[1;6H\x1bM",
        "ab   │ gh\nijcdefop\nqrklmnwx\nyzstuvEF",
    );
    sided(
        FULL,
        "\x1b[1;1H\x1bM",
        "│abcdefgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[1;1H\x1b[S",
        "│abklmngh\nijstuvop\nqrABCDwx\nyz    EF",
    );
    sided(
        FULL,
        "\x1b[1;1H\x1b[2T",
        "│ab    gh\nij    op\nqrcdefwx\nyzklmnEF",
    );
    sided(
        FULL,
        "\x1b[1;1H\x1b[99S",
        "│ab    gh\nij    op\nqr    wx\nyz    EF",
    );
    sided(
        FULL,
        "\x1b[1;1H\x1b[99T",
        "│ab    gh\nij    op\nqr    wx\nyz    EF",
    );
    sided(
        FULL,
        "\x1b[4;3Hxxxxx",
        "abklmngh\nijstuvop\nqrxxxxwx\nyzx│   EF",
    );
}

#[test]
fn rows_are_inserted_and_deleted_between_the_margins() {
    sided(
        FULL,
        "\x1b[2;5H\x1b[L",
        "abcdefgh\nij│    op\nqrklmnwx\nyzstuvEF",
    );
    sided(
        FULL,
        "\x1b[2;5H\x1b[M",
        "abcdefgh\nij│stuvop\nqrABCDwx\nyz    EF",
    );
    sided(
        FULL,
        "\x1b[2;2H\x1b[L",
        "abcdefgh\ni│jklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;7H\x1b[M",
        "abcdefgh\nijklmn│op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;5H\x1b[99M",
        "abcdefgh\nij│    op\nqr    wx\nyzABCDEF",
    );
}

#[test]
fn cells_are_inserted_and_deleted_up_to_the_right_margin() {
    sided(
        FULL,
        "\x1b[2;4H\x1b[@",
        "abcdefgh\nijk│ lmop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[99@",
        "abcdefgh\nijk│   op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;2H\x1b[@",
        "abcdefgh\ni│jklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;7H\x1b[@",
        "abcdefgh\nijklmn│op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[P",
        "abcdefgh\nijk│mn op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;7H\x1b[P",
        "abcdefgh\nijklmn│op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[4hxy",
        "abcdefgh\nijkxy│lop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[99X",
        "abcdefgh\nijk│\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[K",
        "abcdefgh\nijk│\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;4H\x1b[1K",
        "abcdefgh\n   │ mnop\nqrstuvwx\nyzABCDEF",
    );
    sided(FULL, "\x1b[2;4H\x1b[J", "abcdefgh\nijk│\n\n");
}

#[test]
fn columns_move_between_the_margins() {
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;4H\x1b[ @",
        "abcdefgh\nijl│mn op\nqrtuv wx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;4H\x1b[ A",
        "abcdefgh\nij │klmop\nqr stuwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;4H\x1b['}",
        "abcdefgh\nijk│ lmop\nqrs tuwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;4H\x1b['~",
        "abcdefgh\nijk│mn op\nqrsuv wx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;7H\x1b['~",
        "abcdefgh\nijklmn│op\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[2;2H\x1b[ @",
        "abcdefgh\ni│jklmnop\nqrstuvwx\nyzABCDEF",
    );
    sided(
        FULL,
        "\x1b[2;3r\x1b[1;4H\x1b['}",
        "abc│defgh\nijklmnop\nqrstuvwx\nyzABCDEF",
    );
}

#[test]
fn resets_remove_the_margins_at_the_sides() {
    sided(
        "│",
        "\x1b#8\x1b[Habcdefghi",
        "abcdefgh\ni│EEEEEEE\nEEEEEEEE\nEEEEEEEE",
    );
    sided("│", "\x1b[!p\x1b[Habcdefghi", "abcdefgh\ni│");
    sided("│", "\x1bcabcdefghi", "abcdefgh\ni│");
    sided("│", "\x1b[!p\x1b[2;2H\x1b[s\x1b[H\x1b[ux", "\n x│");
}

#[test]
fn a_repetition_stays_between_the_margins() {
    sided("│", "\x1b[1;1Hx\x1b[8b", "xxxxxx\n  xxx│");
    sided(
        FULL,
        "\x1b[2;3Hx\x1b[99b",
        "abxxxxgh\nijxxxxop\nqrxxxxwx\nyzxxxx│EF",
    );
    sided(
        FULL,
        "\x1b[2;3Hx\x1b[97b",
        "abxxxxgh\nijxxxxop\nqrxxxxwx\nyzxx│  EF",
    );
}

#[test]
fn a_wide_character_that_a_margin_cuts_leaves_blanks() {
    let drawn = "a漢b漢c\nd漢e漢f";
    let sides = "\x1b[?69h\x1b[3;5s";
    on(2, 8, drawn, &format!("{sides}\x1b[S"), "│a  e  c\nd     f");
    on(2, 8, drawn, &format!("{sides}\x1b[T"), "│a     c\nd  b  f");
    on(
        2,
        8,
        drawn,
        &format!("{sides}\x1b[1;4H\x1b[@"),
        "a漢│ b c\nd漢e漢f",
    );
    on(
        2,
        8,
        drawn,
        &format!("{sides}\x1b[1;3H\x1b[P"),
        "a │b   c\nd漢e漢f",
    );
}

#[test]
fn a_wide_character_wraps_where_it_does_not_fit_before_the_margin() {
    on(2, 8, "", "\x1b[?69h\x1b[3;6s\x1b[1;5H漢", "    漢│");
    on(2, 8, "", "\x1b[?69h\x1b[3;6s\x1b[1;6H漢", "\n  漢│");
}
