//! A snapshot of a screen, as far as a prediction is judged by it.

use std::sync::Arc;

use fulmar_terminal::{
    Attributes, Cell, CellRow, Color, ColorKind, Column, Glyph, Position, Screen, Style,
};

use crate::judge::{CellPosition, Cursor, KeyEffect};

/// The look of one cell: its text, whether it is inverse, and its background. Colours of the text and the
/// like do not count.
///
/// Never written, erased, blank and no-break space are the same.
#[derive(Clone, Copy, Debug)]
pub struct CellLook {
    text: u32,
    back: u32,
    is_grey: bool,
}

/// Marks text of several characters, of which the rest is a hash.
const CLUSTER: u32 = 1 << 31;

impl CellLook {
    /// A plain blank.
    pub(crate) const BLANK: CellLook = CellLook {
        text: ' ' as u32,
        back: 0,
        is_grey: false,
    };

    fn of(row: &CellRow, column: Column, cell: &Cell) -> CellLook {
        let text = match row.glyph(column) {
            Glyph::Blank | Glyph::Char('\u{a0}') => ' ' as u32,
            Glyph::Spacer => 0,
            Glyph::Char(character) => character as u32,
            Glyph::Cluster(text) => CLUSTER | hash(text),
        };
        CellLook {
            text,
            back: back(cell.attributes(), cell.background()),
            is_grey: is_grey(cell),
        }
    }

    /// A blank in a rendition.
    pub(crate) fn blank(style: &Style) -> CellLook {
        CellLook {
            back: back(style.attributes, style.background),
            ..CellLook::BLANK
        }
    }

    /// The same text, inverse and background of another.
    #[must_use]
    pub(crate) fn dressed_as(self, other: CellLook) -> CellLook {
        CellLook {
            text: self.text,
            ..other
        }
    }

    /// The same cell with another character, or blank.
    #[must_use]
    pub fn with(self, character: char) -> CellLook {
        CellLook {
            text: match character {
                '\u{a0}' => ' ' as u32,
                other => other as u32,
            },
            ..self
        }
    }

    /// The character, if it is a single one.
    pub fn character(self) -> Option<char> {
        char::from_u32(self.text).filter(|character| *character != '\0')
    }

    /// Returns true if it looks like a space, whatever is behind it.
    pub fn is_blank(self) -> bool {
        self.text == ' ' as u32
    }

    /// Returns true if the text has a colour that suggestions are written in: dim, bright black, a dark grey.
    pub fn is_grey(self) -> bool {
        self.is_grey
    }

    /// Returns true if it is in inverse video.
    pub fn is_inverse(self) -> bool {
        self.back >> 31 != 0
    }

    /// Returns true if the text is equal, inverse and background apart.
    pub(crate) fn has_text_of(self, other: CellLook) -> bool {
        self.text == other.text
    }
}

impl PartialEq for CellLook {
    fn eq(&self, other: &CellLook) -> bool {
        self.text == other.text && self.back == other.back
    }
}

impl Eq for CellLook {}

/// A number for inverse video and background.
fn back(attributes: Attributes, background: Color) -> u32 {
    let inverse = u32::from(attributes.contains(Attributes::INVERSE)) << 31;
    inverse
        | match background.kind() {
            ColorKind::Default => 0,
            ColorKind::Indexed(index) => 1 << 24 | u32::from(index),
            ColorKind::Rgb(red, green, blue) => {
                2 << 24 | u32::from(red) << 16 | u32::from(green) << 8 | u32::from(blue)
            }
        }
}

/// Dim, bright black, or one of the greys 232 to 246.
///
/// Source: docs/prediction.md, on grey text.
fn is_grey(cell: &Cell) -> bool {
    cell.attributes().contains(Attributes::DIM)
        || matches!(cell.foreground().kind(), ColorKind::Indexed(8 | 232..=246))
}

/// FNV-1a, cut to 31 bits.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step) & !CLUSTER
}

/// The snapshot of a whole screen. A clone shares its rows.
#[derive(Clone, Debug)]
pub struct ScreenSnapshot {
    rows: Vec<Arc<[CellLook]>>,
    /// The cursor.
    pub cursor: Cursor,
}

