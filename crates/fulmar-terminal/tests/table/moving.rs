use crate::{on, screen};

#[test]
fn controls_move_the_cursor() {
    screen("ab│cd", "\x08", "a│bcd");
    screen("│ab", "\x08", "│ab");
    screen("ab│cd", "\r", "│abcd");
    screen("ab│cd", "\n", "abcd\n  │");
    screen("ab│cd", "\x0b\x0c", "abcd\n\n  │");
    screen("ab│cd", "\x1bD", "abcd\n  │");
    screen("ab│cd", "\x1bE", "abcd\n│");
    screen("ab\nc│d", "\x1bM", "a│b\ncd");
    screen("ab│cd", "\u{85}", "abcd\n│");
}

#[test]
fn relative_moves_stop_at_the_edges() {
    screen("a\nb\nc│", "\x1b[A", "a\nb│\nc");
    screen("a\nb\nc│", "\x1b[9A", "a│\nb\nc");
    screen("a│\nb\nc", "\x1b[2B", "a\nb\nc│");
    screen("a│", "\x1b[99B", "a\n\n\n │");
    screen("a│bc", "\x1b[C", "ab│c");
    screen("a│bc", "\x1b[99C", "abc    │");
    screen("abc│", "\x1b[0D", "ab│c");
    screen("abc│", "\x1b[99D", "│abc");
    screen("ab\ncd│", "\x1b[F", "│ab\ncd");
    screen("ab│\ncd", "\x1b[2E", "ab\ncd\n│");
    screen("a│b", "\x1b[2a", "ab │");
    screen("a│b", "\x1b[2e", "ab\n\n │");
}

#[test]
fn absolute_moves_are_clamped() {
    screen("ab│", "\x1b[2;3H", "ab\n  │");
    screen("ab│", "\x1b[H", "│ab");
    screen("ab│", "\x1b[0;0f", "│ab");
    screen("ab│", "\x1b[99;99H", "ab\n\n\n       │");
    screen("ab│", "\x1b[65537;65537H", "ab\n\n\n       │");
    screen("ab│", "\x1b[5G", "ab  │");
    screen("ab│", "\x1b[`", "│ab");
    screen("ab│", "\x1b[3d", "ab\n\n  │");
}

#[test]
fn vertical_moves_stop_at_margins() {
    on(
        6,
        4,
        "a\nb\nc\nd\ne\nf│",
        "\x1b[2;4r\x1b[3;1H\x1b[9A",
        "a\n│b\nc\nd\ne\nf",
    );
    on(
        6,
        4,
        "a\nb\nc\nd\ne\nf│",
        "\x1b[2;4r\x1b[3;1H\x1b[9B",
        "a\nb\nc\n│d\ne\nf",
    );
    on(
        6,
        4,
        "a\nb\nc\nd\ne\nf│",
        "\x1b[2;4r\x1b[6;1H\x1b[3A",
        "a\nb\n│c\nd\ne\nf",
    );
    on(
        6,
        4,
        "a\nb\nc\nd\ne\nf│",
        "\x1b[2;4r\x1b[6;1H\x1b[9A",
        "a\n│b\nc\nd\ne\nf",
    );
    on(
        6,
        4,
        "a\nb\nc\nd\ne\nf│",
        "\x1b[2;4r\x1b[6;1H\x1b[9B",
        "a\nb\nc\nd\ne\n│f",
    );
}

#[test]
fn a_line_feed_scrolls_at_the_bottom_margin_alone() {
    on(4, 4, "a\nb\nc\nd│", "\n", "b\nc\nd\n │");
    on(4, 4, "a\nb\nc\nd│", "\x1b[2;3r\x1b[3;2H\n", "a\nc\n │\nd");
    on(4, 4, "a\nb\nc\nd│", "\x1b[2;3r\x1b[4;2H\n", "a\nb\nc\nd│");
    on(4, 4, "a\nb\nc\nd│", "\x1b[2;3r\x1b[1;2H\n", "a\nb│\nc\nd");
}

#[test]
fn a_reverse_index_scrolls_at_the_top_margin_alone() {
    on(4, 4, "a│\nb\nc\nd", "\x1bM", " │\na\nb\nc");
    on(
        4,
        4,
        "a│\nb\nc\nd",
        "\x1b[2;3r\x1b[2;2H\x1bM",
        "a\n │\nb\nd",
    );
    on(
        4,
        4,
        "a│\nb\nc\nd",
        "\x1b[2;3r\x1b[1;2H\x1bM",
        "a│\nb\nc\nd",
    );
}

#[test]
fn margins_need_two_rows_and_send_the_cursor_home() {
    screen("ab\nc│", "\x1b[2;3r", "│ab\nc");
    screen("ab\nc│", "\x1b[2;99r", "│ab\nc");
    screen("ab\nc│", "\x1b[2;2r", "ab\nc│");
    screen("ab\nc│", "\x1b[3;2r", "ab\nc│");
    on(3, 4, "a\nb\nc│", "\x1b[1;2r\x1b[r\x1b[3;1H\n", "b\nc\n│");
}

#[test]
fn origin_mode_counts_from_the_top_margin() {
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h", "a\n│");
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h\x1b[2;2H", "a\n\n │");
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h\x1b[99;2H", "a\n\n\n │");
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h\x1b[2d", "a\n\n│");
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h\x1b[9e", "a\n\n\n│");
    on(5, 4, "a│", "\x1b[2;4r\x1b[?6h\x1b[?6l", "│a");
}

#[test]
fn tabs_stop_at_every_eighth_column_and_where_set() {
    on(1, 20, "│", "\t", "        │");
    on(1, 20, "a│", "\t\t", "a               │");
    on(1, 20, "a│", "\t\t\t\t", "a                  │");
    on(1, 20, "a│", "\x1b[2I", "a               │");
    on(1, 20, "abcdefghijkl│", "\x1b[Z", "abcdefgh│ijkl");
    on(1, 20, "abcdefghijkl│", "\x1b[9Z", "│abcdefghijkl");
    on(1, 20, "ab│", "\x1bH\r\t", "ab│");
    on(1, 20, "ab│", "\x1b[3g\t", "ab                 │");
    on(1, 20, "abcdefgh│", "\x1b[g\r\t", "abcdefgh        │");
    on(1, 20, "ab│", "\x1b[65535I", "ab                 │");
}

#[test]
fn the_saved_cursor_comes_back() {
    screen("ab│", "\x1b7\x1b[3;3Hx\x1b8", "ab│\n\n  x");
    screen("ab│", "\x1b[s\x1b[3;3Hx\x1b[u", "ab│\n\n  x");
    screen("ab\n  │", "\x1b8", "│ab");
    screen("abcdefgh│", "\x1b7\x1b[H\x1b8", "abcdefgh│");
    on(
        4,
        4,
        "│",
        "\x1b[2;3r\x1b[?6h\x1b7\x1b[?6l\x1b8\x1b[1;1Hx",
        "\nx│",
    );
}

#[test]
fn each_screen_has_a_saved_cursor_of_its_own() {
    let bytes = "\x1b[2;2H\x1b7\x1b[?1049h\x1b[3;3H\x1b7\x1b[H\x1b8alt\x1b[?1049l\x1b8main";
    screen("│", bytes, "\n main│");
}

#[test]
fn tab_stops_are_put_back_to_every_eighth_column() {
    on(
        1,
        20,
        "",
        "\x1b[3g\x1b[4G\x1bH\x1b[?5W\r\ta\tb",
        "        a       b│",
    );
    on(
        1,
        20,
        "",
        "\x1b[3g\x1b[?4W\x1b[?W\ta",
        "                   a│",
    );
}
