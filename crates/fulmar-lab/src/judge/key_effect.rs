//! The keys of a recording, and the effect of each on the screen.
//!
//! That is one definition for whoever plays a recording, on whatever screens. `P` is a position in what the host made
//! of the keys: every position names a true screen, and later ones come later.

use super::glyph::CellPosition;
use super::observer::Cursor;
use crate::trace::{KeystrokeKind, keystrokes};
use std::time::Duration;

/// One key and what the host made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedKey<P> {
    /// The bytes that the keyboard sent.
    pub bytes: Vec<u8>,
    /// A key, a report of the mouse, or a paste.
    pub kind: KeystrokeKind,
    /// The time on the trace's clock.
    pub at: Duration,
    /// The position at which it was typed.
    pub before: P,
    /// The last position before the next key: all that can come of the keys up to this one.
    pub reach: P,
    /// The effects of the key itself on the screen: any one of these, and nothing at all if there is none.
    pub effects: Vec<KeyEffect<P>>,
}

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
pub struct KeyEffect<P> {
    /// The position at which the key was typed.
    pub before: P,
    /// The position at which it is complete.
    pub after: P,
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

/// A piece of output that came in one read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<P> {
    pub(crate) at: Duration,
    pub(crate) start: P,
    pub(crate) end: P,
}

/// Returns the keys in one write by the keyboard's side, without effect yet.
pub(crate) fn typed_keys<P: Copy>(
    at: Duration,
    bytes: &[u8],
    before: P,
) -> impl Iterator<Item = TypedKey<P>> {
    let typed = keystrokes(bytes).filter(|keystroke| keystroke.kind.is_typed());
    typed.map(move |keystroke| TypedKey {
        bytes: keystroke.bytes.to_vec(),
        kind: keystroke.kind,
        at,
        before,
        reach: before,
        effects: Vec::new(),
    })
}

impl<P: Copy + Ord> TypedKey<P> {
    pub(crate) fn is_enter(&self) -> bool {
        matches!(self.bytes.as_slice(), b"\r" | b"\n")
    }

