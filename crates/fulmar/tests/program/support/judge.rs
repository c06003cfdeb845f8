//! Judges what is on a screen, by an emulator that is not ours: the crate `vt100`.

use std::fmt::Write as _;

use vt100::{Cell, Screen};

/// The most differences that are told in words; the drawn screens show the others.
const TOLD_MAX: usize = 8;

/// Returns the text of a row, without blanks at its end.
pub(crate) fn row_text(screen: &Screen, row: u16) -> String {
    let (_, columns) = screen.size();
    let text = screen.rows(0, columns).nth(row.into()).unwrap_or_default();
    text.trim_end().to_owned()
}

/// True when `text` stands in one of the rows.
pub(crate) fn holds(screen: &Screen, text: &str) -> bool {
    let (_, columns) = screen.size();
    screen.rows(0, columns).any(|row| row.contains(text))
}

/// Draws a screen in a frame, for a person who reads a failure.
pub(crate) fn drawn(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let edge = "─".repeat(columns.into());
    let mut drawing = format!("┌{edge}┐\n");
    for row in screen.rows(0, columns) {
        let _ = writeln!(drawing, "│{row}");
    }
    let (row, column) = screen.cursor_position();
    let cursor = if screen.hide_cursor() {
        "hidden"
    } else {
        "shown"
    };
    let _ = writeln!(
        drawing,
        "└{edge}┘ cursor {cursor} at row {row}, column {column}"
    );
    drawing
}

/// Returns what tells `one` from `other`, or `None` if a user could not tell.
///
/// Faint text is left out: stock's wire has no word for it (docs/protocol.md §8.6).
pub(crate) fn difference(one: &Screen, other: &Screen) -> Option<String> {
    if one.size() != other.size() {
        return Some(format!("sizes {:?} and {:?}", one.size(), other.size()));
    }
    let (rows, columns) = one.size();
    let mut found = Vec::new();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let [first, second] = [one, other].map(|screen| Look::of(screen.cell(row, column)));
        if first != second {
            found.push(format!(
                "row {row}, column {column}: {first:?} and {second:?}"
            ));
        }
    }
    let cursors = [one, other].map(|screen| (screen.hide_cursor(), screen.cursor_position()));
    match cursors {
        [(true, _), (true, _)] => {}
        [first, second] if first == second => {}
        [first, second] => {
            found.push(format!(
                "cursors (hidden, position) {first:?} and {second:?}"
            ));
        }
    }
    let more = found.len().saturating_sub(TOLD_MAX);
    found.truncate(TOLD_MAX);
    if more > 0 {
        found.push(format!("and {more} differences more"));
    }
    (!found.is_empty()).then(|| found.join("\n") + "\n")
}

/// All that a user sees of a cell.
#[derive(Debug, PartialEq)]
struct Look {
    text: String,
    foreground: vt100::Color,
    background: vt100::Color,
    bold: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
}

impl Look {
    fn of(cell: Option<&Cell>) -> Option<Self> {
        let cell = cell?;
        let is_blank = cell.contents().trim().is_empty() && !cell.is_wide_continuation();
        let has_ink = !is_blank || cell.underline() || cell.inverse();
        Some(Self {
            text: if is_blank { "" } else { cell.contents() }.to_owned(),
            foreground: if has_ink {
                cell.fgcolor()
            } else {
                vt100::Color::Default
            },
            background: cell.bgcolor(),
            bold: !is_blank && cell.bold(),
            italic: !is_blank && cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(bytes: &str) -> Screen {
        let mut parser = vt100::Parser::new(2, 8, 0);
        parser.process(bytes.as_bytes());
        parser.screen().clone()
    }

    #[test]
    fn blanks_written_and_blanks_left_are_the_same() {
        assert_eq!(difference(&screen("a  \x1b[1;2H"), &screen("a")), None);
        assert_eq!(difference(&screen("\x1b[1;31m \r"), &screen("")), None);
    }

    #[test]
    fn text_colour_and_cursor_are_told_apart() {
        for other in ["b", "\x1b[31ma", "\x1b[4ma", "a\r", "\x1b[?25la"] {
            let found = difference(&screen("a"), &screen(other));
            assert!(found.is_some(), "{other:?}");
        }
        assert!(difference(&screen("\x1b[41m \r"), &screen("")).is_some());
    }

    #[test]
    fn text_is_found_in_its_row() {
        let screen = screen("ab\r\ncd ");
        assert_eq!(row_text(&screen, 1), "cd");
        assert!(holds(&screen, "ab") && !holds(&screen, "abcd"));
    }
}
