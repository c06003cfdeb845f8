//! The overlay: cells and a cursor to draw over the server's screen.

use std::sync::Arc;

use fulmar_terminal::{CellRow, Column, Glyph, Position, Screen, Style};

/// The text of one cell, kept apart from its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grapheme {
    /// Nothing: looks like a space.
    Blank,
    /// One character.
    Char(char),
    /// A character with its marks.
    Cluster(Arc<str>),
}

/// The content of one cell: its text and its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellContent {
    /// The text.
    pub grapheme: Grapheme,
    /// Its look.
    pub style: Style,
}

/// A cell that takes the place of one of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayCell {
    /// Its position.
    pub at: Position,
    /// Its content. A wide character takes the cell to the right, too.
    pub content: CellContent,
    /// The number of the first byte of the key that it is drawn for.
    pub key: Option<u64>,
}

/// Cells and perhaps a cursor that take the place of those of the last frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    pub(crate) scroll_key: Option<u64>,
    pub(crate) cells: Vec<OverlayCell>,
    pub(crate) cursor: Option<Position>,
    pub(crate) cursor_key: Option<u64>,
}

impl Overlay {
    /// True if the frame is shown as it is.
    pub fn is_empty(&self) -> bool {
        self.scroll_key.is_none() && self.cells.is_empty() && self.cursor.is_none()
    }

    /// The number of the first byte of the key that moves all rows up by one, the cells left out;
    /// `None` if they stay.
    pub fn scroll_key(&self) -> Option<u64> {
        self.scroll_key
    }

    /// The cells, in the order in which they are drawn.
    pub fn cells(&self) -> &[OverlayCell] {
        &self.cells
    }

    /// Returns the predicted position of the cursor, if it differs.
    pub fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    /// The number of the first byte of the key that moved the cursor there.
    pub fn cursor_key(&self) -> Option<u64> {
        self.cursor_key
    }

    /// Draws the overlay. What lies outside the screen is left out.
    pub fn apply(&self, screen: &mut Screen) {
        if self.scroll_key.is_some() {
            screen.overlay_scroll();
        }
        for OverlayCell { at, content, .. } in &self.cells {
            screen.overlay_cell(*at, content.grapheme.glyph(), &content.style);
        }
        if let Some(cursor) = self.cursor {
            screen.place_cursor(cursor);
        }
    }
}

impl Grapheme {
    /// Returns the text of the cell at `column` of a row; the right half of a wide character has
    /// none.
    pub(crate) fn of(row: &CellRow, column: Column) -> Grapheme {
        match row.glyph(column) {
            Glyph::Blank | Glyph::Spacer => Grapheme::Blank,
            Glyph::Char(character) => Grapheme::Char(character),
            Glyph::Cluster(text) => Grapheme::Cluster(text.into()),
        }
    }

    /// True if nothing is to be seen.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Grapheme::Blank | Grapheme::Char(' ' | '\u{a0}'))
    }

    /// True if both look the same: blanks of all kinds do.
    pub(crate) fn looks_like(&self, other: &Grapheme) -> bool {
        self == other || self.is_blank() && other.is_blank()
    }

    /// Returns the grapheme in the form in which rows have it.
    pub fn glyph(&self) -> Glyph<'_> {
        match self {
            Grapheme::Blank => Glyph::Blank,
            Grapheme::Char(character) => Glyph::Char(*character),
            Grapheme::Cluster(text) => Glyph::Cluster(text),
        }
    }
}

impl CellContent {
    /// Returns what the cell at `column` of a row shows; the right half of a wide character shows
    /// nothing.
    pub fn of(row: &CellRow, column: Column) -> CellContent {
        CellContent {
            grapheme: Grapheme::of(row, column),
            style: row.style(column),
        }
    }
}

#[cfg(test)]
mod tests {
    use fulmar_terminal::{Row, Size, Terminal};

    use super::*;

    #[test]
    fn what_is_taken_from_a_row_and_put_back_changes_nothing() {
        let mut terminal = Terminal::new(Size::new(1, 8).unwrap());
        terminal.process("a\x1b[1;31m漢e\u{301}\x1b[m  b".as_bytes());
        let row = terminal.screen().row(Row(0));
        let columns = [0, 1, 3, 4, 6].map(Column);
        let cells = columns.map(|column| OverlayCell {
            at: Position {
                row: Row(0),
                column,
            },
            content: CellContent::of(row, column),
            key: None,
        });
        let overlay = Overlay {
            cells: cells.to_vec(),
            ..Overlay::default()
        };
        let mut copy = terminal.screen().clone();
        overlay.apply(&mut copy);
        assert_eq!(&copy, terminal.screen());
        let mut blank = Screen::new(Size::new(1, 8).unwrap());
        overlay.apply(&mut blank);
        assert_ne!(
            blank.row(Row(0)),
            Screen::new(Size::new(1, 8).unwrap()).row(Row(0))
        );
    }
}
