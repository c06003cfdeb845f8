//! The cells, rows and screens as a reader sees them.

use crate::Screen;
use crate::cell::{Cell, Glyph};
use crate::frame::agreed::{is_agreed, is_joiner};
use crate::row::{CellRow, SharedRow};
use crate::size::{Column, Row};
use crate::style::{Attributes, Color, Style};
use crate::vocabulary::Vocabulary;
use crate::width::char_columns;

/// A cell as the reader of a frame shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen<'row> {
    /// A space with nothing but a background is a blank here: erasing leaves the same.
    pub(super) glyph: Glyph<'row>,
    pub(super) wide: bool,
    /// As far as the reader can tell it.
    pub(super) style: Style,
}

impl<'row> Seen<'row> {
    /// The cell at `column` of `row`.
    pub(super) fn at(row: &'row CellRow, column: u16, vocabulary: &Vocabulary) -> Seen<'row> {
        let column = Column(column);
        let glyph = row.glyph(column);
        let wide = row
            .cells()
            .get(usize::from(column.0))
            .is_some_and(|cell| cell.is_wide());
        let mut style = match glyph {
            Glyph::Spacer => Style::default(),
            Glyph::Blank | Glyph::Char(_) | Glyph::Cluster(_) => {
                vocabulary.style(&row.style(column))
            }
        };
        if !style.attributes.intersects(Attributes::UNDERLINE) {
            style.underline_color = Color::DEFAULT;
        }
        let is_blank = glyph == Glyph::Char(' ') && style == Style::erased(style.background);
        let glyph = if is_blank { Glyph::Blank } else { glyph };
        Seen { glyph, wide, style }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> u16 {
        1 + u16::from(self.wide)
    }

    /// Returns true if erasing makes such a cell: nothing but a background.
    pub(super) fn is_erased(&self, vocabulary: &Vocabulary) -> bool {
        self.glyph == Glyph::Blank
            && (vocabulary.back_color_erase || self.style.background.is_default())
    }

    /// The most columns that a terminal may take for it.
    pub(super) fn reach(&self) -> u16 {
        let marks = match self.glyph {
            Glyph::Cluster(text) => text.chars().skip(1),
            Glyph::Blank | Glyph::Spacer | Glyph::Char(_) => "".chars().skip(1),
        };
        if self.is_agreed() {
            return self.width();
        }
        let columns = |mark| match mark {
            _ if is_joiner(mark) => 0,
            _ if is_agreed(mark) => char_columns(mark),
            _ => 2,
        };
        2 + marks.map(columns).sum::<u16>()
    }

    /// Returns true if terminals agree on the number of columns.
    pub(super) fn is_agreed(&self) -> bool {
        match self.glyph {
            Glyph::Blank | Glyph::Spacer => true,
            Glyph::Char(character) => is_agreed(character),
            Glyph::Cluster(text) => text.chars().all(is_agreed),
        }
    }
}

/// Returns true if the reader shows the same at `column` of both rows.
pub(super) fn is_same_cell(a: &CellRow, b: &CellRow, column: u16, vocabulary: &Vocabulary) -> bool {
    at_a_glance(a, b, column)
        .unwrap_or_else(|| Seen::at(a, column, vocabulary) == Seen::at(b, column, vocabulary))
}

/// Returns true if both rows hold the very same narrow character or blank at `column`.
pub(super) fn is_untouched(a: &CellRow, b: &CellRow, column: u16) -> bool {
    let is_narrow = |cell: &Cell| !cell.is_wide() && !cell.is_spacer();
    b.cells().get(usize::from(column)).is_some_and(is_narrow)
        && at_a_glance(a, b, column) == Some(true)
}

/// Tells without regard to what the reader understands whether it shows the same, if that can be told.
fn at_a_glance(a: &CellRow, b: &CellRow, column: u16) -> Option<bool> {
    let index = usize::from(column);
    let (a, b) = (a.cells().get(index)?, b.cells().get(index)?);
    let refers = |cell: &Cell| cell.has_extra() || cell.is_cluster();
    let is_empty = |cell: &Cell| cell.is_blank() || cell.glyph == u32::from(' ');
    if refers(a) || refers(b) {
        None
    } else if a == b {
        Some(true)
    } else {
        let is_other_text = a.glyph != b.glyph && !(is_empty(a) && is_empty(b));
        is_other_text.then_some(false)
    }
}

/// Returns true if the reader shows the same in both rows.
pub(super) fn is_same_row(a: &SharedRow, b: &SharedRow, vocabulary: &Vocabulary) -> bool {
    SharedRow::ptr_eq(a, b) || (0..b.columns()).all(|column| is_same_cell(a, b, column, vocabulary))
}

/// Returns true if the reader takes `row` and the one below for one line of text, as copying needs it.
///
/// That is told by wrapping for real, so it cannot be told of the bottom row, nor across a
/// character on whose width terminals disagree.
pub(super) fn is_wrapped(screen: &Screen, row: Row, vocabulary: &Vocabulary) -> bool {
    row < screen.size().last_row()
        && wraps_into(screen.row(row), screen.row(Row(row.0 + 1)), vocabulary)
}

/// Returns true if the reader takes a row and the one below it for one line of text, once it was told so.
pub(super) fn wraps_into(upper: &CellRow, lower: &CellRow, vocabulary: &Vocabulary) -> bool {
    upper.is_wrapped()
        && Seen::at(upper, last_cell(upper), vocabulary).is_agreed()
        && Seen::at(lower, 0, vocabulary).is_agreed()
}

/// The column at which the character in the last column begins.
pub(super) fn last_cell(row: &CellRow) -> u16 {
    let last = row.columns() - 1;
    match row.glyph(Column(last)) {
        Glyph::Spacer => last.saturating_sub(1),
        Glyph::Blank | Glyph::Char(_) | Glyph::Cluster(_) => last,
    }
}
