//! Moving the cursor.
//!
//! Every move ends a pending wrap and forgets where the last character was printed.

use std::ops::Range;

use crate::modes::ModeFlags;
use crate::screen::Screen;
use crate::size::{Column, Position, Row};

/// The work of going to one tab stop, as measured by the example `worst_input`.
const TAB_WORK: u64 = 4;

impl Screen {
    /// Puts the cursor at `row` and `column`, or as near as the screen allows.
    pub(crate) fn move_to(&mut self, row: u16, column: u16) {
        self.cursor.position = self.size.clamp(Position::new(row, column));
        self.forget_print();
    }

    /// CUP: in origin mode places count from the margins, and stay between them.
    pub(crate) fn go_to(&mut self, row: u16, column: u16) {
        let (rows, columns) = (self.addressable_rows(), self.addressable_columns());
        let row = rows.start.saturating_add(row).min(rows.end - 1);
        let column = columns.start.saturating_add(column).min(columns.end - 1);
        self.move_to(row, column);
    }

    /// VPA.
    pub(crate) fn go_to_row(&mut self, row: u16) {
        let rows = self.addressable_rows();
        let row = rows.start.saturating_add(row).min(rows.end - 1);
        self.move_to(row, self.cursor.position.column.0);
    }

    /// CHA and HPA: as CUP.
    pub(crate) fn go_to_column(&mut self, column: u16) {
        let columns = self.addressable_columns();
        let column = columns.start.saturating_add(column).min(columns.end - 1);
        self.move_to(self.cursor.position.row.0, column);
    }

    /// CUU: stops at the top margin unless the cursor is above it.
    pub(crate) fn move_up(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let top = if row.0 < self.margins.start {
            0
        } else {
            self.margins.start
        };
        self.move_to(row.0.saturating_sub(count).max(top), column.0);
    }

    /// CUD: stops at the bottom margin unless the cursor is below it.
    pub(crate) fn move_down(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let below = if row.0 < self.margins.end {
            self.margins.end
        } else {
            self.size.rows()
        };
        self.move_to(row.0.saturating_add(count).min(below - 1), column.0);
    }

    /// VPR: as CUD, but margins matter in origin mode only.
    pub(crate) fn move_rows(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let below = self.addressable_rows().end;
        self.move_to(row.0.saturating_add(count).min(below - 1), column.0);
    }

    /// CUF: stops at the right margin unless the cursor is right of it.
    pub(crate) fn move_right(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let last = self.right_edge() - 1;
        self.move_to(row.0, column.0.saturating_add(count).min(last));
    }

    /// HPR: as CUF, but margins matter in origin mode only.
    pub(crate) fn move_columns(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let right = self.addressable_columns().end;
        self.move_to(row.0, column.0.saturating_add(count).min(right - 1));
    }

    /// To the left in the row; stops at the left margin unless the cursor is left of it.
    pub(crate) fn move_left_in_row(&mut self, count: u16) {
        let Position { row, column } = self.cursor.position;
        let first = self.left_edge();
        self.move_to(row.0, column.0.saturating_sub(count).max(first));
    }

    /// CR: to the left margin, or to the first column from left of it. In origin mode there is nothing left of it.
    pub(crate) fn carriage_return(&mut self) {
        let first = if self.modes.has(ModeFlags::ORIGIN) {
            self.sides.start
        } else {
            self.left_edge()
        };
        self.cursor.position.column = Column(first);
        self.forget_print();
    }

    /// Ends a pending wrap, and forgets where the last character was printed.
    fn forget_print(&mut self) {
        self.cursor.pending_wrap = false;
        self.printed = None;
    }

    /// LF, VT, FF: the next row; in new line mode its first column.
    pub(crate) fn line_feed(&mut self) {
        self.index();
        self.end_line_feed();
    }

    fn end_line_feed(&mut self) {
        self.forget_print();
        if self.modes.has(ModeFlags::NEW_LINE) {
            self.carriage_return();
        }
    }

    /// Does the line feeds at the start of `bytes` at once where each would move all cells between the margins. Returns how many
    /// those are. Each makes so much work besides.
    pub(crate) fn line_feeds(&mut self, bytes: &[u8], work: u64) -> usize {
        if self.cursor.position.row.0 + 1 != self.margins.end || !self.is_between_sides() {
            return 0;
        }
        let feeds = bytes.iter().take_while(|byte| matches!(byte, 0x0a..=0x0c));
        let count = feeds.count().min(usize::from(u16::MAX));
        if count > 0 {
            self.charge(work * count as u64);
            self.scroll_up(count as u16);
            self.end_line_feed();
        }
        count
    }

    /// IND: down one row, scrolling at the bottom margin between those at the sides.
    pub(crate) fn index(&mut self) {
        let row = self.cursor.position.row;
        if row.0 + 1 == self.margins.end {
            if self.is_between_sides() {
                self.scroll_up(1);
            }
        } else if row < self.size.last_row() {
            self.cursor.position.row = Row(row.0 + 1);
        }
        self.forget_print();
    }

    /// RI: up one row, scrolling at the top margin between those at the sides.
    pub(crate) fn reverse_index(&mut self) {
        let Position { row, column } = self.cursor.position;
        if row.0 == self.margins.start {
            if self.is_between_sides() {
                self.scroll_down(1);
            }
            self.move_to(row.0, column.0);
        } else {
            self.move_to(row.0.saturating_sub(1), column.0);
        }
    }

    /// HT and CHT: `count` stops to the right, at most to the right margin, or from beyond it to the last column. There a
    /// pending wrap stays pending.
    pub(crate) fn tab_forward(&mut self, count: u16) {
        let last = Column(self.right_edge() - 1);
        // A count is cut before a loop begins (docs/threat-model.md §6).
        for _ in 0..count.min(self.size.columns()) {
            let column = self.cursor.position.column;
            if column >= last {
                break;
            }
            let stop = self.tabs.after(column).unwrap_or(last);
            self.charge(TAB_WORK);
            self.move_to(self.cursor.position.row.0, stop.min(last).0);
        }
    }

    /// CBT: `count` stops to the left, at most to the first column. Nothing while a wrap is
    /// pending, which it neither ends nor moves.
    pub(crate) fn tab_back(&mut self, count: u16) {
        for _ in 0..count.min(self.size.columns()) {
            let column = self.cursor.position.column;
            if column.0 == 0 || self.cursor.pending_wrap {
                break;
            }
            let stop = self.tabs.before(column).unwrap_or_default();
            self.charge(TAB_WORK);
            self.move_to(self.cursor.position.row.0, stop.0);
        }
    }

    /// TBC.
    pub(crate) fn clear_tabs(&mut self, which: u16) {
        match which {
            0 => self.tabs.clear(self.cursor.position.column),
            3 => self.tabs.clear_all(),
            _ => {}
        }
    }

    /// DECSTBM: 1-based rows, 0 for the default. Ignored unless it leaves two rows.
    pub(crate) fn set_margins(&mut self, top: u16, bottom: u16) {
        let rows = self.size.rows();
        let top = top.max(1);
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top < bottom {
            self.margins = top - 1..bottom;
            self.go_to(0, 0);
        }
    }

    /// The rows that absolute positions can reach.
    pub(crate) fn addressable_rows(&self) -> Range<u16> {
        if self.modes.has(ModeFlags::ORIGIN) {
            self.margins.clone()
        } else {
            0..self.size.rows()
        }
    }
}
