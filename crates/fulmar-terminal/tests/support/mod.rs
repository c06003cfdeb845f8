//! Screens drawn as text.

use fulmar_terminal::{Column, Glyph, Row, Screen, Size, Terminal};

/// The sign for the cursor: it is drawn before the cell it is on, or behind the last column while a wrap is
/// pending.
pub(crate) const CURSOR: char = '│';

/// Returns the rows of `screen` as lines, with the cursor in its place. A blank row is an empty
/// line; there is a line for every row.
pub(crate) fn draw(screen: &Screen) -> String {
    let cursor = screen.cursor();
    let lines = (0..screen.size().rows()).map(|row| {
        let at = (row == cursor.position.row.0)
            .then(|| cursor.position.column.0 + u16::from(cursor.pending_wrap));
        draw_row(screen, Row(row), at)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns one row, with the cursor before column `cursor`, without trailing blanks.
fn draw_row(screen: &Screen, row: Row, cursor: Option<u16>) -> String {
    let cells = screen.row(row);
    let mut line = String::new();
    for column in 0..=cells.columns() {
        if cursor == Some(column) {
            line.push(CURSOR);
        }
        match cells.glyph(Column(column)) {
            Glyph::Blank if column < cells.columns() => line.push(' '),
            Glyph::Blank | Glyph::Spacer => {}
            Glyph::Char(c) => line.push(c),
            Glyph::Cluster(text) => line.push_str(text),
        }
    }
    line.trim_end_matches(' ').to_owned()
}

/// Returns a terminal that shows `drawing`. Missing rows are blank, a missing cursor is at home.
pub(crate) fn terminal(size: Size, drawing: &str) -> Terminal {
    let mut terminal = Terminal::new(size);
    let mut cursor = String::from("\x1b[H");
    for (row, line) in (1..).zip(drawing.split('\n')) {
        let (before, after) = line.split_once(CURSOR).unwrap_or((line, ""));
        terminal.process(format!("\x1b[{row}H{before}").as_bytes());
        if line.contains(CURSOR) {
            // Printed to its end, the row leaves the cursor as drawn, pending wrap included.
            let column = terminal.screen().cursor().position.column.0 + 1;
            let is_pending = terminal.screen().cursor().pending_wrap;
            let last = before.chars().last().filter(|_| is_pending);
            cursor = format!(
                "\x1b[{row};{column}H{}",
                last.map(String::from).unwrap_or_default()
            );
        }
        terminal.process(after.as_bytes());
    }
    terminal.process(cursor.as_bytes());
    terminal
}
