//! Keys that remove text.

use fulmar_terminal::Position;

use super::line_ends::suggestion_end;
use super::{EditState, RuleOutcome};
use crate::text::{ShiftRun, left_of};

/// The number of ways in which the key may work: it removes any character, or, in an editor with modes, only what was
/// typed since the caret came there.
///
/// Source: docs/prediction.md §4.
pub(super) const VARIANTS: u8 = 2;

/// Removes the character left of the caret.
pub(super) fn backspace(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    if edit.replaces() {
        // What was there before typing comes back.
        return None;
    }
    if variant == 1 && edit.is_in_modal_editor() && at.column.0 <= edit.line.typed_from {
        return Some(RuleOutcome::default());
    }
    if at.column.0 <= edit.line.margin {
        return edit.unmoved_at_prompt();
    }
    let left = left_of(edit.canvas.line(), at.column.0)?;
    let columns = at.column.0 - left;
    let end = edit.line.text_end(edit.canvas);
    let to = Position::new(at.row.0, left);
    if suggestion_end(edit).is_some() {
        // The suggestion takes the character back.
        let mut content = edit.canvas.content(to);
        content.style = edit.canvas.line().style(at.column);
        edit.canvas.put(to, &content);
    } else {
        let run = ShiftRun::at(edit.canvas.screen(), to, edit.line.gap());
        edit.close_up(&run, columns)?;
    }
    edit.canvas.move_caret(to);
    edit.line.end = end.saturating_sub(columns).max(left);
    Some(RuleOutcome::default())
}
