//! Rows of text in few bytes.
//!
//! Source: docs/protocol.md §13.14.

use std::sync::Arc;

use crate::cell::{Cell, Glyph};
use crate::hyperlink::Hyperlink;
use crate::row::CellRow;
use crate::size::Column;
use crate::style::{Attributes, Color, ColorKind, Style};

/// The most bytes of one packed line. What a row has beyond is left out.
///
/// Source: docs/threat-model.md §6.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// The most cells of one packed line.
///
/// Source: docs/threat-model.md §6.
pub(crate) const LINE_COLUMNS_MAX: usize = 64 << 10;

/// A line that is longer than half of what one may be is cut behind the row that made it so.
///
/// Source: docs/protocol.md §13.14.
const CUT_BYTES: usize = LINE_BYTES_MAX / 2;

/// A line of more cells than that is cut, too.
///
/// Source: docs/protocol.md §13.14.
const CUT_COLUMNS: usize = LINE_COLUMNS_MAX / 2;

/// The tokens between pieces of text: bytes that no text has.
pub(crate) mod token {
    pub(crate) const FOREGROUND: u8 = 1;
    pub(crate) const BACKGROUND: u8 = 4;
    pub(crate) const UNDERLINE_COLOR: u8 = 7;
    pub(crate) const ATTRIBUTES: u8 = 10;
    pub(crate) const NO_LINK: u8 = 11;
    pub(crate) const LINK: u8 = 12;
    pub(crate) const WIDE: u8 = 13;
    pub(crate) const NARROW: u8 = 14;
    pub(crate) const CLUSTER: u8 = 15;
    pub(crate) const BLANKS: u8 = 16;
    pub(crate) const FILL: u8 = 17;
    pub(crate) const RUNS_ON: u8 = 18;
}

/// The end of a line that is being packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packer {
    /// The last cell's look; what it refers to is of a row that is gone.
    look: Cell,
    underline_color: Color,
    link: Option<Arc<Hyperlink>>,
    is_wide: bool,
    columns: usize,
    /// True if rows of the line were packed before.
    is_begun: bool,
}

impl Packer {
    /// Appends the text of a row to the line, which is all that `line` has from `start` on. Returns true if the line ends with it.
    pub(crate) fn push_row(&mut self, row: &CellRow, line: &mut Vec<u8>, start: usize) -> bool {
        let runs_on = row.is_wrapped();
        let plain = row.plain_columns();
        if plain == row.used_cells().len() && !(runs_on || self.is_begun) {
            push_plain(row.cells(), plain, line);
            return true;
        }
        self.is_begun = true;
        let (cells, fill) = text_of(row, runs_on);
        self.columns += cells.len();
        // Numbers of side tables are those of one row.
        let is_rare = self.link.is_some() || !self.underline_color.is_default();
        self.look.extra = if is_rare { u16::MAX } else { 0 };
        self.push_cells(row, cells, line, start + LINE_BYTES_MAX);
        if !fill.is_default() {
            self.set_background(fill, line);
            line.push(token::FILL);
        }
        let is_cut = runs_on && (line.len() - start > CUT_BYTES || self.columns > CUT_COLUMNS);
        if is_cut {
            line.push(token::RUNS_ON);
        }
        let ends = is_cut || !runs_on;
        if ends {
            *self = Packer::default();
        }
        ends
    }

    fn push_cells(&mut self, row: &CellRow, mut cells: &[Cell], line: &mut Vec<u8>, end: usize) {
        let mut column = 0;
        let plain = row.plain_columns();
        if plain > 0 && self.is_plain_next() && line.len() + plain + CELL_BYTES_MAX <= end {
            push_plain(cells, plain, line);
            column = plain as u16;
            cells = cells.get(plain..).unwrap_or_default();
        }
        while let Some(&cell) = cells.first() {
            // The longest of what one cell has is a link.
            if line.len() + CELL_BYTES_MAX > end {
                return;
            }
            let taken = if cell.is_blank() {
                self.push_blanks(cells, line)
            } else {
                if !is_alike(&self.look, &cell) {
                    self.set_look(row, Column(column), &cell, line, end);
                }
                match self.push_ascii(cells, line, end) {
                    0 => {
                        self.push_cell(row, &cell, line);
                        1
                    }
                    taken => taken,
                }
            };
            column += taken as u16;
            cells = cells.get(taken..).unwrap_or_default();
        }
    }

