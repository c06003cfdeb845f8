//! Keys that remove what is at the caret, or everything on one side of it.

use super::line_ends::{suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::editor::EditorKind;
use crate::input_context::InputKind;
use crate::text::right_of;

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
    if edit.line.context.kind == InputKind::Editor || at.column.0 < edit.line.margin {
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
