//! A screen as lines of output, for a reader whose cursor may be in any row.

use crate::Screen;
use crate::cell::Glyph;
use crate::frame::seen::{Seen, is_wrapped};
use crate::frame::writer::Writer;
use crate::row::{CellRow, SharedRow};
use crate::size::{Position, Row, Size};
use crate::style::Style;
use crate::vocabulary::Vocabulary;

impl Screen {
    /// Returns the number of rows down to the last one in which there is anything to see.
    pub fn filled_rows(&self) -> u16 {
        let rows = 0..self.size().rows();
        let is_filled = |row: &u16| filled_columns(self.row(Row(*row)), &Vocabulary::FULL) > 0;
        rows.rev().find(is_filled).map_or(0, |row| row + 1)
    }

    /// Returns the bytes that print this screen as the output of a program: its rows down to the last filled one,
    /// in their renditions, each ended by CR and LF unless it runs on in the next. Links are left out.
    ///
    /// The reader's cursor has to be in the first column, in the plain rendition, and is so afterwards.
    pub fn as_lines(&self, vocabulary: &Vocabulary) -> Vec<u8> {
        let vocabulary = Vocabulary {
            links: false,
            ..vocabulary.clone()
        };
        let mut writer = Writer::new(&vocabulary, self.size(), Position::HOME, Style::default());
        let filled = self.filled_rows();
        let told = self.told(&vocabulary);
        for row in (0..filled).map(Row) {
            let cells = told.row(row);
            // What follows the last column of a line goes to the next row by itself.
            let runs_on = row.0 + 1 < filled && is_wrapped(&told, row, &vocabulary);
            if runs_on {
                write_cells(&mut writer, cells, cells.columns());
            } else {
                write_cells(&mut writer, cells, filled_columns(cells, &vocabulary));
                writer.plain_style();
                writer.raw(b"\r\n");
            }
        }
        writer.out
    }
}

/// Returns the bytes that print a line that has left a screen, in its renditions and without a line end: rows of which each runs on in the
/// next. Links are left out.
///
/// The reader's rendition has to be plain, and is so afterwards.
pub fn line_as_text(rows: &[SharedRow], vocabulary: &Vocabulary) -> Vec<u8> {
    let vocabulary = Vocabulary {
        links: false,
        ..vocabulary.clone()
    };
    let mut writer = Writer::new(
        &vocabulary,
        Size::default(),
        Position::HOME,
        Style::default(),
    );
    for row in rows {
        let end = if row.is_wrapped() {
            row.columns()
        } else {
            filled_columns(row, &vocabulary)
        };
        write_cells(&mut writer, row, end);
    }
    writer.plain_style();
    writer.out
}

fn write_cells(writer: &mut Writer<'_>, row: &CellRow, end: u16) {
    for column in 0..end {
        let seen = Seen::at(row, column, writer.vocabulary);
        let mut buffer = [0; 4];
        let text = match seen.glyph {
            Glyph::Spacer => continue,
            Glyph::Blank => " ",
            Glyph::Char(character) => character.encode_utf8(&mut buffer),
            Glyph::Cluster(text) => text,
        };
        writer.set_style(&seen.style);
        writer.raw(text.as_bytes());
    }
}

/// Returns the number of columns up to the last one that shows anything.
fn filled_columns(row: &CellRow, vocabulary: &Vocabulary) -> u16 {
    let shows = |column: &u16| {
        let seen = Seen::at(row, *column, vocabulary);
        seen.glyph != Glyph::Blank || seen.style != Style::default()
    };
    let last = (0..row.columns()).rev().find(shows);
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, Terminal};

    fn lines(columns: u16, output: &str) -> String {
        let mut terminal = Terminal::new(Size::new(5, columns).unwrap());
        terminal.process(output.as_bytes());
        let bytes = terminal.screen().as_lines(&Vocabulary::FULL);
        Checker::default().check(&bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn rows_are_printed_down_to_the_last_filled_one() {
        assert_eq!(lines(20, ""), "");
        assert_eq!(lines(20, "one\r\n\r\n  two   \r\n"), "one\r\n\r\n  two\r\n");
        assert_eq!(lines(20, "no line end"), "no line end\r\n");
    }

    #[test]
    fn a_line_longer_than_a_row_stays_one_line() {
        assert_eq!(lines(4, "abcdefgh"), "abcdefgh\r\n");
        assert_eq!(lines(4, "abcd\r\nefg"), "abcd\r\nefg\r\n");
        assert_eq!(lines(4, "a你b你"), "a你b你\r\n");
    }

    #[test]
    fn renditions_are_kept_and_end_with_the_row() {
        let shown = lines(20, "a \x1b[31mred\r\nmore\x1b[m \x1b[44m ");
        assert_eq!(
            shown,
            "a \x1b[31mred\x1b[m\r\n\x1b[31mmore\x1b[m \x1b[44m \x1b[m\r\n"
        );
    }

    #[test]
    fn of_a_link_only_the_text_is_printed() {
        let link = "\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\";
        assert_eq!(lines(20, link), "here\r\n");
    }

    #[test]
    fn a_line_that_has_left_is_printed_without_its_end() {
        let mut terminal = Terminal::new(Size::new(5, 4).unwrap());
        terminal.process(b"ab\x1b[31mcdef\x1b[m");
        let rows: Vec<SharedRow> = terminal.screen().rows().take(2).cloned().collect();
        let text = line_as_text(&rows, &Vocabulary::FULL);
        assert_eq!(text, b"ab\x1b[31mcdef\x1b[m");
        assert_eq!(
            line_as_text(&rows[1..], &Vocabulary::FULL),
            b"\x1b[31mef\x1b[m"
        );
    }

    #[test]
    fn filled_rows_are_counted_from_the_top() {
        let filled = |output: &[u8]| {
            let mut terminal = Terminal::new(Size::new(5, 20).unwrap());
            terminal.process(output);
            terminal.screen().filled_rows()
        };
        assert_eq!(filled(b""), 0);
        assert_eq!(filled(b"one\r\n \r\n"), 1);
        assert_eq!(filled(b"\x1b[3;5Hx\x1b[H"), 3);
        assert_eq!(filled(b"\x1b[5;1H\x1b[41m "), 5);
    }
}
