//! The one place where input is kept.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;
use std::iter;

use fulmar_transport::ApplyError;

use super::{Mark, UserEvent};

/// The most that a peer can make a log hold, counted as in [`Log::held_bytes`].
///
/// Source: docs/threat-model.md §6, unacknowledged user input.
pub(super) const HELD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The bytes that a mark takes beside its unit.
const MARK_BYTES: usize = size_of::<(u64, Mark)>();

/// The side that takes events out of a log, and so decides what may be forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    /// The peer: what it has acknowledged is not needed.
    Peer,
    /// This side: what was taken, up to this position, is not needed.
    Us { taken: u64 },
}

/// The reason why a log cannot be extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtendError {
    /// The peer says that something else was typed than what it said before.
    Contradiction,
    /// More than [`HELD_BYTES_MAX`].
    TooMuch,
}

impl From<ExtendError> for ApplyError {
    fn from(error: ExtendError) -> ApplyError {
        ApplyError::new(match error {
            ExtendError::Contradiction => "the user stream contradicts itself",
            ExtendError::TooMuch => "too much input is waiting",
        })
    }
}

/// Everything typed, less what was forgotten at the front.
///
/// A *unit* is a byte or a [`Mark`]; positions count units from the beginning of the stream.
#[derive(Debug)]
pub(super) struct Log {
    reader: Reader,
    /// The position of the first unit that is held.
    start: u64,
    /// One byte for each unit; what stands in the place of a mark means nothing.
    units: VecDeque<u8>,
    /// The units that are marks, by position.
    marks: VecDeque<(u64, Mark)>,
    /// The number of marks that were forgotten.
    dropped_marks: u64,
}

/// Units of one kind that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run<'a> {
    /// Typed bytes, in two pieces where the log's buffer wraps around.
    Keys(&'a [u8], &'a [u8]),
    /// One unit.
    Mark(Mark),
}

impl Run<'_> {
    /// Returns the number of units in the run.
    pub(super) fn units(&self) -> u64 {
        match self {
            Run::Keys(first, second) => (first.len() + second.len()) as u64,
            Run::Mark(_) => 1,
        }
    }
}

impl Log {
    pub(super) fn new(reader: Reader) -> Log {
        Log {
            reader,
            start: 0,
            units: VecDeque::new(),
            marks: VecDeque::new(),
            dropped_marks: 0,
        }
    }

    /// The position after the last unit.
    pub(super) fn end(&self) -> u64 {
        self.start + self.units.len() as u64
    }

    /// Returns the number of keys among the units before `position`, which is not before the first that is held.
    pub(super) fn keys_until(&self, position: u64) -> u64 {
        let marks = self.dropped_marks + self.first_mark_from(position) as u64;
        position.saturating_sub(marks)
    }

