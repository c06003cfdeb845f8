//! Predicts what each class of keys does to a line.
//!
//! Every rule draws into a canvas and moves its caret, or says that it does not know. Keys that may
//! work in several ways have variants; which of them holds is learned for each place.
//!
//! Source: docs/prediction.md §4.

mod backspace;
mod edit_state;
mod enter;
mod insert;
mod kill;
mod line_ends;
mod motion;
mod split_line;
mod vertical;
mod word;

use fulmar_terminal::Position;

use crate::canvas::Canvas;
use crate::decision::KeyClass;
use crate::input_line::InputLine;
use crate::key::Key;
use crate::overlay::OverlayCell;

pub(crate) use enter::enter;
pub(crate) use split_line::split;

/// What a rule works on.
pub(crate) struct EditState<'a> {
    pub(crate) canvas: &'a mut Canvas,
    pub(crate) line: &'a mut InputLine,
    /// Typing replaces instead of moving.
    pub(crate) overwrite: bool,
}

/// What a rule did beside drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleOutcome {
    /// Where a typed character was drawn.
    pub(crate) typed_at: Option<Position>,
    /// Only the typed character is certain; what else has changed may come out otherwise.
    pub(crate) is_loose: bool,
}

/// Draws what `key` does in one of its ways, or returns `None` if there is no rule.
pub(crate) fn apply(key: Key, variant: u8, sheet: &mut EditState<'_>) -> Option<RuleOutcome> {
    let class = KeyClass::of(key);
    if !matches!(class, KeyClass::Up | KeyClass::Down) {
        sheet.line.goal = None;
    }
    let mut done = by_class(class, key, variant, sheet)?;
    if class != KeyClass::Print && sheet.line.draw_placeholder(sheet.canvas) {
        sheet.line.end = sheet.line.margin;
        done.is_loose = true;
    }
    Some(done)
}

fn by_class(
    class: KeyClass,
    key: Key,
    variant: u8,
    sheet: &mut EditState<'_>,
) -> Option<RuleOutcome> {
    match class {
        KeyClass::Print => insert::print(key, sheet),
        KeyClass::Backspace => backspace::backspace(sheet),
        KeyClass::Delete => kill::delete(sheet),
        KeyClass::Left => motion::left(sheet),
        KeyClass::Right => motion::right(sheet),
        KeyClass::Up => vertical::step(false, sheet),
        KeyClass::Down => vertical::step(true, sheet),
        KeyClass::Home => line_ends::home(sheet),
        KeyClass::End => line_ends::end(sheet),
        KeyClass::WordLeft => word::left(variant, sheet),
        KeyClass::WordRight => word::right(variant, sheet),
        KeyClass::DeleteWord => word::delete_left(key, variant, sheet),
        KeyClass::DeleteWordRight => word::delete_right(variant, sheet),
        KeyClass::KillLine => kill::line(variant, sheet),
        KeyClass::KillEnd => kill::end(sheet),
        _ => None,
    }
}

/// Returns the number of variants of a class: the ways in which its keys may work.
pub(crate) fn variants(class: KeyClass) -> u8 {
    match class {
        KeyClass::WordLeft | KeyClass::DeleteWord => word::LEFT_VARIANTS,
        KeyClass::WordRight | KeyClass::DeleteWordRight => word::RIGHT_VARIANTS,
        KeyClass::KillLine => kill::LINE_VARIANTS,
        _ => 1,
    }
}

impl EditState<'_> {
    /// Draws cells, if there are any.
    fn put_all(&mut self, cells: Vec<OverlayCell>) {
        for cell in cells {
            self.canvas.put(cell.at, &cell.ink);
        }
    }
}

#[cfg(test)]
mod tests;
