//! Drawing one row over another.

use crate::cell::Glyph;
use crate::frame::seen::{Seen, is_same_cell, is_untouched, last_cell};
use crate::frame::writer::Writer;
use crate::row::CellRow;
use crate::size::{Column, Position, Row};
use crate::vocabulary::Vocabulary;

/// The longest gap of unchanged cells that is drawn again instead of moving over it.
///
/// Chosen by eye: a movement takes four bytes or more.
const GAP_MAX: u16 = 3;

/// The longest run of blanks that is written as spaces where erasing would do as well.
///
/// Chosen by eye: erasing takes three or four bytes.
const SPACES_MAX: u16 = 4;

/// One row to be drawn.
pub(super) struct RowChange<'a> {
    pub(super) row: Row,
    /// The row that the reader shows there now.
    pub(super) old: &'a CellRow,
    /// The row that it is to show.
    pub(super) new: &'a CellRow,
    /// The first columns that are drawn already.
    pub(super) done: u16,
    /// True if the last column is drawn whatever it holds.
    pub(super) redraw_last: bool,
    /// True if the last column is left to [`wrap`].
    pub(super) leave_last: bool,
}

impl RowChange<'_> {
    /// Draws what differs. Returns whether the last column was drawn.
    pub(super) fn draw(&self, writer: &mut Writer<'_>) -> bool {
        let end = if self.leave_last {
            last_cell(self.new)
        } else {
            self.new.columns()
        };
        let mut drew_last = self.done > last_cell(self.new);
        // Columns before this one may show anything.
        let mut doubt = self.doubt_after(self.done);
        let mut column = self.done;
        while column < end {
            if column >= doubt && !self.redraw_last && is_untouched(self.old, self.new, column) {
                column += 1;
                continue;
            }
            let seen = Seen::at(self.new, column, writer.vocabulary);
            let last = self.redraw_last && column >= last_cell(self.new);
            let is_wrong = column < doubt || self.differs(column, &seen, writer.vocabulary);
            if !(last || is_wrong) {
                column += seen.width();
                continue;
            }
            let touched = column.saturating_add(seen.reach());
            column += self.draw_at(writer, column, end, &seen, doubt);
            drew_last |= column > last_cell(self.new);
            doubt = doubt.max(touched).max(self.doubt_after(column));
        }
        drew_last
    }

    /// The column before which cells may show anything once what is left of `column` was drawn over: the
    /// other half of a wide character is gone as well.
    fn doubt_after(&self, column: u16) -> u16 {
        column + u16::from(self.was_spacer(column))
    }

    /// Returns true if the reader shows something else at `column` or in the right half of what it is to show
    /// there.
    fn differs(&self, column: u16, seen: &Seen<'_>, vocabulary: &Vocabulary) -> bool {
        (column..column + seen.width())
            .any(|column| !is_same_cell(self.old, self.new, column, vocabulary))
    }

    fn was_spacer(&self, column: u16) -> bool {
        self.old.glyph(Column(column)) == Glyph::Spacer
    }

    /// Draws at `column`, as much as goes in one step, and returns the number of columns.
    fn draw_at(
        &self,
        writer: &mut Writer<'_>,
        column: u16,
        end: u16,
        seen: &Seen<'_>,
        doubt: u16,
    ) -> u16 {
        // A row wraps behind a last column that was written, not behind one that was erased
        // (docs/protocol.md §7).
        let last_needs_ink = self.redraw_last || self.leave_last;
        if seen.is_erased(writer.vocabulary) {
            let run = self.blank_run(column, end, seen, writer.vocabulary);
            let to_end = column + run == self.new.columns() && !last_needs_ink;
            let doubtful = doubt.saturating_sub(column).min(run);
            let changed = self
                .changed_part(column, run, writer.vocabulary)
                .max(doubtful);
            // `CSI K` takes three bytes. A reader that keeps lines takes spaces for their text.
            if to_end && (run > 2 || writer.keeps_lines) {
                self.go_to(writer, column);
                writer.set_background(&seen.style);
                writer.raw(b"\x1b[K");
                return run;
            }
            let in_place = changed > SPACES_MAX
                && writer.vocabulary.erase_characters
                && !(self.redraw_last && column + changed == end);
            self.go_to(writer, column);
            if in_place {
                writer.set_background(&seen.style);
                writer.print(format_args!("\x1b[{changed}X"));
            } else {
                writer.set_style(&seen.style);
                writer.draw_spaces(changed);
            }
            return changed;
        }
        self.go_to(writer, column);
        draw_glyph(writer, seen);
        seen.width()
    }

    /// The number of cells like `seen`, an erased one, from `column` on.
    fn blank_run(&self, column: u16, end: u16, seen: &Seen<'_>, vocabulary: &Vocabulary) -> u16 {
        let like = |next: &u16| {
            let cells = self.new.cells();
            cells.get(usize::from(column)) == cells.get(usize::from(*next))
                || Seen::at(self.new, *next, vocabulary) == *seen
        };
        (column..end).take_while(like).count() as u16
    }

    /// The length of a run of cells up to the last that differs; at least 1.
    fn changed_part(&self, column: u16, run: u16, vocabulary: &Vocabulary) -> u16 {
        (column..column + run)
            .rev()
            .find(|&column| {
                !is_same_cell(self.old, self.new, column, vocabulary) || self.was_spacer(column)
            })
            .map_or(1, |last| last - column + 1)
    }

    /// Brings the cursor to `column`: by drawing the few unchanged cells before it again where
    /// that is shorter than moving.
    fn go_to(&self, writer: &mut Writer<'_>, column: u16) {
        let target = Position {
            row: self.row,
            column: Column(column),
        };
        if let Some(position) = writer.position()
            && position.row == self.row
            && position.column.0 < column
            && column - position.column.0 <= GAP_MAX
            && let Some(text) = self.gap(writer, position.column.0, column)
        {
            writer.draw(&text, column - position.column.0);
            return;
        }
        writer.move_to(target);
    }

    /// The text of unchanged cells, if it is plain ASCII in the rendition in force.
    fn gap(&self, writer: &Writer<'_>, from: u16, to: u16) -> Option<String> {
        (from..to)
            .map(|column| {
                let seen = Seen::at(self.new, column, writer.vocabulary);
                let character = match seen.glyph {
                    Glyph::Blank => ' ',
                    Glyph::Char(character) if character.is_ascii() => character,
                    Glyph::Char(_) | Glyph::Cluster(_) | Glyph::Spacer => return None,
                };
                (*writer.style() == seen.style).then_some(character)
            })
            .collect()
    }
}