impl ScreenSnapshot {
    /// Looks at a screen. With another screen and its snapshot it takes over the rows that are the same in both.
    pub fn of(screen: &Screen, known: Option<(&Screen, &ScreenSnapshot)>) -> ScreenSnapshot {
        let known = known.filter(|(other, _)| other.size() == screen.size());
        let mut known = known.map(|(other, snapshot)| other.rows().zip(&snapshot.rows));
        let look = |row| match known.as_mut().and_then(Iterator::next) {
            Some((other, known)) if Arc::ptr_eq(row, other) || row == other => Arc::clone(known),
            _ => looks(row),
        };
        ScreenSnapshot {
            rows: screen.rows().map(look).collect(),
            cursor: Cursor {
                place: cell_position(screen.cursor().position),
                is_visible: screen.cursor().visible,
            },
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> u16 {
        self.rows.len() as u16
    }

    /// The number of columns.
    pub fn columns(&self) -> u16 {
        self.rows.first().map_or(0, |row| row.len() as u16)
    }

    /// The cells of a row; none where there is no such row.
    pub fn row(&self, row: u16) -> &[CellLook] {
        self.rows.get(usize::from(row)).map_or(&[], |row| row)
    }

    /// Returns true if a row is, for certain and without looking, the one that another snapshot has there.
    pub(crate) fn shares_row(&self, other: &ScreenSnapshot, row: u16) -> bool {
        let row = usize::from(row);
        match (self.rows.get(row), other.rows.get(row)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Returns the look of a cell; outside it is blank.
    pub fn look(&self, at: CellPosition) -> CellLook {
        let row = self.row(at.row);
        row.get(usize::from(at.column))
            .copied()
            .unwrap_or(CellLook::BLANK)
    }

    /// Puts something into a cell.
    pub fn set(&mut self, at: CellPosition, look: CellLook) {
        if let Some(row) = self.rows.get_mut(usize::from(at.row))
            && let Some(cell) = Arc::make_mut(row).get_mut(usize::from(at.column))
        {
            *cell = look;
        }
    }

    /// The cells in which two snapshots of one size differ.
    pub fn differences<'a>(
        &'a self,
        other: &'a ScreenSnapshot,
    ) -> impl Iterator<Item = CellPosition> + 'a {
        let rows = (0..self.rows()).filter(|row| !self.shares_row(other, *row));
        rows.flat_map(move |row| {
            let cells = self.row(row).iter().zip(other.row(row)).enumerate();
            cells
                .filter(|(_, (one, other))| one != other)
                .map(move |(column, _)| CellPosition::new(row, column as u16))
        })
    }

    /// Returns true if it agrees with another where the effect of a key is to be seen.
    pub fn agrees(&self, other: &ScreenSnapshot, effect: &KeyEffect<usize>) -> bool {
        let mut places = effect.places.iter();
        (!effect.has_cursor || self.cursor.seen() == other.cursor.seen())
            && places.all(|at| self.look(*at) == other.look(*at))
    }

    /// Returns true if nothing is different, cursor included.
    pub fn is_same(&self, other: &ScreenSnapshot) -> bool {
        self.cursor.seen() == other.cursor.seen() && self.differences(other).next().is_none()
    }

    /// The text of a row without the blanks at its end.
    pub fn text(&self, row: u16) -> String {
        let cells = self.row(row).iter().filter(|look| look.text != 0);
        let text: String = cells
            .map(|look| look.character().unwrap_or('\u{fffd}'))
            .collect();
        text.trim_end().to_owned()
    }
}

fn looks(row: &CellRow) -> Arc<[CellLook]> {
    let cells = row.cells().iter().enumerate();
    cells
        .map(|(column, cell)| CellLook::of(row, Column(column as u16), cell))
        .collect()
}

/// Returns the judge's name for a cell.
pub(super) fn cell_position(at: Position) -> CellPosition {
    CellPosition::new(at.row.0, at.column.0)
}
