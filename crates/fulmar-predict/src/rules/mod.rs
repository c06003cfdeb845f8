//! Predicts what each class of keys does to a line.
//!
//! Every rule draws into a canvas and moves its caret, or says that it does not know. Keys that may
//! work in several ways have variants; which of them holds is learned for each context.
//!
//! Source: docs/prediction.md §4.

mod backspace;
mod edit_state;
mod enter;
mod history;
mod insert;
mod kill;
mod line_ends;
mod motion;
mod split_line;
mod vertical;
mod word;

use fulmar_terminal::Position;

use crate::decision::KeyClass;
use crate::key::Key;

pub(crate) use edit_state::EditState;
pub(crate) use enter::enter;

/// The result of a rule beside its drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleOutcome {
    /// The position of a typed character.
    pub(crate) typed_at: Option<Position>,
    /// Only the typed character is certain; what else has changed may come out otherwise.
    pub(crate) is_uncertain: bool,
}

/// Draws what `key` does in one of its ways, or returns `None` if there is no rule.
pub(crate) fn apply_rule(key: Key, variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let class = KeyClass::of(key);
    // Editors go back to a column only over keys that go up and down in a row.
    if !matches!(class, KeyClass::Up | KeyClass::Down) {
        edit.line.goal_column = None;
    }
    let mut outcome = apply_by_class(class, key, variant, edit)?;
    if !matches!(class, KeyClass::Print | KeyClass::Backspace) {
        edit.line.typed_from = edit.canvas.caret().column.0;
    }
    edit.line.tail = edit.line.end.saturating_sub(edit.canvas.caret().column.0);
    if class != KeyClass::Print && edit.line.draw_placeholder(edit.canvas) {
        edit.line.end = edit.line.margin;
        outcome.is_uncertain = true;
    }
    Some(outcome)
}

fn apply_by_class(
    class: KeyClass,
    key: Key,
    variant: u8,
    edit: &mut EditState<'_>,
) -> Option<RuleOutcome> {
    match class {
        KeyClass::Print => insert::print(key, edit),
        KeyClass::Backspace => backspace::backspace(variant, edit),
        KeyClass::Delete => kill::delete(edit),
        KeyClass::Left => motion::left(edit),
        KeyClass::Right => motion::right(edit),
        KeyClass::Up => vertical::step(false, edit).or_else(|| history::recall(true, edit)),
        KeyClass::Down => vertical::step(true, edit).or_else(|| history::recall(false, edit)),
        KeyClass::Home => line_ends::home(edit),
        KeyClass::End => line_ends::end(edit),
        KeyClass::WordLeft => word::left(variant, edit),
        KeyClass::WordRight => word::right(variant, edit),
        KeyClass::DeleteWord => word::delete_left(key, variant, edit),
        KeyClass::DeleteWordRight => word::delete_right(variant, edit),
        KeyClass::KillLine => kill::line(variant, edit),
        KeyClass::KillEnd => kill::end(edit),
        KeyClass::Enter => split_line::enter(variant, edit),
        _ => None,
    }
}

/// Returns the number of variants of a class: the ways in which its keys may work.
pub(crate) fn variants(class: KeyClass) -> u8 {
    match class {
        KeyClass::Backspace => backspace::VARIANTS,
        KeyClass::WordLeft | KeyClass::DeleteWord => word::LEFT_VARIANTS,
        KeyClass::WordRight | KeyClass::DeleteWordRight => word::RIGHT_VARIANTS,
        KeyClass::KillLine => kill::LINE_VARIANTS,
        KeyClass::Enter => split_line::VARIANTS,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
