//! Putting text on the screen.
//!
//! Source: docs/protocol.md §8.4 and §8.5.

use crate::content::Content;
use crate::modes::ModeFlags;
use crate::row::SharedRow;
use crate::scan::plain_length;
use crate::screen::{ALLOCATION_WORK, Screen};
use crate::size::{Column, Position};
use crate::width::{Width, width};

/// The work of adding a mark to a cell, which copies the text of that cell. Chosen by eye.
pub(crate) const MARK_WORK: u64 = 8;

impl Screen {
    /// Prints text that has no controls.
    pub(crate) fn print(&mut self, text: &str) {
        if self.is_clustering() {
            return self.print_clusters(text);
        }
        let replaces = !self.modes.has(ModeFlags::INSERT);
        if text.is_ascii() && self.charsets.is_ascii() && replaces {
            return self.print_ascii(text.as_bytes());
        }
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let is_run = self.charsets.is_ascii() && width(c) != Width::Zero;
            let printed = if is_run { self.print_run(rest) } else { 0 };
            rest = match printed {
                0 => {
                    let shown = self.charsets.translate(c);
                    self.print_char(shown);
                    rest.get(c.len_utf8()..).unwrap_or_default()
                }
                _ => rest.get(printed..).unwrap_or_default(),
            };
        }
    }

    /// Prints what the last cell shows `count` times more (REP): a character, or a grapheme cluster.
    ///
    /// The work is that of a row or two, however many rows are filled: those in between are one row.
    pub(crate) fn repeat(&mut self, count: u16) {
        self.charge(ALLOCATION_WORK);
        let Some(content) = self.repeatable() else {
            return;
        };
        if self.has_sides() {
            return self.repeat_between_sides(&content, usize::from(count));
        }
        let columns = usize::from(self.size.columns());
        let per_row = (columns / usize::from(content.columns)).max(1);
        let count = usize::from(count);
        // Beyond a full screen and the rest of the row that it begins in, only the column it ends in
        // makes a difference, unless somebody wants the rows that are scrolled off.
        let full = per_row * (usize::from(self.size.rows()) + 1);
        let mut left = if count > full && self.grid.above.is_idle() {
            full + count % per_row
        } else {
            count
        };
        let room = columns - usize::from(self.cursor.position.column.0);
        let first = if self.cursor.pending_wrap {
            0
        } else {
            room / usize::from(content.columns)
        };
        if !self.modes.has(ModeFlags::AUTO_WRAP) {
            // At the end of the row the same character takes its own place.
            return self.print_times(&content, count.min(first + 1));
        }
        // The rest of the row, and one row to see what a whole one is.
        let printed = left.min(first + per_row);
        self.print_times(&content, printed);
        left -= printed;
        if left > per_row && self.end_row(content.columns) {
            let whole = self.grid.row(self.cursor.position.row).clone();
            let rows = (left - 1) / per_row;
            self.next_row();
            self.print_rows(&whole, rows);
            left -= rows * per_row;
        }
        self.print_times(&content, left);
    }

    /// Returns what REP prints: the grapheme cluster before the cursor, or else the last character.
    fn repeatable(&self) -> Option<Content> {
        let printed = self.is_clustering().then(|| self.printed_content());
        printed
            .flatten()
            .or_else(|| self.last_character.map(Content::of))
    }

    /// Prints `content` in so many cells.
    pub(crate) fn print_times(&mut self, content: &Content, count: usize) {
        let Some(c) = content.text.single() else {
            return self.print_contents(content, count);
        };
        let text: String = std::iter::repeat_n(c, count).collect();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let printed = match self.print_run(rest) {
                0 => {
                    self.print_char(c);
                    c.len_utf8()
                }
                printed => printed,
            };
            rest = rest.get(printed..).unwrap_or_default();
        }
    }

    /// Puts `whole`, a row that printing has filled and gone on from, into `count` rows from that of
    /// the cursor on, as printing it so often would. The cursor is in the first column.
    fn print_rows(&mut self, whole: &SharedRow, count: usize) {
        for printed in 1..=count {
            let row = self.cursor.position.row;
            self.grid.fill_rows(row.0..row.0 + 1, whole);
            if row.0 + 1 == self.margins.end {
                // All others come in here and move up.
                let others = u16::try_from(count - printed).unwrap_or(u16::MAX);
                self.grid.scroll_in(self.margins.clone(), others, whole);
                return self.index();
            }
            self.index();
        }
    }

    /// Prints ASCII in place of what is there. This is the fastest path.
    fn print_ascii(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            self.wrap_if_pending();
            let Position { row, column } = self.cursor.position;
            let room = usize::from(self.right_edge() - column.0);
            let (fitting, others) = rest.split_at(rest.len().min(room));
            let row = self.grid.row_mut(row, fitting.len() as u16);
            let pen = row.pen(&self.style);
            row.write_ascii(column, fitting, pen);
            self.advance_to(column.0 + fitting.len() as u16, 1);
            self.last_character = fitting.last().map(|&byte| char::from(byte));
            rest = others;
        }
    }

    /// Returns true if the cursor is at the beginning of the last row.
    #[inline]
    pub(crate) fn begins_last_row(&self) -> bool {
        let Position { row, column } = self.cursor.position;
        column.0 == 0 && row == self.size.last_row()
    }

    /// Prints lines of ASCII that end with CR LF, as long as they fit into a row. The first one begins the last row. Returns how
    /// many bytes they have: none on a screen where that is not all that happens. The controls of each make so much work.
    ///
    /// Logs are made of such lines.
    #[inline(never)]
    pub(crate) fn print_lines(&mut self, bytes: &[u8], work: u64) -> usize {
        let is_ready = self.margins == (0..self.size.rows())
            && !self.cursor.pending_wrap
            && !self.modes.has(ModeFlags::INSERT)
            && self.charsets.is_ascii();
        if !is_ready {
            return 0;
        }
        let columns = usize::from(self.size.columns());
        let mut rest = bytes;
        while let (text, [b'\r', b'\n', after @ ..]) = rest.split_at(plain_length(rest))
            && text.len() <= columns
            && text.is_ascii()
        {
            if let Some(&last) = text.last() {
                let row = self.grid.row_mut(self.size.last_row(), text.len() as u16);
                let pen = row.pen(&self.style);
                row.write_ascii(Column(0), text, pen);
                self.last_character = Some(char::from(last));
            }
            self.grid.scroll_line(self.style.background);
            self.charge(work);
            rest = after;
        }
        if rest.len() < bytes.len() {
            self.printed = None;
        }
        bytes.len() - rest.len()
    }

    /// Prints the part of `text` that fits into the row and has no marks, as it stands; returns
    /// the number of its bytes. This is the fast path: the row is looked up and the rendition
    /// brought into form once for all of it.
    pub(crate) fn print_run(&mut self, text: &str) -> usize {
        self.wrap_if_pending();
        let Position { row, column } = self.cursor.position;
        let columns = self.edge_of_run();
        let room = columns - column.0;
        let insert = self.is_inserting();
        // For the account of work: an insertion moves all that stands behind it in the row.
        let cells = if insert {
            room
        } else {
            text.len().min(usize::from(room)) as u16
        };
        let row = self.grid.row_mut(row, cells);
        if insert {
            let inserted = columns_that_fit(text, room);
            row.insert(column.0..columns, inserted, self.style.background);
        }
        let pen = row.pen(&self.style);
        let mut end = column.0;
        let mut last = None;
        let mut rest = text;
        while end < columns {
            let ascii = ascii_prefix(rest, usize::from(columns - end));
            let printed = if let Some(&byte) = ascii.last() {
                row.write_ascii(Column(end), ascii, pen);
                end += ascii.len() as u16;
                last = Some((char::from(byte), 1));
                ascii.len()
            } else {
                let Some((c, columns)) = next_that_fits(rest, columns - end) else {
                    break;
                };
                row.write_char(Column(end), c, columns == 2, pen);
                end += columns;
                last = Some((c, columns));
                c.len_utf8()
            };
            rest = rest.get(printed..).unwrap_or_default();
        }
        if let Some((c, columns)) = last {
            self.advance_to(end, columns);
            self.last_character = Some(c);
        }
        text.len() - rest.len()
    }

    pub(crate) fn print_char(&mut self, c: char) {
        match width(c) {
            Width::Zero => self.combine(c),
            Width::One => {
                self.print_wide(c, 1);
            }
            Width::Two => {
                self.print_wide(c, 2);
            }
        }
    }

    /// Prints a character as one of so many columns. Returns whether there was room for it.
    pub(crate) fn print_wide(&mut self, c: char, columns: u16) -> bool {
        self.wrap_if_pending();
        let columns_left = self.right_edge() - self.cursor.position.column.0;
        if columns_left < columns && !self.wrap_early() {
            return false;
        }
        let Position { row, column } = self.cursor.position;
        let end = self.right_edge();
        let insert = self.is_inserting();
        let cells = if insert { columns_left } else { columns };
        let row = self.grid.row_mut(row, cells);
        if insert {
            row.insert(column.0..end, columns, self.style.background);
        }
        let pen = row.pen(&self.style);
        row.write_char(column, c, columns == 2, pen);
        self.advance_to(column.0 + columns, columns);
        self.last_character = Some(c);
        true
    }

    /// Makes room for a wide character where only one column is left: the column is blanked and
    /// the next row begun. Returns whether there is room.
    pub(crate) fn wrap_early(&mut self) -> bool {
        let wraps = self.modes.has(ModeFlags::AUTO_WRAP) && self.size.columns() >= 2;
        if wraps {
            self.blank_gap();
            self.wrap();
        }
        wraps
    }

    pub(crate) fn wrap_if_pending(&mut self) {
        if self.cursor.pending_wrap && self.modes.has(ModeFlags::AUTO_WRAP) {
            self.wrap();
        }
        self.cursor.pending_wrap = false;
    }

    fn wrap(&mut self) {
        // Between margins no row of text runs on, but a part of one.
        if self.right_edge() == self.size.columns() && self.sides.start == 0 {
            self.grid.mark_wrapped(self.cursor.position.row);
        }
        self.next_row();
    }

    fn next_row(&mut self) {
        self.index();
        self.cursor.position.column = Column(self.sides.start);
    }

    /// Ends the row as if a character of so many columns was about to be printed, for which a wrap is due.
    /// Returns false, and has done nothing, if none is.
    fn end_row(&mut self, columns: u16) -> bool {
        let columns_left = self.size.columns() - self.cursor.position.column.0;
        let is_early = columns_left < columns && self.size.columns() >= columns;
        if !self.cursor.pending_wrap {
            if !is_early {
                return false;
            }
            self.blank_gap();
        }
        self.grid.mark_wrapped(self.cursor.position.row);
        self.cursor.pending_wrap = false;
        true
    }

    /// Blanks what is right of the cursor.
    fn blank_gap(&mut self) {
        let Position { row, column } = self.cursor.position;
        let end = self.right_edge();
        self.grid
            .row_mut(row, end - column.0)
            .erase(column.0..end, self.style.background);
    }

    /// Moves the cursor behind what was printed, the last character of which took `columns` up to
    /// column `end`.
    pub(crate) fn advance_to(&mut self, end: u16, columns: u16) {
        let row = self.cursor.position.row;
        let last = self.right_edge() - 1;
        self.cursor.pending_wrap = end > last;
        self.cursor.position.column = Column(end.min(last));
        self.printed = Some(Position {
            row,
            column: Column(end.saturating_sub(columns)),
        });
    }

    /// Adds a mark to the character printed last, or to the one under the cursor if the cursor was
    /// moved since. A mark with nothing to stand on gets a cell of its own.
    fn combine(&mut self, mark: char) {
        self.charge(MARK_WORK);
        let bytes_max = self.cell_text_max();
        let mut target = self.printed.unwrap_or(self.cursor.position);
        let row = self.grid.row_mut(target.row, 1);
        let cell = row
            .cells()
            .get(usize::from(target.column.0))
            .copied()
            .unwrap_or_default();
        // The right half of a wide character: the mark belongs to the left one.
        if cell.is_spacer() {
            target.column.0 = target.column.0.saturating_sub(1);
        }
        row.append_mark(target.column, mark, bytes_max);
        // The mark stands on a no-break space now, which counts as printed (docs/protocol.md §8.5).
        if cell.is_blank() && target == self.cursor.position {
            self.advance_to(target.column.0 + 1, 1);
        }
    }
}

/// Returns the first character of `text` and its columns if it is no mark and fits into `room`.
fn next_that_fits(text: &str, room: u16) -> Option<(char, u16)> {
    let c = text.chars().next()?;
    let columns = match width(c) {
        Width::Zero => return None,
        Width::One => 1,
        Width::Two => 2,
    };
    (columns <= room).then_some((c, columns))
}

/// Returns how many columns the characters at the start of `text` take that fit into `room`.
fn columns_that_fit(text: &str, room: u16) -> u16 {
    let mut taken = 0;
    let mut rest = text;
    while let Some((c, columns)) = next_that_fits(rest, room - taken) {
        taken += columns;
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    taken
}

/// Returns the ASCII at the start of `text`, at most `max` characters.
pub(crate) fn ascii_prefix(text: &str, max: usize) -> &[u8] {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..max).unwrap_or(bytes);
    if bytes.is_ascii() {
        return bytes;
    }
    let length = bytes
        .iter()
        .position(|byte| !byte.is_ascii())
        .unwrap_or(bytes.len());
    bytes.get(..length).unwrap_or_default()
}
