//! The rows right above the main screen, and those that are gone.

use std::collections::VecDeque;

use crate::row::{CellRow, SharedRow};
use crate::scrollback::Scrollback;
use crate::size::Size;

/// The most rows above the screen that a taller or wider window brings back. Chosen by eye: as many as the text of a
/// usual screen has in a window of a few columns.
const ROWS_MAX: usize = 16_384;

/// The most cells of these rows: as many as the largest screen has.
///
/// Source: docs/threat-model.md §6.
const CELLS_MAX: usize = Size::CELLS_MAX as usize;

/// As many of them may be scrolled off ones, also where a resize has left fewer. Chosen by eye: a shell that draws a long line
/// anew in a narrow window scrolls off some, and what is printed there takes more rows than in a wide one.
const SCROLLED_ROWS_MIN: usize = 256;

/// So many cells are packed with a unit of work; those of plain text are with no more than the row. Chosen by eye: some 4 ns, as other work.
const CELLS_PER_WORK: u64 = 4;

/// The rows that have left the main screen at its top, as far as a window of another size brings them back.
///
/// Rows come in by a resize. While some are here, those that the program scrolls off come in as well, so that what is here always
/// goes on where the screen begins.
///
/// The history has a line as soon as its last row has left, and keeps it whatever becomes of the rows. A line that comes back and leaves
/// again as it was is in the history once; one that was changed on the screen enters it anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowsAbove {
    /// Uppermost first. All as wide as the screen.
    rows: VecDeque<SharedRow>,
    /// With more rows than that, scrolling has the oldest depart.
    rows_max: usize,
    /// So many of `rows`, from the uppermost on, are in the history. Those behind begin a line that has not left.
    told: usize,
    /// The rows at the top of the screen that are in the history, as they were when a window brought them back. While there are some,
    /// all of `rows` are in the history, too.
    returned: VecDeque<SharedRow>,
    /// The lines that have left; `None` if nobody wants them.
    history: Option<Box<Scrollback>>,
}

impl RowsAbove {
    /// Returns these rows alone.
    pub(crate) fn of(rows: VecDeque<SharedRow>) -> RowsAbove {
        let mut above = RowsAbove::default();
        above.set_rows(rows, &VecDeque::new(), 0);
        above
    }

    /// Returns true if rows that are scrolled off need not come here.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.history.is_none()
    }

    /// Begins to keep lines.
    pub(crate) fn keep(&mut self, history: Scrollback) {
        self.history = Some(Box::new(history));
    }

    /// The lines that have left.
    pub(crate) fn history(&self) -> Option<&Scrollback> {
        self.history.as_deref()
    }

    /// The number of lines in the history that end on the screen: a window has brought them back.
    pub(crate) fn returned_lines(&self) -> usize {
        line_ends(self.returned.iter())
    }

    /// All rows, uppermost first.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &SharedRow> {
        self.rows.iter()
    }

    /// The [work](crate::Screen::work) of having the text of a row enter the history.
    #[inline]
    pub(crate) fn work_of(&self, row: &CellRow) -> u64 {
        let packed = row.used_cells().len() - row.plain_columns();
        self.history
            .as_ref()
            .map_or(0, |_| packed as u64 / CELLS_PER_WORK)
    }

    /// Takes in a row that was scrolled off, and returns one that nobody wants any more.
    pub(crate) fn push_scrolled(&mut self, row: SharedRow) -> Option<SharedRow> {
        let is_told = self.take_returned(&row);
        if self.rows.is_empty() {
            if let Some(history) = &mut self.history
                && !is_told
            {
                history.push_row(&row);
            }
            return Some(row);
        }
        let ends = !row.is_wrapped();
        self.rows.push_back(row);
        if is_told {
            self.told = self.rows.len();
        } else if ends {
            self.tell_lines();
        }
        if self.rows.len() <= self.rows_max {
            return None;
        }
        self.depart_oldest()
    }

    /// Returns true if a row that leaves is in the history: it came back from above, and was not changed since.
    fn take_returned(&mut self, row: &SharedRow) -> bool {
        let Some(before) = self.returned.front() else {
            return false;
        };
        if SharedRow::ptr_eq(before, row) || before == row {
            self.returned.pop_front();
            return true;
        }
        // The line to which it belongs leaves with all its rows, as it is now.
        self.returned.clear();
        while let Some(last) = self.told.checked_sub(1)
            && self.rows.get(last).is_some_and(|row| row.is_wrapped())
        {
            self.told = last;
        }
        false
    }

    /// Has the lines enter the history that have left with their last row.
    fn tell_lines(&mut self) {
        let Some(history) = &mut self.history else {
            return;
        };
        let untold = self.rows.range(self.told..);
        let Some(last) = untold.rev().position(|row| !row.is_wrapped()) else {
            return;
        };
        let end = self.rows.len() - last;
        for row in self.rows.range(self.told..end) {
            history.push_row(row);
        }
        self.told = end;
    }

    fn depart_oldest(&mut self) -> Option<SharedRow> {
        let oldest = self.rows.pop_front()?;
        match (self.told.checked_sub(1), &mut self.history) {
            (Some(told), _) => self.told = told,
            (None, Some(history)) => {
                history.push_row(&oldest);
            }
            (None, None) => {}
        }
        Some(oldest)
    }

    /// Hands out all rows, uppermost first, for a resize, which brings back those that stay.
    pub(crate) fn take_rows(&mut self) -> VecDeque<SharedRow> {
        std::mem::take(&mut self.rows)
    }

    /// Returns how many of `rows` the history has: of all that there are, of which the first `above` are above the screen.
    pub(crate) fn told_of(&self, rows: &VecDeque<SharedRow>, above: usize) -> usize {
        let shown = rows.iter().skip(above);
        let same = self.returned.iter().zip(shown);
        let same = same.take_while(|(before, row)| before == row).count();
        whole_lines(rows, self.told + same)
    }

    /// The number of rows that the history has, on the screen and above it.
    pub(crate) fn told(&self) -> usize {
        self.told + self.returned.len()
    }

    /// The number of those that end a line.
    pub(crate) fn told_ends(&self) -> usize {
        line_ends(self.rows.range(..self.told)) + self.returned_lines()
    }

    /// Has the rows at the start of `rows`, all that there are, depart that cannot stay in a window of so many columns: each line takes
    /// a row. `others` rows are not above, and the history has the first `told`. Returns how many those are.
    pub(crate) fn drop_surplus(
        &mut self,
        rows: &mut VecDeque<SharedRow>,
        is_end: impl Fn(&CellRow) -> bool,
        columns: u16,
        others: usize,
        told: usize,
    ) -> usize {
        let most = rows_max(columns) + others;
        let ends = rows.iter().enumerate().rev().filter(|(_, row)| is_end(row));
        let surplus = ends.map(|(number, _)| number + 1).nth(most).unwrap_or(0);
        for (number, row) in rows.drain(..surplus).enumerate() {
            if let Some(history) = &mut self.history
                && number >= told
            {
                history.push_row(&row);
            }
        }
        surplus
    }

    /// Takes the rows that a resize leaves above the screen, which is `shown`. The history has `told` of all these. The oldest depart if
    /// there are too many; returns true if none has.
    pub(crate) fn set_rows(
        &mut self,
        rows: VecDeque<SharedRow>,
        shown: &VecDeque<SharedRow>,
        told: usize,
    ) -> bool {
        let rows_max = rows_max(rows.front().map_or(1, |row| row.columns()));
        self.rows = rows;
        self.note_told(shown, told);
        self.tell_lines();
        let surplus = self.rows.len().saturating_sub(rows_max);
        for _ in 0..surplus {
            self.depart_oldest();
        }
        self.rows_max = self.rows.len().max(SCROLLED_ROWS_MIN);
        surplus == 0
    }

    /// Takes note that the history has the first `told` of the rows above the screen and on it, which is `shown`.
    pub(crate) fn note_told(&mut self, shown: &VecDeque<SharedRow>, told: usize) {
        self.told = told.min(self.rows.len());
        let shown = shown.iter().take(told - self.told);
        self.returned = shown.cloned().collect();
    }

    /// Returns the rows alone.
    pub(crate) fn kept(&self) -> RowsAbove {
        RowsAbove {
            rows: self.rows.clone(),
            rows_max: self.rows_max,
            told: self.told,
            returned: self.returned.clone(),
            history: None,
        }
    }

    /// Takes back the rows of before.
    pub(crate) fn go_back_to(&mut self, before: &RowsAbove) {
        let history = self.history.take();
        *self = RowsAbove {
            history,
            ..before.kept()
        };
    }

    /// Drops everything, as the program wants it.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.returned.clear();
        self.told = 0;
        if let Some(history) = &mut self.history {
            history.clear();
        }
    }
}

