//! Laying something over what a program drew, without the program's terminal noticing: these act
//! on a snapshot that is about to be shown.

use std::sync::Arc;

use crate::cell::{CELL_TEXT_MAX, Cluster, Glyph};
use crate::cursor::CursorShape;
use crate::row::{CellRow, SharedRow};
use crate::screen::Screen;
use crate::size::{Column, Position, Row};
use crate::style::{Color, Style};
use crate::width::{Width, char_columns, grown_columns, width};

impl CellRow {
    /// Returns a row of `columns` with `text` in `style`, cut at the right margin and filled up with the style's background.
    /// Controls are left out.
    pub fn of_text(text: &str, style: &Style, columns: u16) -> CellRow {
        let mut cells = CellRow::new(columns, style.background);
        let pen = cells.pen(style);
        let mut column = 0;
        for character in text.chars().filter(|character| !character.is_control()) {
            let wide = match width(character) {
                Width::Zero => {
                    if let Some(before) = u16::checked_sub(column, 1) {
                        cells.append_mark(Column(before), character, CELL_TEXT_MAX);
                    }
                    continue;
                }
                Width::One => false,
                Width::Two => true,
            };
            let next = column + 1 + u16::from(wide);
            if next > columns {
                break;
            }
            cells.write_char(Column(column), character, wide, pen);
            column = next;
        }
        cells
    }
}

impl Screen {
    /// Replaces a row by `text` in `style`, cut at the right margin and filled up with the style's
    /// background. Controls are left out; a row that is not there is not replaced.
    pub fn overlay_row(&mut self, row: Row, text: &str, style: &Style) {
        let cells = CellRow::of_text(text, style, self.size().columns());
        self.set_row(row, SharedRow::new(cells));
    }

    /// Replaces the text and the look of one cell. A wide character takes the cell to the right,
    /// too; where that is beyond the screen, or `at` is, nothing happens. A spacer counts as blank.
    pub fn overlay_cell(&mut self, at: Position, glyph: Glyph<'_>, style: &Style) {
        let text = match glyph {
            Glyph::Blank | Glyph::Spacer => None,
            Glyph::Char(character) => Some(Cluster::new(character)),
            Glyph::Cluster(text) => Cluster::from_text(text),
        };
        let columns = text.map_or(1, |text| self.columns_of(text.as_str()));
        if !self.size().contains(at) || at.column.0 + columns > self.size().columns() {
            return;
        }
        let row = self.grid.row_mut(at.row, columns);
        let is_erased = *style == Style::erased(style.background);
        match text {
            None if is_erased => row.erase(at.column.0..at.column.0 + 1, style.background),
            _ => {
                let text = text.unwrap_or(Cluster::new(' '));
                row.write_text(at.column, &text, columns == 2, style);
            }
        }
    }

    /// Returns the columns of a cell with this text: of the first character where each is by itself, else of the
    /// cluster.
    fn columns_of(&self, text: &str) -> u16 {
        let mut characters = text.chars();
        let mut before = characters.next().unwrap_or(' ');
        let mut columns = char_columns(before).max(1);
        if self.is_clustering() {
            for c in characters {
                columns = grown_columns(columns, before, c);
                before = c;
            }
        }
        columns
    }

    /// Moves all rows up by one, the top one out; the lowest is blank then.
    pub fn overlay_scroll(&mut self) {
        let rows = 0..self.size().rows();
        self.grid.scroll_up(rows, 1, Color::DEFAULT);
    }

    /// Moves the cursor; a place outside the screen becomes the nearest on it.
    pub fn place_cursor(&mut self, at: Position) {
        self.cursor.position = self.size().clamp(at);
        self.cursor.pending_wrap = false;
    }

    /// Hides the cursor.
    pub fn hide_cursor(&mut self) {
        self.cursor.visible = false;
    }

    /// Gives the cursor another shape.
    pub fn set_cursor_shape(&mut self, shape: CursorShape) {
        self.cursor.shape = shape;
    }

    /// Replaces the window's title and the icon's name.
    pub fn set_names(&mut self, title: Option<Arc<str>>, icon_name: Option<Arc<str>>) {
        self.title = title;
        self.icon_name = icon_name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clustering::Clustering;
    use crate::size::Size;
    use crate::style::Attributes;

    fn text_of(screen: &Screen, row: u16) -> String {
        let mut text = String::new();
        screen.row(Row(row)).push_text(&mut text);
        text
    }

    #[test]
    fn a_row_is_replaced_cut_and_filled() {
        let mut screen = Screen::new(Size::new(2, 6).unwrap());
        screen.apply(b"below\r\nsecond");
        let style = Style {
            background: Color::indexed(4),
            attributes: Attributes::BOLD,
            ..Style::default()
        };
        screen.overlay_row(Row(0), "a\x1b\u{9b}b", &style);
        assert_eq!(text_of(&screen, 0), "ab");
        let filled = screen.row(Row(0)).style(Column(5));
        assert_eq!(filled.background, Color::indexed(4));
        screen.overlay_row(Row(0), "longer than that", &style);
        assert_eq!(text_of(&screen, 0), "longer");
        assert_eq!(text_of(&screen, 1), "second");
    }

    #[test]
    fn a_wide_character_that_does_not_fit_is_left_out() {
        let mut screen = Screen::new(Size::new(1, 4).unwrap());
        screen.overlay_row(Row(0), "\u{301}漢e\u{301}漢", &Style::default());
        assert_eq!(text_of(&screen, 0), "漢e\u{301}");
    }

    #[test]
    fn a_cell_is_what_it_was_where_it_was() {
        let mut screen = Screen::new(Size::new(1, 6).unwrap());
        screen.apply("a漢e\u{301}\x1b[41m\x1b[X".as_bytes());
        let mut copy = Screen::new(Size::new(1, 6).unwrap());
        let row = screen.row(Row(0));
        for column in (0..6).map(Column).filter(|column| column.0 != 2) {
            let at = Position::new(0, column.0);
            copy.overlay_cell(at, row.glyph(column), &row.style(column));
        }
        assert_eq!(copy.row(Row(0)), row);
        copy.overlay_cell(Position::new(0, 2), Glyph::Char('x'), &Style::default());
        assert_eq!(text_of(&copy, 0), "a xe\u{301}");
        let before = copy.clone();
        copy.overlay_cell(Position::new(0, 5), Glyph::Char('漢'), &Style::default());
        copy.overlay_cell(Position::new(1, 0), Glyph::Char('x'), &Style::default());
        assert_eq!(copy, before);
    }

    #[test]
    fn a_cluster_is_as_wide_as_it_was() {
        let mut screen = Screen::new(Size::new(1, 8).unwrap());
        screen.set_clustering(Clustering::Permanent);
        let mut copy = screen.clone();
        screen.apply("a❤\u{fe0f}🇩🇪👍🏽e".as_bytes());
        let row = screen.row(Row(0));
        for column in [0, 1, 3, 5, 7].map(Column) {
            let at = Position::new(0, column.0);
            copy.overlay_cell(at, row.glyph(column), &row.style(column));
        }
        assert_eq!(copy.row(Row(0)), row);
    }

    #[test]
    fn a_row_that_is_not_there_is_not_replaced() {
        let mut screen = Screen::new(Size::new(1, 4).unwrap());
        let before = screen.clone();
        screen.overlay_row(Row(7), "text", &Style::default());
        assert_eq!(screen, before);
    }
}
