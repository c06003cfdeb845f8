//! The truth of a session: every screen that the host's output makes, in its order.

use super::cell_history::CellHistory;
use super::glyph::{CellPosition, Glyph};
use super::key_effect::{Chunk, KeyEffect, TypedKey, answer_end, typed_keys};
use super::observer::{Change, Cursor, ScreenObserver, places};
use crate::trace::{Event, SingleScreenTrace, Size, Trace};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The number of bytes of the host's output that have been shown. Screens of a truth are named by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputPosition(pub usize);

/// The screens that a host's output makes, byte by byte, and which keys it was the answer to.
///
/// Made from a key trace: a recording that is played again, or what the host itself noted in the
/// run. The order of keys and output in the trace says which output follows which key; its
/// times say which output is the direct answer to a key (see [`KeyEffect`]).
///
/// At a position where the window gets another size there are two screens: before it and after. So cells
/// and screens are counted in steps, one for each byte and one for each such change.
///
/// It keeps every cell that ever changed, with the position: some hundred bytes for each byte of output,
/// and a screenful for each line that scrolls. That is for people who type, not for floods.
#[derive(Debug)]
pub struct GroundTruth {
    size: Size,
    history: CellHistory,
    /// One for each position at which text or cursor changed, the blank screen first.
    states: Vec<State>,
    /// The positions at which the window got another size, in their order.
    resizes: Vec<OutputPosition>,
    /// The states with a hash, in their order.
    by_hash: HashMap<u64, Vec<usize>>,
    keys: Vec<GroundTruthKey>,
    /// All bytes that the host wrote.
    output: Vec<u8>,
    /// The positions at which a program leaves the alternate screen.
    leavings: Vec<OutputPosition>,
    /// The screens of a terminal that has no alternate screen, if the output ever uses one.
    single_screen: Option<Box<GroundTruth>>,
}

/// A screen, without its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The position from which on it is so.
    pub(crate) from: OutputPosition,
    /// The step from which on it is so.
    step: usize,
    pub(crate) cursor: Cursor,
    pub(crate) hash: u64,
    /// True if the host paused here. A screen in the middle of a write is hardly ever seen.
    pub(crate) is_rest: bool,
}

/// One key of it, with its effects: any one of these, and nothing at all if there is none.
pub type GroundTruthKey = TypedKey<OutputPosition, Vec<KeyEffect<OutputPosition>>>;

impl GroundTruthKey {
    /// True when something visible comes of the key.
    pub fn has_effect(&self) -> bool {
        !self.effect.is_empty()
    }

    /// Returns the position at which the key's whole direct answer has been shown.
    pub fn answered(&self) -> Option<OutputPosition> {
        self.effect.iter().map(|effect| effect.after).max()
    }
}

impl GroundTruth {
    /// Plays a trace, and looks after every byte of output.
    pub fn of(trace: &Trace) -> Self {
        let truth = Self::of_output(trace);
        let Some(single) = SingleScreenTrace::of(trace) else {
            return truth;
        };
        Self {
            leavings: single.leavings.into_iter().map(OutputPosition).collect(),
            single_screen: Some(Box::new(Self::of_output(&single.trace))),
            ..truth
        }
    }

    /// The same without regard to terminals that have no alternate screen.
    fn of_output(trace: &Trace) -> Self {
        let mut play = Play::new(trace);
        for record in trace.records() {
            match &record.event {
                Event::Size(size) => play.resize(*size),
                Event::User(bytes) => play.type_keys(record.at, bytes),
                Event::Host(bytes) => play.show(record.at, bytes),
            }
        }
        play.finish()
    }

    /// Returns all truths of it that a display may follow: itself, and what a terminal without an alternate screen
    /// shows, where the screen that a program has covered is not put back. Positions are the same in both.
    pub(crate) fn renderings(&self) -> Vec<&GroundTruth> {
        let single = self.single_screen.as_deref();
        [self].into_iter().chain(single).collect()
    }

    /// Returns how often a program has left the alternate screen by a position.
    pub(crate) fn leavings(&self, position: OutputPosition) -> usize {
        self.leavings.partition_point(|left| *left <= position)
    }

    /// Returns the largest size that the screen has in the trace.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns all keys in the order in which they were typed.
    pub fn keys(&self) -> &[GroundTruthKey] {
        &self.keys
    }

    /// Returns the position behind all output.
    pub fn end(&self) -> OutputPosition {
        OutputPosition(self.output.len())
    }

