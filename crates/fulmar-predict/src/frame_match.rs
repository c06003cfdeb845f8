//! Compares a frame with the predicted effects of pending keys.
//!
//! Source: docs/prediction.md §7.

use std::collections::HashSet;

use fulmar_terminal::{Position, Row};

use crate::canvas::{Canvas, CellChange};
use crate::key::Key;
use crate::overlay::Grapheme;
use crate::pending::{KeyEffect, PendingKey};
use crate::work_count;

/// Returns how many of the effects, from the first on, the frame shows: the most after which the
/// caret and all changed cells are as in the frame. 0 if no number fits.
pub(crate) fn longest_match<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    frame: &Canvas,
) -> usize {
    let mut disagreeing = HashSet::new();
    let mut longest = 0;
    for (number, effect) in (1..).zip(effects) {
        work_count::note_cells(effect.patches.len() as u64);
        for patch in &effect.patches {
            if patch.is_loose || holds(patch, frame) {
                disagreeing.remove(&patch.at);
            } else {
                disagreeing.insert(patch.at);
            }
        }
        if disagreeing.is_empty() && effect.caret == frame.caret() {
            longest = number;
        }
    }
    longest
}

/// Whether the frame has the text of a cell.
pub(crate) fn holds(patch: &CellChange, frame: &Canvas) -> bool {
    patch.ink.symbol.looks_like(&frame.symbol(patch.at))
}

/// Whether the frame proves that a key was echoed: it is a character, it stands where it was
/// expected, and it did not stand there before, or the caret has passed it.
///
/// Characters that stand for others in masked input prove nothing.
pub(crate) fn is_evidence(key: &PendingKey, effect: &KeyEffect, frame: &Canvas) -> bool {
    let (Key::Text(character), Some(at)) = (key.stroke.key, effect.typed_at) else {
        return false;
    };
    if is_mask(character) || character.is_whitespace() {
        return false;
    }
    let Some(patch) = effect.patches.iter().find(|patch| patch.at == at) else {
        return has_passed(at, frame) && frame.symbol(at) == Grapheme::Char(character);
    };
    frame.symbol(at) == Grapheme::Char(character)
        && (!patch.before.looks_like(&patch.ink.symbol) || has_passed(at, frame))
}

fn has_passed(at: Position, frame: &Canvas) -> bool {
    frame.caret().row == at.row && frame.caret().column > at.column
}

/// True if programs print this character for one that is to stay secret.
pub(crate) fn is_mask(character: char) -> bool {
    matches!(character, '*' | '•' | '●' | '∙' | '·' | '▪' | '■' | '×')
}

/// The same as [`longest_match`] with everything some rows further down or up: returns how many
/// effects, and by how many rows. The whole row of the caret left of it has to agree.
pub(crate) fn longest_moved_match<'a>(
    effects: impl Iterator<Item = &'a KeyEffect>,
    base: &Canvas,
    frame: &Canvas,
) -> Option<(usize, i32)> {
    let mut canvas = base.clone();
    let mut found = moved_rows(&canvas, frame).map(|rows| (0, rows));
    for (number, effect) in (1..).zip(effects) {
        canvas.draw(effect);
        if let Some(rows) = moved_rows(&canvas, frame) {
            found = Some((number, rows));
        }
    }
    found
}

/// By how many rows the frame shows the line of `expected` elsewhere, if it does.
fn moved_rows(expected: &Canvas, frame: &Canvas) -> Option<i32> {
    let (from, to) = (expected.caret(), frame.caret());
    if from.row == to.row || from.column != to.column || from.column.0 == 0 {
        return None;
    }
    let is_same = (0..from.column.0).all(|column| {
        let at = |row: Row| Position::new(row.0, column);
        expected
            .symbol(at(from.row))
            .looks_like(&frame.symbol(at(to.row)))
    });
    is_same.then(|| i32::from(to.row.0) - i32::from(from.row.0))
}
