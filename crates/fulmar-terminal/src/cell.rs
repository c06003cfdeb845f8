//! One place on the screen, in 16 bytes.

use crate::style::{Attributes, Color};

/// The longest text of one cell, in bytes of UTF-8, where cells hold a character and its marks.
///
/// Source: docs/protocol.md §8.5; docs/threat-model.md §6.
pub const CELL_TEXT_MAX: usize = 32;

/// The longest text of one cell, in bytes of UTF-8, where cells hold grapheme clusters.
///
/// Source: docs/threat-model.md §6. The longest emoji of Unicode 17 (a kiss of two people with skin tones) has 35 bytes.
pub const CLUSTER_TEXT_MAX: usize = 64;

/// A cell of a [`CellRow`](crate::CellRow).
///
/// What does not fit (text of several characters, a link, the colour of the underline) is in the
/// row's side table; ask the row for the whole. Two cells of *different* rows are therefore not to
/// be compared bit by bit; rows as a whole can be compared.
///
/// ```text
/// glyph       31       30      29     28..21  20..0
///           cluster  spacer   wide      0     the character, or the cluster's number
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub(crate) glyph: u32,
    pub(crate) foreground: Color,
    pub(crate) background: Color,
    pub(crate) attributes: Attributes,
    /// 0, or 1 + the number of an entry of the row's side table.
    pub(crate) extra: u16,
}

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph<'row> {
    /// Never written, or erased. Only the background is kept. Looks like a space.
    Blank,
    /// The right half of the wide character to the left.
    Spacer,
    /// One character.
    Char(char),
    /// Several characters: one with its combining marks, at most [`CELL_TEXT_MAX`] bytes, or a grapheme cluster, at
    /// most [`CLUSTER_TEXT_MAX`] bytes.
    Cluster(&'row str),
}

impl Cell {
    pub(crate) const CLUSTER: u32 = 1 << 31;
    pub(crate) const SPACER: u32 = 1 << 30;
    pub(crate) const WIDE: u32 = 1 << 29;
    pub(crate) const PAYLOAD: u32 = (1 << 21) - 1;

    /// Returns an erased cell.
    pub const fn blank(background: Color) -> Cell {
        Cell {
            glyph: 0,
            foreground: Color::DEFAULT,
            background,
            attributes: Attributes::empty(),
            extra: 0,
        }
    }

    /// Returns true if the cell was never written, or erased.
    pub const fn is_blank(&self) -> bool {
        self.glyph == 0
    }

    /// Returns true if this is the left half of a wide character.
    pub const fn is_wide(&self) -> bool {
        self.glyph & Cell::WIDE != 0
    }

    /// Returns true if this is the right half of a wide character.
    pub const fn is_spacer(&self) -> bool {
        self.glyph & Cell::SPACER != 0
    }

    /// Returns true if the cell's text has several characters.
    pub const fn is_cluster(&self) -> bool {
        self.glyph & Cell::CLUSTER != 0
    }

    /// The number of columns the text takes: 2, 1, or 0 for a spacer.
    pub const fn width(&self) -> u16 {
        if self.is_spacer() {
            0
        } else if self.is_wide() {
            2
        } else {
            1
        }
    }

    /// The colour of the text.
    pub const fn foreground(&self) -> Color {
        self.foreground
    }

    /// The colour behind the text.
    pub const fn background(&self) -> Color {
        self.background
    }

    /// Bold and the like.
    pub const fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// Returns true if the row's side table holds a link or an underline colour for this cell.
    pub const fn has_extra(&self) -> bool {
        self.extra != 0
    }
}

/// A text of several characters, stored in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cluster {
    length: u8,
    bytes: [u8; CLUSTER_TEXT_MAX],
}

impl Cluster {
    pub(crate) fn new(first: char) -> Cluster {
        let mut bytes = [0; CLUSTER_TEXT_MAX];
        let length = first.encode_utf8(&mut bytes).len() as u8;
        Cluster { length, bytes }
    }

    /// Returns a text of one cell; `None` if it has no character or is too long.
    pub(crate) fn from_text(text: &str) -> Option<Cluster> {
        let mut cluster = Cluster {
            length: u8::try_from(text.len()).ok().filter(|&length| length > 0)?,
            bytes: [0; CLUSTER_TEXT_MAX],
        };
        let place = cluster.bytes.get_mut(..text.len())?;
        place.copy_from_slice(text.as_bytes());
        Some(cluster)
    }

    /// Appends a character unless the text is then longer than `bytes_max`.
    pub(crate) fn push(&mut self, c: char, bytes_max: usize) {
        let start = usize::from(self.length);
        let end = start + c.len_utf8();
        if end > bytes_max {
            return;
        }
        if let Some(place) = self.bytes.get_mut(start..end) {
            c.encode_utf8(place);
            self.length = end as u8;
        }
    }

    /// Returns the character if there is only one.
    pub(crate) fn single(&self) -> Option<char> {
        let mut characters = self.as_str().chars();
        characters.next().filter(|_| characters.next().is_none())
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_16_bytes() {
        assert_eq!(size_of::<Cell>(), 16);
    }

    #[test]
    fn a_cluster_holds_what_it_may_and_no_more() {
        for bytes_max in [CELL_TEXT_MAX, CLUSTER_TEXT_MAX] {
            let mut cluster = Cluster::new('e');
            let mut push = |c| {
                cluster.push(c, bytes_max);
                cluster.as_str().len()
            };
            (0..bytes_max / 2 - 1).for_each(|_| {
                push('\u{301}');
            });
            assert_eq!(push('\u{302}'), bytes_max - 1);
            assert_eq!(push('x'), bytes_max);
            assert_eq!(push('x'), bytes_max);
        }
        let mut cluster = Cluster::new('x');
        (0..100).for_each(|_| cluster.push('x', usize::MAX));
        assert_eq!(cluster.as_str().len(), CLUSTER_TEXT_MAX);
    }
}
