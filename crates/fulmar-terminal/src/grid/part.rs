//! Parts of rows: what moves between left and right margins, and in rectangles.

use std::ops::Range;

use crate::grid::Grid;
use crate::row::SharedRow;
use crate::size::{Column, Row};
use crate::style::Color;

/// The work of moving an entry of a side table, beside that of any cell.
///
/// Measured: 30 to 60 ns with links, where a unit is 2 to 5 ns.
const ENTRY_WORK: u64 = 16;

impl Grid {
    /// Moves the cells `columns` of the rows `rows` up by `count`, and blanks those that enter below.
    pub(crate) fn move_part_up(
        &mut self,
        rows: Range<u16>,
        columns: Range<u16>,
        count: u16,
        background: Color,
    ) {
        let entered = rows.end - count.min(rows.len() as u16);
        for row in rows.start..entered {
            self.copy_part(row + count, columns.clone(), row, columns.start);
        }
        self.erase_part(entered..rows.end, columns, background);
    }

    /// Moves the cells `columns` of the rows `rows` down by `count`, and blanks those that enter above.
    pub(crate) fn move_part_down(
        &mut self,
        rows: Range<u16>,
        columns: Range<u16>,
        count: u16,
        background: Color,
    ) {
        let kept = rows.start + count.min(rows.len() as u16);
        for row in (kept..rows.end).rev() {
            self.copy_part(row - count, columns.clone(), row, columns.start);
        }
        self.erase_part(rows.start..kept, columns, background);
    }

    /// Blanks the cells `columns` of the rows `rows`.
    pub(crate) fn erase_part(&mut self, rows: Range<u16>, columns: Range<u16>, background: Color) {
        self.change_rows(rows, |row| row.erase(columns.clone(), background));
    }

    /// Copies the cells `columns` of a row to another, from column `at` on.
    pub(crate) fn copy_part(&mut self, from: u16, columns: Range<u16>, to: u16, at: u16) {
        let source = self.row(Row(from)).clone();
        self.work += 1;
        // Such rows are blank, or filled by one function.
        let is_same = SharedRow::ptr_eq(&source, self.row(Row(to))) && columns.start == at;
        if !is_same || !source.is_kept_by(&columns) {
            let to = self.row_mut(Row(to), columns.len() as u16);
            let moved = to.copy_part(Column(at), &source, columns);
            self.work += ENTRY_WORK * moved as u64;
        }
    }
}
