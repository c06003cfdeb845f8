use crate::{on, screen};

#[test]
fn line_drawing_takes_the_place_of_small_letters() {
    screen("│", "\x1b(0lqk\x1b(Bq", "┌─┐q│");
    screen("│", "\x1b(0aA1", "▒A1│");
    screen("│", "\x1b)0q\x0eq\x0fq", "q─q│");
    screen("│", "\x1b*0\x1bnq\x1b+0\x1boq", "──│");
    screen("│", "\x1b*0a\x1bNqq", "a─q│");
    screen("│", "\x1b(A#", "£│");
    screen("│", "\x1b(0\x1b(2q", "q│");
    let all = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·│";
    on(1, 40, "│", "\x1b(0`abcdefghijklmnopqrstuvwxyz{|}~", all);
}

#[test]
fn other_characters_are_what_they_are() {
    screen("│", "\x1b(0é漢q", "é漢─│");
}

#[test]
fn a_reset_and_a_restored_cursor_bring_back_letters() {
    screen("│", "\x1b(0\x1bcq", "q│");
    screen("│", "\x1b(0\x1b[!pq", "q│");
    screen("│", "\x1b7\x1b(0\x1b8q", "q│");
}
