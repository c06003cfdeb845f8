//! Bytes for a reader whose cursor and rendition are known.

use std::io::Write as _;

use crate::frame::sgr;
use crate::size::{Column, Position, Row, Size};
use crate::style::{Attributes, Style};
use crate::vocabulary::Vocabulary;

/// The state of the reader's cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorState {
    /// At this position, and the next character is drawn there.
    At(Position),
    /// The last column of this row was just written: whether the next character wraps, and how
    /// far Backspace goes, is told apart by some terminals. CR leads back to column 0 in all.
    Edge(Row),
    /// After a character on whose width terminals disagree.
    Unknown,
}

/// The attributes that a terminal may leave in the cells that it erases.
const SHOWS_ERASED: Attributes = Attributes::INVERSE
    .union(Attributes::STRIKE)
    .union(Attributes::OVERLINE)
    .union(Attributes::UNDERLINE);

/// Writes a frame, keeping what the reader's cursor and rendition are after each byte.
pub(super) struct Writer<'a> {
    pub(super) out: Vec<u8>,
    pub(super) vocabulary: &'a Vocabulary,
    size: Size,
    cursor: CursorState,
    style: Style,
    /// True if lines of the reader are to be those of the program, also for somebody who copies them.
    pub(super) keeps_lines: bool,
}

impl<'a> Writer<'a> {
    /// A writer for a reader in a known state.
    pub(super) fn new(
        vocabulary: &'a Vocabulary,
        size: Size,
        position: Position,
        style: Style,
    ) -> Writer<'a> {
        Writer {
            out: Vec::new(),
            vocabulary,
            size,
            cursor: CursorState::At(position),
            style,
            keeps_lines: false,
        }
    }

    /// Appends bytes that move nothing and draw nothing.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends formatted bytes that move nothing and draw nothing.
    pub(super) fn print(&mut self, text: std::fmt::Arguments<'_>) {
        self.out
            .write_fmt(text)
            .expect("writing to a vector does not fail");
    }

    /// The reader's cursor, if the next character is known to be drawn there.
    pub(super) fn position(&self) -> Option<Position> {
        match self.cursor {
            CursorState::At(position) => Some(position),
            CursorState::Edge(_) | CursorState::Unknown => None,
        }
    }

    /// The rendition in force.
    pub(super) fn style(&self) -> &Style {
        &self.style
    }

    /// The width of the screen.
    pub(super) fn columns(&self) -> u16 {
        self.size.columns()
    }

    /// Says where the reader's cursor is after bytes given to [`Writer::raw`].
    pub(super) fn set_position(&mut self, position: Position) {
        self.cursor = CursorState::At(position);
    }

    /// Says that the reader's cursor is not where it can be relied on.
    pub(super) fn forget_position(&mut self) {
        self.cursor = CursorState::Unknown;
    }

    /// Changes the rendition for erasing, which leaves nothing but the background. A person may see the text colour as well:
    /// xterm draws its cursor in that of the erased cell.
    pub(super) fn set_background(&mut self, style: &Style) {
        let is_plain = self.style.foreground.is_default() || !self.vocabulary.hide_while_drawing;
        let is_background = is_plain
            && self.style.background == style.background
            && self.style.link == style.link
            && !self.style.attributes.intersects(SHOWS_ERASED);
        if !is_background {
            self.set_style(style);
        }
    }

    /// Changes the rendition.
    pub(super) fn set_style(&mut self, style: &Style) {
        if *style == self.style {
            return;
        }
        if style.link != self.style.link {
            match &style.link {
                Some(link) if link.id.is_empty() => {
                    self.print(format_args!("\x1b]8;;{}\x1b\\", link.uri));
                }
                Some(link) => self.print(format_args!("\x1b]8;id={};{}\x1b\\", link.id, link.uri)),
                None => self.raw(b"\x1b]8;;\x1b\\"),
            }
            // ST ends a pending wrap in some emulators (docs/protocol.md §8.4).
            if let CursorState::Edge(_) = self.cursor {
                self.cursor = CursorState::Unknown;
            }
        }
        sgr::change(&mut self.out, &self.style, style, self.vocabulary);
        self.style.clone_from(style);
    }

    /// Changes the rendition to the plain one unless it is.
    pub(super) fn plain_style(&mut self) {
        self.set_style(&Style::default());
    }

    /// Draws text that takes `columns`, all of it on the row of the cursor.
    pub(super) fn draw(&mut self, text: &str, columns: u16) {
        self.raw(text.as_bytes());
        if let CursorState::At(position) = self.cursor {
            self.cursor = self.after(position.row, position.column.0 + columns);
        }
    }

    /// Draws spaces.
    pub(super) fn draw_spaces(&mut self, count: u16) {
        self.out
            .extend(std::iter::repeat_n(b' ', usize::from(count)));
        if let CursorState::At(position) = self.cursor {
            self.cursor = self.after(position.row, position.column.0 + count);
        }
    }

    /// Says that text was drawn across the wrap into `row`, which now has `columns` of it.
    pub(super) fn wrapped_into(&mut self, row: Row, columns: u16) {
        self.cursor = self.after(row, columns);
    }

    fn after(&self, row: Row, column: u16) -> CursorState {
        if column < self.size.columns() {
            CursorState::At(Position {
                row,
                column: Column(column),
            })
        } else {
            CursorState::Edge(row)
        }
    }

    /// Moves the cursor by the shortest way.
    pub(super) fn move_to(&mut self, target: Position) {
        if self.cursor == CursorState::At(target) {
            return;
        }
        let absolute = absolute(target);
        let best = match self.cursor {
            CursorState::At(position) => {
                relative(position, target).filter(|way| way.len() < absolute.len())
            }
            CursorState::Edge(row) if target.column.0 == 0 => {
                down_from_start(row, target).filter(|way| way.len() < absolute.len())
            }
            CursorState::Edge(_) | CursorState::Unknown => None,
        };
        self.raw(&best.unwrap_or(absolute));
        self.cursor = CursorState::At(target);
    }

    /// Moves the cursor by its position, whatever state it is in now.
    pub(super) fn move_to_absolute(&mut self, target: Position) {
        let bytes = absolute(target);
        self.raw(&bytes);
        self.cursor = CursorState::At(target);
    }
}

