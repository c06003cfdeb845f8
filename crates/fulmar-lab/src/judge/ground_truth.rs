//! The truth of a session: every screen that the host's output makes, in its order.

use super::cell_history::CellHistory;
use super::glyph::{CellPosition, Glyph};
use super::key_effect::{KeyEffect, TypedKey};
use super::observer::{Change, Cursor, ScreenObserver, places};
use super::truth::{TrueScreens, Truth};
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
pub type GroundTruth = Truth<OutputScreens>;

/// One key of it, with its effects.
pub type GroundTruthKey = TypedKey<OutputPosition>;

/// The screens of a [`GroundTruth`].
#[derive(Debug)]
pub struct OutputScreens {
    /// The largest size that the screen has.
    size: Size,
    history: CellHistory,
    /// One for each position at which text or cursor changed, the blank screen first.
    states: Vec<State>,
    /// The positions at which the window got another size, in their order.
    resizes: Vec<OutputPosition>,
    /// The states with a hash, in their order.
    by_hash: HashMap<u64, Vec<usize>>,
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

impl GroundTruth {
    /// Plays a trace, and looks after every byte of output.
    pub fn of(trace: &Trace) -> Self {
        let mut truth = Self::of_output(trace);
        if let Some(single) = SingleScreenTrace::of(trace) {
            let leavings = single.leavings.into_iter().map(OutputPosition);
            truth.screens.leavings = leavings.collect();
            truth.screens.single_screen = Some(Box::new(Self::of_output(&single.trace)));
        }
        truth
    }

    /// The same without regard to terminals that have no alternate screen.
    fn of_output(trace: &Trace) -> Self {
        let observer = ScreenObserver::new(trace.size());
        let screens = OutputScreens::blank(largest_size(trace), &observer);
        Truth::play(trace, screens, observer)
    }

    /// Returns all truths of it that a display may follow: itself, and what a terminal without an alternate screen
    /// shows, where the screen that a program has covered is not put back. Positions are the same in both.
    pub(crate) fn renderings(&self) -> Vec<&GroundTruth> {
        let single = self.single_screen.as_deref();
        [self].into_iter().chain(single).collect()
    }
}

impl OutputScreens {
    fn blank(size: Size, observer: &ScreenObserver) -> Self {
        let mut screens = Self {
            size,
            history: CellHistory::new(size),
            states: Vec::new(),
            resizes: Vec::new(),
            by_hash: HashMap::new(),
            output: Vec::new(),
            leavings: Vec::new(),
            single_screen: None,
        };
        screens.note(observer, &mut Vec::new(), true);
        screens
    }

    /// Takes over what the observer has seen at this step.
    fn note(&mut self, observer: &ScreenObserver, changes: &mut Vec<Change>, is_rest: bool) {
        let from = self.end();
        let step = self.last_step(from);
        for change in changes.drain(..) {
            self.history.add(step, change.place, change.glyph);
        }
        let (cursor, hash) = (observer.cursor(), observer.hash());
        let last = self.states.last();
        if last.is_some_and(|last| last.hash == hash && last.cursor == cursor) {
            return;
        }
        let alike = self.by_hash.entry(hash).or_default();
        alike.push(self.states.len());
        self.states.push(State {
            from,
            step,
            cursor,
            hash,
            is_rest,
        });
    }

    /// Returns how often a program has left the alternate screen by a position.
    pub(crate) fn leavings(&self, position: OutputPosition) -> usize {
        self.leavings.partition_point(|left| *left <= position)
    }

    /// Returns the largest size that the screen has in the trace.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns all output.
    pub fn output(&self) -> &[u8] {
        &self.output
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

impl TrueScreens for OutputScreens {
    type Position = OutputPosition;
    type Emulator = ScreenObserver;

    fn end(&self) -> OutputPosition {
        OutputPosition(self.output.len())
    }

    fn resize(&mut self, observer: &mut ScreenObserver, _: Duration, size: Size) {
        if size != observer.size() {
            let mut changes = Vec::new();
            observer.resize(size, &mut changes);
            self.resizes.push(self.end());
            self.note(observer, &mut changes, true);
        }
    }

    fn show(
        &mut self,
        observer: &mut ScreenObserver,
        _: Duration,
        bytes: &[u8],
    ) -> Option<OutputPosition> {
        let (mut changes, mut newline) = (Vec::new(), None);
        for byte in bytes {
            self.output.push(*byte);
            observer.show(&[*byte], &mut changes);
            self.note(observer, &mut changes, false);
            if *byte == b'\n' {
                newline = newline.or(Some(self.end()));
            }
        }
        if let Some(last) = self.states.last_mut() {
            last.is_rest = true;
        }
        newline
    }

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
