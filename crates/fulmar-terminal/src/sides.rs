//! The margins at the left and at the right.
//!
//! Source: xterm's control sequences (DECLRMM, DECSLRM); VT420 Programmer Reference.

use std::ops::Range;

use crate::content::Content;
use crate::modes::ModeFlags;
use crate::screen::Screen;
use crate::size::{Position, Row};

impl Screen {
    /// DECLRMM, reset: no margins at the sides.
    pub(crate) fn reset_sides(&mut self) {
        self.sides = 0..self.size.columns();
        self.cursor.pending_wrap &= self.cursor.position.column == self.size.last_column();
    }

    /// DECSLRM: 1-based columns, 0 for the default. Ignored unless it leaves two columns.
    pub(crate) fn set_sides(&mut self, left: u16, right: u16) {
        let columns = self.size.columns();
        let left = left.max(1);
        let right = match right {
            0 => columns,
            _ => right.min(columns),
        };
        if left < right {
            self.sides = left - 1..right;
            self.go_to(0, 0);
        }
    }

    /// DECBI: to the left by one, and at the left margin what is between the margins moves to the right.
    pub(crate) fn back_index(&mut self) {
        if self.cursor.position.column.0 == self.sides.start {
            self.shift_right(1);
        } else {
            self.move_left_in_row(1);
        }
    }

    /// DECFI: to the right by one, and at the right margin what is between the margins moves to the left.
    pub(crate) fn forward_index(&mut self) {
        if self.cursor.position.column.0 + 1 == self.sides.end {
            self.shift_left(1);
        } else {
            self.move_right(1);
        }
    }

    /// Has no margins on any side.
    pub(crate) fn reset_margins(&mut self) {
        self.margins = 0..self.size.rows();
        self.reset_sides();
    }

    /// Returns true if there is a margin at a side.
    pub(crate) fn has_sides(&self) -> bool {
        self.sides.len() < usize::from(self.size.columns())
    }

    /// Returns true if the cursor is between the margins at the sides.
    pub(crate) fn is_between_sides(&self) -> bool {
        self.sides.contains(&self.cursor.position.column.0)
    }

    /// Returns the column right of the last one that printing reaches in the row: that of the right margin, unless the cursor
    /// is right of it.
    #[inline]
    pub(crate) fn right_edge(&self) -> u16 {
        if self.cursor.position.column.0 < self.sides.end {
            self.sides.end
        } else {
            self.size.columns()
        }
    }

    /// As [`Screen::right_edge`], but up to the left margin, from which on printing inserts.
    pub(crate) fn edge_of_run(&self) -> u16 {
        if self.modes.has(ModeFlags::INSERT) && self.cursor.position.column.0 < self.sides.start {
            self.sides.start
        } else {
            self.right_edge()
        }
    }

    /// Returns the first column that moving left reaches: the left margin, unless the cursor is left of it.
    pub(crate) fn left_edge(&self) -> u16 {
        if self.cursor.position.column.0 >= self.sides.start {
            self.sides.start
        } else {
            0
        }
    }

    /// The columns that absolute positions can reach.
    pub(crate) fn addressable_columns(&self) -> Range<u16> {
        if self.modes.has(ModeFlags::ORIGIN) {
            self.sides.clone()
        } else {
            0..self.size.columns()
        }
    }

    /// The columns from the cursor's up to the right margin; `None` if it is not between the margins.
    pub(crate) fn columns_right_of_cursor(&self) -> Option<Range<u16>> {
        let column = self.cursor.position.column.0;
        self.is_between_sides().then_some(column..self.sides.end)
    }

    /// Returns true if what is printed pushes what is there to the right, which it does between the margins.
    pub(crate) fn is_inserting(&self) -> bool {
        self.modes.has(ModeFlags::INSERT) && self.is_between_sides()
    }

    /// Puts the cursor into the first column between the margins.
    pub(crate) fn go_to_left_margin(&mut self) {
        self.move_to(self.cursor.position.row.0, self.sides.start);
    }

    /// Removes `count` rows at the top of `rows`, as far as they are between the margins, and moves the others up.
    pub(crate) fn delete_rows(&mut self, rows: Range<u16>, count: u16) {
        let background = self.style.background;
        if self.has_sides() {
            let columns = self.sides.clone();
            self.grid.move_part_up(rows, columns, count, background);
        } else {
            self.grid.delete_rows(rows, count, background);
        }
    }

    /// Moves the rows of `rows` down, as far as they are between the margins, and blanks those that enter above.
    pub(crate) fn move_rows_down(&mut self, rows: Range<u16>, count: u16) {
        let background = self.style.background;
        if self.has_sides() {
            let columns = self.sides.clone();
            self.grid.move_part_down(rows, columns, count, background);
        } else {
            self.grid.scroll_down(rows, count, background);
        }
    }

    /// Does what REP does where there are margins at the sides. The work is that of the rows between them, however many pass.
    pub(crate) fn repeat_between_sides(&mut self, content: &Content, count: usize) {
        let mut left = count;
        // Up to where the cursor is between the margins, or can get there no more.
        if self.cursor.position.column.0 >= self.sides.end {
            left -= self.repeat_in_row(content, left, 1);
        }
        left -= self.repeat_in_row(content, left, 0);
        if !self.modes.has(ModeFlags::AUTO_WRAP) {
            // At the end of the row the same character takes its own place.
            return self.print_times(content, left.min(1));
        }
        let per_row = (self.sides.len() / usize::from(content.columns)).max(1);
        let Position { row, .. } = self.cursor.position;
        if row.0 < self.margins.start {
            let above = left.min(per_row * usize::from(self.margins.start - row.0));
            self.print_times(content, above);
            left -= above;
        }
        if left > 0 && self.cursor.position.row.0 < self.margins.end {
            left -= self.make_room(per_row, left);
        } else {
            // Once in the last row of the screen, the same cells are printed again.
            let most = per_row * usize::from(self.size.rows());
            if left > most {
                left = most + left % per_row;
            }
        }
        self.print_times(content, left);
    }

    /// Prints what fits into the row, and so many more. Returns how many that were.
    fn repeat_in_row(&mut self, content: &Content, count: usize, more: usize) -> usize {
        let room = self.right_edge() - self.cursor.position.column.0;
        let fitting = if self.cursor.pending_wrap {
            0
        } else {
            room / content.columns
        };
        let printed = count.min(usize::from(fitting) + more);
        self.print_times(content, printed);
        printed
    }

    /// Scrolls as far as printing `count` cells will, of which so many fit into a row. The cursor is at the end of a row between
    /// the top and bottom margins. Returns how many need not be printed, since they would leave.
    fn make_room(&mut self, per_row: usize, count: usize) -> usize {
        let rows = count.div_ceil(per_row);
        let height = self.margins.len();
        let row = self.cursor.position.row.0;
        let below = usize::from(self.margins.end - 1 - row);
        if rows >= height {
            self.scroll_up(self.margins.len() as u16);
            self.move_to(self.margins.start, self.sides.start);
            return (rows - height) * per_row;
        }
        if let Ok(scrolled @ 1..) = u16::try_from(rows.saturating_sub(below)) {
            let pending_wrap = self.cursor.pending_wrap;
            self.scroll_up(scrolled);
            self.cursor.position.row = Row(row.saturating_sub(scrolled));
            self.cursor.pending_wrap = pending_wrap;
        }
        0
    }
}
