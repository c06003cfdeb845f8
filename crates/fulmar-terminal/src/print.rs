//! Putting text on the screen.
//!
//! Source: docs/protocol.md §8.4 and §8.5.

use crate::modes::ModeFlags;
use crate::screen::Screen;
use crate::size::{Column, Position};
use crate::width::{Width, width};

impl Screen {
    /// Prints text that has no controls.
    pub(crate) fn print(&mut self, text: &str) {
        let plain = self.charsets.is_ascii() && !self.modes.has(ModeFlags::INSERT);
        let mut rest = text;
        loop {
            let mut characters = rest.chars();
            let Some(c) = characters.next() else { break };
            let run = if plain {
                ascii_length(rest.as_bytes())
            } else {
                0
            };
            if run > 0 {
                let (ascii, after) = rest.split_at(run);
                self.print_ascii(ascii.as_bytes());
                rest = after;
            } else {
                let c = self.charsets.translate(c);
                self.print_char(c);
                rest = characters.as_str();
            }
        }
    }

    /// Prints the last character `count` times more (REP).
    pub(crate) fn repeat(&mut self, count: u16) {
        let Some(c) = self.last_character else { return };
        // Beyond a full screen only the column it ends in makes a difference.
        let columns = u32::from(self.size.columns());
        let cells = columns * u32::from(self.size.rows());
        let count = u32::from(count);
        let count = if count > cells {
            cells + count % columns
        } else {
            count
        };
        for _ in 0..count {
            self.print_char(c);
        }
    }

    fn print_ascii(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(&last) = rest.last() {
            self.wrap_if_pending();
            let Position { row, column } = self.cursor.position;
            let room = usize::from(self.size.columns() - column.0);
            let (here, after) = rest.split_at(room.min(rest.len()));
            let row = self.grid.row_mut(row);
            let pen = row.pen(&self.style);
            row.write_ascii(column, here, pen);
            rest = after;
            if !after.is_empty() && !self.modes.has(ModeFlags::AUTO_WRAP) {
                row.write_ascii(Column(column.0 + room as u16 - 1), &[last], pen);
                rest = &[];
            }
            self.advance(here.len() as u16);
        }
        self.last_character = text.last().map(|&byte| char::from(byte));
    }

    fn print_char(&mut self, c: char) {
        match width(c) {
            Width::Zero => self.combine(c),
            Width::One => self.print_wide(c, 1),
            Width::Two => self.print_wide(c, 2),
        }
    }

    fn print_wide(&mut self, c: char, columns: u16) {
        self.wrap_if_pending();
        let columns_left = self.size.columns() - self.cursor.position.column.0;
        if columns_left < columns && !self.wrap_early() {
            return;
        }
        let Position { row, column } = self.cursor.position;
        let insert = self.modes.has(ModeFlags::INSERT);
        let row = self.grid.row_mut(row);
        if insert {
            row.insert(column, columns, self.style.background);
        }
        let pen = row.pen(&self.style);
        row.write_char(column, c, columns == 2, pen);
        self.advance(columns);
        self.last_character = Some(c);
        // The mark of a wide character goes to its left half.
        self.printed = Some(Position {
            row: self.cursor.position.row,
            column,
        });
    }

    /// Makes room for a wide character where only one column is left: the column is blanked and
    /// the next row begun. Returns whether there is room.
    fn wrap_early(&mut self) -> bool {
        if !self.modes.has(ModeFlags::AUTO_WRAP) || self.size.columns() < 2 {
            return false;
        }
        let Position { row, column } = self.cursor.position;
        let end = self.size.columns();
        self.grid
            .row_mut(row)
            .erase(column.0..end, self.style.background);
        self.wrap();
        true
    }

    fn wrap_if_pending(&mut self) {
        if self.cursor.pending_wrap && self.modes.has(ModeFlags::AUTO_WRAP) {
            self.wrap();
        }
        self.cursor.pending_wrap = false;
    }

    fn wrap(&mut self) {
        self.grid
            .row_mut(self.cursor.position.row)
            .set_wrapped(true);
        self.cursor.position.column = Column(0);
        self.index();
    }

    /// Moves the cursor over what was just printed.
    fn advance(&mut self, columns: u16) {
        let Position { row, column } = self.cursor.position;
        let next = column.0 + columns;
        let last = self.size.last_column();
        self.cursor.pending_wrap = next > last.0;
        self.cursor.position.column = Column(next.min(last.0));
        self.printed = Some(Position {
            row,
            column: Column(next - 1),
        });
    }

    /// Adds a mark to the character printed last, or to the one under the cursor if the cursor was
    /// moved since. A mark with nothing to stand on gets a cell of its own.
    fn combine(&mut self, mark: char) {
        let mut target = self.printed.unwrap_or(self.cursor.position);
        let row = self.grid.row_mut(target.row);
        let cell = row
            .cells()
            .get(usize::from(target.column.0))
            .copied()
            .unwrap_or_default();
        if cell.is_spacer() {
            target.column.0 = target.column.0.saturating_sub(1);
        }
        row.append_mark(target.column, mark);
        if cell.is_blank() && target == self.cursor.position {
            self.advance(1);
        }
    }
}

/// Returns how many bytes at the start of `text` are ASCII.
fn ascii_length(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.iter()
        .position(|byte| !byte.is_ascii())
        .unwrap_or(text.len())
}