    /// The memory that what is held takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.units.len() + self.marks.len() * MARK_BYTES
    }

    /// The number of keys that are held.
    pub(super) fn held_keys(&self) -> usize {
        self.units.len() - self.marks.len()
    }

    /// The bytes that there is room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.units.capacity()
    }

    /// The memory that what is held between two positions takes.
    pub(super) fn held_between(&self, from: u64, to: u64) -> usize {
        let (first, last) = self.indices(from, to);
        let marks = self.first_mark_from(to) - self.first_mark_from(from.min(to));
        last - first + marks * MARK_BYTES
    }

    pub(super) fn push_keys(&mut self, bytes: &[u8]) {
        self.units.extend(bytes);
    }

    pub(super) fn push_mark(&mut self, mark: Mark) {
        self.marks.push_back((self.end(), mark));
        self.units.push_back(0);
    }

    /// Appends what of `runs`, which begin at `position`, lies beyond the end, and returns the
    /// position after them.
    ///
    /// # Errors
    ///
    /// `runs` differ from what is known of their place, or are too much; nothing is appended.
    pub(super) fn extend_from(
        &mut self,
        position: u64,
        runs: &[Run<'_>],
    ) -> Result<u64, ExtendError> {
        // All of it first: states share the log, so a difference that is refused half-way could not
        // be taken back.
        self.check(position, runs)?;
        let mut at = position;
        for run in runs {
            let known = self.end().saturating_sub(at).min(run.units());
            match *run {
                Run::Keys(first, second) => {
                    self.units
                        .extend(first.iter().chain(second).skip(known as usize));
                }
                Run::Mark(mark) if known == 0 => self.push_mark(mark),
                Run::Mark(_) => {}
            }
            at += run.units();
        }
        Ok(at)
    }

    fn check(&self, position: u64, runs: &[Run<'_>]) -> Result<(), ExtendError> {
        let mut at = position;
        let mut held = self.held_bytes();
        for run in runs {
            if !self.agrees(at, run) {
                return Err(ExtendError::Contradiction);
            }
            let end = at + run.units();
            held += end.saturating_sub(at.max(self.end())) as usize;
            if matches!(run, Run::Mark(_)) && at >= self.end() {
                held += MARK_BYTES;
            }
            at = end;
        }
        if held > HELD_BYTES_MAX {
            return Err(ExtendError::TooMuch);
        }
        Ok(())
    }

    /// Returns true if `run` at `position` is what the log says, as far as the log still says anything.
    fn agrees(&self, position: u64, run: &Run<'_>) -> bool {
        let forgotten = self.start.saturating_sub(position);
        match run {
            Run::Mark(mark) if forgotten == 0 && position < self.end() => {
                self.mark_at(position) == Some(*mark)
            }
            Run::Mark(_) => true,
            Run::Keys(first, second) => {
                let from = position.max(self.start);
                let to = (position + run.units()).min(self.end());
                let said = first
                    .iter()
                    .chain(*second)
                    .skip(forgotten as usize)
                    .take(to.saturating_sub(from) as usize);
                self.has_no_mark(from, to) && self.units(from, to).eq(said)
            }
        }
    }

    fn mark_at(&self, position: u64) -> Option<Mark> {
        let index = self
            .marks
            .binary_search_by_key(&position, |&(at, _)| at)
            .ok()?;
        self.marks.get(index).map(|&(_, mark)| mark)
    }

    /// Returns the index of the first mark at or after `position`.
    fn first_mark_from(&self, position: u64) -> usize {
        self.marks.partition_point(|&(at, _)| at < position)
    }

    fn has_no_mark(&self, from: u64, to: u64) -> bool {
        self.marks
            .get(self.first_mark_from(from))
            .is_none_or(|&(at, _)| at >= to)
    }

    /// Returns the bytes between two positions; what the log does not hold is left out.
    fn units(&self, from: u64, to: u64) -> Iter<'_, u8> {
        let (from, to) = self.indices(from, to);
        self.units.range(from..to)
    }

    fn indices(&self, from: u64, to: u64) -> (usize, usize) {
        let to = to.clamp(self.start, self.end());
        let from = from.clamp(self.start, to);
        ((from - self.start) as usize, (to - self.start) as usize)
    }

    /// Returns what lies between two positions, as runs that are as long as they can be.
    pub(super) fn runs(&self, from: u64, to: u64) -> impl Iterator<Item = Run<'_>> {
        let to = to.min(self.end());
        let mut at = from.max(self.start);
        let mut marks = self.marks.range(self.first_mark_from(at)..).peekable();
        iter::from_fn(move || {
            if at >= to {
                return None;
            }
            if let Some(&(_, mark)) = marks.next_if(|&&(position, _)| position == at) {
                at += 1;
                return Some(Run::Mark(mark));
            }
            let end = marks.peek().map_or(to, |&&(position, _)| position.min(to));
            let (first, second) = self.slices(at, end);
            at = end;
            Some(Run::Keys(first, second))
        })
    }

    fn slices(&self, from: u64, to: u64) -> (&[u8], &[u8]) {
        let (from, to) = self.indices(from, to);
        let (head, tail) = self.units.as_slices();
        let split = head.len();
        (
            &head[from.min(split)..to.min(split)],
            &tail[from.saturating_sub(split)..to.saturating_sub(split)],
        )
    }

    /// Takes out the events up to `position`, merging bytes that follow one another.
    pub(super) fn take_until(&mut self, position: u64) -> Vec<UserEvent> {
        let Reader::Us { taken } = self.reader else {
            return Vec::new();
        };
        let events = self
            .runs(taken, position)
            .map(|run| match run {
                Run::Keys(first, second) => UserEvent::Keys([first, second].concat()),
                Run::Mark(Mark::Resize(size)) => UserEvent::Resize(size),
                Run::Mark(Mark::Terminal(report)) => UserEvent::Terminal(report),
            })
            .collect();
        let taken = taken.max(position.min(self.end()));
        self.reader = Reader::Us { taken };
        self.drop_until(taken);
        events
    }

    /// Forgets what the peer has acknowledged. Where this side reads, what was taken is forgotten
    /// already and the rest is still wanted.
    pub(super) fn forget_before(&mut self, position: u64) {
        if let Reader::Peer = self.reader {
            self.drop_until(position);
        }
    }

    fn drop_until(&mut self, position: u64) {
        let (_, count) = self.indices(self.start, position);
        self.units.drain(..count);
        self.start += count as u64;
        let forgotten = self.first_mark_from(self.start);
        self.marks.drain(..forgotten);
        self.dropped_marks += forgotten as u64;
        // After a paste of megabytes its room is not kept for the next one.
        if self.units.capacity() > 4096 && self.units.capacity() / 4 > self.units.len() {
            self.units.shrink_to(self.units.len() * 2);
        }
    }
}
