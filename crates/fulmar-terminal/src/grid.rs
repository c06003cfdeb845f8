//! The rows of one screen.

mod part;

use std::collections::VecDeque;
use std::ops::Range;

use crate::cell::Cell;
use crate::row::{CellRow, SharedRow};
use crate::rows_above::RowsAbove;
use crate::size::{Row, Size};
use crate::style::Color;

/// The work of having a row in one more place and another one in one less: some five cells, as measured by
/// the example `worst_input`.
const SHARE_WORK: u64 = 4;

/// Rows, uppermost first, shared with other screens until written to.
///
/// Scrolling moves pointers; the row that leaves is the one that enters when nobody else holds it.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    rows: VecDeque<SharedRow>,
    columns: u16,
    /// The row that erased rows are, until written to.
    blank: SharedRow,
    /// Lent to the main grid while something may leave it at the top.
    pub(crate) above: RowsAbove,
    /// Cells and rows that changes so far have touched; see [`Screen::work`].
    ///
    /// [`Screen::work`]: crate::Screen::work
    pub(crate) work: u64,
}

impl Grid {
    /// Returns an erased grid, which holds a single row many times.
    pub(crate) fn new(size: Size) -> Grid {
        let blank = SharedRow::new(CellRow::new(size.columns(), Color::DEFAULT));
        Grid {
            rows: std::iter::repeat_n(blank.clone(), usize::from(size.rows())).collect(),
            columns: size.columns(),
            blank,
            above: RowsAbove::default(),
            work: 0,
        }
    }

    /// Returns a row; beyond the last it is the last.
    pub(crate) fn row(&self, row: Row) -> &SharedRow {
        &self.rows[usize::from(row.0).min(self.rows.len() - 1)]
    }

