//! Recognises an editor in the mode in which keys become text.
//!
//! Source: docs/prediction.md §6.

use std::hash::{DefaultHasher, Hash, Hasher};

use fulmar_terminal::{CellRow, Column, Position, Row, Screen};

use crate::prompt::ContextId;
use crate::text::{is_inverse, is_rule, left_border, row_end, text_between};

/// The number of rows at the bottom of the screen that may hold the mode indicator.
///
/// Source: docs/prediction.md §6.
const INDICATOR_ROWS: u16 = 3;

/// The kind of editor, as far as it matters to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EditorKind {
    /// One with modes, in that of inserting.
    Insert,
    /// One with modes, in that of overwriting.
    Replace,
    Nano,
    Emacs,
    /// One without modes.
    Plain,
}

/// An editor in text mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEditor {
    pub(crate) kind: EditorKind,
    /// The context: the kind, and whatever of the mode indicator tells one mode from another.
    pub(crate) id: ContextId,
    /// One beyond the last row that may be text: that of the mode indicator, or of what is right above it.
    pub(crate) bottom: Row,
}

/// Returns the editor in text mode that the cursor at `at` is in.
///
/// Its mode indicator is in one of the last rows and below the cursor. No border may stand between the start
/// of the row and the cursor, and none between the cursor and the mode indicator: those are of other panes.
pub(crate) fn find_editor(screen: &Screen, at: Position) -> Option<TextEditor> {
    let rows = screen.size().rows();
    let first = rows.saturating_sub(INDICATOR_ROWS).max(at.row.0 + 1);
    let window = window_mode(screen, at.row);
    let (row, kind, name) = match window {
        Some((row, mode)) => (row, EditorKind::Emacs, mode?),
        None => (first..rows).find_map(|row| {
            let (kind, name) = mode_indicator(screen, Row(row))?;
            Some((row, kind, name))
        })?,
    };
    let is_apart = (at.row.0 + 1..row).any(|row| is_rule(screen.row(Row(row))));
    if is_apart || left_border(screen, at) > 0 {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    (kind, name).hash(&mut hasher);
    Some(TextEditor {
        kind,
        id: ContextId(hasher.finish()),
        bottom: text_bottom(screen, at.row, row, kind),
    })
}

/// Returns the row of the mode indicator or, if there is one, that of the bars right above it. nano has a row for
/// messages and two of keys, of which the last is the indicator.
fn text_bottom(screen: &Screen, text: Row, mark: u16, kind: EditorKind) -> Row {
    let rows = match kind {
        EditorKind::Nano => 2,
        _ => (text.0 + 1..mark)
            .rev()
            .take_while(|row| is_bar(screen.row(Row(*row))))
            .count() as u16,
    };
    Row(mark.saturating_sub(rows).max(text.0 + 1))
}

/// True if a row has a background of its own from end to end.
fn is_bar(cells: &CellRow) -> bool {
    let is_coloured = |column: u16| {
        !cells.style(Column(column)).background.is_default() || is_inverse(cells, column)
    };
    is_coloured(0) && is_coloured(cells.columns() - 1)
}

/// The mode line of the window of emacs that a row is in, the nearest below it, when there is another
/// window further down; its mode is `None` if the text cannot be changed, or if something is asked.
fn window_mode(screen: &Screen, row: Row) -> Option<(u16, Option<String>)> {
    let rows = screen.size().rows();
    let line = |row: u16| {
        let cells = screen.row(Row(row));
        let is_bar = is_inverse(cells, 0) || !cells.cells().first()?.background().is_default();
        let text = is_bar.then(|| text_between(cells, 0, row_end(cells)))?;
        is_mode_line(&text).then_some((row, text))
    };
    let (own, text) = (row.0.saturating_add(1)..rows).find_map(line)?;
    (own + 1..rows).find_map(line)?;
    let is_asked = asks(screen.row(Row(rows - 1)));
    Some((own, emacs_mode(&text).filter(|_| !is_asked)))
}

/// True if this is a mode line of emacs, of a text that may be changed or not.
fn is_mode_line(text: &str) -> bool {
    let start: String = text.chars().take(8).collect();
    let flags = start.split_once(':').map(|(_, flags)| flags);
    let is_flagged = |flags: &str| {
        flags.len() >= 2 && flags.chars().take(2).all(|c| matches!(c, '-' | '*' | '%'))
    };
    start.starts_with(['-', ' ']) && flags.is_some_and(is_flagged) && text.contains('(')
}

/// The mode indicator in a row, and what else of it is to be remembered.
fn mode_indicator(screen: &Screen, row: Row) -> Option<(EditorKind, String)> {
    let cells = screen.row(row);
    let text = text_between(cells, 0, row_end(cells));
    let kind = vim_indicator(&text)
        .or_else(|| status_line_indicator(cells, &text))
        .or_else(|| nano_indicator(&text))
        .or_else(|| plain_indicator(&text));
    if let Some(kind) = kind {
        return Some((kind, String::new()));
    }
    let mode = emacs_mode(&text)?;
    let below = Row(row.0.saturating_add(1));
    if below.0 < screen.size().rows() && asks(screen.row(below)) {
        return None;
    }
    Some((EditorKind::Emacs, mode))
}

/// vim says it in the row for messages.
fn vim_indicator(text: &str) -> Option<EditorKind> {
    if text.starts_with("-- INSERT") {
        Some(EditorKind::Insert)
    } else if text.starts_with("-- REPLACE") || text.starts_with("-- VREPLACE") {
        Some(EditorKind::Replace)
    } else {
        None
    }
}

/// Helix, and vim with a status line of its own, say it in the first word of that line.
fn status_line_indicator(cells: &CellRow, text: &str) -> Option<EditorKind> {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let start = text.chars().take(6).position(is_part)?;
    let word: String = text
        .chars()
        .skip(start)
        .take_while(|&c| is_part(c))
        .collect();
    let column = u16::try_from(start).ok()?;
    let cell = cells.cells().get(start)?;
    if cell.background().is_default() && !is_inverse(cells, column) {
        return None;
    }
    match word.as_str() {
        "INSERT" | "INS" => Some(EditorKind::Insert),
        "REPLACE" => Some(EditorKind::Replace),
        _ => None,
    }
}

fn nano_indicator(text: &str) -> Option<EditorKind> {
    let rest = text.strip_prefix("^X ")?;
    (!rest.trim_start().starts_with("Close")).then_some(EditorKind::Nano)
}

/// The status lines of micro, jed and kakoune, mcedit's row of function keys.
fn plain_indicator(text: &str) -> Option<EditorKind> {
    let is_micro = text.contains(" | ft:") && text.contains(" | utf-8");
    let is_mcedit = text.trim_start().starts_with("1Help") && text.contains("2Save");
    let is_jed = text.starts_with("---") && text.contains("(Jed ");
    let is_kakoune = text.contains(" insert ") && text.contains(" sel - ");
    (is_micro || is_mcedit || is_jed || is_kakoune).then_some(EditorKind::Plain)
}

/// The name of the mode in emacs' mode line, unless the text cannot be changed.
fn emacs_mode(text: &str) -> Option<String> {
    let start: String = text.chars().take(8).collect();
    if !start.starts_with(['-', ' ']) {
        return None;
    }
    let (_, flags) = start.split_once(':')?;
    let is_writable = flags.len() >= 2 && flags.chars().take(2).all(|c| matches!(c, '-' | '*'));
    let (_, mode) = text.split_once('(')?;
    let (mode, _) = mode.split_once(')')?;
    (is_writable && !mode.is_empty()).then(|| mode.to_owned())
}

/// True if emacs' bottom row asks something or waits for the rest of a command.
fn asks(row: &CellRow) -> bool {
    let text = text_between(row, 0, row_end(row));
    text.contains('?') || text.contains(": ") || text.ends_with([':', '-'])
}

#[cfg(test)]
mod tests;