/// `CSI row;column H`, without what is 1.
fn absolute(target: Position) -> Vec<u8> {
    let (row, column) = (target.row.0 + 1, target.column.0 + 1);
    match (row, column) {
        (1, 1) => b"\x1b[H".to_vec(),
        (_, 1) => format!("\x1b[{row}H").into_bytes(),
        (1, _) => format!("\x1b[;{column}H").into_bytes(),
        _ => format!("\x1b[{row};{column}H").into_bytes(),
    }
}

/// `CSI n X`, without an n of 1.
fn count(n: u16, letter: char) -> Vec<u8> {
    if n == 1 {
        format!("\x1b[{letter}").into_bytes()
    } else {
        format!("\x1b[{n}{letter}").into_bytes()
    }
}

/// Returns the shortest way that starts from the present position.
fn relative(from: Position, to: Position) -> Option<Vec<u8>> {
    let along = along_row(from.column, to.column);
    if from.row == to.row {
        return Some(along);
    }
    let direct = [along_column(from.row, to.row), along].concat();
    let by_start =
        down_from_start(from.row, to).map(|down| [down, along_row(Column(0), to.column)].concat());
    [by_start, Some(direct)]
        .into_iter()
        .flatten()
        .min_by_key(Vec::len)
}

fn along_row(from: Column, to: Column) -> Vec<u8> {
    let back = from.0.saturating_sub(to.0);
    let forward = to.0.saturating_sub(from.0);
    if forward > 0 {
        count(forward, 'C')
    } else if to.0 == 0 && back > 0 {
        b"\r".to_vec()
    } else if back <= 4 {
        // Up to four of them are no longer than a sequence (docs/protocol.md §7).
        vec![b'\x08'; usize::from(back)]
    } else {
        count(back, 'D')
    }
}

fn along_column(from: Row, to: Row) -> Vec<u8> {
    if to < from {
        count(from.0 - to.0, 'A')
    } else if to.0 - from.0 <= 4 {
        // A line feed keeps the column, and below the target's row nothing can scroll.
        vec![b'\n'; usize::from(to.0 - from.0)]
    } else {
        count(to.0 - from.0, 'B')
    }
}

/// CR, then down to the row of `to`, if it is not above.
fn down_from_start(from: Row, to: Position) -> Option<Vec<u8>> {
    (to.row >= from).then(|| [b"\r".to_vec(), along_column(from, to.row)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    fn way(from: (u16, u16), to: (u16, u16)) -> String {
        let mut writer = Writer::new(
            &Vocabulary::FULL,
            Size::default(),
            Position::new(from.0, from.1),
            Style::default(),
        );
        writer.move_to(Position::new(to.0, to.1));
        String::from_utf8(writer.out).unwrap()
    }

    #[test]
    fn the_shortest_way_is_taken() {
        assert_eq!(way((3, 3), (3, 3)), "");
        assert_eq!(way((3, 3), (3, 1)), "\x08\x08");
        assert_eq!(way((3, 3), (3, 0)), "\r");
        assert_eq!(way((3, 3), (4, 0)), "\r\n");
        assert_eq!(way((3, 3), (5, 3)), "\n\n");
        assert_eq!(way((3, 3), (3, 9)), "\x1b[6C");
        assert_eq!(way((3, 3), (2, 3)), "\x1b[A");
        assert_eq!(way((20, 70), (0, 0)), "\x1b[H");
        assert_eq!(way((20, 70), (0, 8)), "\x1b[;9H");
        assert_eq!(way((2, 10), (20, 40)), "\x1b[21;41H");
    }

    #[test]
    fn cells_that_a_person_sees_are_erased_without_a_text_colour() {
        let green = Style {
            foreground: Color::indexed(2),
            ..Style::default()
        };
        for (vocabulary, wanted) in [
            (Vocabulary::FULL, "\x1b[32m\x1b[m"),
            (Vocabulary::CLUSTERED, "\x1b[32m"),
        ] {
            let origin = Position::default();
            let mut writer = Writer::new(&vocabulary, Size::default(), origin, Style::default());
            writer.set_style(&green);
            writer.set_background(&Style::default());
            assert_eq!(String::from_utf8(writer.out).unwrap(), wanted);
        }
    }

    #[test]
    fn after_the_last_column_only_sure_ways_are_taken() {
        let edge = |to: (u16, u16)| {
            let mut writer = Writer::new(
                &Vocabulary::FULL,
                Size::default(),
                Position::new(5, 79),
                Style::default(),
            );
            writer.draw("x", 1);
            assert_eq!(writer.position(), None);
            writer.out.clear();
            writer.move_to(Position::new(to.0, to.1));
            String::from_utf8(writer.out).unwrap()
        };
        assert_eq!(edge((6, 0)), "\r\n");
        assert_eq!(edge((5, 78)), "\x1b[6;79H");
        assert_eq!(edge((5, 79)), "\x1b[6;80H");
    }
}
