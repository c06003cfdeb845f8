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

/// The rows that have left the main screen at its top, as far as a window of another size brings them back.
///
/// Rows come in by a resize. While some are here, those that the program scrolls off come in as well, so that what is here always
/// goes on where the screen begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowsAbove {
    /// Uppermost first. All as wide as the screen.
    rows: VecDeque<SharedRow>,
    /// The number of those that end a line.
    line_ends: usize,
    /// With more rows than that, scrolling has the oldest depart.
    rows_max: usize,
    /// The lines that no window brings back; `None` if nobody wants them.
    history: Option<Box<Scrollback>>,
}

impl RowsAbove {
    /// Returns true if rows that are scrolled off need not come here.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.history.is_none()
    }

    /// Begins to keep lines.
    pub(crate) fn keep(&mut self, history: Scrollback) {
        self.history = Some(Box::new(history));
    }

    /// The lines that no window brings back.
    pub(crate) fn history(&self) -> Option<&Scrollback> {
        self.history.as_deref()
    }

    /// The number of rows that end a line.
    pub(crate) fn line_ends(&self) -> usize {
        self.line_ends
    }

    /// All rows, uppermost first.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = &SharedRow> {
        self.rows.iter()
    }

    /// Takes in a row that was scrolled off, and returns one that nobody wants any more.
    pub(crate) fn push_scrolled(&mut self, row: SharedRow) -> Option<SharedRow> {
        let oldest = if self.rows.is_empty() {
            row
        } else {
            self.line_ends += usize::from(!row.is_wrapped());
            self.rows.push_back(row);
            if self.rows.len() <= self.rows_max {
                return None;
            }
            let oldest = self.rows.pop_front()?;
            self.line_ends -= usize::from(!oldest.is_wrapped());
            oldest
        };
        if let Some(history) = &mut self.history {
            history.push_row(&oldest);
        }
        Some(oldest)
    }

    /// Hands out all rows, uppermost first, for a resize, which brings back those that stay.
    pub(crate) fn take_rows(&mut self) -> VecDeque<SharedRow> {
        self.note_numbers();
        self.line_ends = 0;
        std::mem::take(&mut self.rows)
    }

    /// Has the rows at the start of `rows`, all that there are, depart that cannot stay in a window of so many columns: each line takes
    /// a row. `others` rows are not above. Returns how many those are.
    pub(crate) fn drop_surplus(
        &mut self,
        rows: &mut VecDeque<SharedRow>,
        is_end: impl Fn(&CellRow) -> bool,
        columns: u16,
        others: usize,
    ) -> usize {
        let most = rows_max(columns) + others;
        let ends = rows.iter().enumerate().rev().filter(|(_, row)| is_end(row));
        let surplus = ends.map(|(number, _)| number + 1).nth(most).unwrap_or(0);
        self.depart(rows, surplus);
        surplus
    }

    /// Takes the rows that a resize leaves above the screen. The oldest depart if there are too many; returns true if none has.
    pub(crate) fn set_rows(&mut self, mut rows: VecDeque<SharedRow>) -> bool {
        let rows_max = rows_max(rows.front().map_or(1, |row| row.columns()));
        let departed = rows.len().saturating_sub(rows_max);
        self.depart(&mut rows, departed);
        self.rows_max = rows.len().max(SCROLLED_ROWS_MIN);
        self.line_ends = rows.iter().filter(|row| !row.is_wrapped()).count();
        self.rows = rows;
        departed == 0
    }

    /// Takes note that all lines here have had their numbers, before a window brings some back.
    fn note_numbers(&mut self) {
        if let Some(history) = &mut self.history {
            history.note_above(self.line_ends as u64);
        }
    }

    /// Has the first `count` of `rows` leave for good.
    fn depart(&mut self, rows: &mut VecDeque<SharedRow>, count: usize) {
        for row in rows.drain(..count) {
            if let Some(history) = &mut self.history {
                history.push_row(&row);
            }
        }
    }

    /// Returns the rows alone.
    pub(crate) fn kept(&self) -> RowsAbove {
        RowsAbove {
            rows: self.rows.clone(),
            line_ends: self.line_ends,
            rows_max: self.rows_max,
            history: None,
        }
    }

    /// Takes back the rows of before.
    pub(crate) fn go_back_to(&mut self, before: &RowsAbove) {
        self.note_numbers();
        self.rows.clone_from(&before.rows);
        self.line_ends = before.line_ends;
        self.rows_max = before.rows_max;
    }

    /// Drops everything, as the program wants it.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        let lines = std::mem::take(&mut self.line_ends);
        if let Some(history) = &mut self.history {
            history.clear(lines as u64);
        }
    }
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
        above.set_rows(std::iter::repeat_n(row(columns), count).collect());
        above
    }

    fn departed(above: &RowsAbove) -> u64 {
        above.history().map_or(0, Scrollback::end)
    }

    #[test]
    fn rows_and_cells_have_a_bound() {
        for (columns, kept) in [(1, ROWS_MAX), (80, 13_107), (4096, 256)] {
            let mut above = above(columns, 20_000);
            assert_eq!(above.rows().len(), kept);
            assert_eq!(above.line_ends(), kept);
            assert_eq!(departed(&above), 20_000 - kept as u64);
            assert_eq!(above.push_scrolled(row(columns)), Some(row(columns)));
            assert_eq!(above.rows().len(), kept);
            assert_eq!(above.line_ends(), kept);
            assert_eq!(departed(&above), 20_001 - kept as u64);
        }
    }

    #[test]
    fn a_resize_that_leaves_few_rows_has_some_come_in_by_scrolling() {
        let mut above = RowsAbove::default();
        assert!(above.is_idle());
        assert_eq!(above.push_scrolled(row(2)), Some(row(2)));
        above.set_rows([row(3)].into());
        for _ in 1..SCROLLED_ROWS_MIN {
            assert_eq!(above.push_scrolled(row(4)), None);
        }
        assert_eq!(above.push_scrolled(row(5)), Some(row(3)));
        above.clear();
        assert!(above.is_idle());
        assert_eq!(above.line_ends(), 0);
    }
}
