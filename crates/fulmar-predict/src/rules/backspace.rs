//! Keys that remove text.

use fulmar_terminal::Position;

use super::{EditState, RuleOutcome};
use crate::caret::CaretKind;
use crate::text::{Run, grey_end, left_of};

/// Removes the character left of the caret.
pub(super) fn backspace(sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = sheet.canvas.caret();
    if sheet.replaces() {
        // What was there before typing comes back.
        return None;
    }
    if at.column.0 <= sheet.line.margin {
        return sheet.line.has_hard_margin().then(RuleOutcome::default);
    }
    let left = left_of(sheet.canvas.line(), at.column.0)?;
    let columns = at.column.0 - left;
    let is_soft = sheet.canvas.caret_kind() == CaretKind::Soft;
    let end = sheet.line.text_end(sheet.canvas);
    let to = Position::new(at.row.0, left);
    if grey_end(sheet.canvas.screen(), at, is_soft).is_some() {
        // The suggestion takes the character back.
        let mut ink = sheet.canvas.ink(to);
        ink.style = sheet.canvas.line().style(at.column);
        sheet.canvas.put(to, &ink);
    } else {
        let run = Run::at(sheet.canvas.screen(), to, sheet.line.gap());
        let cells = run.remove(sheet.canvas.screen(), columns);
        sheet.put_all(cells);
    }
    sheet.canvas.move_caret(to);
    sheet.line.end = end.saturating_sub(columns).max(left);
    Some(RuleOutcome::default())
}
