//! Keys that move the caret to the ends of the line.

use super::{EditState, RuleOutcome};
use crate::caret::CaretKind;
use crate::input_context::InputKind;
use crate::text::{grey_end, suggestion_start};

/// To the margin; in an editor, behind the line number.
pub(super) fn home(sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if at.column.0 < sheet.line.margin {
        return None;
    }
    sheet.line.end = sheet.line.text_end(sheet.canvas);
    sheet.canvas.move_caret_in_row(sheet.line.margin);
    Some(RuleOutcome::default())
}

/// To the end of the text; before a suggestion, to the end of that, which is accepted.
pub(super) fn end(sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if let Some(end) = suggestion_end(sheet) {
        accept(end, sheet);
        return Some(RuleOutcome::default());
    }
    let end = text_end(sheet);
    if end >= sheet.canvas.size().columns() {
        // The text goes on in the next row, or outside of what is seen.
        return None;
    }
    sheet.line.end = end;
    sheet.canvas.move_caret_in_row(end.max(at.column.0));
    Some(RuleOutcome::default())
}

/// Where the user's own text ends: a suggestion behind it is not part of it.
pub(super) fn text_end(sheet: &EditState<'_>) -> u16 {
    let end = sheet.line.text_end(sheet.canvas);
    if sheet.line.place.kind == InputKind::Editor {
        return end;
    }
    let screen = sheet.canvas.screen();
    suggestion_start(screen, sheet.canvas.caret(), end).unwrap_or(end)
}

/// The end of the suggestion that begins at the caret.
pub(super) fn suggestion_end(sheet: &EditState<'_>) -> Option<u16> {
    if sheet.line.place.kind == InputKind::Editor {
        return None;
    }
    let is_soft = sheet.canvas.caret_kind() == CaretKind::Soft;
    grey_end(sheet.canvas.screen(), sheet.canvas.caret(), is_soft)
}

/// Takes the suggestion up to a column for text, and moves the caret there.
pub(super) fn accept(end: u16, sheet: &mut EditState<'_>) {
    let at = sheet.canvas.caret();
    let end = end.min(sheet.canvas.size().columns());
    sheet.ungrey(at.column.0, end);
    sheet.canvas.move_caret_in_row(end);
    sheet.line.end = end;
}
