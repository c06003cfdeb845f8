use crate::{on, screen};

#[test]
fn the_row_is_erased_from_to_and_whole() {
    screen("abc│de", "\x1b[K", "abc│");
    screen("abc│de", "\x1b[1K", "   │ e");
    screen("abc│de", "\x1b[2K", "   │");
    screen("abc│de", "\x1b[7K", "abc│de");
}

#[test]
fn the_screen_is_erased_from_to_and_whole() {
    screen("ab\nc│d\nef", "\x1b[J", "ab\nc│");
    screen("ab\nc│d\nef", "\x1b[1J", "\n │\nef");
    screen("ab\nc│d\nef", "\x1b[2J", "\n │");
    screen("ab\nc│d\nef", "\x1b[3J", "ab\nc│d\nef");
    screen("ab\nc│d\nef", "\x1b[?J", "ab\nc│");
}

#[test]
fn cells_are_erased_inserted_and_deleted() {
    screen("a│bcde", "\x1b[2X", "a│  de");
    screen("a│bcde", "\x1b[99X", "a│");
    screen("a│bcde", "\x1b[2@", "a│  bcde");
    screen("a│bcdefgh", "\x1b[@", "a│ bcdefg");
    screen("a│bcde", "\x1b[99@", "a│");
    screen("ab│cd", "\x1b[D\x1b[P", "a│cd");
    screen("a│bcde", "\x1b[0P", "a│cde");
    screen("a│bcde", "\x1b[99P", "a│");
}

#[test]
fn erasing_ends_a_pending_wrap() {
    screen("abcdefgh│", "\x1b[K", "abcdefg│");
    screen("abcdefgh│", "\x1b[X", "abcdefg│");
    screen("abcdefgh│", "\x1b[Px", "abcdefgx│");
    screen("abcdefgh│", "\x1b[2J", "       │");
}

#[test]
fn rows_are_inserted_and_deleted_between_cursor_and_bottom_margin() {
    screen("a\nb│\nc\nd", "\x1b[L", "a\n│\nb\nc");
    screen("a\nb│\nc\nd", "\x1b[99L", "a\n│");
    screen("a\nb│\nc\nd", "\x1b[M", "a\n│c\nd");
    screen("a\nb│\nc\nd", "\x1b[99M", "a\n│");
    screen("a\nb│\nc\nd", "\x1b[1;3r\x1b[2;2H\x1b[L", "a\n│\nb\nd");
    screen("a\nb│\nc\nd", "\x1b[1;3r\x1b[2;2H\x1b[M", "a\n│c\n\nd");
    screen("a\nb│\nc\nd", "\x1b[1;3r\x1b[4;2H\x1b[M", "a\nb\nc\nd│");
}

#[test]
fn the_region_scrolls_and_the_cursor_stays() {
    screen("a\nb│\nc\nd", "\x1b[S", "b\nc│\nd");
    screen("a\nb│\nc\nd", "\x1b[99S", "\n │");
    screen("a\nb│\nc\nd", "\x1b[T", "\na│\nb\nc");
    screen("a\nb│\nc\nd", "\x1b[99T", "\n │");
    screen("a\nb│\nc\nd", "\x1b[2;3r\x1b[4;2H\x1b[S", "a\nc\n\nd│");
    screen("a\nb│\nc\nd", "\x1b[2;3r\x1b[4;2H\x1b[T", "a\n\nb\nd│");
    screen("a\nb│\nc\nd", "\x1b[1;2;3;4;5T", "a\nb│\nc\nd");
}

#[test]
fn columns_are_shifted_inserted_and_deleted_between_the_margins() {
    screen("abc\ndef│", "\x1b[2 @", "c\nf  │");
    screen("abc\ndef│", "\x1b[ A", " abc\n de│f");
    screen("abc\nd│ef", "\x1b[2'}", "a  bc\nd│  ef");
    screen("abc\nd│ef", "\x1b['~", "ac\nd│f");
    screen(
        "abc\ndef\nghi│",
        "\x1b[1;2r\x1b[3;1H\x1b[ @",
        "abc\ndef\n│ghi",
    );
}

#[test]
fn the_alignment_pattern_fills_the_screen() {
    on(2, 3, "ab│", "\x1b#8", "│EEE\nEEE");
    on(3, 3, "ab│", "\x1b[1;2r\x1b#8\x1b[3;1H\n", "EEE\nEEE\n│");
}

#[test]
fn a_reset_blanks_the_screen_and_a_soft_one_does_not() {
    screen("ab│cd", "\x1bc", "│");
    screen("ab│cd", "\x1b[4h\x1b[!pxy", "abxy│");
    screen("ab\nc│d", "\x1b[2;3r\x1b[?6h\x1b[!p\x1b[Hx", "x│b\ncd");
    screen("ab│cd", "\x1b7\x1b[!p\x1b8", "│abcd");
}
