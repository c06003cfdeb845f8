//! Frames for a reader that keeps what leaves its screen at the top, as the main screen of a user's terminal does.
//!
//! The rows that leave and the screen that remains are a text that is longer than the screen. Its beginning is drawn over what
//! is shown, and where that is what the program has scrolled off, nothing has to be drawn. The rest is written at the bottom, a
//! line feed for each row, as the program's own output would be.

use crate::Screen;
use crate::frame::projection;
use crate::frame::rows::{self, RowChange};
use crate::frame::seen::{Seen, is_wrapped, last_cell, wraps_into};
use crate::frame::told::{told_pair, told_row};
use crate::frame::writer::Writer;
use crate::frame::{Frame, Shown};
use crate::row::{CellRow, SharedRow};
use crate::size::{Column, Position, Row};
use crate::vocabulary::Vocabulary;

impl Screen {
    /// Returns the frame that has `rows` leave the reader's screen at its top, uppermost first, and leaves this screen there.
    /// Nothing else leaves at the top, and nothing that has left comes back. A row that [is wrapped](CellRow::is_wrapped)
    /// becomes one line with the next one, the last of them with the first of the screen.
    ///
    /// The rows are as wide as this screen. With a `source`, the reader shows that, and it has this screen's size; else it may show
    /// anything, and keeps what [`Screen::repaint`] leaves.
    pub fn diff_pushing(
        &self,
        rows: &[SharedRow],
        source: Option<&Screen>,
        vocabulary: &Vocabulary,
    ) -> Vec<u8> {
        let blank = Screen::new(self.size());
        let (source_told, target) = told_pair(source.unwrap_or(&blank), self, vocabulary);
        let is_shown = source.is_some_and(|source| source.size() == self.size());
        if is_shown
            && rows.is_empty()
            && projection::is_same_as_told(&target, &source_told, vocabulary)
        {
            return Vec::new();
        }
        let told = |row: &SharedRow| match told_row(row, vocabulary) {
            Some(told) => SharedRow::new(told),
            None => row.clone(),
        };
        let rows: Vec<SharedRow> = rows.iter().map(told).collect();
        let mut frame = Frame::new(&source_told, &target, vocabulary);
        frame.repaint = !is_shown;
        frame.pushed = Some(&rows);
        frame.write()
    }
}

impl Screen {
    /// Returns the screen as a reader has it that keeps lines and was sent its frames, with [trimmed](CellRow::trimmed) rows.
    pub fn trimmed(&self) -> Screen {
        let mut trimmed = self.clone();
        for (row, cells) in (0..).map(Row).zip(self.rows()) {
            trimmed.set_row(row, SharedRow::new(cells.trimmed()));
        }
        trimmed
    }
}

impl CellRow {
    /// Returns the row with blanks in place of the spaces behind the text of a line, if erasing leaves the same: they are never
    /// written where lines are kept.
    pub fn trimmed(&self) -> CellRow {
        let mut trimmed = self.clone();
        if !self.is_wrapped() {
            for column in (0..self.columns()).rev() {
                let seen = Seen::at(self, column, &Vocabulary::FULL);
                if !seen.is_erased(&Vocabulary::FULL) {
                    break;
                }
                trimmed.erase(column..column + 1, seen.style.background);
            }
        }
        trimmed
    }
}

