//! One row of cells with what its cells are too small for.

mod copy;

use std::ops::Range;
use std::sync::Arc;

use crate::cell::{Cell, Cluster, Glyph};
use crate::hyperlink::Hyperlink;
use crate::size::Column;
use crate::style::{Color, Style};

/// One row of the screen. Always as wide as the screen.
///
/// Screens share rows by reference count; a row is copied when one of them writes to it.
///
/// Invariant: a wide cell is followed by a spacer, and a spacer follows a wide cell.
#[derive(Clone, Debug)]
pub struct CellRow {
    cells: Vec<Cell>,
    side: Option<Box<Side>>,
    /// Cells from here on are blank and of the default background.
    used: u16,
    /// Cells before this one are printable ASCII in the default look. There may be more of them.
    plain: u16,
    wrapped: bool,
}

/// A row that several screens may hold, by reference count.
///
/// The count has no weak references, so that to ask before each change whether a row is held once takes a load
/// and no locked instruction (docs/decisions/039-triomphe.md).
pub type SharedRow = triomphe::Arc<CellRow>;

/// The side table of one row, to which its cells refer by number.
#[derive(Clone, Debug, Default)]
struct Side {
    clusters: Vec<Cluster>,
    extras: Vec<Extra>,
}

/// The rare half of a style.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Extra {
    underline_color: Color,
    link: Option<Arc<Hyperlink>>,
}

/// A style brought into the form of a cell of one row; see [`CellRow::pen`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen(Cell);

impl CellRow {
    /// Returns an erased row of `columns`.
    pub(crate) fn new(columns: u16, background: Color) -> CellRow {
        CellRow {
            cells: vec![Cell::blank(background); usize::from(columns)],
            side: None,
            used: if background.is_default() { 0 } else { columns },
            plain: 0,
            wrapped: false,
        }
    }

    /// The number of cells.
    pub fn columns(&self) -> u16 {
        self.cells.len() as u16
    }

    /// All cells, leftmost first.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells up to where the rest is blank and of the default background.
    pub(crate) fn used_cells(&self) -> &[Cell] {
        self.cells
            .get(..usize::from(self.used))
            .unwrap_or(&self.cells)
    }

    /// The number of cells at the left that are known to be printable ASCII in the default look: as many as were printed one after the
    /// other, mostly all of a line of plain text.
    #[inline]
    pub(crate) fn plain_columns(&self) -> usize {
        usize::from(self.plain)
    }

    /// Returns true if the text runs on in the row below: printing wrapped here.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Says whether the text runs on in the row below.
    pub(crate) fn set_wrapped(&mut self, wrapped: bool) {
        self.wrapped = wrapped;
    }

