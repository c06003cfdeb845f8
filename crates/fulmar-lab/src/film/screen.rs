//! The rows of a terminal, as they are drawn.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{Processor, Rgb};

use super::colour::look_of;
use crate::judge::{CellPosition, NoTimeout};
use crate::trace::Size;

/// A terminal that shows colours, too.
pub(super) struct Screen {
    terminal: Term<VoidListener>,
    parser: Processor<NoTimeout>,
    size: Size,
}

/// Cells of one row that look the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// The first column.
    pub(super) column: u16,
    /// The number of columns.
    pub(super) width: u16,
    pub(super) text: String,
    pub(super) style: Style,
}

/// The look of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Style {
    /// The colours of text and ground, red first.
    pub(super) text: [u8; 3],
    pub(super) ground: [u8; 3],
    pub(super) is_bold: bool,
    pub(super) is_underlined: bool,
}

impl Screen {
    /// Returns a blank terminal.
    pub(super) fn new(size: Size) -> Self {
        Self {
            terminal: Term::new(Config::default(), &size, VoidListener),
            parser: Processor::new(),
            size,
        }
    }

    /// Shows what was written.
    pub(super) fn show(&mut self, text: &str) {
        self.parser.advance(&mut self.terminal, text.as_bytes());
    }

    /// Returns a row, counted from the top, as runs from left to right; cells without any look are in none.
    pub(super) fn row(&self, row: u16) -> Vec<Run> {
        let line = &self.terminal.grid()[Line(row.into())];
        let mut runs: Vec<Run> = Vec::new();
        for column in 0..self.size.columns {
            let cell = &line[Column(column.into())];
            let style = Style::of(cell);
            match runs.last_mut() {
                Some(run) if cell.flags.contains(Flags::WIDE_CHAR_SPACER) => run.width += 1,
                Some(run) if run.style == style => {
                    run.width += 1;
                    push_text(&mut run.text, cell);
                }
                _ => {
                    let mut text = String::new();
                    push_text(&mut text, cell);
                    runs.push(Run {
                        column,
                        width: 1,
                        text,
                        style,
                    });
                }
            }
        }
        runs.iter_mut().for_each(Run::trim);
        runs.retain(|run| run.width > 0);
        runs
    }

    /// Returns where the cursor is, if it is shown.
    pub(super) fn cursor(&self) -> Option<CellPosition> {
        let point = self.terminal.grid().cursor.point;
        let is_shown = self.terminal.mode().contains(TermMode::SHOW_CURSOR);
        let place = u16::try_from(point.line.0)
            .ok()
            .zip(u16::try_from(point.column.0).ok());
        let place = place.map(|(row, column)| CellPosition { row, column });
        place.filter(|_| is_shown)
    }
}

impl Run {
    /// Takes away the blanks at its end of which nothing is to be seen.
    fn trim(&mut self) {
        while !self.style.is_underlined && !self.style.has_ground() && self.text.ends_with(' ') {
            self.text.pop();
            self.width -= 1;
        }
    }
}

impl Style {
    fn of(cell: &Cell) -> Self {
        let [mut text, mut ground] = [cell.fg, cell.bg].map(look_of).map(bytes);
        if cell.flags.contains(Flags::INVERSE) {
            std::mem::swap(&mut text, &mut ground);
        }
        Self {
            text,
            ground,
            is_bold: cell.flags.contains(Flags::BOLD),
            is_underlined: cell.flags.intersects(Flags::ALL_UNDERLINES),
        }
    }

    /// True if the ground is not the terminal's own.
    pub(super) fn has_ground(&self) -> bool {
        self.ground != bytes(super::colour::GROUND)
    }
}

fn bytes(Rgb { r, g, b }: Rgb) -> [u8; 3] {
    [r, g, b]
}

fn push_text(text: &mut String, cell: &Cell) {
    text.push(if cell.c == '\t' { ' ' } else { cell.c });
    text.extend(cell.zerowidth().into_iter().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Screen {
        let mut screen = Screen::new(Size {
            columns: 10,
            rows: 2,
        });
        screen.show(text);
        screen
    }

    fn texts(row: Vec<Run>) -> Vec<(u16, u16, String)> {
        let run = |run: Run| (run.column, run.width, run.text);
        row.into_iter().map(run).collect()
    }

    #[test]
    fn cells_that_look_the_same_are_one_run() {
        let screen = shown("ab\x1b[1mc\x1b[4md\x1b[m日e\u{301}");
        let expected = [
            (0, 2, "ab".to_owned()),
            (2, 1, "c".to_owned()),
            (3, 1, "d".to_owned()),
            (4, 3, "日e\u{301}".to_owned()),
        ];
        assert_eq!(texts(screen.row(0)), expected);
        let styles: Vec<_> = screen.row(0).iter().map(|run| run.style).collect();
        assert!(styles[1].is_bold && !styles[0].is_bold);
        assert!(styles[2].is_underlined && !styles[3].is_underlined);
        assert_eq!(screen.row(1), []);
    }

    #[test]
    fn inverse_text_has_the_colours_the_other_way_round() {
        let row = shown("a\x1b[7mb").row(0);
        assert_eq!(row[0].style.text, row[1].style.ground);
        assert!(row[1].style.has_ground() && !row[0].style.has_ground());
    }

    #[test]
    fn blanks_are_drawn_only_where_they_have_a_look() {
        let row = shown("  \x1b[41m  \x1b[m").row(0);
        assert_eq!(texts(row), [(2, 2, "  ".to_owned())]);
    }

    #[test]
    fn a_hidden_cursor_is_nowhere() {
        assert_eq!(shown("ab").cursor(), Some(CellPosition::new(0, 2)));
        assert_eq!(shown("ab\x1b[?25l").cursor(), None);
    }
}