    /// Packs what is printable ASCII and looks as the first cell, and returns how many cells that were.
    fn push_ascii(&mut self, cells: &[Cell], line: &mut Vec<u8>, end: usize) -> usize {
        let room = end.saturating_sub(line.len());
        let cells = cells.get(..room).unwrap_or(cells);
        if !cells.first().is_some_and(|cell| self.is_plain(cell)) {
            return 0;
        }
        self.set_width(false, line);
        let start = line.len();
        let (pieces, others) = cells.as_chunks::<PIECE_CELLS>();
        for piece in pieces {
            // All of them are looked at, which takes less time than to stop at the first that differs.
            let is_plain = piece
                .iter()
                .fold(true, |all, cell| all & self.is_plain(cell));
            if !is_plain {
                break;
            }
            line.extend_from_slice(&piece.map(|cell| cell.glyph as u8));
        }
        let done = line.len() - start;
        let others = if done < pieces.len() * PIECE_CELLS {
            cells.get(done..).unwrap_or_default()
        } else {
            others
        };
        let plain = others.iter().take_while(|cell| self.is_plain(cell));
        line.extend(plain.map(|cell| cell.glyph as u8));
        line.len() - start
    }

    /// Returns true if nothing need be said before plain text.
    fn is_plain_next(&self) -> bool {
        !self.is_wide && is_alike(&self.look, &Cell::default())
    }

    /// Returns true if a cell is printable ASCII and looks as the last one.
    #[inline]
    fn is_plain(&self, cell: &Cell) -> bool {
        (cell.glyph.wrapping_sub(0x20) < 0x5f) & is_alike(cell, &self.look)
    }

    fn push_blanks(&mut self, cells: &[Cell], line: &mut Vec<u8>) -> usize {
        let background = cells.first().map_or(Color::DEFAULT, Cell::background);
        let blank = Cell::blank(background);
        let count = cells.iter().take_while(|&&cell| cell == blank).count();
        self.set_background(background, line);
        line.push(token::BLANKS);
        push_number(count as u64, line);
        count
    }

