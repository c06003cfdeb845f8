//! Judges whether a terminal shows what a screen of ours holds.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use fulmar_terminal::{
    Attributes, Color, ColorKind, Column, Glyph, ModeFlags, MouseEncoding, MouseMode, Row, Screen,
    Style,
};

use super::eye::Eye;
use super::libc_widths::LibcWidths;

/// Bytes of a cell's text that the judge surely keeps.
const TEXT_KEPT: usize = 18;

/// The differences that the two halves of wide characters excuse.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    /// Columns in which a wide character has had its right half since everything was painted last.
    right: BTreeSet<u16>,
    may_hide: bool,
}

impl Halves {
    /// Returns the excuse for halves that stock leaves to the terminal. If the left half is drawn over, the
    /// terminal makes the right one a blank in whatever rendition: so the rendition of blanks there is not
    /// compared.
    pub(crate) fn left_to_the_terminal() -> Halves {
        Halves::default()
    }

    /// Returns the excuse for characters that stock hides. If the right half is drawn over, stock hides the
    /// text and goes on showing the wide character, which any terminal would have split, as ours does
    /// (docs/protocol.md §8.4): so a wide character may be shown too many.
    pub(crate) fn hidden_by_stock() -> Halves {
        Halves {
            may_hide: true,
            ..Halves::default()
        }
    }

    /// Takes note of a screen that is shown.
    pub(crate) fn note(&mut self, screen: &Screen) {
        for row in screen.rows() {
            let is_half = |&column: &u16| row.glyph(Column(column)) == Glyph::Spacer;
            self.right.extend((0..row.columns()).filter(is_half));
        }
    }

    /// Forgets what was noted: everything is painted anew.
    pub(crate) fn forget(&mut self) {
        self.right.clear();
    }

    fn excuse(&self, column: u16, wanted: &Look, shown: &Look) -> bool {
        let is_left_over = wanted.is_blank() && shown.is_blank() && self.right.contains(&column);
        is_left_over || self.may_hide && shown.is_wide && !wanted.is_wide
    }
}

/// Returns in words what the terminal shows otherwise than `screen`, which is projected; `None` if
/// it is all the same.
///
/// Of a character to which the C library gives other columns than we do only the neighbours are
/// compared.
pub(crate) fn difference(screen: &Screen, eye: &Eye, halves: &Halves) -> Option<String> {
    let size = (screen.size().rows(), screen.size().columns());
    if eye.screen().size() != size {
        return Some(format!("size {size:?} for {:?}", eye.screen().size()));
    }
    let mut found = String::new();
    for row in 0..size.0 {
        compare_row(screen, eye, halves, row, &mut found);
    }
    compare_rest(screen, eye, &mut found);
    (!found.is_empty()).then_some(found)
}

fn compare_row(screen: &Screen, eye: &Eye, halves: &Halves, row: u16, found: &mut String) {
    let columns = screen.size().columns();
    let mut column = 0;
    while column < columns {
        let seen = Seen::at(screen, row, column, eye.widths());
        let looks = seen.looks();
        for (column, wanted) in (column..).zip(&looks).filter(|_| !seen.is_disputed) {
            let shown = Look::shown(eye, row, column);
            if shown != *wanted && !halves.excuse(column, wanted, &shown) {
                let _ = writeln!(
                    found,
                    "row {row}, column {column}: {wanted:?} is wanted, {shown:?} is shown"
                );
            }
        }
        column += looks.len() as u16;
    }
}

fn compare_rest(screen: &Screen, eye: &Eye, found: &mut String) {
    let mut compare = |what: &str, wanted: String, shown: String| {
        if wanted != shown {
            let _ = writeln!(found, "{what}: {wanted:?} is wanted, {shown:?} is shown");
        }
    };
    let (terminal, window) = (eye.screen(), eye.window());
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    compare("title", text(screen.title()), window.title.clone());
    compare(
        "icon name",
        text(screen.icon_name()),
        window.icon_name.clone(),
    );
    compare(
        "clipboard",
        screen.clipboard().to_owned(),
        window.clipboard.clone(),
    );
    let cursor = screen.cursor();
    let (row, column) = terminal.cursor_position();
    let column = column.min(screen.size().last_column().0);
    compare(
        "cursor",
        format!("{:?}", (cursor.position.row.0, cursor.position.column.0)),
        format!("{:?}", (row, column)),
    );
    compare(
        "cursor visible",
        cursor.visible.to_string(),
        (!terminal.hide_cursor()).to_string(),
    );
    let modes = screen.modes();
    compare(
        "bracketed paste",
        modes.has(ModeFlags::BRACKETED_PASTE).to_string(),
        terminal.bracketed_paste().to_string(),
    );
    compare(
        "mouse reports",
        format!("{:?}", mouse(modes.mouse)),
        format!("{:?}", terminal.mouse_protocol_mode()),
    );
    compare(
        "mouse encoding",
        format!("{:?}", encoding(modes.mouse_encoding)),
        format!("{:?}", terminal.mouse_protocol_encoding()),
    );
}