    /// Returns what the cell at `column` shows; right of the row it is blank.
    pub fn glyph(&self, column: Column) -> Glyph<'_> {
        self.cell(column)
            .map_or(Glyph::Blank, |cell| self.glyph_of(cell))
    }

    /// Returns the style of the cell at `column`.
    pub fn style(&self, column: Column) -> Style {
        let Some(cell) = self.cell(column) else {
            return Style::default();
        };
        let extra = self.extra(cell);
        Style {
            foreground: cell.foreground,
            background: cell.background,
            underline_color: extra.map_or(Color::DEFAULT, |extra| extra.underline_color),
            attributes: cell.attributes,
            link: extra.and_then(|extra| extra.link.clone()),
        }
    }

    /// Returns the link of the cell at `column`.
    pub fn link(&self, column: Column) -> Option<&Arc<Hyperlink>> {
        self.extra(self.cell(column)?)?.link.as_ref()
    }

    /// Appends the row's text to `out`, trailing blanks left out.
    pub fn push_text(&self, out: &mut String) {
        let written = self
            .cells
            .iter()
            .rposition(|cell| !cell.is_blank())
            .map_or(0, |last| last + 1);
        for cell in &self.cells[..written] {
            match self.glyph_of(cell) {
                Glyph::Blank => out.push(' '),
                Glyph::Spacer => {}
                Glyph::Char(character) => out.push(character),
                Glyph::Cluster(text) => out.push_str(text),
            }
        }
    }

    /// Returns true if a cell may have a text of several characters.
    pub(crate) fn has_clusters(&self) -> bool {
        self.side
            .as_ref()
            .is_some_and(|side| !side.clusters.is_empty())
    }

    /// The memory of the row itself: links and whatever else is shared are left out.
    pub(crate) fn held_bytes(&self) -> usize {
        let side = self.side.as_ref().map_or(0, |side| {
            size_of::<Side>()
                + side.clusters.capacity() * size_of::<Cluster>()
                + side.extras.capacity() * size_of::<Extra>()
        });
        size_of::<CellRow>() + self.cells.capacity() * size_of::<Cell>() + side
    }

    /// The links that the row keeps alive, some of them several times.
    pub(crate) fn links(&self) -> impl Iterator<Item = &Arc<Hyperlink>> {
        let extras = self.side.iter().flat_map(|side| &side.extras);
        extras.filter_map(|extra| extra.link.as_ref())
    }

    fn cell(&self, column: Column) -> Option<&Cell> {
        self.cells.get(usize::from(column.0))
    }

    /// Returns what a cell of this row shows.
    pub(crate) fn glyph_of(&self, cell: &Cell) -> Glyph<'_> {
        if cell.is_blank() {
            return Glyph::Blank;
        }
        if cell.is_spacer() {
            return Glyph::Spacer;
        }
        let payload = cell.glyph & Cell::PAYLOAD;
        if cell.is_cluster() {
            let cluster = self
                .side
                .as_ref()
                .and_then(|side| side.clusters.get(payload as usize));
            return cluster.map_or(Glyph::Blank, |cluster| Glyph::Cluster(cluster.as_str()));
        }
        char::from_u32(payload).map_or(Glyph::Blank, Glyph::Char)
    }

    fn extra(&self, cell: &Cell) -> Option<&Extra> {
        let index = usize::from(cell.extra).checked_sub(1)?;
        self.side.as_ref()?.extras.get(index)
    }
}

/// The work of changes, in cells and entries of side tables: see [`Screen::work`](crate::Screen::work).
impl CellRow {
    /// Returns what a change of all cells costs.
    pub(crate) fn change_work(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Returns what a copy of the row costs, its side table included.
    pub(crate) fn copy_work(&self) -> u64 {
        let side = self.side.as_ref();
        let entries = side.map_or(0, |side| side.clusters.len() + side.extras.len());
        (self.cells.len() + entries) as u64
    }
}

/// Changes. Columns beyond the row are ignored.
impl CellRow {
    /// Makes the whole row blank, and returns how many cells that has touched.
    pub(crate) fn clear(&mut self, background: Color) -> u64 {
        let used = usize::from(self.used).min(self.cells.len());
        let touched = if background.is_default() {
            self.cells[..used].fill(Cell::default());
            self.used = 0;
            used
        } else {
            self.cells.fill(Cell::blank(background));
            self.used = self.columns();
            self.cells.len()
        };
        self.side = None;
        self.plain = 0;
        self.wrapped = false;
        touched as u64
    }

    /// Returns `style` in the form of this row's cells, noting its rare half in the side table.
    #[inline]
    pub(crate) fn pen(&mut self, style: &Style) -> Pen {
        let extra = if style.link.is_none() && style.underline_color.is_default() {
            0
        } else {
            self.note_extra(Extra {
                underline_color: style.underline_color,
                link: style.link.clone(),
            })
        };
        Pen(Cell {
            glyph: 0,
            foreground: style.foreground,
            background: style.background,
            attributes: style.attributes,
            extra,
        })
    }

    /// Writes bytes of printable ASCII, one cell each, from `column` on. They must fit.
    pub(crate) fn write_ascii(&mut self, column: Column, text: &[u8], pen: Pen) {
        let start = usize::from(column.0);
        let end = start + text.len();
        let plain = self.plain;
        self.touch(start..end);
        if plain == column.0 && pen.0 == Cell::default() {
            self.plain = end as u16;
        }
        if let Some(cells) = self.cells.get_mut(start..end) {
            for (cell, &byte) in cells.iter_mut().zip(text) {
                *cell = Cell {
                    glyph: u32::from(byte),
                    ..pen.0
                };
            }
        }
    }

