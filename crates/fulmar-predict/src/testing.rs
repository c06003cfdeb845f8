//! Screens for tests.

use fulmar_terminal::{Position, Row, Screen, Size, Terminal};

/// Returns a screen of `rows` by `columns` on which `bytes` were written.
pub(crate) fn screen(rows: u16, columns: u16, bytes: &str) -> Screen {
    let size = Size::new(rows, columns).expect("a size within bounds");
    let mut terminal = Terminal::new(size);
    terminal.process(bytes.as_bytes());
    terminal.screen().clone()
}

/// Returns one row of 40 columns on which `text` was written.
pub(crate) fn line(text: &str) -> Screen {
    screen(1, 40, text)
}

/// Returns the text of a row.
pub(crate) fn text(screen: &Screen, row: u16) -> String {
    let mut text = String::new();
    screen.row(Row(row)).push_text(&mut text);
    text.trim_end().to_owned()
}

/// Returns a position.
pub(crate) fn at(row: u16, column: u16) -> Position {
    Position::new(row, column)
}
