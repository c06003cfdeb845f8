//! Rectangles of cells: filled, erased, copied, and given other attributes.
//!
//! Source: xterm's control sequences (DECFRA, DECERA, DECCRA, DECCARA, DECRARA, DECSACE); VT420 Programmer Reference.

use std::ops::Range;

use crate::attribute_extent::AttributeExtent;
use crate::csi::Csi;
use crate::row::CellRow;
use crate::screen::Screen;
use crate::size::Position;
use crate::style::{Attributes, Underline};
use crate::width::{Width, width};

impl Screen {
    /// DECFRA: fills a rectangle with a character in the rendition in force.
    pub(crate) fn fill_rectangle(&mut self, csi: &Csi) {
        let (Some(c), Some((rows, columns))) = (filler(csi.value(0)), self.rectangle(csi, 1))
        else {
            return;
        };
        let mut charsets = self.charsets;
        let shown = charsets.translate(c);
        if width(shown) != Width::One {
            return;
        }
        let style = self.style.clone();
        self.grid.change_rows(rows, |row| {
            let pen = row.pen(&style);
            row.fill(columns.clone(), shown, pen);
        });
    }

    /// DECERA.
    pub(crate) fn erase_rectangle(&mut self, csi: &Csi) {
        if let Some((rows, columns)) = self.rectangle(csi, 0) {
            let background = self.style.background;
            self.grid.erase_part(rows, columns, background);
        }
    }

    /// DECCRA: there is one page, whatever numbers of pages are given.
    pub(crate) fn copy_rectangle(&mut self, csi: &Csi) {
        let (Some((from_rows, from_columns)), Some(to)) =
            (self.rectangle(csi, 0), self.place(csi, 5))
        else {
            return;
        };
        let (rows, columns) = (self.addressable_rows(), self.addressable_columns());
        let height = (from_rows.len() as u16).min(rows.end - to.row.0);
        let width = (from_columns.len() as u16).min(columns.end - to.column.0);
        let columns = from_columns.start..from_columns.start + width;
        let mut copy = |row: u16| {
            let (from, to_row) = (from_rows.start + row, to.row.0 + row);
            self.grid
                .copy_part(from, columns.clone(), to_row, to.column.0);
        };
        // No row is written over before it is copied.
        if from_rows.start < to.row.0 {
            (0..height).rev().for_each(&mut copy);
        } else {
            (0..height).for_each(&mut copy);
        }
    }

    /// DECSACE.
    pub(crate) fn set_attribute_extent(&mut self, number: u16) {
        match number {
            0 | 1 => self.attribute_extent = AttributeExtent::Stream,
            2 => self.attribute_extent = AttributeExtent::Rectangle,
            _ => {}
        }
    }

    /// DECCARA.
    pub(crate) fn change_attributes(&mut self, csi: &Csi) {
        let (mut removed, mut inserted) = (Attributes::empty(), Attributes::empty());
        for &number in changes(csi) {
            let (off, on) = match number {
                0 => (REVERSIBLE, Attributes::empty()),
                1 => (Attributes::empty(), Attributes::BOLD),
                4 => (
                    Attributes::UNDERLINE,
                    Attributes::empty().with_underline(Underline::Single),
                ),
                5 => (Attributes::empty(), Attributes::BLINK),
                7 => (Attributes::empty(), Attributes::INVERSE),
                22 => (Attributes::BOLD, Attributes::empty()),
                24 => (Attributes::UNDERLINE, Attributes::empty()),
                25 => (Attributes::BLINK, Attributes::empty()),
                27 => (Attributes::INVERSE, Attributes::empty()),
                _ => continue,
            };
            removed |= off;
            inserted = (inserted - off) | on;
        }
        self.change_attributes_by(csi, |attributes| {
            *attributes = attributes.difference(removed) | inserted;
        });
    }