    /// Writes one character that takes one column, or two when `wide`. It must fit.
    pub(crate) fn write_char(&mut self, column: Column, character: char, wide: bool, pen: Pen) {
        let start = usize::from(column.0);
        let end = start + 1 + usize::from(wide);
        self.touch(start..end);
        let glyph = u32::from(character) | if wide { Cell::WIDE } else { 0 };
        match self.cells.get_mut(start..end) {
            Some([cell]) => *cell = Cell { glyph, ..pen.0 },
            Some([left, right]) => {
                *left = Cell { glyph, ..pen.0 };
                *right = Cell {
                    glyph: Cell::SPACER,
                    ..pen.0
                };
            }
            _ => {}
        }
    }

    /// Writes a text into one cell that takes one column, or two when `wide`. It must fit. No pen of this row is good
    /// afterwards.
    pub(crate) fn write_text(&mut self, column: Column, text: &Cluster, wide: bool, style: &Style) {
        let pen = self.pen(style);
        match text.single() {
            Some(c) => self.write_char(column, c, wide, pen),
            None => {
                self.write_char(column, ' ', wide, pen);
                self.put_cluster(column, *text);
            }
        }
    }

    /// Replaces the text of the cell at `column`, which is not blank.
    pub(crate) fn put_cluster(&mut self, column: Column, cluster: Cluster) {
        let number = self.note_cluster(cluster);
        self.plain = self.plain.min(column.0);
        if let Some(cell) = self.cells.get_mut(usize::from(column.0)) {
            cell.glyph = Cell::CLUSTER | (cell.glyph & Cell::WIDE) | number;
        }
    }

    /// Adds a combining mark to the text at `column` unless that would be longer than `bytes_max`. A blank becomes a
    /// no-break space that carries the mark.
    pub(crate) fn append_mark(&mut self, column: Column, mark: char, bytes_max: usize) {
        let index = usize::from(column.0);
        let Some(&cell) = self.cells.get(index) else {
            return;
        };
        let base = match self.glyph_of(&cell) {
            Glyph::Spacer => return,
            Glyph::Cluster(_) => return self.push_to_cluster(&cell, mark, bytes_max),
            Glyph::Blank => '\u{a0}',
            Glyph::Char(c) => c,
        };
        let mut cluster = Cluster::new(base);
        cluster.push(mark, bytes_max);
        self.put_cluster(column, cluster);
        self.used = self.used.max(column.0 + 1);
    }

    /// No two cells refer to the same cluster, so it is changed in place.
    fn push_to_cluster(&mut self, cell: &Cell, mark: char, bytes_max: usize) {
        let number = (cell.glyph & Cell::PAYLOAD) as usize;
        if let Some(cluster) = self
            .side
            .as_mut()
            .and_then(|side| side.clusters.get_mut(number))
        {
            cluster.push(mark, bytes_max);
        }
    }

    /// Makes the narrow cell at `column` wide. There must be a cell to the right of it.
    pub(crate) fn widen(&mut self, column: Column) {
        let start = usize::from(column.0);
        self.touch(start + 1..start + 2);
        if let Some([left, right]) = self.cells.get_mut(start..start + 2) {
            left.glyph |= Cell::WIDE;
            *right = Cell {
                glyph: Cell::SPACER,
                ..*left
            };
        }
    }

    /// Writes one narrow character into all cells of `columns`.
    pub(crate) fn fill(&mut self, columns: Range<u16>, character: char, pen: Pen) {
        let columns = self.within(columns);
        self.touch(columns.clone());
        self.cells[columns].fill(Cell {
            glyph: u32::from(character),
            ..pen.0
        });
    }

    /// Makes the cells of `columns` blank.
    pub(crate) fn erase(&mut self, columns: Range<u16>, background: Color) {
        let columns = self.within(columns);
        self.touch(columns.clone());
        self.cells[columns].fill(Cell::blank(background));
    }

    /// Moves the cells of `columns` to the right by `count` and blanks the gap.
    pub(crate) fn insert(&mut self, columns: Range<u16>, count: u16, background: Color) {
        let tail = self.within(columns);
        let count = usize::from(count).min(tail.len());
        // A wide character whose right half would leave is lost as a whole.
        self.split_wide(tail.start..tail.end - count);
        self.touch(tail.clone());
        self.cells[tail.clone()].rotate_right(count);
        self.cells[tail.start..tail.start + count].fill(Cell::blank(background));
    }

