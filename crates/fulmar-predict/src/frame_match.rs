//! Compares a frame with the predicted effects of pending keys.
//!
//! Source: docs/prediction.md §7.

use std::collections::HashSet;

use fulmar_terminal::{Column, Position, Row};

use crate::canvas::Canvas;
use crate::effect::{CellChange, KeyEffect};
use crate::key::Key;
use crate::overlay::Grapheme;
use crate::pending::PendingKey;
use crate::work_count;

/// Returns how many of the effects, from the first on, the frame shows: the most after which the
/// caret and all changed cells are as in the frame. 0 if no number fits.
pub(crate) fn longest_match<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    frame: &Canvas,
) -> usize {
    matches(effects, frame).last().unwrap_or(0)
}

/// The same with the fewest: what is not known to have been received may still be to come.
pub(crate) fn shortest_match<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    frame: &Canvas,
) -> usize {
    matches(effects, frame).next().unwrap_or(0)
}

/// Returns the numbers of effects, from the first on, after which the caret and all changed cells are as in the frame.
fn matches<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    frame: &Canvas,
) -> impl Iterator<Item = usize> {
    let mut disagreeing = HashSet::new();
    (1..).zip(effects).filter_map(move |(number, effect)| {
        work_count::note_cells(effect.changes.len() as u64);
        for change in &effect.changes {
            // The last key that draws a cell decides what has to be there.
            if change.is_uncertain || matches_frame(change, frame) {
                disagreeing.remove(&change.at);
            } else {
                disagreeing.insert(change.at);
            }
        }
        let is_match = disagreeing.is_empty() && effect.caret == frame.caret();
        is_match.then_some(number)
    })
}

/// True if the frame has the text of a changed cell.
pub(crate) fn matches_frame(change: &CellChange, frame: &Canvas) -> bool {
    change
        .content
        .grapheme
        .looks_like(&frame.grapheme(change.at))
}

/// True if the frame has the text of all cells that a key changes.
pub(crate) fn all_match_frame(effect: &KeyEffect, frame: &Canvas) -> bool {
    let mut changes = effect.changes.iter();
    changes.all(|change| matches_frame(change, frame))
}

/// True if the frame proves that a key was echoed: it is a character, it stands where it was predicted, and
/// it did not stand there before, or the caret has passed it.
///
/// Characters that stand for others in masked input prove nothing.
pub(crate) fn is_evidence(key: &PendingKey, effect: &KeyEffect, frame: &Canvas) -> bool {
    let (Key::Text(character), Some(at)) = (key.stroke.key, effect.typed_at) else {
        return false;
    };
    if is_mask(character) || character.is_whitespace() {
        return false;
    }
    let Some(change) = effect.changes.iter().find(|change| change.at == at) else {
        return has_passed(at, frame) && frame.grapheme(at) == Grapheme::Char(character);
    };
    frame.grapheme(at) == Grapheme::Char(character)
        && (!change.before.looks_like(&change.content.grapheme) || has_passed(at, frame))
}

fn has_passed(at: Position, frame: &Canvas) -> bool {
    frame.caret().row == at.row && frame.caret().column > at.column
}

/// True if programs print this character for one that is to stay secret.
pub(crate) fn is_mask(character: char) -> bool {
    matches!(character, '*' | '•' | '●' | '∙' | '·' | '▪' | '■' | '×')
}

/// True if a key is a character that does not stand for others, nor is a blank.
pub(crate) fn is_telling_character(key: &Key) -> bool {
    matches!(key, Key::Text(character) if !character.is_whitespace() && !is_mask(*character))
}

/// The same as [`longest_match`] with everything some rows further down or up: returns how many
/// effects, and by how many rows. The whole row of the caret left of it has to agree, and right of it the text that they
/// draw.
pub(crate) fn longest_shifted_match<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    base: &Canvas,
    frame: &Canvas,
) -> Option<(usize, i32)> {
    let mut canvas = base.clone();
    let mut found = row_shift(base, &canvas, frame).map(|rows| (0, rows));
    for (number, effect) in (1..).zip(effects) {
        canvas.draw(effect);
        if let Some(rows) = row_shift(base, &canvas, frame) {
            found = Some((number, rows));
        }
    }
    found
}

/// Returns the number of rows by which the frame shows the line of `expected`, drawn on `base`, elsewhere, if it does.
fn row_shift(base: &Canvas, expected: &Canvas, frame: &Canvas) -> Option<i32> {
    let (from, to) = (expected.caret(), frame.caret());
    // In the first column there is nothing left of the caret by which the line could be known.
    if from.row == to.row || from.column != to.column || from.column.0 == 0 {
        return None;
    }
    let is_same = (0..base.size().columns()).map(Column).all(|column| {
        let at = |row: Row| Position { row, column };
        let text = expected.grapheme(at(from.row));
        let is_drawn = !text.is_blank() && text != base.grapheme(at(from.row));
        (column >= from.column && !is_drawn) || text.looks_like(&frame.grapheme(at(to.row)))
    });
    is_same.then(|| i32::from(to.row.0) - i32::from(from.row.0))
}
