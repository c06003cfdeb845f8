//! Remembers what each cell of a screen has shown, and when.

use super::glyph::{CellPosition, Glyph};
use crate::trace::Size;

/// The glyphs of all cells over a count that only grows: bytes of output, or updates of a display.
///
/// All cells are blank at count 0.
#[derive(Clone, Debug)]
pub(crate) struct CellHistory {
    size: Size,
    /// For each cell, row by row, its glyphs with the count from which on they are shown.
    cells: Vec<Vec<(usize, Glyph)>>,
    /// All changes in their order.
    changes: Vec<(usize, CellPosition)>,
}

impl CellHistory {
    /// Returns the history of a blank screen of at most this size.
    pub(crate) fn new(size: Size) -> Self {
        let cells = usize::from(size.rows) * usize::from(size.columns);
        Self {
            size,
            cells: vec![Vec::new(); cells],
            changes: Vec::new(),
        }
    }

    /// Adds that a cell shows something else from `count` on, which is not below earlier ones.
    pub(crate) fn add(&mut self, count: usize, place: CellPosition, glyph: Glyph) {
        let Some(index) = self.index(place) else {
            return;
        };
        let cell = &mut self.cells[index];
        match cell.last_mut() {
            Some((last, shown)) if *last == count => *shown = glyph,
            _ => cell.push((count, glyph)),
        }
        self.changes.push((count, place));
    }

    /// Returns what a cell shows at `count`.
    pub(crate) fn at(&self, place: CellPosition, count: usize) -> Glyph {
        let cell = self.of(place);
        let before = cell.partition_point(|(from, _)| *from <= count);
        match before.checked_sub(1) {
            Some(index) => cell[index].1,
            None if self.index(place).is_some() => Glyph::BLANK,
            None => Glyph::ABSENT,
        }
    }

    /// True when a cell shows `glyph` at any time from count `from` to count `to`.
    pub(crate) fn ever(&self, place: CellPosition, glyph: Glyph, from: usize, to: usize) -> bool {
        if self.at(place, from) == glyph {
            return true;
        }
        let cell = self.of(place);
        let start = cell.partition_point(|(count, _)| *count <= from);
        cell[start..]
            .iter()
            .take_while(|(count, _)| *count <= to)
            .any(|(_, shown)| *shown == glyph)
    }

    /// Returns the cells that changed after count `from` and not after `to`; some more than once.
    pub(crate) fn changed(&self, from: usize, to: usize) -> impl Iterator<Item = CellPosition> {
        let start = self.changes.partition_point(|(count, _)| *count <= from);
        self.changes[start..]
            .iter()
            .take_while(move |(count, _)| *count <= to)
            .map(|(_, place)| *place)
    }

    fn of(&self, place: CellPosition) -> &[(usize, Glyph)] {
        match self.index(place) {
            Some(index) => &self.cells[index],
            None => &[],
        }
    }

    fn index(&self, place: CellPosition) -> Option<usize> {
        let is_inside = place.row < self.size.rows && place.column < self.size.columns;
        is_inside.then(|| {
            usize::from(place.row) * usize::from(self.size.columns) + usize::from(place.column)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: CellPosition = CellPosition { row: 1, column: 2 };

    fn history() -> CellHistory {
        let mut history = CellHistory::new(Size {
            columns: 4,
            rows: 2,
        });
        history.add(5, HERE, Glyph::character('a'));
        history.add(9, HERE, Glyph::character('b'));
        history
    }

    #[test]
    fn a_cell_shows_the_last_that_came() {
        let history = history();
        let shown = |count| history.at(HERE, count).as_char();
        assert_eq!(
            [4, 5, 8, 9, 99].map(shown),
            [' ', 'a', 'a', 'b', 'b'].map(Some)
        );
        let outside = CellPosition { row: 2, column: 0 };
        assert_eq!(history.at(outside, 5), Glyph::ABSENT);
    }

    #[test]
    fn a_span_holds_what_was_shown_at_its_start_and_within() {
        let history = history();
        let ever = |letter, from, to| history.ever(HERE, Glyph::character(letter), from, to);
        assert!(ever(' ', 0, 4) && ever(' ', 4, 9) && !ever(' ', 5, 9));
        assert!(ever('a', 0, 5) && !ever('a', 0, 4) && ever('a', 8, 9) && !ever('a', 9, 20));
        assert!(ever('b', 5, 9) && !ever('b', 5, 8) && ever('b', 30, 30));
    }

    #[test]
    fn changes_are_found_by_count() {
        let history = history();
        assert_eq!(history.changed(0, 5).count(), 1);
        assert_eq!(history.changed(5, 8).count(), 0);
        assert_eq!(history.changed(4, 9).count(), 2);
    }
}
