//! Keys that move the caret.

use super::line_ends::{accept, suggestion_end, text_end};
use super::{EditState, RuleOutcome};
use crate::input_context::InputKind;
use crate::text::{left_of, right_of};

/// One character to the left.
pub(super) fn left(sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if at.column.0 <= sheet.line.margin {
        return sheet.line.has_hard_margin().then(RuleOutcome::default);
    }
    let left = left_of(sheet.canvas.line(), at.column.0)?;
    sheet.line.end = sheet.line.text_end(sheet.canvas);
    sheet.canvas.move_caret_in_row(left);
    Some(RuleOutcome::default())
}

/// One character to the right; before a suggestion, to its end.
pub(super) fn right(sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if let Some(end) = suggestion_end(sheet) {
        accept(end, sheet);
        return Some(RuleOutcome::default());
    }
    let end = text_end(sheet);
    if at.column.0 >= end {
        return (sheet.line.place.kind == InputKind::Prompt).then(RuleOutcome::default);
    }
    let right = right_of(sheet.canvas.line(), at.column.0);
    sheet.canvas.move_caret_in_row(right);
    Some(RuleOutcome::default())
}
