//! Going back over the beginning of a row, with modes 45 and 1045.
//!
//! Source: xterm's control sequences (XTREVWRAP, XTREVWRAP2). What margins do is measured with xterm 379, whose mode 45 is
//! today's 1045.

use crate::modes::ModeFlags;
use crate::screen::Screen;
use crate::size::Row;

/// The work of going back to another row. Chosen by eye: it is looked at, and a place is computed.
const ROW_WORK: u64 = 1;

impl Screen {
    /// CUB and BS: stops at the left margin, or the first column from left of it. Where the modes say so it goes on at the right
    /// margin of the row above.
    pub(crate) fn move_left(&mut self, count: u16) {
        if !self.wraps_back() {
            return self.move_left_in_row(count);
        }
        let mut count = count - u16::from(self.cursor.pending_wrap && count > 0);
        loop {
            let column = self.cursor.position.column.0;
            let steps = count.min(column.saturating_sub(self.left_edge()));
            self.move_left_in_row(steps);
            count -= steps;
            let Some(row) = self.row_before().filter(|_| count > 0) else {
                break;
            };
            self.charge(ROW_WORK);
            self.move_to(row, self.sides.end - 1);
            count -= 1;
        }
    }

    fn wraps_back(&self) -> bool {
        let asked = ModeFlags::REVERSE_WRAP | ModeFlags::REVERSE_WRAP_ALWAYS;
        self.modes.has(ModeFlags::AUTO_WRAP) && self.modes.flags.intersects(asked)
    }

    /// Returns the row to which the cursor goes from the beginning of its own. With 1045 the last one comes before the first.
    fn row_before(&self) -> Option<u16> {
        let row = self.cursor.position.row.0;
        let is_top = row == 0 || row == self.margins.start;
        if self.modes.has(ModeFlags::REVERSE_WRAP_ALWAYS) {
            return Some(match row {
                _ if row == self.margins.start => self.margins.end - 1,
                0 => self.size.last_row().0,
                _ => row - 1,
            });
        }
        let above = row.checked_sub(1).filter(|_| !is_top)?;
        self.grid.row(Row(above)).is_wrapped().then_some(above)
    }
}
