//! Finds the pending keys that a frame contains already, when they cannot be told by their effects.
//!
//! Source: docs/prediction.md §7.

use fulmar_terminal::{Position, char_columns};

use crate::canvas::Canvas;
use crate::key::Key;
use crate::overlay::Grapheme;
use crate::pending::PendingKey;

/// The number of characters left of the caret that have to agree.
///
/// Source: docs/prediction.md §7.
const TAIL_LENGTH: usize = 3;

/// The pending keys that a frame contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContainedKeys {
    /// Their number, from the first pending key on.
    pub(crate) keys: usize,
    /// The last of these are characters that stand left of the caret: that many.
    pub(crate) run: usize,
}

/// Returns how many of `keys` the frame contains.
///
/// The program has had time for those of which `echoed` is the count. Of the later ones that the
/// server has `received`, the characters at the end count up to where they stand left of the caret, and
/// those before them unless the line is another one since: it may have ended, or, where it `recalls`
/// others, one of these may stand there.
pub(crate) fn contained_keys<'a>(
    keys: impl Iterator<Item = &'a PendingKey>,
    frame: &Canvas,
    received: u64,
    echoed: u64,
    recalls: bool,
) -> ContainedKeys {
    let keys: Vec<&PendingKey> = keys.take_while(|key| key.is_received(received)).collect();
    let certain = keys
        .iter()
        .take_while(|key| key.is_received(echoed))
        .count();
    let run_start = keys
        .iter()
        .rposition(|key| character(key).is_none())
        .map_or(0, |last| last + 1);
    let run: Vec<char> = keys[run_start..]
        .iter()
        .filter_map(|key| character(key))
        .collect();
    if let Some(contained) = contained_run(&run, run_start, certain, frame) {
        return contained;
    }
    // What the program has had time for may have been a command: only what followed it is text.
    let command = certain.saturating_sub(run_start).min(run.len());
    if let Some(contained) = contained_run(&run[command..], run_start + command, certain, frame) {
        return contained;
    }
    // Another line cannot be told from the same.
    let is_another = |key: Key| !key.keeps_line() || recalls && key.may_recall();
    let unanswered = keys[certain..]
        .iter()
        .position(|key| is_another(key.stroke.key));
    let history = unanswered.map_or(run_start, |index| run_start.min(certain + index));
    ContainedKeys {
        keys: certain.max(history),
        run: 0,
    }
}

/// Returns what is contained if, of the characters `run` from key `start` on, some stand left of the caret, and these
/// are not only such as the program has had time for.
fn contained_run(
    run: &[char],
    start: usize,
    certain: usize,
    frame: &Canvas,
) -> Option<ContainedKeys> {
    let longest = (1..=run.len())
        .rev()
        .find(|&length| is_tail_left_of_caret(&run[..length], frame))?;
    (start + longest >= certain).then_some(ContainedKeys {
        keys: start + longest,
        run: longest,
    })
}

fn character(key: &PendingKey) -> Option<char> {
    match key.stroke.key {
        Key::Text(character) => Some(character),
        _ => None,
    }
}

/// True if the last three of `run`, or all if there are fewer, stand left of the caret.
fn is_tail_left_of_caret(run: &[char], frame: &Canvas) -> bool {
    let tail = &run[run.len().saturating_sub(TAIL_LENGTH)..];
    find_left_of_caret(tail, frame).is_some()
}

/// Returns the column where the characters begin if all of them stand left of the caret.
pub(crate) fn find_left_of_caret(characters: &[char], frame: &Canvas) -> Option<u16> {
    let caret = frame.caret();
    let mut column = caret.column.0;
    for &character in characters.iter().rev() {
        let expected = Grapheme::Char(character);
        column = column.checked_sub(char_columns(character).max(1))?;
        let there = frame.grapheme(Position::new(caret.row.0, column));
        if !there.looks_like(&expected) {
            return None;
        }
    }
    Some(column)
}