/// Returns how many of the first `count` rows are lines that are whole.
pub(crate) fn whole_lines(rows: &VecDeque<SharedRow>, count: usize) -> usize {
    let first = rows.range(..count.min(rows.len()));
    let last = first.rev().position(|row| !row.is_wrapped());
    last.map_or(0, |behind| count.min(rows.len()) - behind)
}

fn line_ends<'a>(rows: impl Iterator<Item = &'a SharedRow>) -> usize {
    rows.filter(|row| !row.is_wrapped()).count()
}

/// Returns how many rows of so many columns may be here.
fn rows_max(columns: u16) -> usize {
    ROWS_MAX.min(CELLS_MAX / usize::from(columns.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::CellRow;
    use crate::scrollback::ScrollbackLimits;
    use crate::style::Color;

    fn row(columns: u16) -> SharedRow {
        SharedRow::new(CellRow::new(columns, Color::DEFAULT))
    }

    fn above(columns: u16, count: usize) -> RowsAbove {
        let mut above = RowsAbove::default();
        above.keep(Scrollback::new(ScrollbackLimits {
            lines: 100_000,
            ..ScrollbackLimits::default()
        }));
        above.set_rows(
            std::iter::repeat_n(row(columns), count).collect(),
            &VecDeque::new(),
            0,
        );
        above
    }

    fn told(above: &RowsAbove) -> u64 {
        above.history().map_or(0, Scrollback::end)
    }

    #[test]
    fn rows_and_cells_have_a_bound() {
        for (columns, kept) in [(1, ROWS_MAX), (80, 13_107), (4096, 256)] {
            let mut above = above(columns, 20_000);
            assert_eq!(above.rows().len(), kept);
            assert_eq!(told(&above), 20_000);
            assert_eq!(above.push_scrolled(row(columns)), Some(row(columns)));
            assert_eq!(above.rows().len(), kept);
            assert_eq!(told(&above), 20_001);
        }
    }

    #[test]
    fn a_resize_that_leaves_few_rows_has_some_come_in_by_scrolling() {
        let mut above = RowsAbove::default();
        assert!(above.is_idle());
        assert_eq!(above.push_scrolled(row(2)), Some(row(2)));
        above.set_rows([row(3)].into(), &VecDeque::new(), 0);
        for _ in 1..SCROLLED_ROWS_MIN {
            assert_eq!(above.push_scrolled(row(4)), None);
        }
        assert_eq!(above.push_scrolled(row(5)), Some(row(3)));
        above.clear();
        assert!(above.is_idle());
    }
}
