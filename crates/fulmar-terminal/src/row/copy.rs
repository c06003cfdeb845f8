//! Copies cells from one row to another, and changes them.

use std::ops::Range;

use crate::cell::{Cell, Cluster, Glyph};
use crate::row::CellRow;
use crate::size::Column;

impl CellRow {
    /// Puts copies of the cells `columns` of `from` here, from column `at` on, as far as they fit. Of a wide character that
    /// is cut, here or there, a space is left. Returns how many of them refer to the side table: these are much work.
    pub(crate) fn copy_part(&mut self, at: Column, from: &CellRow, columns: Range<u16>) -> usize {
        let source = from.within(columns);
        let start = usize::from(at.0);
        let length = source.len().min(self.cells.len().saturating_sub(start));
        let source = source.start..source.start + length;
        self.touch(start..start + length);
        let Some(cells) = from.cells.get(source) else {
            return 0;
        };
        if let Some(place) = self.cells.get_mut(start..start + length) {
            place.copy_from_slice(cells);
        }
        let refers = |cell: &&Cell| cell.extra > 0 || cell.is_cluster();
        let references = match from.side {
            Some(_) => cells.iter().filter(refers).count(),
            None => 0,
        };
        if references > 0 {
            self.copy_side(start, from, cells);
        }
        self.mend(start..start + length);
        references
    }

    /// Has the copies of `cells` that begin at `start` refer to this row's side table.
    fn copy_side(&mut self, start: usize, from: &CellRow, cells: &[Cell]) {
        // First without what is in the table, which is put in order when it is full.
        for cell in self.cells.iter_mut().skip(start).take(cells.len()) {
            cell.extra = 0;
            if cell.is_cluster() {
                cell.glyph = u32::from(' ') | (cell.glyph & Cell::WIDE);
            }
        }
        for (index, cell) in (start..).zip(cells) {
            if let Some(extra) = from.extra(cell).cloned() {
                let number = self.note_extra(extra);
                if let Some(copy) = self.cells.get_mut(index) {
                    copy.extra = number;
                }
            }
            if let Glyph::Cluster(text) = from.glyph_of(cell)
                && let Some(cluster) = Cluster::from_text(text)
            {
                self.put_cluster(Column(index as u16), cluster);
            }
        }
    }

    /// Makes spaces of the halves of wide characters at both ends of `columns`, the other halves of which are outside.
    fn mend(&mut self, columns: Range<usize>) {
        if let Some(cells) = self.cells.get_mut(columns) {
            if let Some(first) = cells.first_mut().filter(|cell| cell.is_spacer()) {
                first.glyph = u32::from(' ');
            }
            if let Some(last) = cells.last_mut().filter(|cell| cell.is_wide()) {
                last.glyph = u32::from(' ');
            }
        }
    }

    /// Changes the cells `columns`: both halves of a wide character if the left one is among them, else none.
    pub(crate) fn change_cells(&mut self, columns: Range<u16>, change: impl Fn(&mut Cell)) {
        let columns = self.within(columns);
        self.used = self.used.max(columns.end as u16);
        self.plain = self.plain.min(columns.start as u16);
        let is_first = |index: usize, cell: &Cell| index == columns.start && cell.is_spacer();
        let halves = usize::from(
            self.cells
                .get(columns.end)
                .is_some_and(|cell| cell.is_spacer() && !columns.is_empty()),
        );
        let cells = self.cells.iter_mut().enumerate().skip(columns.start);
        for (index, cell) in cells.take(columns.len() + halves) {
            if !is_first(index, cell) {
                change(cell);
            }
        }
    }

    /// Takes the text of the cells `columns` away, and leaves their look. Wide characters go as a whole.
    pub(crate) fn empty(&mut self, columns: Range<u16>) {
        let columns = self.within(columns);
        self.touch(columns.clone());
        for cell in self.cells.get_mut(columns).unwrap_or_default() {
            if !cell.is_blank() {
                cell.glyph = u32::from(' ');
            }
        }
    }

    /// Returns true if writing the cells `columns` once more changes nothing: no edge cuts a wide character, and no wrap ends.
    pub(crate) fn is_kept_by(&self, columns: &Range<u16>) -> bool {
        let cuts = [columns.start, columns.end]
            .iter()
            .any(|&edge| self.cell(Column(edge)).is_some_and(Cell::is_spacer));
        !(cuts || self.wrapped && columns.end >= self.columns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Color, Style};

    fn row(text: &str, style: &Style) -> CellRow {
        let mut row = CellRow::new(8, Color::DEFAULT);
        let mut column = 0;
        for part in text.split('|') {
            let wide = part.starts_with('漢');
            let text = Cluster::from_text(part).expect("a text");
            row.write_text(Column(column), &text, wide, style);
            column += 1 + u16::from(wide);
        }
        row
    }

    fn text(row: &CellRow) -> String {
        let mut text = String::new();
        row.push_text(&mut text);
        text
    }

    #[test]
    fn texts_and_styles_of_any_kind_are_copied() {
        let style = Style {
            underline_color: Color::indexed(3),
            ..Style::default()
        };
        let from = row("a|e\u{301}|漢\u{302}|b", &style);
        let mut to = row("1|2|3|4|5|6|7|e\u{303}", &Style::default());
        for _ in 0..100 {
            to.copy_part(Column(2), &from, 0..5);
        }
        assert_eq!(text(&to), "12ae\u{301}漢\u{302}be\u{303}");
        assert_eq!(to.style(Column(3)), style);
        assert_eq!(to.style(Column(7)), Style::default());
    }

    #[test]
    fn a_wide_character_that_is_cut_leaves_a_space() {
        let from = row("漢|漢", &Style::default());
        let mut to = row("漢|漢|漢|漢", &Style::default());
        to.copy_part(Column(1), &from, 1..3);
        assert_eq!(text(&to), "    漢漢");
        let mut to = row("1|2|3|4|5|6|7|8", &Style::default());
        to.copy_part(Column(6), &from, 0..4);
        assert_eq!(text(&to), "123456漢");
        to.copy_part(Column(7), &from, 0..4);
        assert_eq!(text(&to), "123456  ");
    }
}
