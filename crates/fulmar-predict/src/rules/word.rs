//! Keys that move the caret by words, or remove words.

use super::line_ends::{suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::editor::EditorKind;
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
struct LineText {
    characters: Vec<char>,
    columns: Vec<u16>,
    /// One beyond the last character.
    end: u16,
}

impl LineText {
    fn between(edit: &EditState<'_>, start: u16, end: u16) -> LineText {
        let row = edit.canvas.line();
        let columns: Vec<u16> = starts(row, start, end).collect();
        LineText {
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
fn left_stop(variant: u8, edit: &EditState<'_>) -> u16 {
    let at = edit.canvas.caret().column.0;
    let text = LineText::between(edit, edit.line.margin, at);
    let words = WordStyle::ALL[usize::from(variant % LEFT_VARIANTS)];
    text.column(words.left(&text.characters, text.characters.len()))
}

/// Returns the column at which the word to the right ends, or the next one begins.
fn right_stop(variant: u8, end: u16, edit: &EditState<'_>) -> u16 {
    let at = edit.canvas.caret().column.0;
    let text = LineText::between(edit, edit.line.margin.min(at), end);
    let words = WordStyle::ALL[usize::from(variant % LEFT_VARIANTS)];
    let step = if variant < LEFT_VARIANTS {
        WordStyle::right
    } else {
        WordStyle::next_start
    };
    text.column(step(words, &text.characters, text.index(at)))
}

/// One word to the left.
pub(super) fn left(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if at.column.0 <= edit.line.margin {
        return edit.unmoved_at_prompt();
    }
    let stop = left_stop(variant, edit);
    edit.line.end = edit.line.text_end(edit.canvas);
    edit.canvas.move_caret_in_row(stop);
    Some(RuleOutcome::default())
}

/// One word to the right; before a suggestion, that word of it is accepted.
pub(super) fn right(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if let Some(end) = suggestion_end(edit) {
        let stop = right_stop(variant, end, edit);
        super::line_ends::accept(stop, edit);
        return Some(RuleOutcome::default());
    }
    let end = text_end(edit);
    if at.column.0 >= end {
        return edit.unmoved_at_prompt();
    }
    let stop = right_stop(variant, end, edit);
    edit.canvas.move_caret_in_row(stop);
    Some(RuleOutcome::default())
}

/// Removes the word to the left.
pub(super) fn delete_left(key: Key, variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    if key == Key::Control('w') && is_command_there(edit) {
        return None;
    }
    let at = edit.canvas.caret();
    if at.column.0 <= edit.line.margin {
        return edit.unmoved_at_prompt();
    }
    let stop = left_stop(variant, edit);
    edit.remove(stop, at.column.0)?;
    Some(RuleOutcome::default())
}

/// Removes the word to the right.
pub(super) fn delete_right(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let end = text_end(edit);
    if at.column.0 >= end {
        return None;
    }
    let stop = right_stop(variant, end, edit);
    edit.remove(at.column.0, stop)?;
    Some(RuleOutcome::default())
}

/// Ctrl-W removes a word in vim; in nano and emacs it is something else.
fn is_command_there(edit: &EditState<'_>) -> bool {
    let editor = edit.line.context.editor;
    editor.is_some_and(|editor| {
        matches!(
            editor.kind,
            EditorKind::Nano | EditorKind::Emacs | EditorKind::Plain
        )
    })
}
