//! Keys that move the caret by words, or remove words.

use super::line_ends::{suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::editor::Kind;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::text::{char_at, starts};
use crate::word_style::WordStyle;

/// The number of ways in which a key may find the word to the left: one for each style.
///
/// Source: docs/prediction.md §5.
pub(super) const LEFT_VARIANTS: u8 = 4;

/// The number of ways in which a key may find the word to the right: its end, or the start of the next, in
/// each style.
pub(super) const RIGHT_VARIANTS: u8 = 8;

/// The text of a line, and the columns at which its characters stand.
struct Text {
    characters: Vec<char>,
    columns: Vec<u16>,
    /// One beyond the last character.
    end: u16,
}

impl Text {
    fn between(sheet: &EditState<'_>, start: u16, end: u16) -> Text {
        let row = sheet.canvas.line();
        let columns: Vec<u16> = starts(row, start, end).collect();
        Text {
            characters: columns.iter().map(|&column| char_at(row, column)).collect(),
            columns,
            end,
        }
    }

    fn index(&self, column: u16) -> usize {
        self.columns.partition_point(|&start| start < column)
    }

    fn column(&self, index: usize) -> u16 {
        self.columns.get(index).copied().unwrap_or(self.end)
    }
}

/// Returns the column at which the word to the left begins.
fn left_stop(variant: u8, sheet: &EditState<'_>) -> u16 {
    let at = sheet.canvas.caret().column.0;
    let text = Text::between(sheet, sheet.line.margin, at);
    let words = WordStyle::ALL[usize::from(variant % LEFT_VARIANTS)];
    text.column(words.left(&text.characters, text.characters.len()))
}

/// Returns the column at which the word to the right ends, or the next one begins.
fn right_stop(variant: u8, end: u16, sheet: &EditState<'_>) -> u16 {
    let at = sheet.canvas.caret().column.0;
    let text = Text::between(sheet, sheet.line.margin.min(at), end);
    let words = WordStyle::ALL[usize::from(variant % LEFT_VARIANTS)];
    let step = if variant < LEFT_VARIANTS {
        WordStyle::right
    } else {
        WordStyle::next_start
    };
    text.column(step(words, &text.characters, text.index(at)))
}

/// One word to the left.
pub(super) fn left(variant: u8, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if at.column.0 <= sheet.line.margin {
        return sheet.line.has_hard_margin().then(RuleOutcome::default);
    }
    let stop = left_stop(variant, sheet);
    sheet.line.end = sheet.line.text_end(sheet.canvas);
    sheet.canvas.move_caret_in_row(stop);
    Some(RuleOutcome::default())
}

/// One word to the right; before a suggestion, that word of it is accepted.
pub(super) fn right(variant: u8, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if let Some(end) = suggestion_end(sheet) {
        let stop = right_stop(variant, end, sheet);
        super::line_ends::accept(stop, sheet);
        return Some(RuleOutcome::default());
    }
    let end = text_end(sheet);
    if at.column.0 >= end {
        return (sheet.line.place.kind == InputKind::Prompt).then(RuleOutcome::default);
    }
    let stop = right_stop(variant, end, sheet);
    sheet.canvas.move_caret_in_row(stop);
    Some(RuleOutcome::default())
}

/// Removes the word to the left.
pub(super) fn delete_left(key: Key, variant: u8, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    if key == Key::Control('w') && is_command_there(sheet) {
        return None;
    }
    let at = sheet.canvas.caret();
    if at.column.0 <= sheet.line.margin {
        return sheet.line.has_hard_margin().then(RuleOutcome::default);
    }
    let stop = left_stop(variant, sheet);
    sheet.remove(stop, at.column.0);
    Some(RuleOutcome::default())
}

/// Removes the word to the right.
pub(super) fn delete_right(variant: u8, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    let end = text_end(sheet);
    if at.column.0 >= end {
        return None;
    }
    let stop = right_stop(variant, end, sheet);
    sheet.remove(at.column.0, stop);
    Some(RuleOutcome::default())
}

/// Ctrl-W removes a word in vim; in nano and emacs it is something else.
fn is_command_there(sheet: &EditState<'_>) -> bool {
    let editor = sheet.line.place.editor;
    editor.is_some_and(|editor| matches!(editor.kind, Kind::Nano | Kind::Emacs | Kind::Plain))
}
