//! Lines of text in rows of another width.
//!
//! A line is a row with all rows onto which its text has wrapped. It is cut anew into rows, from its first cell to the last that was
//! written; what was never written is no text, wherever the old margin was.
//!
//! Source: docs/protocol.md §8.9.

use std::collections::VecDeque;

use crate::cell::Cell;
use crate::row::{CellRow, SharedRow};
use crate::size::Column;
use crate::style::Color;

/// The lines of the main screen that are cut anew into rows when its width changes. Others are cropped or extended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reflow {
    /// All.
    #[default]
    All,
    /// Those above the line of the cursor. That line and what is below belong to a program that draws them anew as soon as it
    /// learns of the new size: shells do, and they go by the rows that these had before.
    AboveCursor,
    /// None.
    Off,
}

/// Cuts a line anew into rows of `columns`. Its own rows are of any one width, and each is one with the next. If the last one
/// [is wrapped](CellRow::is_wrapped), so is the last that comes of it, as far as that is full.
pub fn cut_line(line: &[SharedRow], columns: u16) -> Vec<SharedRow> {
    let Some(last) = line.last() else {
        return Vec::new();
    };
    if last.columns() == columns {
        return line.to_vec();
    }
    let mut cutter = Cutter::new(columns);
    cutter.cut_line(&line.iter().collect::<Vec<_>>(), 0, Vec::new());
    if let Some(cut) = cutter.rows.back_mut()
        && last.is_wrapped()
        && cut.text_columns() == columns
    {
        SharedRow::make_mut(cut).set_wrapped(true);
    }
    cutter.rows.into()
}

/// A place among rows that stays at its text while these come, go or change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from the uppermost row there is, also above the screen.
    pub(crate) row: usize,
    /// One behind the last column if the next character goes to the next row.
    pub(crate) column: usize,
}

/// Rows cut anew.
#[derive(Debug)]
pub(crate) struct Cutter {
    columns: u16,
    rows: VecDeque<SharedRow>,
    /// The line of one row that was cut last, and what it has become.
    last: Option<(SharedRow, SharedRow)>,
    /// The cells that were touched.
    pub(crate) work: u64,
}

/// The cells of one row that are text of a line.
struct Piece<'a> {
    row: &'a CellRow,
    columns: u16,
}

impl Cutter {
    pub(crate) fn new(columns: u16) -> Cutter {
        Cutter {
            columns,
            rows: VecDeque::new(),
            last: None,
            work: 0,
        }
    }

    /// Cuts the lines of `rows` anew, and moves `places` with their cells.
    pub(crate) fn cut(
        &mut self,
        rows: &VecDeque<SharedRow>,
        mut places: Vec<&mut Place>,
    ) -> VecDeque<SharedRow> {
        places.sort_unstable_by_key(|place| place.row);
        let mut places = places.into_iter().peekable();
        let mut first = 0;
        while first < rows.len() {
            let wrapped = rows.iter().skip(first).take_while(|row| row.is_wrapped());
            let end = (first + wrapped.count() + 1).min(rows.len());
            let mut here = Vec::new();
            while let Some(place) = places.next_if(|place| place.row < end) {
                here.push(place);
            }
            if end == first + 1 && here.is_empty() {
                self.cut_row(&rows[first]);
            } else {
                let line: Vec<&SharedRow> = rows.range(first..end).collect();
                self.cut_line(&line, first, here);
            }
            first = end;
        }
        std::mem::take(&mut self.rows)
    }

    /// Cuts a line of one row. Where the same stands below itself, as an empty one does, so does what comes of it.
    fn cut_row(&mut self, row: &SharedRow) {
        match &self.last {
            Some((cut, became)) if SharedRow::ptr_eq(cut, row) => {
                self.rows.push_back(became.clone());
                self.work += 1;
            }
            _ => {
                let before = self.rows.len();
                self.cut_line(&[row], before, Vec::new());
                let became = self.rows.back().filter(|_| self.rows.len() == before + 1);
                self.last = became.map(|became| (row.clone(), became.clone()));
            }
        }
    }

    /// Cuts one line, the first row of which has the number `first`.
    fn cut_line(&mut self, line: &[&SharedRow], first: usize, places: Vec<&mut Place>) {
        let last = line.len() - 1;
        let pieces: Vec<Piece<'_>> = (0..)
            .zip(line)
            .map(|(number, row)| Piece::new(row, number < last))
            .collect();
        let first_cut = self.rows.len();
        let starts = self.cut_pieces(&pieces);
        let text: usize = pieces.iter().map(|piece| usize::from(piece.columns)).sum();
        for place in places {
            let row = place.row - first;
            let before = pieces.iter().take(row);
            let mut cell: usize = before.map(|piece| usize::from(piece.columns)).sum();
            cell += match pieces.get(row) {
                // What a wide character has left empty is the beginning of the next row.
                Some(piece) if row < last => place.column.min(usize::from(piece.columns)),
                _ => place.column,
            };
            let cut = starts.partition_point(|&start| start <= cell).max(1) - 1;
            let column = cell - starts.get(cut).copied().unwrap_or_default();
            place.row = first_cut + cut;
            let columns = usize::from(self.columns);
            // Right of the text there is no wrap.
            place.column = column.min(columns - usize::from(cell > text));
        }
    }

