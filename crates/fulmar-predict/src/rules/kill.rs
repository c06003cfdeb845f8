//! Keys that remove what is at the caret, or everything on one side of it.

use fulmar_terminal::Position;

use super::line_ends::{suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::editor::EditorKind;
use crate::input_context::InputKind;
use crate::text::{border, is_vacant, left_border, right_of};

/// The number of ways in which Ctrl-U may work: up to the caret, or the whole line.
///
/// Source: docs/prediction.md §4.
pub(super) const LINE_VARIANTS: u8 = 2;

/// Removes the character at the caret. At the end of the text there is no rule: what follows may
/// be joined, or nothing may happen.
pub(super) fn delete(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if suggestion_end(edit).is_some() || at.column.0 >= text_end(edit) {
        return None;
    }
    let right = right_of(edit.canvas.line(), at.column.0);
    edit.remove(at.column.0, right)?;
    Some(RuleOutcome::default())
}

/// Removes everything left of the caret, or the whole line.
pub(super) fn line(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let is_editor = edit.line.context.kind == InputKind::Editor;
    if is_editor || at.column.0 < edit.line.margin || is_in_lower_row_of_box(edit) {
        return None;
    }
    if let Some(end) = suggestion_end(edit) {
        edit.canvas.blank(at.row, at.column.0..end);
    }
    let to = if variant == 0 {
        at.column.0
    } else {
        text_end(edit).max(at.column.0)
    };
    edit.remove(edit.line.margin, to)?;
    Some(RuleOutcome::default())
}

/// True if the row above, between the same borders, has text: all rows of a box may be one line.
fn is_in_lower_row_of_box(edit: &EditState<'_>) -> bool {
    let screen = edit.canvas.screen();
    let at = edit.canvas.caret();
    let (left, right) = (left_border(screen, at), border(screen, at));
    let Some(row) = at.row.0.checked_sub(1) else {
        return false;
    };
    let above = Position::new(row, left);
    right < screen.size().columns()
        && (left_border(screen, above), border(screen, above)) == (left, right)
        && (left..right).any(|column| !is_vacant(screen.row(above.row), column))
}

/// Removes everything from the caret to the end of the text.
pub(super) fn end(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let end = text_end(edit);
    if !kills_to_end(edit) || suggestion_end(edit).is_some() {
        return None;
    }
    if at.column.0 >= end {
        return edit.unmoved_at_prompt();
    }
    edit.remove(at.column.0, end)?;
    Some(RuleOutcome::default())
}

/// Of the editors, only emacs does so.
fn kills_to_end(edit: &EditState<'_>) -> bool {
    let editor = edit.line.context.editor;
    editor.is_none_or(|editor| editor.kind == EditorKind::Emacs)
}