    /// True when something visible comes of the key.
    pub fn has_effect(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Returns the position at which the key's whole direct answer has been shown.
    pub fn answered(&self) -> Option<P> {
        self.effects.iter().map(|effect| effect.after).max()
    }
}

/// Returns the position behind the first burst of output after a key, if there is one. `chunks` is all output, up to
/// `end`.
pub(crate) fn answer_end<P: Copy + Ord>(
    keys: &[TypedKey<P>],
    number: usize,
    chunks: &[Chunk<P>],
    end: P,
) -> Option<P> {
    let key = &keys[number];
    let later = &keys[number..];
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
        .unwrap_or(end);
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

impl<P> KeyEffect<P> {
    /// Returns the effect that leads from one screen to another, each a position with its cursor; `None` if there is
    /// nothing to see. `changed` is all cells that differ, and `is_grey` says which have grey text in the end.
    pub(crate) fn between(
        (before, cursor_before): (P, Cursor),
        (after, cursor): (P, Cursor),
        changed: impl IntoIterator<Item = CellPosition>,
        is_grey: impl Fn(CellPosition) -> bool,
    ) -> Option<Self> {
        let end = cursor.place;
        let is_suggestion =
            |at: CellPosition| at.row == end.row && at.column >= end.column && is_grey(at);
        let mut places: Vec<CellPosition> = changed.into_iter().collect();
        places.retain(|at| !is_suggestion(*at));
        let has_cursor = cursor.is_visible;
        let cursor_differs = has_cursor && cursor.seen() != cursor_before.seen();
        let rows = [cursor_before.place.row, end.row];
        let is_on_rows = |at: &CellPosition| rows.contains(&at.row);
        if cursor_differs || places.iter().any(is_on_rows) {
            places.retain(is_on_rows);
        }
        let is_visible = cursor_differs || !places.is_empty();
        is_visible.then_some(Self {
            before,
            after,
            places,
            has_cursor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn key(at: u64, before: usize) -> TypedKey<usize> {
        typed_keys(ms(at), b"x", before).next().unwrap()
    }

    fn chunk(at: u64, start: usize) -> Chunk<usize> {
        Chunk {
            at: ms(at),
            start,
            end: start + 10,
        }
    }

    #[test]
    fn a_write_has_its_keys_and_no_answers_of_terminals() {
        let keys: Vec<TypedKey<usize>> = typed_keys(ms(5), b"l\x1b[A\x1b[?1;2c\r", 3).collect();
        let bytes: Vec<&[u8]> = keys.iter().map(|key| &key.bytes[..]).collect();
        assert_eq!(bytes, [&b"l"[..], b"\x1b[A", b"\r"]);
        assert!(
            keys.iter()
                .all(|key| (key.at, key.before, key.reach) == (ms(5), 3, 3))
        );
        let enters = keys.iter().map(TypedKey::is_enter);
        assert_eq!(enters.collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn an_answer_begins_in_time_and_ends_at_a_gap() {
        let end = |times: &[u64]| {
            let chunks = (0..).step_by(10).zip(times);
            let chunks: Vec<_> = chunks.map(|(start, at)| chunk(*at, start)).collect();
            answer_end(&[key(1000, 10)], 0, &chunks, times.len() * 10)
        };
        assert_eq!(end(&[900]), None, "that came before");
        assert_eq!(end(&[900, 1250]), Some(20));
        assert_eq!(end(&[900, 1251]), None);
        assert_eq!(end(&[900, 1001, 1020, 1039]), Some(40));
        assert_eq!(end(&[900, 1001, 1021]), Some(20));
        assert_eq!(
            end(&[900, 1001, 1021, 1022]),
            Some(20),
            "what follows a gap is no answer"
        );
    }

    #[test]
    fn an_answer_ends_before_the_next_key_that_is_answered() {
        let chunks = [chunk(1001, 0), chunk(1002, 10), chunk(1003, 20)];
        let ends = |keys: &[TypedKey<usize>]| {
            let ends = (0..keys.len()).map(|number| answer_end(keys, number, &chunks, 30));
            ends.collect::<Vec<_>>()
        };
        assert_eq!(ends(&[key(1000, 0), key(1001, 10)]), [Some(10), Some(30)]);
        assert_eq!(
            ends(&[key(1000, 0), key(1000, 0), key(1002, 20)]),
            [Some(20), Some(20), Some(30)]
        );
        assert_eq!(
            ends(&[key(1000, 0), key(1003, 30)]),
            [Some(30), None],
            "nothing is left"
        );
    }

    #[test]
    fn a_key_that_another_follows_without_output_was_ignored() {
        let ends = |second: u64| {
            let keys = [key(1000, 0), key(second, 0)];
            [0, 1].map(|number| answer_end(&keys, number, &[chunk(1050, 0)], 10))
        };
        assert_eq!(ends(1019), [Some(10), Some(10)]);
        assert_eq!(ends(1020), [None, Some(10)]);
    }

    fn cursor(row: u16, column: u16, is_visible: bool) -> Cursor {
        Cursor {
            place: CellPosition::new(row, column),
            is_visible,
        }
    }

    /// The cells of the effect, and whether the cursor belongs to it.
    fn between(
        before: Cursor,
        after: Cursor,
        changed: &[(u16, u16)],
        grey: &[(u16, u16)],
    ) -> Option<(Vec<(u16, u16)>, bool)> {
        let changed = changed
            .iter()
            .map(|(row, column)| CellPosition::new(*row, *column));
        let is_grey = |at: CellPosition| grey.contains(&(at.row, at.column));
        let effect = KeyEffect::between((0, before), (1, after), changed, is_grey)?;
        let places = effect.places.iter().map(|at| (at.row, at.column));
        Some((places.collect(), effect.has_cursor))
    }

    #[test]
    fn an_effect_is_on_the_rows_of_the_cursor() {
        let (first, third) = (cursor(0, 2, true), cursor(2, 0, true));
        let changed = [(0, 2), (1, 0), (2, 0), (3, 1)];
        assert_eq!(
            between(first, third, &changed, &[]),
            Some((vec![(0, 2), (2, 0)], true))
        );
        // The cursor alone is enough, and then nothing elsewhere is asked for.
        assert_eq!(between(first, third, &[(1, 0)], &[]), Some((vec![], true)));
        assert_eq!(
            between(first, first, &[(1, 0)], &[]),
            Some((vec![(1, 0)], true))
        );
        assert_eq!(between(first, first, &[], &[]), None);
    }

    #[test]
    fn a_hidden_cursor_does_not_belong_to_it() {
        let (hidden, moved) = (cursor(0, 2, false), cursor(0, 5, false));
        assert_eq!(between(hidden, moved, &[], &[]), None);
        assert_eq!(
            between(hidden, moved, &[(3, 3)], &[]),
            Some((vec![(3, 3)], false))
        );
        let shown = cursor(0, 2, true);
        assert_eq!(
            between(hidden, shown, &[], &[]),
            Some((vec![], true)),
            "it appears"
        );
    }

    #[test]
    fn grey_text_from_the_cursor_on_is_not_asked_for() {
        let (before, after) = (cursor(0, 2, true), cursor(0, 3, true));
        let changed = [(0, 2), (0, 3), (0, 4), (1, 4)];
        let effect = |grey: &[(u16, u16)]| between(before, after, &changed, grey).unwrap().0;
        assert_eq!(effect(&[(0, 3), (0, 4)]), [(0, 2)]);
        assert_eq!(
            effect(&[(0, 2)]),
            [(0, 2), (0, 3), (0, 4)],
            "left of it it is"
        );
        let below = between(after, after, &[(1, 4)], &[(1, 4)]).unwrap().0;
        assert_eq!(below, [(1, 4)], "and on other rows");
        assert_eq!(between(after, after, &[(0, 4)], &[(0, 4)]), None);
    }
}