    /// Returns all output.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Returns what can have been written when so many keys were typed: all output before the
    /// next one.
    pub fn reach(&self, keys_typed: usize) -> OutputPosition {
        match self.keys.get(keys_typed) {
            Some(next) => next.before,
            None => self.end(),
        }
    }

    /// Returns what a cell shows.
    pub fn glyph(&self, place: CellPosition, position: OutputPosition) -> Glyph {
        self.history.at(place, self.last_step(position))
    }

    /// Returns what a cell shows before the window gets another size at that position.
    pub(crate) fn first_glyph(&self, place: CellPosition, position: OutputPosition) -> Glyph {
        self.history.at(place, self.first_step(position))
    }

    /// Returns what a cell shows in a state.
    pub(crate) fn glyph_in(&self, place: CellPosition, state: usize) -> Glyph {
        self.history.at(place, self.states[state].step)
    }

    fn first_step(&self, position: OutputPosition) -> usize {
        position.0 + self.resizes.partition_point(|at| *at < position)
    }

    fn last_step(&self, position: OutputPosition) -> usize {
        position.0 + self.resizes.partition_point(|at| *at <= position)
    }

    /// Returns where the cursor is.
    pub fn cursor(&self, position: OutputPosition) -> Cursor {
        self.states[self.state(position)].cursor
    }

    /// Returns where the cursor is before the window gets another size at that position.
    pub(crate) fn first_cursor(&self, position: OutputPosition) -> Cursor {
        self.states[self.first_state(position)].cursor
    }

    /// True when a cell shows `glyph` anywhere between two positions, both included.
    pub(crate) fn ever_shows(
        &self,
        place: CellPosition,
        glyph: Glyph,
        from: OutputPosition,
        to: OutputPosition,
    ) -> bool {
        let (from, to) = (self.first_step(from), self.last_step(to));
        self.history.ever(place, glyph, from, to)
    }

    /// Returns the cells that change after one position and up to another; some more than once.
    pub fn changed(
        &self,
        from: OutputPosition,
        to: OutputPosition,
    ) -> impl Iterator<Item = CellPosition> {
        let start = self.first_step(from);
        let end = if from == to {
            start
        } else {
            self.last_step(to)
        };
        self.history.changed(start, end)
    }

    /// Returns the cells that are different at two positions.
    pub fn difference(&self, one: OutputPosition, other: OutputPosition) -> Vec<CellPosition> {
        places(self.size())
            .filter(|place| self.glyph(*place, one) != self.glyph(*place, other))
            .collect()
    }

    /// Returns the effect that leads from one position to another, if there is anything to see.
    fn effect(
        &self,
        before: OutputPosition,
        after: OutputPosition,
    ) -> Option<KeyEffect<OutputPosition>> {
        let changed: BTreeSet<CellPosition> = self
            .changed(before, after)
            .filter(|place| self.glyph(*place, before) != self.first_glyph(*place, after))
            .collect();
        KeyEffect::between(
            (before, self.cursor(before)),
            (after, self.first_cursor(after)),
            changed,
            |place| self.first_glyph(place, after).is_grey(),
        )
    }

    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    /// Returns the number of the last state at a position.
    pub(crate) fn state(&self, position: OutputPosition) -> usize {
        self.state_at(self.last_step(position))
    }

    /// Returns the number of the state at a position before the window gets another size there.
    pub(crate) fn first_state(&self, position: OutputPosition) -> usize {
        self.state_at(self.first_step(position))
    }

    fn state_at(&self, step: usize) -> usize {
        // The first state is from step 0 on.
        self.states.partition_point(|state| state.step <= step) - 1
    }

    /// Returns the first state with this hash from one number to another, both included; one at
    /// which the host paused if there is any.
    pub(crate) fn first_alike(&self, hash: u64, from: usize, to: usize) -> Option<usize> {
        let alike = self.by_hash.get(&hash)?;
        let first = alike.partition_point(|state| *state < from);
        self.first_at_rest(
            alike[first..]
                .iter()
                .copied()
                .take_while(|state| *state <= to),
        )
    }

    /// Returns the first of some states at which the host paused, or else the first of all.
    pub(crate) fn first_at_rest(&self, mut states: impl Iterator<Item = usize>) -> Option<usize> {
        let first = states.next()?;
        if self.states[first].is_rest {
            return Some(first);
        }
        let at_rest = states.find(|state| self.states[*state].is_rest);
        at_rest.or(Some(first))
    }

    /// Returns where the last screen with this hash begins, up to a position. See
    /// [`ScreenObserver::hash`](super::ScreenObserver::hash).
    pub(crate) fn last_like(&self, hash: u64, to: OutputPosition) -> Option<OutputPosition> {
        let last = self.last_alike(hash, self.state(to))?;
        Some(self.states[last].from)
    }