fn mouse(mode: MouseMode) -> vt100::MouseProtocolMode {
    match mode.number() {
        Some(9) => vt100::MouseProtocolMode::Press,
        Some(1000) => vt100::MouseProtocolMode::PressRelease,
        Some(1002) => vt100::MouseProtocolMode::ButtonMotion,
        Some(1003) => vt100::MouseProtocolMode::AnyMotion,
        // 1001, which the judge does not know either.
        _ => vt100::MouseProtocolMode::None,
    }
}

fn encoding(encoding: MouseEncoding) -> vt100::MouseProtocolEncoding {
    match encoding.number() {
        Some(1005) => vt100::MouseProtocolEncoding::Utf8,
        Some(1006) => vt100::MouseProtocolEncoding::Sgr,
        _ => vt100::MouseProtocolEncoding::Default,
    }
}

/// A character of ours, as far as the terminal is held to show it.
struct Seen {
    text: String,
    is_wide: bool,
    style: Style,
    is_disputed: bool,
}

impl Seen {
    fn at(screen: &Screen, row: u16, column: u16, widths: &LibcWidths) -> Seen {
        let cells = screen.row(Row(row));
        let text = match cells.glyph(Column(column)) {
            Glyph::Blank | Glyph::Spacer => String::new(),
            Glyph::Char(character) => character.to_string(),
            Glyph::Cluster(text) => text.to_owned(),
        };
        let is_wide = cells.glyph(Column(column + 1)) == Glyph::Spacer;
        let ours = 1 + u16::from(is_wide);
        let theirs = text.chars().next().and_then(|c| widths.columns(c));
        let is_odd = |mark| widths.columns(mark).is_some_and(|columns| columns > 0);
        let has_odd_mark = text.chars().skip(1).any(is_odd);
        Seen {
            text: widths.stand_ins(&text),
            is_wide,
            style: cells.style(Column(column)),
            is_disputed: theirs.is_some_and(|theirs| theirs != ours) || has_odd_mark,
        }
    }

    fn looks(&self) -> Vec<Look> {
        let left = Look::of(&self.text, self.is_wide, &self.style);
        let right = self.is_wide.then(Look::right_half);
        std::iter::once(left).chain(right).collect()
    }
}

/// All that the judge tells of a cell.
#[derive(PartialEq)]
struct Look {
    text: String,
    /// True if it is one of the two columns of a wide character.
    is_wide: bool,
    foreground: vt100::Color,
    background: vt100::Color,
    bold: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
}

impl Look {
    fn of(text: &str, is_wide: bool, style: &Style) -> Look {
        let is = |flag| style.attributes.intersects(flag);
        Look {
            text: text.to_owned(),
            is_wide,
            foreground: color(style.foreground),
            background: color(style.background),
            bold: is(Attributes::BOLD),
            italic: is(Attributes::ITALIC),
            underline: is(Attributes::UNDERLINE),
            inverse: is(Attributes::INVERSE),
        }
        .normal()
    }

    /// It has no look of its own.
    fn right_half() -> Look {
        Look::of("right half", true, &Style::default())
    }