    /// Removes `count` cells at the start of `columns`; the others move up and blanks follow.
    pub(crate) fn delete(&mut self, columns: Range<u16>, count: u16, background: Color) {
        let tail = self.within(columns);
        let count = usize::from(count).min(tail.len());
        self.split_wide(tail.start..tail.start + count);
        self.touch(tail.clone());
        self.cells[tail.clone()].rotate_left(count);
        self.cells[tail.end - count..tail.end].fill(Cell::blank(background));
    }

    /// Crops or extends the row at its right end.
    pub(crate) fn set_columns(&mut self, columns: u16, background: Color) {
        let columns = usize::from(columns);
        if columns < self.cells.len() {
            self.split_wide(columns..columns);
        }
        self.cells.resize(columns, Cell::blank(background));
        self.cells.shrink_to_fit();
        self.used = self.columns();
        self.plain = self.plain.min(self.columns());
        self.wrapped = false;
    }

    /// Returns the number of cells up to where all others are blank.
    pub(crate) fn text_columns(&self) -> u16 {
        let last = self.used_cells().iter().rposition(|cell| !cell.is_blank());
        last.map_or(0, |last| last as u16 + 1)
    }

    /// Makes the last cell, if it is blank, a space that looks the same.
    pub(crate) fn close_end(&mut self) {
        if let Some(last) = self.cells.last_mut()
            && last.is_blank()
        {
            last.glyph = u32::from(' ');
            self.used = self.columns();
        }
    }

    /// Prepares for new contents of `columns`. Those of the last column end a wrap.
    fn touch(&mut self, columns: Range<usize>) {
        // Read before its neighbour in memory is written, or the processor waits for that.
        let (used, plain) = (self.used, self.plain);
        self.used = used.max(columns.end as u16);
        self.plain = plain.min(columns.start as u16);
        if columns.end >= self.cells.len() {
            self.wrapped = false;
        }
        self.split_wide(columns);
    }

    /// Blanks the other half of wide characters that a change of `columns` would cut in two.
    fn split_wide(&mut self, columns: Range<usize>) {
        for edge in [columns.start, columns.end] {
            if self.cells.get(edge).is_some_and(Cell::is_spacer) && edge > 0 {
                for half in &mut self.cells[edge - 1..=edge] {
                    half.glyph = u32::from(' ');
                }
            }
        }
    }

    fn within(&self, columns: Range<u16>) -> Range<usize> {
        let end = usize::from(columns.end).min(self.cells.len());
        usize::from(columns.start).min(end)..end
    }

    fn note_extra(&mut self, extra: Extra) -> u16 {
        let side = self.side.get_or_insert_default();
        // Text comes in runs of one style, so the last entry mostly fits.
        if side.extras.last() != Some(&extra) {
            if side.extras.len() >= side_table_max(self.cells.len()) {
                self.compact();
            }
            self.side.get_or_insert_default().extras.push(extra);
        }
        self.side
            .as_ref()
            .map_or(0, |side| side.extras.len() as u16)
    }

    fn note_cluster(&mut self, cluster: Cluster) -> u32 {
        if self
            .side
            .as_ref()
            .is_some_and(|side| side.clusters.len() >= side_table_max(self.cells.len()))
        {
            self.compact();
        }
        let side = self.side.get_or_insert_default();
        side.clusters.push(cluster);
        side.clusters.len() as u32 - 1
    }