    /// Returns from which position on the screen is as it is at `position`.
    pub fn since(&self, position: OutputPosition) -> OutputPosition {
        self.states[self.state(position)].from
    }

    /// Returns the last state with this hash up to a number.
    pub(crate) fn last_alike(&self, hash: u64, to: usize) -> Option<usize> {
        let alike = self.by_hash.get(&hash)?;
        let behind = alike.partition_point(|state| *state <= to);
        behind.checked_sub(1).map(|last| alike[last])
    }
}

struct Play {
    observer: ScreenObserver,
    truth: GroundTruth,
    chunks: Vec<Chunk<OutputPosition>>,
    newlines: Vec<OutputPosition>,
    changes: Vec<Change>,
}

impl Play {
    fn new(trace: &Trace) -> Self {
        let size = largest_size(trace);
        let observer = ScreenObserver::new(trace.size());
        let blank = State {
            from: OutputPosition(0),
            step: 0,
            cursor: observer.cursor(),
            hash: observer.hash(),
            is_rest: true,
        };
        let truth = GroundTruth {
            size,
            history: CellHistory::new(size),
            states: vec![blank],
            resizes: Vec::new(),
            by_hash: HashMap::new(),
            keys: Vec::new(),
            output: Vec::new(),
            leavings: Vec::new(),
            single_screen: None,
        };
        Self {
            observer,
            truth,
            chunks: Vec::new(),
            newlines: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn resize(&mut self, size: Size) {
        if size != self.observer.size() {
            self.observer.resize(size, &mut self.changes);
            self.truth.resizes.push(self.truth.end());
            self.note(true);
        }
    }

    fn type_keys(&mut self, at: Duration, bytes: &[u8]) {
        let keys = typed_keys(at, bytes, self.truth.end());
        self.truth.keys.extend(keys);
    }

    fn show(&mut self, at: Duration, bytes: &[u8]) {
        let start = self.truth.end();
        for byte in bytes {
            self.truth.output.push(*byte);
            self.observer.show(&[*byte], &mut self.changes);
            self.note(false);
            if *byte == b'\n' {
                self.newlines.push(self.truth.end());
            }
        }
        if let Some(last) = self.truth.states.last_mut() {
            last.is_rest = true;
        }
        let end = self.truth.end();
        self.chunks.push(Chunk { at, start, end });
    }

    /// Takes over what the observer has seen at this step.
    fn note(&mut self, is_rest: bool) {
        let from = self.truth.end();
        let step = self.truth.last_step(from);
        for change in self.changes.drain(..) {
            self.truth.history.add(step, change.place, change.glyph);
        }
        let (cursor, hash) = (self.observer.cursor(), self.observer.hash());
        let last = self.truth.states.last();
        if last.is_some_and(|last| last.hash == hash && last.cursor == cursor) {
            return;
        }
        self.truth.states.push(State {
            from,
            step,
            cursor,
            hash,
            is_rest,
        });
    }

    fn finish(mut self) -> GroundTruth {
        for (number, state) in self.truth.states.iter().enumerate() {
            let alike = self.truth.by_hash.entry(state.hash).or_default();
            alike.push(number);
        }
        for number in 0..self.truth.keys.len() {
            self.truth.keys[number].reach = self.truth.reach(number + 1);
            self.truth.keys[number].effect = self.effects(number);
        }
        self.truth
    }

    /// Returns the effects of a key: none, one, or, for Enter, two.
    fn effects(&self, number: usize) -> Vec<KeyEffect<OutputPosition>> {
        let (truth, key) = (&self.truth, &self.truth.keys[number]);
        let Some(after) = answer_end(&truth.keys, number, &self.chunks, truth.end()) else {
            return Vec::new();
        };
        let first = self
            .newlines
            .partition_point(|newline| *newline <= key.before);
        let newline = self.newlines.get(first).copied();
        let newline = newline.filter(|newline| key.is_enter() && *newline < after);
        let ends = [Some(after), newline].into_iter().flatten();
        ends.filter_map(|end| truth.effect(key.before, end))
            .collect()
    }
}

fn largest_size(trace: &Trace) -> Size {
    let sizes = trace
        .records()
        .iter()
        .filter_map(|record| match record.event {
            Event::Size(size) => Some(size),
            Event::User(_) | Event::Host(_) => None,
        });
    sizes.fold(trace.size(), |largest, size| Size {
        columns: largest.columns.max(size.columns),
        rows: largest.rows.max(size.rows),
    })
}