    fn shown(eye: &Eye, row: u16, column: u16) -> Look {
        let Some(cell) = eye.screen().cell(row, column) else {
            return Look::of("no such cell", false, &Style::default());
        };
        if cell.is_wide_continuation() {
            return Look::right_half();
        }
        Look {
            text: cell.contents().to_owned(),
            is_wide: cell.is_wide(),
            foreground: cell.fgcolor(),
            background: cell.bgcolor(),
            bold: cell.bold(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        }
        .normal()
    }

    fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Leaves out what nobody can see, and what the judge does not keep.
    fn normal(mut self) -> Look {
        if self.text.is_empty() || self.text == " " {
            self.text.clear();
            (self.bold, self.italic) = (false, false);
            if !self.underline && !self.inverse {
                self.foreground = vt100::Color::Default;
            }
        }
        let kept = (0..=TEXT_KEPT.min(self.text.len()))
            .rev()
            .find(|&end| self.text.is_char_boundary(end));
        self.text.truncate(kept.unwrap_or(0));
        self
    }
}

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)?;
        for (word, color) in [("in", self.foreground), ("on", self.background)] {
            if color != vt100::Color::Default {
                write!(f, " {word} {color:?}")?;
            }
        }
        let attributes = [
            ("wide", self.is_wide),
            ("bold", self.bold),
            ("italic", self.italic),
            ("underlined", self.underline),
            ("inverse", self.inverse),
        ];
        for (name, _) in attributes.iter().filter(|(_, is_on)| *is_on) {
            write!(f, " {name}")?;
        }
        Ok(())
    }
}

fn color(color: Color) -> vt100::Color {
    match color.kind() {
        ColorKind::Default => vt100::Color::Default,
        ColorKind::Indexed(index) => vt100::Color::Idx(index),
        ColorKind::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
    }
}

/// Draws a screen of ours, for a person.
pub(crate) fn drawn(screen: &Screen) -> String {
    let rows = screen.rows().map(|row| {
        let mut text = String::new();
        row.push_text(&mut text);
        let wrap = if row.is_wrapped() { "↩" } else { "" };
        format!("  |{text}|{wrap}\n")
    });
    let rows: String = rows.collect();
    format!("{}, cursor {:?}\n{rows}", screen.size(), screen.cursor())
}

/// Draws what the terminal shows, for a person.
pub(crate) fn drawn_terminal(eye: &Eye) -> String {
    let (rows, columns) = eye.screen().size();
    let lines = eye
        .screen()
        .rows(0, columns)
        .map(|row| format!("  |{row}|\n"));
    let lines: String = lines.collect();
    let cursor = eye.screen().cursor_position();
    format!("{rows}x{columns}, cursor {cursor:?}\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_terminal::{Size, Terminal};

    /// Says what a screen of `ours` differs in from a terminal to which `theirs` was written.
    fn between(ours: &str, theirs: &str, halves: &Halves) -> Option<String> {
        let mut terminal = Terminal::new(Size::new(2, 8).expect("small"));
        terminal.process(ours.as_bytes());
        let mut eye = Eye::new(2, 8, LibcWidths::default());
        eye.read(theirs.as_bytes());
        difference(terminal.screen(), &eye, halves)
    }

    #[test]
    fn what_nobody_can_see_makes_no_difference() {
        let halves = Halves::left_to_the_terminal();
        for (ours, theirs) in [
            ("a", "a  \x1b[1;2H"),
            ("\x1b[1;31m \r", ""),
            ("你e\u{301}", "\x1b[1;3He\u{301}\r你\x1b[1;4H"),
        ] {
            assert_eq!(between(ours, theirs, &halves), None, "{ours:?}");
        }
    }

    #[test]
    fn all_that_can_be_seen_is_told_apart() {
        let halves = Halves::left_to_the_terminal();
        for other in [
            "b",
            "\x1b[31ma",
            "\x1b[4ma",
            "\x1b[3ma",
            "a\r",
            "a\x1b[?25l",
            "a\x1b[?2004h",
            "a\x1b]2;title\x07",
            "a\x1b[?1000h",
            "a\x1b[41m \x1b[1;2H",
            "a\x1b[1;4H你\x1b[1;2H",
        ] {
            assert!(between("a", other, &halves).is_some(), "{other:?}");
        }
    }

    #[test]
    fn only_stock_may_hide_what_is_drawn_over_a_right_half() {
        let (split, hidden) = ("你\x1b[1;2Hx", "你\x1b[1;3H");
        assert_eq!(between(split, hidden, &Halves::hidden_by_stock()), None);
        assert!(between(split, hidden, &Halves::left_to_the_terminal()).is_some());
        assert!(between(hidden, split, &Halves::hidden_by_stock()).is_some());
    }
}