    /// All rows, uppermost first.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &SharedRow> + DoubleEndedIterator {
        self.rows.iter()
    }

    /// All rows, uppermost first, to take some of them.
    pub(crate) fn shown(&self) -> &VecDeque<SharedRow> {
        &self.rows
    }

    /// All rows, the one that erased rows will be, and those above.
    pub(crate) fn kept_rows(&self) -> impl Iterator<Item = &SharedRow> {
        self.rows
            .iter()
            .chain([&self.blank])
            .chain(self.above.rows())
    }

    /// Puts `cells` in the place of a row.
    pub(crate) fn set_row(&mut self, row: Row, cells: SharedRow) {
        if let Some(place) = self.rows.get_mut(usize::from(row.0)) {
            *place = cells;
        }
    }

    /// Returns a row to change up to `cells` of, copied first if another screen holds it.
    pub(crate) fn row_mut(&mut self, row: Row, cells: u16) -> &mut CellRow {
        self.work += u64::from(cells);
        self.own_row(row)
    }

    /// Changes every row of `rows`. A row that stands in several places below one another is changed
    /// once and still stands there.
    pub(crate) fn change_rows(&mut self, rows: Range<u16>, change: impl Fn(&mut CellRow)) {
        let mut above: Option<(SharedRow, SharedRow)> = None;
        let mut work = 0;
        for row in self.slots(rows) {
            if let Some((before, changed)) = &above
                && SharedRow::ptr_eq(before, row)
            {
                row.clone_from(changed);
                continue;
            }
            // Held here, a row that nobody else holds would be copied for nothing.
            let before = (!row.is_unique()).then(|| row.clone());
            work += row.change_work() + before.as_ref().map_or(0, |_| row.copy_work());
            change(SharedRow::make_mut(row));
            above = before.map(|before| (before, row.clone()));
        }
        self.work += work;
    }

    /// Says that the text of a row runs on in the one below.
    pub(crate) fn mark_wrapped(&mut self, row: Row) {
        self.work += 1;
        self.own_row(row).set_wrapped(true);
    }

    /// Lets go of what rows hold for cells that are gone. Rows that a snapshot holds as well are left
    /// alone: it would keep everything alive.
    pub(crate) fn compact_rows(&mut self) {
        self.work += self.rows.len() as u64;
        for row in self.rows.iter_mut().filter_map(SharedRow::get_mut) {
            self.work += row.copy_work();
            row.compact();
        }
    }

    #[inline]
    fn own_row(&mut self, row: Row) -> &mut CellRow {
        let last = self.rows.len() - 1;
        let slot = &mut self.rows[usize::from(row.0).min(last)];
        if !slot.is_unique() {
            self.work += slot.copy_work();
        }
        SharedRow::make_mut(slot)
    }

    /// Erases whole rows.
    pub(crate) fn erase_rows(&mut self, rows: Range<u16>, background: Color) {
        let blank = self.blank(background);
        self.fill_rows(rows, &blank);
    }

    /// Makes all of `rows` the same one.
    pub(crate) fn fill_rows(&mut self, rows: Range<u16>, with: &SharedRow) {
        self.work += SHARE_WORK * rows.len() as u64;
        for row in self.slots(rows) {
            row.clone_from(with);
        }
    }

    /// Moves the rows of `region` up by `count` and blanks those that enter below. Those that leave at the top go above.
    pub(crate) fn scroll_up(&mut self, region: Range<u16>, count: u16, background: Color) {
        if count == 1 && self.is_whole(&region) {
            return self.scroll_line(background);
        }
        self.note_scrolled(&region, count);
        self.delete_rows(region, count, background);
    }

    /// Removes `count` rows at the top of `region`, moves the others up, and blanks those that enter below.
    pub(crate) fn delete_rows(&mut self, region: Range<u16>, count: u16, background: Color) {
        let entered = self.move_up(region, count);
        self.blank_entered(entered, background);
    }

    /// Moves the rows of `region` up by `count`; those that enter below are `with`.
    pub(crate) fn scroll_in(&mut self, region: Range<u16>, count: u16, with: &SharedRow) {
        self.note_scrolled(&region, count);
        // A count above the region's is of rows that came in and have left already.
        let passed = count.saturating_sub(region.len() as u16);
        if !self.above.is_idle() && region.start == 0 {
            self.work += u64::from(passed) * (SHARE_WORK + self.above.work_of(with));
            for _ in 0..passed {
                self.above.push_scrolled(with.clone());
            }
        }
        let entered = self.move_up(region, count);
        self.fill_rows(entered, with);
    }

    /// Moves the rows of `region` down by `count` and blanks those that enter above.
    pub(crate) fn scroll_down(&mut self, region: Range<u16>, count: u16, background: Color) {
        let count = count.min(region.end - region.start);
        self.region_mut(&region).rotate_right(usize::from(count));
        self.blank_entered(region.start..region.start + count, background);
    }

    /// Has rows that are about to leave at the top of the screen go above, if they are wanted there.
    fn note_scrolled(&mut self, region: &Range<u16>, count: u16) {
        if region.start > 0 || self.above.is_idle() {
            return;
        }
        for row in self.rows.iter().take(usize::from(count.min(region.end))) {
            self.work += SHARE_WORK + self.above.work_of(row);
            self.above.push_scrolled(row.clone());
        }
    }

    /// Moves the rows of `region` up by `count`, and returns where those are that left it above.
    fn move_up(&mut self, region: Range<u16>, count: u16) -> Range<u16> {
        let count = count.min(region.end - region.start);
        // The ring is turned, and rows that stay cost nothing.
        if self.is_whole(&region) {
            self.work += u64::from(count);
            self.rows.rotate_left(usize::from(count));
        } else {
            self.region_mut(&region).rotate_left(usize::from(count));
        }
        region.end - count..region.end
    }

    fn is_whole(&self, region: &Range<u16>) -> bool {
        region.start == 0 && usize::from(region.end) == self.rows.len()
    }

    /// Moves all rows up by one, as nearly every line feed of a program does that is no editor.
    pub(crate) fn scroll_line(&mut self, background: Color) {
        let columns = self.columns;
        let mut entered = self.rows.pop_front();
        if !self.above.is_idle() {
            let text = entered.as_ref();
            self.work += SHARE_WORK + text.map_or(0, |row| self.above.work_of(row));
            entered = entered.and_then(|row| self.above.push_scrolled(row));
        }
        let cleared = match entered.as_mut().and_then(SharedRow::get_mut) {
            Some(row) => row.clear(background),
            None => {
                entered = Some(SharedRow::new(CellRow::new(columns, background)));
                u64::from(columns)
            }
        };
        self.rows.extend(entered);
        self.work += 2 + cleared;
    }

    /// The number of cells in a row.
    pub(crate) fn columns(&self) -> u16 {
        self.columns
    }

    /// Hands out all rows. Whoever does this gives the grid others.
    pub(crate) fn take_rows(&mut self) -> VecDeque<SharedRow> {
        std::mem::take(&mut self.rows)
    }

    /// Takes all its rows, at least one.
    pub(crate) fn set_rows(&mut self, rows: VecDeque<SharedRow>) {
        self.rows = rows;
    }

    /// Crops or extends at the bottom and at the right.
    ///
    /// Source: docs/protocol.md §8.9.
    pub(crate) fn resize(&mut self, size: Size, background: Color) {
        self.work += self.rows.len() as u64 + u64::from(size.rows());
        self.rows.truncate(usize::from(size.rows()));
        if self.columns != size.columns() {
            let mut rows = self.take_rows();
            self.set_columns(&mut rows, size.columns(), background);
            self.rows = rows;
        }
        if self.rows.len() < usize::from(size.rows()) {
            let blank = self.blank(background);
            self.rows.resize(usize::from(size.rows()), blank);
        }
    }

    /// Crops or extends `rows` at the right, as all are from now on. One that stands in several places, as a blank one
    /// does, still does so.
    pub(crate) fn set_columns(
        &mut self,
        rows: &mut VecDeque<SharedRow>,
        columns: u16,
        background: Color,
    ) {
        self.columns = columns;
        let mut above: Option<(*const CellRow, SharedRow)> = None;
        for row in rows {
            let before = SharedRow::as_ptr(row);
            match &above {
                Some((known, resized)) if *known == before => row.clone_from(resized),
                _ => {
                    self.work += row.copy_work() + u64::from(columns);
                    SharedRow::make_mut(row).set_columns(columns, background);
                }
            }
            above = Some((before, row.clone()));
        }
    }

    /// Erases rows that a scroll has brought in. A single one is likely to be written to at once: it is
    /// erased in place where nobody else holds it. Many are one row until written to, so that a few
    /// bytes cannot cost a screen of cells.
    fn blank_entered(&mut self, rows: Range<u16>, background: Color) {
        if rows.len() > 1 {
            return self.erase_rows(rows, background);
        }
        let columns = self.columns;
        let mut work = 0;
        for row in self.slots(rows) {
            match SharedRow::get_mut(row) {
                Some(row) => work += row.clear(background),
                None => {
                    work += u64::from(columns);
                    *row = SharedRow::new(CellRow::new(columns, background));
                }
            }
        }
        self.work += work;
    }

    /// Returns an erased row to share.
    pub(crate) fn blank(&mut self, background: Color) -> SharedRow {
        let cell = Cell::blank(background);
        if self.blank.columns() != self.columns || self.blank.cells().first() != Some(&cell) {
            self.blank = SharedRow::new(CellRow::new(self.columns, background));
            self.work += u64::from(self.columns);
        }
        self.blank.clone()
    }

    fn slots(&mut self, rows: Range<u16>) -> impl Iterator<Item = &mut SharedRow> {
        let end = usize::from(rows.end).min(self.rows.len());
        self.work += rows.len() as u64;
        self.rows.range_mut(usize::from(rows.start).min(end)..end)
    }

    fn region_mut(&mut self, region: &Range<u16>) -> &mut [SharedRow] {
        let is_in_one_piece = self.rows.as_slices().1.is_empty();
        self.work += if is_in_one_piece {
            region.len()
        } else {
            self.rows.len()
        } as u64;
        &mut self.rows.make_contiguous()[usize::from(region.start)..usize::from(region.end)]
    }
}

impl PartialEq for Grid {
    fn eq(&self, other: &Grid) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Grid {}
