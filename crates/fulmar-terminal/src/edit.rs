//! Erasing, inserting, deleting and scrolling.
//!
//! What enters is blank with the background of the current rendition.
//!
//! Source: docs/protocol.md §8.3.

use std::ops::Range;

use crate::row::CellRow;
use crate::screen::Screen;
use crate::size::Position;
use crate::style::Color;

impl Screen {
    /// ED: 0 from the cursor on, 1 up to and with the cursor, 2 all, 3 what was scrolled off.
    pub(crate) fn erase_display(&mut self, which: u16) {
        let Position { row, .. } = self.cursor.position;
        let background = self.style.background;
        match which {
            0 => {
                self.erase_line(0);
                self.grid
                    .erase_rows(row.0 + 1..self.size.rows(), background);
            }
            1 => {
                self.grid.erase_rows(0..row.0, background);
                self.erase_line(1);
            }
            2 => self.grid.erase_rows(0..self.size.rows(), background),
            3 => return self.main_grid_mut().above.clear(),
            _ => return,
        }
        self.cursor.pending_wrap = false;
    }

    /// EL: as [`Screen::erase_display`], within the row.
    pub(crate) fn erase_line(&mut self, which: u16) {
        let column = self.cursor.position.column.0;
        let columns = match which {
            0 => column..self.size.columns(),
            1 => 0..column + 1,
            2 => 0..self.size.columns(),
            _ => return,
        };
        self.erase_columns(columns);
    }

    /// ECH.
    pub(crate) fn erase_cells(&mut self, count: u16) {
        let column = self.cursor.position.column.0;
        self.erase_columns(column..column.saturating_add(count).min(self.size.columns()));
    }

    /// ICH: nothing outside the margins at the sides.
    pub(crate) fn insert_cells(&mut self, count: u16) {
        if let Some(columns) = self.columns_right_of_cursor() {
            self.change_row(columns.len() as u16, |row, background| {
                row.insert(columns, count, background);
            });
        }
    }

    /// DCH: as [`Screen::insert_cells`].
    pub(crate) fn delete_cells(&mut self, count: u16) {
        if let Some(columns) = self.columns_right_of_cursor() {
            self.change_row(columns.len() as u16, |row, background| {
                row.delete(columns, count, background);
            });
        }
    }

    /// IL: nothing outside the margins.
    pub(crate) fn insert_lines(&mut self, count: u16) {
        if let Some(region) = self.region_below_cursor() {
            self.move_rows_down(region, count);
            self.go_to_left_margin();
        }
    }

    /// DL: nothing outside the margins.
    pub(crate) fn delete_lines(&mut self, count: u16) {
        if let Some(region) = self.region_below_cursor() {
            self.delete_rows(region, count);
            self.go_to_left_margin();
        }
    }

    /// SU, and a line feed at the bottom margin.
    pub(crate) fn scroll_up(&mut self, count: u16) {
        let (rows, background) = (self.margins.clone(), self.style.background);
        if self.has_sides() {
            self.delete_rows(rows, count);
        } else {
            self.grid.scroll_up(rows, count, background);
        }
        self.printed = None;
    }

    /// SD, and a reverse index at the top margin.
    pub(crate) fn scroll_down(&mut self, count: u16) {
        self.move_rows_down(self.margins.clone(), count);
        self.printed = None;
    }

    /// SL.
    pub(crate) fn shift_left(&mut self, count: u16) {
        let columns = self.sides.clone();
        self.change_region(|row, background| row.delete(columns.clone(), count, background));
    }

    /// SR.
    pub(crate) fn shift_right(&mut self, count: u16) {
        let columns = self.sides.clone();
        self.change_region(|row, background| row.insert(columns.clone(), count, background));
    }

    /// DECIC.
    pub(crate) fn insert_columns(&mut self, count: u16) {
        let columns = self.cursor.position.column.0..self.sides.end;
        self.change_region(|row, background| row.insert(columns.clone(), count, background));
    }

    /// DECDC.
    pub(crate) fn delete_columns(&mut self, count: u16) {
        let columns = self.cursor.position.column.0..self.sides.end;
        self.change_region(|row, background| row.delete(columns.clone(), count, background));
    }

    fn erase_columns(&mut self, columns: Range<u16>) {
        let cells = columns.len() as u16;
        self.change_row(cells, |row, background| row.erase(columns, background));
    }

    /// Changes up to `cells` of the cursor's row.
    fn change_row(&mut self, cells: u16, change: impl FnOnce(&mut CellRow, Color)) {
        change(
            self.grid.row_mut(self.cursor.position.row, cells),
            self.style.background,
        );
        self.cursor.pending_wrap = false;
    }

    /// Changes every row between the margins; nothing if the cursor is outside them.
    fn change_region(&mut self, change: impl Fn(&mut CellRow, Color)) {
        if !self.margins.contains(&self.cursor.position.row.0) || !self.is_between_sides() {
            return;
        }
        let background = self.style.background;
        self.grid
            .change_rows(self.margins.clone(), |row| change(row, background));
    }

    fn region_below_cursor(&self) -> Option<Range<u16>> {
        let row = self.cursor.position.row.0;
        let is_inside = self.margins.contains(&row) && self.is_between_sides();
        is_inside.then_some(row..self.margins.end)
    }
}
