//! Laying something over what a program drew, without the program's terminal noticing: these act
//! on a snapshot that is about to be shown.

use std::sync::Arc;

use crate::row::CellRow;
use crate::screen::Screen;
use crate::size::{Column, Row};
use crate::style::Style;
use crate::width::{Width, width};

impl Screen {
    /// Replaces a row by `text` in `style`, cut at the right margin and filled up with the style's
    /// background. Controls are left out; a row that is not there is not replaced.
    pub fn overlay_row(&mut self, row: Row, text: &str, style: &Style) {
        let columns = self.size().columns();
        let mut cells = CellRow::new(columns, style.background);
        let pen = cells.pen(style);
        let mut column = 0;
        for character in text.chars().filter(|character| !character.is_control()) {
            let wide = match width(character) {
                Width::Zero => {
                    if let Some(before) = u16::checked_sub(column, 1) {
                        cells.append_mark(Column(before), character);
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
        self.set_row(row, Arc::new(cells));
    }

    /// Hides the cursor.
    pub fn hide_cursor(&mut self) {
        self.cursor.visible = false;
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
    use crate::size::Size;
    use crate::style::{Attributes, Color};

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
    fn a_row_that_is_not_there_is_not_replaced() {
        let mut screen = Screen::new(Size::new(1, 4).unwrap());
        let before = screen.clone();
        screen.overlay_row(Row(7), "text", &Style::default());
        assert_eq!(screen, before);
    }
}
