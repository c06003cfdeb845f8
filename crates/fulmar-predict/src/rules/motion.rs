//! Keys that move the caret.

use super::line_ends::{accept, suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::text::{left_of, right_of};

/// One character to the left.
pub(super) fn left(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if at.column.0 <= edit.line.margin {
        return edit.unmoved_at_prompt();
    }
    let left = left_of(edit.canvas.line(), at.column.0)?;
    edit.line.end = edit.line.text_end(edit.canvas);
    edit.canvas.move_caret_in_row(left);
    Some(RuleOutcome::default())
}

/// One character to the right; before a suggestion, to its end.
pub(super) fn right(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if let Some(end) = suggestion_end(edit) {
        accept(end, edit);
        return Some(RuleOutcome::default());
    }
    let end = text_end(edit);
    if at.column.0 >= end {
        return edit.unmoved_at_prompt();
    }
    let right = right_of(edit.canvas.line(), at.column.0);
    edit.canvas.move_caret_in_row(right);
    Some(RuleOutcome::default())
}
