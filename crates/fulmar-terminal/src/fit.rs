//! The main screen in a window of another size.
//!
//! Source: docs/protocol.md §8.9.

use std::collections::VecDeque;

use crate::cell::Cell;
use crate::grid::Grid;
use crate::reflow::{Cutter, Place, Reflow};
use crate::row::{CellRow, SharedRow};
use crate::rows_above::{RowsAbove, whole_lines};
use crate::saved_cursor::SavedCursor;
use crate::screen::Screen;
use crate::size::{Column, Position, Row, Size};
use crate::style::Color;

impl Place {
    fn new(position: Position, pending_wrap: bool) -> Place {
        Place {
            row: usize::from(position.row.0),
            column: usize::from(position.column.0) + usize::from(pending_wrap),
        }
    }

    /// Returns the place on a screen of `size`, and true if the next character goes to the next row.
    fn on_screen(self, size: Size) -> (Position, bool) {
        let column = u16::try_from(self.column).unwrap_or(u16::MAX);
        let position = Position {
            row: Row(u16::try_from(self.row).unwrap_or(u16::MAX)),
            column: Column(column),
        };
        (size.clamp(position), column >= size.columns())
    }
}

/// The places that stay at their text.
#[derive(Debug)]
struct Places {
    cursor: Place,
    saved: Place,
    printed: Option<Place>,
}

impl Places {
    fn all(&mut self) -> impl Iterator<Item = &mut Place> {
        [&mut self.cursor, &mut self.saved]
            .into_iter()
            .chain(&mut self.printed)
    }
}

impl Screen {
    /// The grid of the main screen, shown or not.
    pub(crate) fn main_grid_mut(&mut self) -> &mut Grid {
        if self.alternate {
            &mut self.hidden
        } else {
            &mut self.grid
        }
    }

    /// Lends the main grid what is above it, or takes that back.
    pub(crate) fn swap_above(&mut self, above: &mut RowsAbove) {
        std::mem::swap(&mut self.main_grid_mut().above, above);
    }

    /// Puts a screen of before in the place of this one. The work stays.
    pub(crate) fn go_back_to(&mut self, before: &Screen) {
        let work = self.work() + 2 * u64::from(before.size.rows());
        self.clone_from(before);
        self.hidden.work = 0;
        self.grid.work = work;
    }

    /// Gives the screen the size of a window. The text of the main screen stays around
    /// its cursor: rows leave at the top, and come back. The alternate screen, which its program paints anew, is cropped or
    /// extended at its right and bottom.
    ///
    /// Returns how many of the rows that there were, above the screen and on it, the history has; `None` if rows have left for good.
    pub(crate) fn fit(&mut self, size: Size, reflow: Reflow) -> Option<usize> {
        if size == self.size {
            return Some(self.main_grid_mut().above.told());
        }
        let background = self.style.background;
        let mut places = self.places();
        let reflow = match reflow {
            // Nobody draws there.
            Reflow::AboveCursor if self.alternate => Reflow::All,
            _ => reflow,
        };
        let told = self
            .main_grid_mut()
            .fit(size, background, reflow, &mut places);
        // What fits is left alone: this is for the alternate grid and whatever goes with a size.
        self.resize(size);
        self.set_places(&places);
        told
    }

    /// Gives the screen the size of a window, as [`Terminal::resize_with`](crate::Terminal::resize_with) does where these rows, as
    /// wide as the screen, are above. Returns those that are above it afterwards.
    pub fn fit_below(
        &mut self,
        above: Vec<SharedRow>,
        size: Size,
        reflow: Reflow,
    ) -> Vec<SharedRow> {
        self.main_grid_mut().above = RowsAbove::of(above.into());
        self.fit(size, reflow);
        let above = std::mem::take(&mut self.main_grid_mut().above);
        above.rows().cloned().collect()
    }

    fn places(&self) -> Places {
        let place = |saved: &SavedCursor| Place::new(saved.position, saved.pending_wrap);
        if self.alternate {
            let saved = place(&self.hidden_saved);
            let cursor = if self.hidden_saved.is_set {
                saved
            } else {
                // A program that has not saved it (modes 47 and 1047) leaves it somewhere. It was below the text.
                Place {
                    row: self
                        .hidden
                        .rows()
                        .rposition(|row| !is_empty(row))
                        .unwrap_or(0),
                    column: 0,
                }
            };
            return Places {
                cursor,
                saved,
                printed: None,
            };
        }
        Places {
            cursor: Place::new(self.cursor.position, self.cursor.pending_wrap),
            saved: place(&self.saved),
            printed: self.printed.map(|printed| Place::new(printed, false)),
        }
    }

    fn set_places(&mut self, places: &Places) {
        let size = self.size;
        let saved = if self.alternate {
            &mut self.hidden_saved
        } else {
            &mut self.saved
        };
        // Where nothing was saved, that is home, whatever the window.
        if saved.is_set {
            (saved.position, saved.pending_wrap) = places.saved.on_screen(size);
        }
        if !self.alternate {
            (self.cursor.position, self.cursor.pending_wrap) = places.cursor.on_screen(size);
            self.printed = places.printed.map(|printed| printed.on_screen(size).0);
        }
    }
}