impl Frame<'_> {
    /// Draws the rows that leave and those that stay, and has the former leave.
    pub(super) fn push(&self, writer: &mut Writer<'_>, shown: Shown<'_>, pushed: &[SharedRow]) {
        let text: Vec<&SharedRow> = pushed.iter().chain(self.target.rows()).collect();
        let height = usize::from(self.target.size().rows());
        let mut beginning = self.target.clone();
        for (row, cells) in (0..).map(Row).zip(text.iter().take(height)) {
            beginning.set_row(row, SharedRow::clone(cells));
        }
        let mut frame = Frame::new(self.source, &beginning, self.vocabulary);
        frame.pushed = Some(&[]);
        frame.runs_on = self.runs_on(&text, height - 1);
        let mut shown = shown;
        writer.keeps_lines = true;
        if !self.repaint {
            frame.scroll(writer, &mut shown);
        }
        frame.end_lines(writer, &mut shown);
        frame.rows(writer, &shown);
        for (number, pair) in text.windows(2).enumerate().skip(height - 1) {
            let runs_on = self.runs_on(&text, number + 1);
            self.feed(writer, pair[0], pair[1], runs_on);
        }
    }

    /// Erases the rows that ran on in the ones below them and are to do so no more. tmux keeps a line together, whatever is
    /// written over its end, until a row of it is erased as a whole; that parts it from the row above, too.
    fn end_lines<'s>(&'s self, writer: &mut Writer<'_>, shown: &mut Shown<'s>) {
        for row in (0..self.target.size().rows()).map(Row) {
            let index = usize::from(row.0);
            if !shown.wrapped[index] || is_wrapped(self.target, row, self.vocabulary) {
                continue;
            }
            writer.plain_style();
            writer.move_to(Position {
                row,
                column: Column(0),
            });
            writer.raw(b"\x1b[K");
            shown.rows[index] = self.blank();
            shown.wrapped[index] = false;
            if let Some(above) = index.checked_sub(1) {
                shown.wrapped[above] = false;
            }
        }
    }

    /// Returns true if a row of `text` is one line with the next one.
    fn runs_on(&self, text: &[&SharedRow], number: usize) -> bool {
        let pair = text.get(number).zip(text.get(number + 1));
        pair.is_some_and(|(upper, lower)| wraps_into(upper, lower, self.vocabulary))
    }

    /// Has the row at the top leave, and draws `row` below `upper`, which is at the bottom. Its last cell is left out if it runs on.
    fn feed(&self, writer: &mut Writer<'_>, upper: &CellRow, row: &CellRow, runs_on: bool) {
        let bottom = self.target.size().last_row();
        let done = if wraps_into(upper, row, self.vocabulary) {
            self.wrap_at_bottom(writer, upper, row)
        } else {
            // The row that comes in gets the background in force (docs/protocol.md §8.3).
            writer.plain_style();
            writer.move_to(Position {
                row: bottom,
                column: Column(0),
            });
            writer.raw(b"\n");
            0
        };
        let change = RowChange {
            row: bottom,
            old: self.blank(),
            new: row,
            done,
            redraw_last: false,
            leave_last: runs_on,
        };
        change.draw(writer);
    }

    /// Has the reader go from the end of `upper` to the row that comes in by itself. Returns the number of columns drawn of that.
    fn wrap_at_bottom(&self, writer: &mut Writer<'_>, upper: &CellRow, row: &CellRow) -> u16 {
        let bottom = self.target.size().last_row();
        let last = Position {
            row: bottom,
            column: Column(last_cell(upper)),
        };
        // A reader that is about to wrap would not draw there.
        if writer.position() != Some(last) {
            writer.move_to_absolute(last);
        }
        let done = rows::wrap_here(writer, bottom, upper, row);
        let background = Seen::at(row, 0, self.vocabulary).style.background;
        if !background.is_default() && done < row.columns() {
            writer.plain_style();
            writer.raw(b"\x1b[K");
        }
        done
    }

    /// Blanks the reader's screen. The first row is erased by itself: some readers keep a whole screen that is erased as if it
    /// had been scrolled off.
    pub(super) fn erase_in_place(&self, writer: &mut Writer<'_>) {
        writer.raw(b"\x1b[r\x1b[0m\x1b[H\x1b[K");
        writer.set_position(Position::HOME);
        if self.target.size().rows() > 1 {
            writer.raw(b"\n\x1b[J");
            writer.set_position(Position::new(1, 0));
        }
    }
}
