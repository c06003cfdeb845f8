//! The effect of a key itself on the screen.

use super::{Chunk, GroundTruth, OutputPosition};
use crate::judge::glyph::CellPosition;
use crate::judge::observer::places;
use std::collections::BTreeSet;
use std::time::Duration;

/// The own effect of a key: what a person looks for after pressing it.
///
/// It is what changed on the cursor's rows (that before the key and that behind the answer) from the
/// key to the end of the answer, and the cursor if it is visible. Where neither those rows nor a
/// visible cursor changed it is all cells that did. The answer is the first burst of
/// output: it begins within [`ANSWER_WITHIN`] of the key and ends before a pause of [`BURST_GAP`] or
/// before the next key that is followed by output. A key that is followed by another, and not by output,
/// was ignored and has no effect, unless the other came within [`BURST_GAP`]: such keys have their
/// answer together.
///
/// Grey text right of the cursor on its row, a suggestion, is not required.
/// For Enter there is a second effect, of which either will do: that of the answer up to its first
/// newline.
///
/// A screen shows the effect when it agrees there with the truth at [`after`](Self::after) *or at any
/// later position that the keys typed so far can lead to*: a screen that skipped what lies in
/// between is as good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEffect {
    /// The position at which the key was typed.
    pub before: OutputPosition,
    /// The position at which it is complete.
    pub after: OutputPosition,
    /// The cells.
    pub places: Vec<CellPosition>,
    /// True if the cursor belongs to it.
    pub has_cursor: bool,
}

/// A direct answer begins within this time. What comes later, the program did by itself.
///
/// Source: the definition of truth that the prediction was designed with.
pub const ANSWER_WITHIN: Duration = Duration::from_millis(250);

/// A pause this long ends a burst of output. Source: as [`ANSWER_WITHIN`].
pub const BURST_GAP: Duration = Duration::from_millis(20);

/// Returns the effects of a key of `truth`: none, one, or, for Enter, two.
pub(crate) fn effects(
    truth: &GroundTruth,
    number: usize,
    chunks: &[Chunk],
    newlines: &[OutputPosition],
) -> Vec<KeyEffect> {
    let key = &truth.keys()[number];
    let Some(after) = answer_end(truth, number, chunks) else {
        return Vec::new();
    };
    let mut ends = vec![after];
    if matches!(key.bytes.as_slice(), b"\r" | b"\n") {
        let first = newlines.partition_point(|newline| *newline <= key.before);
        ends.extend(newlines.get(first).filter(|newline| **newline < after));
    }
    ends.into_iter()
        .filter_map(|end| effect(truth, key.before, end))
        .collect()
}

/// Returns the position behind the first burst of output after a key, if there is one.
fn answer_end(truth: &GroundTruth, number: usize, chunks: &[Chunk]) -> Option<OutputPosition> {
    let key = &truth.keys()[number];
    let later = &truth.keys()[number..];
    let is_ignored = later
        .iter()
        .take_while(|later| later.before == key.before)
        .any(|later| later.at >= key.at + BURST_GAP);
    if is_ignored {
        return None;
    }
    let limit = later
        .iter()
        .map(|later| later.before)
        .find(|before| *before > key.before)
        .unwrap_or(truth.end());
    let first = chunks.partition_point(|chunk| chunk.start < key.before);
    let mut answer = chunks[first..]
        .iter()
        .take_while(|chunk| chunk.start < limit);
    let mut last = answer
        .next()
        .filter(|chunk| chunk.at.saturating_sub(key.at) <= ANSWER_WITHIN)?;
    for chunk in answer {
        if chunk.at - last.at >= BURST_GAP {
            break;
        }
        last = chunk;
    }
    Some(last.end)
}

fn effect(truth: &GroundTruth, before: OutputPosition, after: OutputPosition) -> Option<KeyEffect> {
    let (cursor_before, cursor) = (truth.cursor(before), truth.first_cursor(after));
    let changed: BTreeSet<CellPosition> = truth
        .changed(before, after)
        .filter(|place| truth.glyph(*place, before) != truth.first_glyph(*place, after))
        .collect();
    let has_cursor = cursor.is_visible;
    let cursor_differs = has_cursor && cursor.seen() != cursor_before.seen();
    let rows = [cursor_before.place.row, cursor.place.row];
    let is_suggestion = |place: &CellPosition| {
        place.row == cursor.place.row
            && place.column >= cursor.place.column
            && truth.first_glyph(*place, after).is_grey()
    };
    let wanted = |place: &CellPosition| !is_suggestion(place);
    let on_rows: Vec<CellPosition> = changed
        .iter()
        .filter(|place| rows.contains(&place.row))
        .copied()
        .filter(wanted)
        .collect();
    let places = if on_rows.is_empty() && !cursor_differs {
        changed.into_iter().filter(wanted).collect()
    } else {
        on_rows
    };
    let is_visible = cursor_differs || !places.is_empty();
    is_visible.then_some(KeyEffect {
        before,
        after,
        places,
        has_cursor,
    })
}

impl GroundTruth {
    /// Returns the cells that are different at two positions.
    pub fn difference(&self, one: OutputPosition, other: OutputPosition) -> Vec<CellPosition> {
        places(self.size())
            .filter(|place| self.glyph(*place, one) != self.glyph(*place, other))
            .collect()
    }
}
