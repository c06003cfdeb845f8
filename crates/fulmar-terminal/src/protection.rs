//! Protected cells, and erasing what is not protected.
//!
//! Source: xterm's control sequences (DECSCA, DECSED, DECSEL, DECSERA).

use std::ops::Range;

use crate::csi::Csi;
use crate::row::CellRow;
use crate::screen::Screen;
use crate::size::Position;
use crate::style::{Attributes, Color};

impl Screen {
    /// DECSCA: what is printed from here on is protected, or not.
    pub(crate) fn set_protection(&mut self, number: u16) {
        match number {
            0 | 2 => self.style.attributes.remove(Attributes::PROTECTED),
            1 => self.style.attributes.insert(Attributes::PROTECTED),
            _ => {}
        }
    }

    /// DECSED: as ED, but protected cells stay.
    pub(crate) fn erase_display_selectively(&mut self, which: u16) {
        let row = self.cursor.position.row.0;
        let rows = match which {
            0 => row + 1..self.size.rows(),
            1 => 0..row,
            2 => 0..self.size.rows(),
            _ => return,
        };
        self.erase_selectively(rows, 0..self.size.columns());
        if which < 2 {
            self.erase_line_selectively(which);
        }
        self.cursor.pending_wrap = false;
    }

    /// DECSEL: as EL, but protected cells stay.
    pub(crate) fn erase_line_selectively(&mut self, which: u16) {
        let Position { row, column } = self.cursor.position;
        let columns = match which {
            0 => column.0..self.size.columns(),
            1 => 0..column.0 + 1,
            2 => 0..self.size.columns(),
            _ => return,
        };
        self.erase_selectively(row.0..row.0 + 1, columns);
        self.cursor.pending_wrap = false;
    }

    /// DECSERA: the text of cells that are not protected goes, their look stays.
    pub(crate) fn erase_rectangle_selectively(&mut self, csi: &Csi) {
        if let Some((rows, columns)) = self.rectangle(csi, 0) {
            self.grid
                .change_rows(rows, |row| row.empty_unprotected(columns.clone()));
        }
    }

    fn erase_selectively(&mut self, rows: Range<u16>, columns: Range<u16>) {
        let background = self.style.background;
        self.grid.change_rows(rows, |row| {
            row.erase_unprotected(columns.clone(), background);
        });
    }
}

impl CellRow {
    fn erase_unprotected(&mut self, columns: Range<u16>, background: Color) {
        self.for_unprotected(columns, |row, run| row.erase(run, background));
    }

    fn empty_unprotected(&mut self, columns: Range<u16>) {
        self.for_unprotected(columns, CellRow::empty);
    }

    /// Changes each run of cells in `columns` that are not protected.
    fn for_unprotected(
        &mut self,
        columns: Range<u16>,
        mut change: impl FnMut(&mut CellRow, Range<u16>),
    ) {
        let mut rest = columns.start;
        for end in columns.start..columns.end {
            if self.is_protected(end) {
                if rest < end {
                    change(self, rest..end);
                }
                rest = end + 1;
            }
        }
        if rest < columns.end {
            change(self, rest..columns.end);
        }
    }

    fn is_protected(&self, column: u16) -> bool {
        let cell = self.cells().get(usize::from(column));
        cell.is_some_and(|cell| cell.attributes().contains(Attributes::PROTECTED))
    }
}
