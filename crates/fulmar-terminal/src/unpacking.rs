//! Packed lines as rows of some width.
//!
//! The bytes are a peer's. Nothing of what they say is believed: a line that an honest peer does not write is refused.
//!
//! Source: docs/protocol.md §13.14.

use std::sync::Arc;

use crate::cell::Cluster;
use crate::hyperlink::{Hyperlink, LINK_URI_MAX};
use crate::packing::{LINE_BYTES_MAX, LINE_COLUMNS_MAX, token};
use crate::row::{CellRow, SharedRow};
use crate::size::Column;
use crate::style::{Attributes, Color, Style, Underline};

/// The longest id of a link: a string of the program has no more bytes.
///
/// Source: docs/threat-model.md §6.
const LINK_ID_MAX: usize = 4096;

/// A packed line that no honest peer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedLine;

impl std::fmt::Display for MalformedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a line of the history is malformed")
    }
}

impl std::error::Error for MalformedLine {}

/// Returns the rows of a packed line in a window of so many columns: at least one. The text of each but the last runs on in the
/// next one, and that of the last, too, if the line was cut.
///
/// # Errors
///
/// The bytes are not what packing makes of rows.
pub fn unpack_line(line: &[u8], columns: u16) -> Result<Vec<SharedRow>, MalformedLine> {
    if line.len() > LINE_BYTES_MAX {
        return Err(MalformedLine);
    }
    let mut reader = Reader { rest: line };
    let mut rows = Rows::new(columns.max(1));
    while let Some(&next) = reader.rest.first() {
        if next >= b' ' {
            rows.print(reader.text()?)?;
        } else {
            reader.rest = reader.rest.get(1..).unwrap_or_default();
            rows.change(next, &mut reader)?;
        }
    }
    Ok(rows.finish())
}

/// The rest of a line.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], MalformedLine> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(MalformedLine)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Everything up to the next token.
    fn text(&mut self) -> Result<&'a str, MalformedLine> {
        let length = self.rest.iter().position(|&byte| byte < b' ');
        read_text(self.take(length.unwrap_or(self.rest.len()))?)
    }

    fn byte(&mut self) -> Result<u8, MalformedLine> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MalformedLine> {
        self.take(N)?.try_into().map_err(|_| MalformedLine)
    }

    /// A number that is no larger than `max`.
    fn number(&mut self, max: usize) -> Result<usize, MalformedLine> {
        let mut number = 0;
        for shift in [0, 7, 14] {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return if number <= max {
                    Ok(number)
                } else {
                    Err(MalformedLine)
                };
            }
        }
        Err(MalformedLine)
    }

    /// A colour of the kind that the token says: 0, 1 or 2.
    fn color(&mut self, kind: u8) -> Result<Color, MalformedLine> {
        match kind {
            0 => Ok(Color::DEFAULT),
            1 => Ok(Color::indexed(self.byte()?)),
            _ => self
                .array()
                .map(|[red, green, blue]| Color::rgb(red, green, blue)),
        }
    }

    fn attributes(&mut self) -> Result<Attributes, MalformedLine> {
        let attributes = Attributes::from_bits(u16::from_le_bytes(self.array()?))
            .filter(|attributes| Attributes::SHOWN.contains(*attributes))
            .ok_or(MalformedLine)?;
        let has_kind = attributes.intersects(Attributes::UNDERLINE);
        if has_kind && attributes.underline() == Underline::None {
            return Err(MalformedLine);
        }
        Ok(attributes)
    }

    fn link(&mut self) -> Result<Hyperlink, MalformedLine> {
        let id = self.printable(LINK_ID_MAX)?.into();
        let uri: Box<str> = self.printable(LINK_URI_MAX)?.into();
        if uri.is_empty() {
            return Err(MalformedLine);
        }
        Ok(Hyperlink { id, uri })
    }

    /// Printable ASCII with its length in front.
    fn printable(&mut self, max: usize) -> Result<&'a str, MalformedLine> {
        let length = self.number(max)?;
        let text = read_text(self.take(length)?)?;
        Some(text)
            .filter(|text| text.is_ascii())
            .ok_or(MalformedLine)
    }
}

fn read_text(bytes: &[u8]) -> Result<&str, MalformedLine> {
    let text = std::str::from_utf8(bytes).map_err(|_| MalformedLine)?;
    if text.chars().any(char::is_control) {
        return Err(MalformedLine);
    }
    Ok(text)
}

/// Rows that are being filled.
struct Rows {
    full: Vec<SharedRow>,
    row: CellRow,
    column: u16,
    columns: u16,
    style: Style,
    is_wide: bool,
    /// The cells so far.
    cells: usize,
    is_cut: bool,
    is_filled: bool,
}