impl Grid {
    /// Gives the grid another size. Rows below the cursor that are empty go first, then rows leave at the top until the cursor's
    /// is there, and only then those at the bottom are lost. Those that have left come back before empty ones enter below.
    /// Returns how many of the rows that there were the history has; `None` if rows have left for good.
    fn fit(
        &mut self,
        size: Size,
        background: Color,
        reflow: Reflow,
        places: &mut Places,
    ) -> Option<usize> {
        let mut rows = self.above.take_rows();
        let mut top = rows.len();
        rows.append(&mut self.take_rows());
        let mut told = self.above.told_of(&rows, top);
        places.all().for_each(|place| place.row += top);
        self.work += rows.len() as u64 + u64::from(size.rows());
        let mut surplus = 0;
        let mut widths = None;
        if self.columns() != size.columns() {
            let is_end = |row: &CellRow| reflow == Reflow::Off || !row.is_wrapped();
            let others = usize::from(size.rows()) + rows.len() - top;
            surplus = self
                .above
                .drop_surplus(&mut rows, is_end, size.columns(), others, told);
            top -= surplus;
            told = told.saturating_sub(surplus);
            places.all().for_each(|place| place.row -= surplus);
            let cropped = match reflow {
                Reflow::All => VecDeque::new(),
                Reflow::AboveCursor => rows.split_off(line_start(&rows, places.cursor.row)),
                Reflow::Off => std::mem::take(&mut rows),
            };
            let cropped_rows = cropped.len();
            let lines = LineEnds::of(&rows);
            let starts = [&mut top, &mut told];
            rows = self.set_width(rows, cropped, starts, size.columns(), background, places);
            widths = Some((lines, rows.len() - cropped_rows));
        }
        let wanted = usize::from(size.rows());
        let present = rows.len() - top;
        if present > wanted {
            let empty = empty_at_the_end(&rows, places.cursor.row + 1);
            rows.truncate(rows.len() - empty.min(present - wanted));
            let surplus = rows.len() - top - wanted;
            top = (top + surplus).min(places.cursor.row);
            rows.truncate(top + wanted);
        } else {
            top -= top.min(wanted - present);
            rows.resize(top + wanted, self.blank(background));
        }
        places.printed = places.printed.filter(|printed| printed.row >= top);
        places
            .all()
            .for_each(|place| place.row = place.row.saturating_sub(top));
        let told = whole_lines(&rows, told);
        let shown = rows.split_off(top);
        let is_all_kept = self.above.set_rows(rows, &shown, told) && surplus == 0;
        self.set_rows(shown);
        let told = self.above.told();
        let told = match widths {
            Some((lines, cut)) if told < cut => lines.end(self.above.told_ends()),
            Some((lines, cut)) => lines.rows + told - cut,
            None => told,
        };
        is_all_kept.then_some(told)
    }

    /// Cuts the lines of `lines` anew, and crops or extends the rows below them. Returns all of them. Of the row that begins at each of
    /// `starts` is told where it is now.
    fn set_width(
        &mut self,
        lines: VecDeque<SharedRow>,
        mut cropped: VecDeque<SharedRow>,
        starts: [&mut usize; 2],
        columns: u16,
        background: Color,
        places: &mut Places,
    ) -> VecDeque<SharedRow> {
        let mut first = starts.each_ref().map(|row| Place {
            row: **row,
            column: 0,
        });
        let (above, below): (Vec<&mut Place>, Vec<&mut Place>) = places
            .all()
            .chain(&mut first)
            .partition(|place| place.row < lines.len());
        let mut cutter = Cutter::new(columns);
        let mut rows = cutter.cut(&lines, above);
        self.work += cutter.work;
        self.set_columns(&mut cropped, columns, background);
        for place in below {
            place.row = place.row - lines.len() + rows.len();
            place.column = place.column.min(usize::from(columns) - 1);
        }
        rows.append(&mut cropped);
        for (start, first) in starts.into_iter().zip(first) {
            *start = first.row;
        }
        rows
    }
}

/// The rows behind which the lines of some rows end.
#[derive(Debug)]
struct LineEnds {
    ends: Vec<usize>,
    /// The number of all rows.
    rows: usize,
}

impl LineEnds {
    fn of(rows: &VecDeque<SharedRow>) -> LineEnds {
        let ends = (1..).zip(rows).filter(|(_, row)| !row.is_wrapped());
        LineEnds {
            ends: ends.map(|(end, _)| end).collect(),
            rows: rows.len(),
        }
    }

    /// Returns the number of rows that the first `count` lines have.
    fn end(&self, count: usize) -> usize {
        let last = count.checked_sub(1).and_then(|last| self.ends.get(last));
        last.copied().unwrap_or(0)
    }
}

/// Returns the number of the row with which the line of row `row` begins.
fn line_start(rows: &VecDeque<SharedRow>, row: usize) -> usize {
    let above = rows.range(..row).rev();
    row - above.take_while(|row| row.is_wrapped()).count()
}

/// Returns how many rows at the end have no text, of those from `first` on.
fn empty_at_the_end(rows: &VecDeque<SharedRow>, first: usize) -> usize {
    let below = rows.iter().skip(first);
    below.rev().take_while(|row| is_empty(row)).count()
}

/// Returns true if nothing is written in a row.
fn is_empty(row: &CellRow) -> bool {
    row.cells().iter().all(Cell::is_blank)
}