    /// Drops the entries of the side table that no cell refers to.
    pub(crate) fn compact(&mut self) {
        let Some(old) = self.side.take() else { return };
        let mut new = Side::default();
        for cell in &mut self.cells {
            if cell.is_cluster()
                && let Some(cluster) = old.clusters.get((cell.glyph & Cell::PAYLOAD) as usize)
            {
                cell.glyph = (cell.glyph & !Cell::PAYLOAD) | new.clusters.len() as u32;
                new.clusters.push(*cluster);
            }
            if let Some(extra) = usize::from(cell.extra)
                .checked_sub(1)
                .and_then(|n| old.extras.get(n))
            {
                // The cells of a link stand side by side, so a look at the last one finds most
                // duplicates. A search through all would be quadratic.
                if new.extras.last() != Some(extra) {
                    new.extras.push(extra.clone());
                }
                cell.extra = new.extras.len() as u16;
            }
        }
        self.side = Some(Box::new(new));
    }
}

/// The size at which a side table is compacted: twice what the cells can refer to, so that
/// compacting costs a constant per entry.
fn side_table_max(columns: usize) -> usize {
    2 * columns + 16
}

impl PartialEq for CellRow {
    /// Same cells and same wrapping; how the side tables number their entries does not count.
    fn eq(&self, other: &CellRow) -> bool {
        if self.wrapped != other.wrapped || self.cells.len() != other.cells.len() {
            return false;
        }
        if self.side.is_none() && other.side.is_none() {
            return self.cells == other.cells;
        }
        self.cells.iter().zip(&other.cells).all(|(mine, theirs)| {
            mine.foreground == theirs.foreground
                && mine.background == theirs.background
                && mine.attributes == theirs.attributes
                && mine.width() == theirs.width()
                && self.glyph_of(mine) == other.glyph_of(theirs)
                && self.extra(mine) == other.extra(theirs)
        })
    }
}

impl Eq for CellRow {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CELL_TEXT_MAX;
    use proptest::prelude::*;

    const COLUMNS: u16 = 12;

    /// One change of a row, by number.
    fn change(row: &mut CellRow, (what, column, count): (u8, u16, u16)) {
        let background = if what & 1 == 0 {
            Color::DEFAULT
        } else {
            Color::indexed(4)
        };
        let pen = row.pen(&Style::erased(background));
        match what / 2 {
            0 => row.erase(column..column + count, background),
            1 => row.insert(column..COLUMNS, count, background),
            2 => row.delete(column..COLUMNS, count, background),
            3 => row.append_mark(Column(column), '\u{301}', CELL_TEXT_MAX),
            7 if row.cells()[usize::from(column)].width() == 1 && column + 1 < COLUMNS => {
                row.append_mark(Column(column), 'x', CELL_TEXT_MAX);
                row.widen(Column(column));
            }
            4 => row.write_char(Column(column.min(COLUMNS - 2)), '漢', true, pen),
            5 => row.write_ascii(Column(column), &b"abcdefghijkl"[usize::from(column)..], pen),
            _ => {
                row.clear(background);
            }
        }
    }

    fn changes() -> impl Strategy<Value = Vec<(u8, u16, u16)>> {
        prop::collection::vec((0..18_u8, 0..COLUMNS, 0..COLUMNS), 0..40)
    }

    proptest! {
        #[test]
        fn a_cleared_row_is_a_new_one(changes in changes()) {
            let mut row = CellRow::new(COLUMNS, Color::DEFAULT);
            for step in changes {
                change(&mut row, step);
                for background in [Color::DEFAULT, Color::indexed(3)] {
                    let mut cleared = row.clone();
                    cleared.clear(background);
                    prop_assert_eq!(cleared, CellRow::new(COLUMNS, background));
                }
            }
        }

        #[test]
        fn a_compacted_row_is_the_same_row(changes in changes()) {
            let mut row = CellRow::new(COLUMNS, Color::DEFAULT);
            for step in changes {
                change(&mut row, step);
                let mut compacted = row.clone();
                compacted.compact();
                prop_assert_eq!(&compacted, &row);
            }
        }

        #[test]
        fn plain_columns_are_plain(changes in changes()) {
            let mut row = CellRow::new(COLUMNS, Color::DEFAULT);
            for step in changes {
                change(&mut row, step);
                let plain = row.cells().iter().take(row.plain_columns());
                for cell in plain {
                    prop_assert!((0x20..0x7f).contains(&cell.glyph));
                    prop_assert_eq!(Cell { glyph: 0, ..*cell }, Cell::default());
                }
            }
        }
    }

    #[test]
    fn links_are_compared_by_what_they_are() {
        let linked = |uri: &str| {
            let mut row = CellRow::new(1, Color::DEFAULT);
            let link = Some(Arc::new(Hyperlink {
                id: "".into(),
                uri: uri.into(),
            }));
            let pen = row.pen(&Style {
                link,
                ..Style::default()
            });
            row.write_ascii(Column(0), b"x", pen);
            row
        };
        assert_eq!(linked("http://a.b/"), linked("http://a.b/"));
        assert_ne!(linked("http://a.b/"), linked("http://a.c/"));
    }
}