impl Rows {
    fn new(columns: u16) -> Rows {
        Rows {
            full: Vec::new(),
            row: CellRow::new(columns, Color::DEFAULT),
            column: 0,
            columns,
            style: Style::default(),
            is_wide: false,
            cells: 0,
            is_cut: false,
            is_filled: false,
        }
    }

    fn change(&mut self, what: u8, reader: &mut Reader<'_>) -> Result<(), MalformedLine> {
        match what {
            token::FOREGROUND..token::BACKGROUND => {
                self.style.foreground = reader.color(what - token::FOREGROUND)?;
            }
            token::BACKGROUND..token::UNDERLINE_COLOR => {
                self.style.background = reader.color(what - token::BACKGROUND)?;
            }
            token::UNDERLINE_COLOR..token::ATTRIBUTES => {
                self.style.underline_color = reader.color(what - token::UNDERLINE_COLOR)?;
            }
            token::ATTRIBUTES => self.style.attributes = reader.attributes()?,
            token::NO_LINK => self.style.link = None,
            token::LINK => self.style.link = Some(Arc::new(reader.link()?)),
            token::WIDE => self.is_wide = true,
            token::NARROW => self.is_wide = false,
            token::CLUSTER => {
                let length = usize::from(reader.byte()?);
                let text = read_text(reader.take(length)?)?;
                let cluster = Cluster::from_text(text).ok_or(MalformedLine)?;
                self.put(&cluster)?;
            }
            token::BLANKS => {
                let count = reader.number(LINE_COLUMNS_MAX)?;
                self.blank(count)?;
            }
            token::FILL => self.is_filled = true,
            token::RUNS_ON => self.is_cut = true,
            _ => return Err(MalformedLine),
        }
        Ok(())
    }

    /// Puts each character into a cell of its own.
    fn print(&mut self, text: &str) -> Result<(), MalformedLine> {
        if text.is_ascii() && !self.is_wide {
            return self.print_ascii(text.as_bytes());
        }
        text.chars().try_for_each(|c| self.put(&Cluster::new(c)))
    }

    fn print_ascii(&mut self, mut text: &[u8]) -> Result<(), MalformedLine> {
        self.count(text.len())?;
        while !text.is_empty() {
            let room = self.make_room(1);
            let (fitting, others) = text.split_at(text.len().min(usize::from(room)));
            let pen = self.row.pen(&self.style);
            self.row.write_ascii(Column(self.column), fitting, pen);
            self.column += fitting.len() as u16;
            text = others;
        }
        Ok(())
    }

    fn put(&mut self, text: &Cluster) -> Result<(), MalformedLine> {
        let width = 1 + u16::from(self.is_wide);
        self.count(usize::from(width))?;
        // A wide character has no place in a window of one column.
        if width <= self.columns {
            self.make_room(width);
            let column = Column(self.column);
            self.row.write_text(column, text, self.is_wide, &self.style);
            self.column += width;
        }
        Ok(())
    }

    fn blank(&mut self, mut count: usize) -> Result<(), MalformedLine> {
        self.count(count)?;
        while count > 0 {
            let room = usize::from(self.make_room(1));
            let end = self.column + count.min(room) as u16;
            if !self.style.background.is_default() {
                self.row.erase(self.column..end, self.style.background);
            }
            count -= usize::from(end - self.column);
            self.column = end;
        }
        Ok(())
    }

    fn count(&mut self, cells: usize) -> Result<(), MalformedLine> {
        self.cells += cells;
        let is_over = self.is_filled || self.is_cut;
        if self.cells > LINE_COLUMNS_MAX || is_over {
            return Err(MalformedLine);
        }
        Ok(())
    }

    /// Goes to the next row if there is less room in this one, and returns how much there is.
    fn make_room(&mut self, width: u16) -> u16 {
        if self.columns - self.column < width {
            let next = CellRow::new(self.columns, Color::DEFAULT);
            let mut row = std::mem::replace(&mut self.row, next);
            if self.column == self.columns {
                // A blank there would be taken for what a wide character has left.
                row.close_end();
            } else if !self.style.background.is_default() {
                row.erase(self.column..self.columns, self.style.background);
            }
            row.set_wrapped(true);
            self.full.push(SharedRow::new(row));
            self.column = 0;
        }
        self.columns - self.column
    }

    fn finish(mut self) -> Vec<SharedRow> {
        if self.is_filled {
            self.row
                .erase(self.column..self.columns, self.style.background);
        }
        if self.is_cut {
            self.row.close_end();
        }
        self.row.set_wrapped(self.is_cut);
        self.full.push(SharedRow::new(self.row));
        self.full
    }
}