    /// Fills rows with the cells of a line, and returns with which of them each begins.
    fn cut_pieces(&mut self, pieces: &[Piece<'_>]) -> Vec<usize> {
        let columns = self.columns;
        let mut starts = vec![0];
        let mut row = CellRow::new(columns, Color::DEFAULT);
        let (mut cell, mut column) = (0, 0);
        for piece in pieces {
            let mut taken = 0;
            while taken < piece.columns {
                let mut count = (piece.columns - taken).min(columns - column);
                // Not between the halves of a wide character.
                if piece.is_spacer(taken + count) {
                    count = count.saturating_sub(1);
                }
                if count > 0 {
                    row.copy_part(Column(column), piece.row, taken..taken + count);
                    column += count;
                } else if column > 0 {
                    let full = std::mem::replace(&mut row, CellRow::new(columns, Color::DEFAULT));
                    self.end_row(full, column, piece.background(taken));
                    starts.push(cell);
                    column = 0;
                } else {
                    // A wide character in a window of one column.
                    count = 2;
                }
                taken += count;
                cell += usize::from(count);
            }
        }
        let background = pieces.last().map(|last| last.background(last.columns));
        fill(&mut row, column, background.unwrap_or_default());
        self.work += u64::from(columns);
        self.rows.push_back(SharedRow::new(row));
        starts
    }

    /// Ends a row that is filled up to `column`, and whose text runs on.
    fn end_row(&mut self, mut row: CellRow, column: u16, background: Color) {
        if column < self.columns {
            fill(&mut row, column, background);
        } else {
            // A blank there would be taken for what a wide character has left.
            row.close_end();
        }
        row.set_wrapped(true);
        self.work += u64::from(self.columns);
        self.rows.push_back(SharedRow::new(row));
    }
}

/// Gives the empty cells of a new row from `column` on their background.
fn fill(row: &mut CellRow, column: u16, background: Color) {
    if !background.is_default() {
        row.erase(column..row.columns(), background);
    }
}

impl<'a> Piece<'a> {
    /// Returns the text of a row, which runs on in the next one or not.
    fn new(row: &'a SharedRow, runs_on: bool) -> Piece<'a> {
        let columns = match row.cells().last() {
            // A row whose text runs on ends with a blank only where a wide character had no place.
            Some(last) if runs_on => row.columns() - u16::from(last.is_blank()),
            _ => row.text_columns(),
        };
        Piece { row, columns }
    }

    fn cell(&self, column: u16) -> Option<&Cell> {
        self.row.cells().get(usize::from(column))
    }

    fn is_spacer(&self, column: u16) -> bool {
        self.cell(column).is_some_and(Cell::is_spacer)
    }

    /// The colour behind a cell.
    fn background(&self, column: u16) -> Color {
        self.cell(column)
            .map_or(Color::DEFAULT, |cell| cell.background())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn row(text: &str, wraps: bool) -> SharedRow {
        let mut row = CellRow::of_text(text, &Style::default(), 4);
        row.set_wrapped(wraps);
        SharedRow::new(row)
    }

    fn cut(line: &[SharedRow], columns: u16) -> Vec<(String, bool)> {
        let rows = cut_line(line, columns);
        let text = |row: &SharedRow| {
            let mut text = String::new();
            row.push_text(&mut text);
            (text.trim_end().to_owned(), row.is_wrapped())
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn a_line_is_cut_into_rows_of_any_width() {
        let line = [row("abcd", true), row("ef", false)];
        let pairs = |rows: &[(&str, bool)]| -> Vec<(String, bool)> {
            rows.iter()
                .map(|&(text, wraps)| (text.to_owned(), wraps))
                .collect()
        };
        assert_eq!(cut(&line, 4), pairs(&[("abcd", true), ("ef", false)]));
        assert_eq!(cut(&line, 3), pairs(&[("abc", true), ("def", false)]));
        assert_eq!(cut(&line, 9), pairs(&[("abcdef", false)]));
        assert_eq!(cut(&[], 9), []);
        assert_eq!(cut(&[row("", false)], 9), pairs(&[("", false)]));
    }

    #[test]
    fn a_line_that_runs_on_does_so_where_its_last_row_is_full() {
        let line = [row("abcd", true)];
        assert_eq!(cut(&line, 2).pop(), Some(("cd".to_owned(), true)));
        assert_eq!(cut(&line, 3).pop(), Some(("d".to_owned(), false)));
    }
}
