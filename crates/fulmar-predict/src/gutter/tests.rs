use super::*;
use crate::testing::screen;

#[test]
fn numbers_that_go_on_are_a_gutter() {
    let rows = |text: &str| screen(8, 40, &text.replace('\n', "\r\n"));
    // The screen, the row, the gutter.
    let table = [
        ("  1 one\n  2 two\n  3 three", 0, 4),
        ("  1 one\n  2 two\n  3 three", 1, 4),
        ("  1 one\n  2 two\n  3 three", 2, 4),
        ("  9 nine\n 10 ten", 1, 4),
        ("  1\n  2\n  3", 1, 4),
        // Relative numbers: the cursor's row has its own.
        ("  2 a\n  1 b\n57  c\n  1 d\n  2 e", 2, 4),
        ("  2 a\n  1 b\n57  c\n  1 d\n  2 e", 0, 4),
        // The second row of a long line.
        ("  1 long\n    more\n  2 two", 1, 4),
        ("  1 long\n    more\n  2 two", 2, 4),
        // A mark of changes before the number.
        ("~  1 one\n   2 two", 0, 5),
        // Text that begins with numbers.
        ("12 apples\n40 pears", 0, 0),
        ("1. one\n2. two", 0, 0),
        ("  1 one\n   2 two", 0, 0),
        ("one\ntwo", 0, 0),
        ("", 0, 0),
    ];
    for (text, row, columns) in table {
        assert_eq!(gutter(&rows(text), Row(row)), columns, "{text:?} row {row}");
    }
}
