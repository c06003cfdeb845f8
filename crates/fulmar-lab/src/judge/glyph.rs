//! The glyph of one cell of a screen, as far as the judge looks.

use super::spliced_row::CellText;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

/// A character cell, from 0 at the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellPosition {
    /// The row, from the top.
    pub row: u16,
    /// The column, from the left.
    pub column: u16,
}

impl CellPosition {
    /// Returns the position in a row and a column.
    pub const fn new(row: u16, column: u16) -> Self {
        Self { row, column }
    }
}

/// The text of a cell. Two glyphs are equal when the text is; colours and the like do not count.
///
/// Two bits are carried along beside it: whether the text is grey, as suggestions are, and whether
/// the cell is inverse, as a cursor is that a program draws.
#[derive(Clone, Copy, Debug)]
pub struct Glyph(u32);

const GREY: u32 = 1 << 31;
/// Marks text of more than one character, of which the rest is a hash.
const CLUSTER: u32 = 1 << 30;
const INVERSE: u32 = 1 << 29;

impl Glyph {
    /// A cell without text; no difference is made between never written, erased, and blank.
    pub(crate) const BLANK: Self = Self(' ' as u32);
    /// The right half of a wide character.
    pub(crate) const RIGHT_HALF: Self = Self(0);
    /// The glyph of places outside of the screen.
    pub const ABSENT: Self = Self(1);

    /// Returns what a cell of the emulator shows.
    pub(crate) fn of(cell: &Cell) -> Self {
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            return Self::RIGHT_HALF;
        }
        let text = match (cell.c, cell.zerowidth()) {
            ('\t' | '\0', None) => ' ' as u32,
            (character, None) => character as u32,
            (character, Some(marks)) => cluster(character, marks),
        };
        let mark = |is_set, bit| if is_set { bit } else { 0 };
        let is_inverse = cell.flags.contains(Flags::INVERSE);
        Self(text | mark(is_grey(cell), GREY) | mark(is_inverse, INVERSE))
    }

    /// The glyph of one plain character.
    pub fn character(character: char) -> Self {
        Self(character as u32)
    }

    /// Returns the text as a number that is the same for equal text: the character's, unless there
    /// are combining marks.
    pub fn text(self) -> u32 {
        self.0 & !(GREY | INVERSE)
    }

    /// Returns the character if it is a single one.
    pub(crate) fn as_char(self) -> Option<char> {
        char::from_u32(self.text())
    }

    /// True for dim text, bright black, and the indexed greys below the middle (232 to 246): what
    /// shells use for suggestions.
    pub fn is_grey(self) -> bool {
        self.0 & GREY != 0
    }

    /// True for a cell in inverse video.
    pub fn is_inverse(self) -> bool {
        self.0 & INVERSE != 0
    }

    /// True when nothing at all differs, greyness and inverse video included.
    pub(crate) fn is_identical(self, other: Self) -> bool {
        self.0 == other.0
    }
}

impl CellText for Glyph {
    fn text(self) -> u32 {
        Glyph::text(self)
    }
}

impl PartialEq for Glyph {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Glyph {}

/// A character with combining marks as a number. Two of the 2^29 that meet are a difference
/// missed, once in a very long time.
fn cluster(character: char, marks: &[char]) -> u32 {
    let hash = marks
        .iter()
        .fold(mixed(u64::from(u32::from(character))), |hash, mark| {
            mixed(hash ^ u64::from(u32::from(*mark)))
        });
    CLUSTER | (hash >> 35) as u32
}

fn is_grey(cell: &Cell) -> bool {
    if cell.flags.contains(Flags::DIM) {
        return true;
    }
    match cell.fg {
        Color::Named(color) => matches!(color, NamedColor::BrightBlack),
        Color::Indexed(index) => matches!(index, 8 | 232..=246),
        Color::Spec(_) => false,
    }
}

/// Spreads a number over 64 bits: the output function of SplitMix64.
///
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
