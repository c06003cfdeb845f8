//! Characters.

use fulmar_terminal::{CellRow, Color, Column, Position, char_columns};

use super::{EditState, RuleOutcome};
use crate::brackets;
use crate::caret::CaretKind;
use crate::editor::Kind;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::overlay::{CellContent, Grapheme};
use crate::text::{Run, char_at, grey_end, is_vacant_from, left_of, typed_style};

/// Puts the character at the caret.
pub(super) fn print(key: Key, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let Key::Text(character) = key else {
        return None;
    };
    let columns = char_columns(character);
    let at = sheet.canvas.caret();
    let width = sheet.canvas.size().columns();
    if columns == 0 || at.column.0 + columns > width {
        return None;
    }
    if at.column.0 + columns == width {
        return last_column(character, sheet);
    }
    let mark = sheet.line.brackets;
    if let Some(mark) = mark {
        brackets::unmark(sheet.canvas, mark, sheet.line.margin);
    }
    let grey = grey_end(
        sheet.canvas.screen(),
        at,
        sheet.canvas.caret_kind() == CaretKind::Soft,
    );
    let grey = grey.or_else(|| placeholder_end(sheet));
    match grey {
        Some(end) => before_grey(character, end, sheet),
        None => insert(character, columns, sheet),
    }
    sheet.canvas.move_caret_in_row(at.column.0 + columns);
    if let Some(mark) = mark.filter(|_| brackets::is_closing(character)) {
        brackets::mark(sheet.canvas, mark, sheet.line.margin);
    }
    Some(RuleOutcome {
        typed_at: Some(at),
        is_loose: grey.is_some(),
    })
}

/// Where the text ends that is known to stand for an empty line, if it is at the caret.
fn placeholder_end(sheet: &EditState<'_>) -> Option<u16> {
    let known = sheet.line.known_placeholder.as_ref()?;
    let (text, end) = sheet.line.text_at_margin(sheet.canvas)?;
    (text == *known).then_some(end)
}

fn insert(character: char, columns: u16, sheet: &mut EditState<'_>) {
    let at = sheet.canvas.caret();
    let ink = typed_ink(character, sheet);
    let end = sheet.line.text_end(sheet.canvas);
    if sheet.overwrite || sheet.replaces() {
        sheet.canvas.put(at, &ink);
        sheet.line.end = end.max(at.column.0 + columns);
        return;
    }
    let run = Run::at(sheet.canvas.screen(), at, sheet.line.gap());
    let mut cells = run.insert(sheet.canvas.screen(), ink, columns);
    if marks_overflow(sheet) {
        let last = sheet.canvas.size().last_column();
        cells.retain(|cell| cell.at.column < last || cell.at == at);
    }
    sheet.put_all(cells);
    sheet.line.end = end.max(at.column.0) + columns;
}

/// Whether the last column gets a mark when the text reaches it.
fn marks_overflow(sheet: &EditState<'_>) -> bool {
    let editor = sheet.line.place.editor;
    editor.is_some_and(|editor| !matches!(editor.kind, Kind::Insert | Kind::Replace))
}

/// A character takes away what stands for an empty line, and a suggestion that it does not agree
/// with; of one that it agrees with it uncovers one.
fn before_grey(character: char, end: u16, sheet: &mut EditState<'_>) {
    let at = sheet.canvas.caret();
    let typed = Grapheme::Char(character);
    let agrees = sheet.canvas.symbol(at).looks_like(&typed);
    if !agrees || at.column.0 <= sheet.line.margin {
        sheet.canvas.blank(at.row, at.column.0..end);
    }
    let ink = typed_ink(character, sheet);
    sheet.canvas.put(at, &ink);
    sheet.line.end = at.column.0 + typed.columns();
}

/// At a prompt the text goes on in the row below, if that is empty.
fn last_column(character: char, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    let below = Position::new(at.row.0 + 1, 0);
    let goes_on = sheet.line.place.kind == InputKind::Prompt
        && sheet.canvas.size().contains(below)
        && is_vacant_from(sheet.canvas.row(below.row), 0);
    if !goes_on {
        return None;
    }
    let ink = typed_ink(character, sheet);
    sheet.canvas.put(at, &ink);
    sheet.canvas.move_caret(below);
    Some(RuleOutcome {
        typed_at: Some(at),
        is_loose: false,
    })
}

fn typed_ink(character: char, sheet: &EditState<'_>) -> CellContent {
    let at = sheet.canvas.caret();
    let row = sheet.canvas.row(at.row);
    let mut style = typed_style(row, at.column.0);
    let is_plain_left = left_of(row, at.column.0)
        .is_none_or(|left| row.style(Column(left)).background.is_default());
    let is_behind_text = match sheet.line.place.kind {
        InputKind::Prompt => true,
        InputKind::Elsewhere => at.column.0 > sheet.line.margin || is_behind_word(row, at.column.0),
        InputKind::Editor => false,
    };
    if is_behind_text && is_plain_left {
        // A shell does not know what colour another program has left behind.
        style.background = Color::DEFAULT;
    }
    CellContent {
        symbol: Grapheme::Char(character),
        style,
    }
}

fn is_behind_word(row: &CellRow, column: u16) -> bool {
    left_of(row, column).is_some_and(|left| char_at(row, left).is_alphanumeric())
}
