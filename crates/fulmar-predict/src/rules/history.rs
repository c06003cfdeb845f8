//! Keys that bring back lines that were submitted before.

use fulmar_terminal::{Position, char_columns};

use super::{EditState, RuleOutcome};
use crate::input_context::InputKind;
use crate::overlay::{CellContent, Grapheme};
use crate::text::{PROMPT_GAP, border, first_style, is_vacant, text_between};

/// At a prompt, the line that was submitted before the one that is there, or after it.
///
/// There is no rule if the line was changed, if none is known, or if there is no room for it.
pub(super) fn recall(is_older: bool, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let margin = edit.line.margin;
    let from = edit.line.recalled;
    let to = if is_older {
        from.checked_add(1)?
    } else {
        from.checked_sub(1)?
    };
    let submitted = edit.line.submitted.clone();
    let (old, new) = (line(&submitted, from)?, line(&submitted, to)?);
    let old_end = margin + columns(old);
    let new_end = margin + columns(new);
    // A combining mark has no column of its own.
    let is_simple = new.chars().all(|character| char_columns(character) > 0);
    let is_unchanged = edit.line.context.kind == InputKind::Prompt
        && at.column.0 == old_end
        && text_between(edit.canvas.line(), margin, old_end) == old;
    if !is_simple || !is_unchanged || !has_room(old_end, new_end, edit) {
        return None;
    }
    edit.canvas.blank(at.row, margin..old_end);
    put(new, edit);
    edit.canvas.move_caret_in_row(new_end);
    edit.line.end = new_end;
    edit.line.recalled = to;
    Some(RuleOutcome::default())
}

/// Returns the line that was submitted so many before; the empty one for 0.
fn line(submitted: &[Box<str>], back: usize) -> Option<&str> {
    match back.checked_sub(1) {
        None => Some(""),
        Some(index) => submitted.get(index).map(|line| &**line),
    }
}

fn columns(text: &str) -> u16 {
    text.chars().map(char_columns).sum()
}

/// True if nothing is behind the old line where the new one, and a gap, will be.
fn has_room(old_end: u16, new_end: u16, edit: &EditState<'_>) -> bool {
    let end = new_end.max(old_end) + PROMPT_GAP;
    end <= border(edit.canvas.screen(), edit.canvas.caret())
        && (old_end..end).all(|column| is_vacant(edit.canvas.line(), column))
}

/// Puts a text at the margin, in the look of what is typed.
fn put(text: &str, edit: &mut EditState<'_>) {
    let row = edit.canvas.caret().row.0;
    let mut column = edit.line.margin;
    let mut style = first_style(edit.canvas.line(), column);
    if let Some(ground) = edit.line.ground {
        ground.put_below(&mut style);
    }
    for character in text.chars() {
        let content = CellContent {
            grapheme: Grapheme::Char(character),
            style: style.clone(),
        };
        edit.canvas.put(Position::new(row, column), &content);
        column += char_columns(character);
    }
}