/// Ends `upper` and begins the row below it so that the reader wraps by itself. Returns the
/// number of columns drawn of the row below.
pub(super) fn wrap(writer: &mut Writer<'_>, row: Row, upper: &CellRow, lower: &CellRow) -> u16 {
    // Absolute, since the reader may be about to wrap right now.
    writer.move_to_absolute(Position {
        row,
        column: Column(last_cell(upper)),
    });
    wrap_here(writer, Row(row.0 + 1), upper, lower)
}

/// Does the same where the cursor is in the last cell of `upper`. The row below it becomes `row`.
pub(super) fn wrap_here(
    writer: &mut Writer<'_>,
    row: Row,
    upper: &CellRow,
    lower: &CellRow,
) -> u16 {
    let last = Seen::at(upper, last_cell(upper), writer.vocabulary);
    let first = Seen::at(lower, 0, writer.vocabulary);
    if writer.keeps_lines && first.wide && last.is_erased(writer.vocabulary) {
        // A wide character had no place there. The reader goes on by itself, and takes what is left for no text.
        writer.set_background(&last.style);
        writer.raw(b"\x1b[K");
    } else {
        draw_glyph(writer, &last);
    }
    draw_glyph(writer, &first);
    writer.wrapped_into(row, first.width());
    first.width()
}

/// Draws a cell where the cursor is.
fn draw_glyph(writer: &mut Writer<'_>, seen: &Seen<'_>) {
    writer.set_style(&seen.style);
    let mut buffer = [0; 4];
    let text = match seen.glyph {
        Glyph::Blank | Glyph::Spacer => " ",
        Glyph::Char(character) => character.encode_utf8(&mut buffer),
        Glyph::Cluster(text) => text,
    };
    if seen.is_agreed() {
        writer.draw(text, seen.width());
    } else {
        draw_disputed(writer, text, seen);
    }
}

/// Draws a character that the reader may take for wider or narrower than we do, or for a mark, or
/// may not know at all.
///
/// Its columns are blank before, in case the reader fills only some of them, and the cursor is moved
/// there, so that a mark stands on a blank and not on the character to the left. Nothing wraps
/// meanwhile, in case the reader goes beyond the end of the row. The cursor must be placed anew
/// after it.
fn draw_disputed(writer: &mut Writer<'_>, text: &str, seen: &Seen<'_>) {
    let position = writer.position();
    if let Some(position) = position {
        writer.draw_spaces(seen.width());
        writer.move_to(position);
    }
    let at_end = position
        .is_none_or(|position| position.column.0.saturating_add(seen.reach()) >= writer.columns());
    if at_end {
        writer.raw(b"\x1b[?7l");
    }
    writer.raw(text.as_bytes());
    if at_end {
        writer.raw(b"\x1b[?7h");
    }
    writer.forget_position();
}