    fn push_cell(&mut self, row: &CellRow, cell: &Cell, line: &mut Vec<u8>) {
        match row.glyph_of(cell) {
            Glyph::Char(c) => {
                self.set_width(cell.is_wide(), line);
                let shown = if c.is_control() { '\u{fffd}' } else { c };
                line.extend_from_slice(shown.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Glyph::Cluster(text) => {
                self.set_width(cell.is_wide(), line);
                line.extend_from_slice(&[token::CLUSTER, text.len() as u8]);
                line.extend_from_slice(text.as_bytes());
            }
            Glyph::Blank | Glyph::Spacer => {}
        }
    }

    fn set_width(&mut self, is_wide: bool, line: &mut Vec<u8>) {
        if self.is_wide != is_wide {
            self.is_wide = is_wide;
            line.push(if is_wide { token::WIDE } else { token::NARROW });
        }
    }

    fn set_background(&mut self, background: Color, line: &mut Vec<u8>) {
        if self.look.background != background {
            self.look.background = background;
            push_color(token::BACKGROUND, background, line);
        }
    }

    fn set_look(
        &mut self,
        row: &CellRow,
        column: Column,
        cell: &Cell,
        line: &mut Vec<u8>,
        end: usize,
    ) {
        if self.look.foreground != cell.foreground {
            push_color(token::FOREGROUND, cell.foreground, line);
        }
        self.set_background(cell.background, line);
        let shown = cell.attributes & Attributes::SHOWN;
        if self.look.attributes & Attributes::SHOWN != shown {
            line.push(token::ATTRIBUTES);
            line.extend_from_slice(&shown.bits().to_le_bytes());
        }
        if self.look.extra != cell.extra {
            self.set_rare(row.style(column), line, end);
        }
        self.look = Cell { glyph: 0, ..*cell };
    }

    fn set_rare(&mut self, style: Style, line: &mut Vec<u8>, end: usize) {
        if self.underline_color != style.underline_color {
            push_color(token::UNDERLINE_COLOR, style.underline_color, line);
            self.underline_color = style.underline_color;
        }
        let bytes = |link: &Arc<Hyperlink>| link.id.len() + link.uri.len() + CELL_BYTES_MAX;
        let link = style.link.filter(|link| line.len() + bytes(link) <= end);
        if self.link == link {
            return;
        }
        match &link {
            None => line.push(token::NO_LINK),
            Some(link) => {
                line.push(token::LINK);
                for text in [&link.id, &link.uri] {
                    push_number(text.len() as u64, line);
                    line.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.link = link;
    }
}

/// So many cells are packed at a time. Chosen by eye: their text is as long as a word of the processor.
const PIECE_CELLS: usize = 8;

/// So many cells of plain text are packed at a time. Chosen by eye: their text is as long as a register of most processors.
const PLAIN_CELLS: usize = 16;

/// More than a cell without a link can take: three colours and attributes, and the text of a cluster.
///
/// Source: docs/protocol.md §13.14, added up.
const CELL_BYTES_MAX: usize = 128;

/// Returns the cells of a row that are text, and the colour behind the others.
fn text_of(row: &CellRow, runs_on: bool) -> (&[Cell], Color) {
    let used = row.used_cells();
    if runs_on {
        // A row whose text runs on ends with a blank only where a wide character had no place.
        let all = row.cells();
        let is_short = all.last().is_some_and(Cell::is_blank);
        let text = all.get(..all.len() - usize::from(is_short));
        return (text.unwrap_or_default(), Color::DEFAULT);
    }
    let is_full = used.len() == row.cells().len();
    let blank = match used.last() {
        Some(last) if is_full && last.is_blank() => *last,
        _ => Cell::default(),
    };
    let text = used.iter().rposition(|cell| *cell != blank);
    let text = used.get(..text.map_or(0, |last| last + 1));
    (text.unwrap_or_default(), blank.background())
}

/// Appends the text of the first `plain` cells, which are printable ASCII.
#[inline]
fn push_plain(cells: &[Cell], plain: usize, line: &mut Vec<u8>) {
    let end = line.len() + plain;
    let whole = plain.next_multiple_of(PLAIN_CELLS);
    let (pieces, others) = cells
        .get(..whole)
        .unwrap_or(cells)
        .as_chunks::<PLAIN_CELLS>();
    for piece in pieces {
        let text: [u8; PLAIN_CELLS] = std::array::from_fn(|index| piece[index].glyph as u8);
        line.extend_from_slice(&text);
    }
    line.extend(others.iter().map(|cell| cell.glyph as u8));
    line.truncate(end);
}

/// Returns true if two cells of a row look the same but for their text.
#[inline]
fn is_alike(one: &Cell, other: &Cell) -> bool {
    // Without branches, several cells are compared at once.
    (one.foreground == other.foreground)
        & (one.background == other.background)
        & (one.attributes == other.attributes)
        & (one.extra == other.extra)
}

/// Appends a colour. The token says of which kind it is.
fn push_color(token: u8, color: Color, line: &mut Vec<u8>) {
    match color.kind() {
        ColorKind::Default => line.push(token),
        ColorKind::Indexed(index) => line.extend_from_slice(&[token + 1, index]),
        ColorKind::Rgb(red, green, blue) => {
            line.extend_from_slice(&[token + 2, red, green, blue]);
        }
    }
}

/// Appends a number in groups of 7 bits, the lowest first.
fn push_number(mut number: u64, line: &mut Vec<u8>) {
    while number > 0x7f {
        line.push(number as u8 | 0x80);
        number >>= 7;
    }
    line.push(number as u8);
}
