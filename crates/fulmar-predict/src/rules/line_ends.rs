//! Keys that move the caret to the ends of the line.

use super::vertical::continues;
use super::{EditState, RuleOutcome};
use crate::input_context::InputKind;
use crate::text::suggestion_start;

/// To the margin; in an editor, behind the line number.
pub(super) fn home(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let is_editor = edit.line.context.kind == InputKind::Editor;
    if at.column.0 < edit.line.margin || is_editor && continues(edit, at.row) {
        return None;
    }
    edit.line.end = edit.line.text_end(edit.canvas);
    edit.canvas.move_caret_in_row(edit.line.margin);
    Some(RuleOutcome::default())
}

/// To the end of the text; before a suggestion, to the end of that, which is accepted.
pub(super) fn end(edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if let Some(end) = suggestion_end(edit) {
        accept(end, edit);
        return Some(RuleOutcome::default());
    }
    let end = text_end(edit);
    if end >= edit.canvas.size().columns() {
        // The text goes on in the next row, or outside of what is seen.
        return None;
    }
    edit.line.end = end;
    edit.canvas.move_caret_in_row(end.max(at.column.0));
    Some(RuleOutcome::default())
}

/// Returns the end of the user's own text: a suggestion behind it is not part of it.
pub(super) fn text_end(edit: &EditState<'_>) -> u16 {
    let end = edit.line.text_end(edit.canvas);
    if edit.line.context.kind == InputKind::Editor {
        return end;
    }
    let screen = edit.canvas.screen();
    suggestion_start(screen, edit.canvas.caret(), end).unwrap_or(end)
}

/// The end of the suggestion that begins at the caret.
pub(super) fn suggestion_end(edit: &EditState<'_>) -> Option<u16> {
    edit.line.suggestion_end(edit.canvas)
}

/// Takes the suggestion up to a column for text, and moves the caret there.
pub(super) fn accept(end: u16, edit: &mut EditState<'_>) {
    let at = edit.canvas.caret();
    let end = end.min(edit.canvas.size().columns());
    edit.accept_style(at.column.0, end);
    edit.canvas.move_caret_in_row(end);
    edit.line.end = end;
}
