use crate::on;

#[test]
fn a_wide_character_takes_two_columns() {
    on(2, 6, "│", "漢a", "漢a│");
    on(2, 6, "│", "漢字語", "漢字語│");
    on(2, 6, "漢│", "\x08\x08x", "x│");
}

#[test]
fn a_wide_character_that_does_not_fit_wraps() {
    on(2, 5, "│", "漢字語", "漢字\n語│");
    on(2, 5, "abcd│e", "漢", "abcd\n漢│");
    on(2, 5, "abcde│", "漢", "abcde\n漢│");
    on(2, 1, "│", "漢a", "a│");
}

#[test]
fn overwriting_one_half_blanks_the_other() {
    on(1, 8, "漢字語│", "\x1b[3Gx", "漢x│ 語");
    on(1, 8, "漢字語│", "\x1b[4Gx", "漢 x│語");
    on(1, 8, "漢字語│", "\x1b[2G名", " 名│ 語");
    on(1, 8, "漢字語│", "\x1b[2Gxx", " xx│ 語");
    on(1, 8, "漢字語│", "\x1b[2Gxxx", " xxx│語");
}

#[test]
fn erasing_one_half_blanks_the_other() {
    on(1, 8, "漢字語│", "\x1b[4G\x1b[X", "漢 │ 語");
    on(1, 8, "漢字語│", "\x1b[3G\x1b[X", "漢│  語");
    on(1, 8, "漢字語│", "\x1b[4G\x1b[K", "漢 │");
    on(1, 8, "漢字語│", "\x1b[3G\x1b[1K", "  │  語");
}

#[test]
fn inserting_and_deleting_blank_what_they_cut() {
    on(1, 8, "漢字語│", "\x1b[4G\x1b[@", "漢 │  語");
    on(1, 8, "漢字語│", "\x1b[4G\x1b[P", "漢 │語");
    on(1, 8, "漢字語│", "\x1b[3G\x1b[P", "漢│ 語");
    on(1, 7, "漢字語│", "\x1b[H\x1b[2@", "│  漢字");
    on(1, 6, "漢字│", "\x1b[4h\x1b[Ha名", "a名│漢");
}

#[test]
fn a_narrower_screen_keeps_no_half() {
    use fulmar_terminal::{Glyph, Reflow, Row, Size};
    let mut terminal = crate::after("漢字");
    terminal.resize_with(Size::new(24, 3).expect("a small size"), Reflow::Off);
    let row = terminal.screen().row(Row(0));
    let glyphs: Vec<Glyph<'_>> = (0..3)
        .map(|c| row.glyph(fulmar_terminal::Column(c)))
        .collect();
    assert_eq!(glyphs, [Glyph::Char('漢'), Glyph::Spacer, Glyph::Char(' ')]);
}

#[test]
fn a_count_beyond_the_screen_ends_in_the_same_column() {
    // 65 536 characters, two in each row.
    on(2, 5, "│", "漢\x1b[65535b", "漢漢\n漢漢│");
}