    /// DECRARA. What is reversed twice stays.
    pub(crate) fn reverse_attributes(&mut self, csi: &Csi) {
        let mut reversed = Attributes::empty();
        for &number in changes(csi) {
            reversed.toggle(match number {
                0 => REVERSIBLE,
                1 => Attributes::BOLD,
                4 => Attributes::UNDERLINE,
                5 => Attributes::BLINK,
                7 => Attributes::INVERSE,
                _ => continue,
            });
        }
        let has_line = reversed.contains(Attributes::UNDERLINE);
        self.change_attributes_by(csi, |attributes| {
            attributes.toggle(reversed - Attributes::UNDERLINE);
            if has_line {
                let is_plain = attributes.underline() == Underline::None;
                attributes.set_underline(if is_plain {
                    Underline::Single
                } else {
                    Underline::None
                });
            }
        });
    }

    /// Changes the attributes of the cells that the first four values of `csi` say.
    fn change_attributes_by(&mut self, csi: &Csi, change: impl Fn(&mut Attributes)) {
        let (false, Some((rows, columns))) = (changes(csi).is_empty(), self.rectangle(csi, 0))
        else {
            return;
        };
        let all = self.addressable_columns();
        let mut change_part = |rows: Range<u16>, columns: Range<u16>| {
            self.grid
                .change_rows(rows, |row| row.change_attributes(columns.clone(), &change));
        };
        let is_stream = self.attribute_extent == AttributeExtent::Stream;
        if !is_stream || rows.len() == 1 {
            return change_part(rows, columns);
        }
        // In origin mode a row is what is between the margins.
        change_part(rows.start..rows.start + 1, columns.start..all.end);
        change_part(rows.start + 1..rows.end - 1, all.clone());
        change_part(rows.end - 1..rows.end, all.start..columns.end);
    }

    /// Returns rows and columns of the rectangle of four values from the one at `first` on: top, left, bottom and right, as far as it is on the screen,
    /// or between the margins in origin mode.
    pub(crate) fn rectangle(&self, csi: &Csi, first: usize) -> Option<(Range<u16>, Range<u16>)> {
        let start = self.place(csi, first)?;
        let end_of = |value: u16, all: Range<u16>| match value {
            0 => all.end,
            _ => all.start.saturating_add(value).min(all.end),
        };
        let rows = start.row.0..end_of(csi.value(first + 2), self.addressable_rows());
        let columns = start.column.0..end_of(csi.value(first + 3), self.addressable_columns());
        (!rows.is_empty() && !columns.is_empty()).then_some((rows, columns))
    }

    /// Returns the place of two values, row and column, from the one at `first` on; `None` if it is outside.
    fn place(&self, csi: &Csi, first: usize) -> Option<Position> {
        let (rows, columns) = (self.addressable_rows(), self.addressable_columns());
        let row = rows.start.saturating_add(csi.count(first) - 1);
        let column = columns.start.saturating_add(csi.count(first + 1) - 1);
        let is_inside = row < rows.end && column < columns.end;
        is_inside.then(|| Position::new(row, column))
    }
}

/// The attributes that DECCARA and DECRARA change.
const REVERSIBLE: Attributes = Attributes::BOLD
    .union(Attributes::UNDERLINE)
    .union(Attributes::BLINK)
    .union(Attributes::INVERSE);

/// Returns the values that say what DECCARA and DECRARA change: those behind the rectangle.
fn changes(csi: &Csi) -> &[u16] {
    csi.values().get(4..).unwrap_or_default()
}

/// Returns the character that DECFRA calls by `number`.
fn filler(number: u16) -> Option<char> {
    let is_printable = matches!(number, 32..=126 | 160..=255);
    char::from_u32(number.into()).filter(|_| is_printable)
}

impl CellRow {
    /// Changes the attributes of the cells `columns`: of a wide character those of both halves if the left one is among them. What
    /// was blank and gets any becomes a space.
    fn change_attributes(&mut self, columns: Range<u16>, change: impl Fn(&mut Attributes)) {
        self.change_cells(columns, |cell| {
            change(&mut cell.attributes);
            if cell.is_blank() && !cell.attributes.is_empty() {
                cell.glyph = u32::from(' ');
            }
        });
    }
}
