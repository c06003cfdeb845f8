//! Putting text on a screen whose cells hold grapheme clusters.
//!
//! Source: docs/protocol.md §8.5.

use crate::cell::{CLUSTER_TEXT_MAX, Cluster, Glyph};
use crate::cluster::{continues, stands_alone};
use crate::content::Content;
use crate::print::{MARK_WORK, ascii_prefix};
use crate::screen::Screen;
use crate::size::{Column, Position};
use crate::width::grown_columns;

impl Screen {
    /// Prints text that has no controls, one grapheme cluster in each cell.
    pub(crate) fn print_clusters(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let is_run = self.charsets.is_ascii();
            let shown = self.charsets.translate(c);
            let printed = if self.join(shown) {
                c.len_utf8()
            } else {
                // Only the first of a run could have joined the cell before it.
                let run = if is_run { self.run_of(rest) } else { "" };
                let printed = if run.is_empty() {
                    0
                } else {
                    self.print_run(run)
                };
                if printed == 0 {
                    self.print_char(shown);
                    c.len_utf8()
                } else {
                    printed
                }
            };
            rest = rest.get(printed..).unwrap_or_default();
        }
    }

    /// Returns the start of `text` that has no grapheme cluster of several characters, at most a row of it.
    fn run_of<'a>(&self, text: &'a str) -> &'a str {
        let columns = usize::from(self.size.columns());
        let end = match ascii_prefix(text, columns).len() {
            0 => {
                let characters = text.chars().take(columns).take_while(|&c| stands_alone(c));
                characters.map(char::len_utf8).sum()
            }
            ascii => ascii,
        };
        text.get(..end).unwrap_or_default()
    }

    /// Adds `c` to the cell before the cursor if that was printed last and they are one grapheme cluster. Returns
    /// whether it is so. A character for which the cell has no room, or the row, is left out.
    fn join(&mut self, c: char) -> bool {
        let Some(at) = self.printed_before_cursor() else {
            return false;
        };
        let row = self.grid.row(at.row);
        let mut buffer = [0; 4];
        let text = match row.glyph(at.column) {
            Glyph::Blank | Glyph::Spacer => return false,
            Glyph::Char(last) => last.encode_utf8(&mut buffer),
            Glyph::Cluster(text) => text,
        };
        if !continues(text, c) {
            return false;
        }
        let before = text.chars().next_back().unwrap_or(' ');
        let is_full = text.len() + c.len_utf8() > CLUSTER_TEXT_MAX;
        let columns = self.columns_at(at);
        self.charge(MARK_WORK);
        let grows = grown_columns(columns, before, c) > columns;
        if !is_full && (!grows || self.widen(at)) {
            self.append_to_printed(c);
        }
        true
    }

    /// Returns the place of the cell printed last if the cursor is right behind it.
    fn printed_before_cursor(&self) -> Option<Position> {
        let at = self.printed?;
        let cursor = self.cursor.position;
        let end = at.column.0 + self.columns_at(at);
        let behind = cursor.column.0 + u16::from(self.cursor.pending_wrap);
        (at.row == cursor.row && end == behind).then_some(at)
    }

    /// Returns the content of the cell printed last, unless the cursor was moved since.
    pub(crate) fn printed_content(&self) -> Option<Content> {
        let at = self.printed_before_cursor()?;
        let row = self.grid.row(at.row);
        let text = match row.glyph(at.column) {
            Glyph::Blank | Glyph::Spacer => return None,
            Glyph::Char(c) => Cluster::new(c),
            Glyph::Cluster(text) => Cluster::from_text(text)?,
        };
        Some(Content {
            text,
            columns: self.columns_at(at),
        })
    }

    fn columns_at(&self, at: Position) -> u16 {
        let cells = self.grid.row(at.row).cells();
        cells
            .get(usize::from(at.column.0))
            .map_or(1, |cell| cell.width())
    }

    /// Makes the narrow cell at `at`, printed last, a wide one. In the last column it goes to the next row, as a wide
    /// character does. Returns false, and has done nothing, if there is no room.
    fn widen(&mut self, at: Position) -> bool {
        let columns = self.right_edge();
        let next = at.column.0 + 1;
        if next >= columns {
            return self.take_to_next_row();
        }
        let insert = self.is_inserting();
        let cells = if insert { columns - next } else { 1 };
        let row = self.grid.row_mut(at.row, cells);
        if insert {
            row.insert(next..columns, 1, self.style.background);
        }
        row.widen(at.column);
        self.advance_to(next + 1, 2);
        true
    }

    /// Takes the cell in the last column, printed last, to the next row, where it is wide.
    fn take_to_next_row(&mut self) -> bool {
        let (Some(at), Some(mut content)) = (self.printed, self.printed_content()) else {
            return false;
        };
        let style = self.grid.row(at.row).style(at.column);
        if !self.wrap_early() {
            return false;
        }
        self.cursor.pending_wrap = false;
        content.columns = 2;
        let in_force = std::mem::replace(&mut self.style, style);
        self.print_content(&content);
        self.style = in_force;
        true
    }

    /// Prints what a cell shows, in the rendition in force. Returns whether there was room.
    pub(crate) fn print_content(&mut self, content: &Content) -> bool {
        let Some(first) = content.text.as_str().chars().next() else {
            return false;
        };
        let has_room = self.print_wide(first, content.columns);
        let printed = self
            .printed
            .filter(|_| has_room && content.text.single().is_none());
        if let Some(at) = printed {
            self.charge(MARK_WORK);
            self.grid
                .row_mut(at.row, 1)
                .put_cluster(at.column, content.text);
        }
        has_room
    }

    /// Prints what a cell shows so many times, in the rendition in force. Each row is made ready once.
    pub(crate) fn print_contents(&mut self, content: &Content, count: usize) {
        let mut left = count;
        while left > 0 {
            self.wrap_if_pending();
            let room = self.edge_of_run() - self.cursor.position.column.0;
            let fitting = left.min(usize::from(room / content.columns));
            if fitting == 0 {
                self.print_content(content);
                left -= 1;
            } else {
                self.print_beside_each_other(content, fitting as u16);
                left -= fitting;
            }
        }
    }

    /// Prints what a cell shows so many times in the row, which has room for it.
    fn print_beside_each_other(&mut self, content: &Content, count: u16) {
        let Position { row, column } = self.cursor.position;
        let columns = count * content.columns;
        let insert = self.is_inserting();
        let end = self.right_edge();
        let room = end - column.0;
        self.charge(MARK_WORK * u64::from(count));
        let row = self.grid.row_mut(row, if insert { room } else { columns });
        if insert {
            row.insert(column.0..end, columns, self.style.background);
        }
        for cell in 0..count {
            let at = Column(column.0 + cell * content.columns);
            row.write_text(at, &content.text, content.columns == 2, &self.style);
        }
        self.advance_to(column.0 + columns, content.columns);
        self.last_character = content.text.as_str().chars().next();
    }

    /// Adds `c` to the text of the cell printed last.
    fn append_to_printed(&mut self, c: char) {
        if let Some(at) = self.printed {
            let row = self.grid.row_mut(at.row, 1);
            row.append_mark(at.column, c, CLUSTER_TEXT_MAX);
        }
    }
}
