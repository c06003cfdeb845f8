//! Copies cells from one row to another, and changes them.

use std::ops::Range;

use crate::cell::Cell;
use crate::row::{CellRow, Side, side_table_max};
use crate::size::Column;

impl Side {
    fn len(&self) -> usize {
        self.clusters.len() + self.extras.len()
    }

    /// Takes in the rare half of a style that another table has under this number, and returns its number here.
    fn adopt(&mut self, old: &Side, number: u16) -> u16 {
        let Some(extra) = old.extras.get(usize::from(number).wrapping_sub(1)) else {
            return 0;
        };
        self.extras.push(extra.clone());
        self.extras.len() as u16
    }
}

impl CellRow {
    /// Puts copies of the cells `columns` of `from` here, from column `at` on, as far as they fit. Of a wide character that
    /// is cut, here or there, a space is left. Returns how many entries of side tables were moved: these are much work.
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
        let mut moved = 0;
        if from.side.is_some() && cells.iter().any(|cell| refers(&cell)) {
            moved = self.copy_side(start, from, cells);
        }
        self.mend(start..start + length);
        moved
    }

    /// Has the copies of `cells` that begin at `start` refer to this row's side table, which is put in order once at most.
    /// Returns how many entries were moved.
    fn copy_side(&mut self, start: usize, from: &CellRow, cells: &[Cell]) -> usize {
        let Some(old) = &from.side else { return 0 };
        // First without what is in the table, so that nothing of it is kept for them.
        for copy in self.cells.iter_mut().skip(start).take(cells.len()) {
            copy.extra = 0;
            if copy.is_cluster() {
                copy.glyph = u32::from(' ') | (copy.glyph & Cell::WIDE);
            }
        }
        let most = side_table_max(self.cells.len());
        let is_full = |side: &Side| {
            cells.len() + side.extras.len() > most || cells.len() + side.clusters.len() > most
        };
        let mut moved = 0;
        if self.side.as_deref().is_some_and(is_full) {
            self.compact();
            moved += self.side.as_deref().map_or(0, Side::len);
        }
        let side = self.side.get_or_insert_default();
        let kept = side.len();
        // The last number there, and here.
        let mut last = (0, 0);
        for (copy, cell) in self.cells.iter_mut().skip(start).zip(cells) {
            if cell.extra != 0 {
                if cell.extra != last.0 {
                    last = (cell.extra, side.adopt(old, cell.extra));
                }
                copy.extra = last.1;
            }
            if cell.is_cluster()
                && let Some(cluster) = old.clusters.get((cell.glyph & Cell::PAYLOAD) as usize)
            {
                copy.glyph = (cell.glyph & !Cell::PAYLOAD) | side.clusters.len() as u32;
                side.clusters.push(*cluster);
            }
        }
        moved + side.len() - kept
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
    use std::sync::Arc;

    use crate::cell::Cluster;
    use crate::hyperlink::Hyperlink;
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
    fn copies_keep_their_links_and_leave_those_beside_them() {
        let link = |name: char| Style {
            link: Some(Arc::new(Hyperlink {
                id: "".into(),
                uri: name.to_string().into(),
            })),
            ..Style::default()
        };
        let linked = |names: &str| {
            let mut row = CellRow::new(8, Color::DEFAULT);
            for (column, name) in (0..).zip(names.chars()) {
                let text = Cluster::from_text("e\u{301}").expect("a text");
                row.write_text(Column(column), &text, false, &link(name));
            }
            row
        };
        let [from, mut to] = [linked("aabcddef"), linked("ABCDEFGH")];
        for _ in 0..20 {
            let mut moved = 0;
            for (at, columns) in [(1, 0..7), (1, 1..4), (6, 7..8), (4, 0..2)] {
                moved += to.copy_part(Column(at), &from, columns);
            }
            // 13 cells with a link and a cluster each, and half as many that stay where they are.
            assert!(moved <= 39, "{moved}");
            assert_eq!(to, linked("Aabcaafe"));
            let side = to.side.as_ref().expect("a table");
            assert!(side.extras.len() <= side_table_max(8));
            assert!(side.clusters.len() <= side_table_max(8));
        }
    }

    #[test]
    fn a_link_between_cells_without_one_is_moved_once() {
        let link = Style {
            underline_color: Color::indexed(1),
            ..Style::default()
        };
        let mut from = row("abcdefgh", &Style::default());
        for column in [0, 2, 4, 6] {
            from.write_text(
                Column(column),
                &Cluster::from_text("x").expect("a text"),
                false,
                &link,
            );
        }
        let mut to = row("........", &Style::default());
        assert_eq!(to.copy_part(Column(0), &from, 0..8), 1);
        assert_eq!(to, from);
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
