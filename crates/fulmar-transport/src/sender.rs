//! Our object: its present state, and the states that the peer may have of it.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use fulmar_base::Time;

use crate::limits::{
    OPENING_STATES_MAX, PROBE_DIFFERENCE_BYTES, PROSPECTIVE_BYTES_MAX, PROSPECTIVE_EXTRA_BYTES,
    RETRY_MARGIN, SENT_BYTES_MAX, SENT_STATE_DROPPED_FROM_END, SENT_STATES_MAX,
};
use crate::{Budget, Difference, Reached, StateNumber, Synced};

pub use chain::ChainState;
use chain::{Rounds, numbers_left_out};

/// Keeps the states that were sent, and finds what to send next.
///
/// ```text
///  acknowledged                    assumed        last
///      │                              │             │
///     [7]    [8]    [11]    [12]    [13]    [14]  [15]          goal        current
///      └──── prospective resend ──────────────────────────────────►│ ─ ─ ─ ─ ─ ─ ►│
///                                     └───── usual difference ────►│
///      └────────────────────────── window ───────────────────────────►
/// ```
///
/// The goal is the object's current state unless that is too far from the acknowledged one; then it
/// is a state on the way there. It depends on nothing but those two, so states that are sent one after
/// the other never lead back.
///
/// For lack of room any state between the first and the last may be forgotten. To us it is then as if
/// it had been lost; a difference can always start from the first.
///
/// Source: docs/protocol.md §5.3, docs/threat-model.md §6.
#[derive(Clone, Debug)]
pub struct Sender<S> {
    /// In order of their numbers, never empty; the first is the newest that was acknowledged. Each
    /// entry's `bytes` is what it holds beside the entry before it.
    sent: VecDeque<Sent<S>>,
    bytes_max: usize,
    current: S,
    /// The state that the peer is to have: `current`, or as much of it as the window allows.
    goal: S,
    window: Budget,
    /// The time at which `goal` became different from the last sent state.
    changed: Option<Time>,
    /// The time of the object's last change of any kind.
    last_change: Time,
    /// The time of the last send of any kind.
    sent_at: Time,
    /// The time of the last send of a difference that was not empty.
    content_at: Time,
    /// The end of the missing difference that the last probe was about.
    probed: Probed,
    /// The number of the state from which the next link starts, as long as there is one to send.
    next_link: Option<StateNumber>,
    /// The number of the last state before the links that lead to the goal.
    chain_base: StateNumber,
    /// The time at which links were last begun to be sent again.
    repeated_at: Time,
    rounds: Rounds,
}

#[derive(Clone, Debug)]
struct Sent<S> {
    number: StateNumber,
    at: Time,
    /// The time since which an acknowledgement of this state or of a forgotten one before it is waited for.
    waiting_since: Time,
    state: S,
    bytes: usize,
    /// True if only a probe has led there: then nothing starts from it before it is acknowledged.
    is_probe: bool,
    /// True if a [link](chain) leads there.
    is_link: bool,
    /// Numbers before this one that no state has ever had. A state that is kept tells nothing of those
    /// that were forgotten, so that a number between two kept ones may have been used.
    unused: Range<StateNumber>,
}

impl<S> Sent<S> {
    /// Returns a state that is sent now, and is still to be measured.
    fn new(now: Time, number: StateNumber, state: S) -> Sent<S> {
        Sent {
            number,
            at: now,
            waiting_since: now,
            state,
            bytes: 0,
            is_probe: false,
            is_link: false,
            unused: number..number,
        }
    }
}

/// The goal in relation to the states that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncState {
    /// It is not the one that was sent last.
    Unsent {
        /// The time at which it became so.
        changed: Time,
    },
    /// It was sent, but so long ago that the peer is not assumed to have it.
    Unassumed,
    /// It was sent, and the peer may have another one.
    Unacknowledged,
    /// Whatever the peer has, it is this.
    Settled,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// It is the newest so far, for a state that was last sent at the given time.
    Newer {
        /// The time at which that state was last sent.
        sent_at: Time,
    },
    /// It says what we knew.
    Known,
    /// We keep no such state, or never sent one.
    Unknown,
}

/// The number that an instruction takes when its state is the one that was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// The number of that state again, if there is anything to send in it: a mere repetition. A peer that has it
    /// already does not answer.
    Repeat,
    /// A new number, so that the peer takes it for news.
    New,
    /// [`StateNumber::SHUTDOWN`].
    Shutdown,
}

/// The sent states that may be taken for arrived although they are not acknowledged: those that were sent a short while
/// ago on the present path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The round trip's [timeout](crate::RoundTrip::timeout), after which something is thought lost.
    pub timeout: Duration,
    /// The time since which the path has not changed. What was sent earlier went over another.
    pub since: Time,
    /// True if the path loses datagrams: then a number without an answer makes what follows it doubtful.
    pub is_lossy: bool,
}

impl Trust {
    /// None of them.
    pub const NONE: Trust = Trust {
        timeout: Duration::ZERO,
        since: Time::from_origin(Duration::MAX),
        is_lossy: true,
    };

    fn covers(self, now: Time, sent_at: Time) -> bool {
        sent_at >= self.since && now.since(sent_at) < self.timeout + RETRY_MARGIN
    }
}

/// The end of the missing difference that a probe was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probed {
    /// From the acknowledged state on.
    Beginning,
    /// From the state that was sent last.
    End,
}

/// A difference that is ready to be sent, and has been entered among the sent states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// The state that it starts from.
    pub source: StateNumber,
    /// The state that it leads to.
    pub target: StateNumber,
    /// True if no state of that number was sent before, nor one of a higher number.
    pub is_new: bool,
    /// States below this are not needed any more.
    pub throwaway: StateNumber,
    /// The difference.
    pub difference: Vec<u8>,
}

impl<S: Synced> Sender<S> {
    /// Returns a sender whose object is at state 0, which both ends have. The window says how long a
    /// difference from the acknowledged state may become.
    pub fn new(now: Time, initial: S, window: Budget) -> Sender<S> {
        let zero = Sent {
            bytes: initial.held_bytes(None),
            ..Sent::new(now, StateNumber::ZERO, initial.clone())
        };
        Sender {
            sent: VecDeque::from([zero]),
            bytes_max: SENT_BYTES_MAX,
            goal: initial.clone(),
            current: initial,
            window,
            changed: None,
            last_change: now,
            sent_at: now,
            content_at: now,
            probed: Probed::End,
            next_link: None,
            chain_base: StateNumber::ZERO,
            rounds: Rounds::default(),
            repeated_at: now,
        }
    }

    /// Takes another object for the beginning, state 0, of one that nothing was sent of yet.
    pub(crate) fn begin_with(&mut self, now: Time, initial: S) {
        if self.last().number == StateNumber::ZERO {
            *self = Sender::new(now, initial, self.window);
        }
    }

    /// Takes over the present state of the object. One that the peer could not tell from the former
    /// changes nothing. Returns whether it did.
    pub fn set_current(&mut self, now: Time, state: S) -> bool {
        if self.current.is_same(&state) {
            return false;
        }
        self.current = state;
        self.last_change = now;
        self.aim(now);
        true
    }

    /// Makes the furthest state that the window reaches the last one of the object: what lies beyond is never said.
    pub(crate) fn end_within_window(&mut self) {
        self.current = self.goal.clone();
    }

    /// Takes note that the peer holds the state of that number, if it is one that we keep.
    pub fn acknowledge(&mut self, now: Time, number: StateNumber) -> Acknowledged {
        match self.sent.binary_search_by_key(&number, |sent| sent.number) {
            Err(_) => Acknowledged::Unknown,
            Ok(0) => Acknowledged::Known,
            Ok(index) => {
                self.sent.drain(..index);
                self.forget_acknowledged();
                self.rounds.acknowledged();
                if self.first().state.is_same(&self.last().state) {
                    self.pause_chain();
                }
                // The window begins at the acknowledged state, so it reaches further now.
                if !self.goal.is_same(&self.current) {
                    self.aim(now);
                }
                Acknowledged::Newer {
                    sent_at: self.first().at,
                }
            }
        }
    }

    /// Makes the difference to send now, and enters its target among the sent states.
    pub fn compose(
        &mut self,
        now: Time,
        trust: Trust,
        numbering: Numbering,
        budget: Budget,
    ) -> Composed {
        let (source, Difference { bytes, reached }) = self.choose(now, trust, budget);
        let throwaway = self.first().number;
        let state = match reached {
            Reached::Target => {
                self.changed = None;
                self.goal.clone()
            }
            Reached::Between(state) => {
                self.changed.get_or_insert(now);
                state
            }
        };
        let is_last = state.is_same(&self.last().state);
        let is_complete = self.changed.is_none() && self.goal.is_same(&self.current);
        let target = self.number(numbering, is_last, is_complete, bytes.len());
        let is_new = target != self.last().number;
        if !bytes.is_empty() {
            self.content_at = now;
        }
        self.record(now, target, state);
        self.make_room(now, trust);
        Composed {
            source,
            target,
            is_new,
            throwaway,
            difference: bytes,
        }
    }

    /// Makes the difference from the acknowledged state once more; `None` if there is none, or it is longer than
    /// the budget. It counts as no send of content: nothing waits for its sake.
    pub fn compose_copy(&mut self, now: Time, budget: Budget) -> Option<Composed> {
        let missing = self.difference_from(self.first(), budget);
        if missing.bytes.is_empty() || !matches!(missing.reached, Reached::Target) {
            return None;
        }
        let content_at = self.content_at;
        let composed = self.compose(now, Trust::NONE, Numbering::Repeat, budget);
        self.content_at = content_at;
        Some(composed)
    }

    /// Returns how the goal stands to the states that were sent.
    pub fn sync_state(&self, now: Time, trust: Trust) -> SyncState {
        let is_goal = |sent: &Sent<S>| sent.state.is_same(&self.goal);
        if !is_goal(self.last()) {
            let changed = self.changed.unwrap_or(self.last_change);
            SyncState::Unsent { changed }
        } else if !is_goal(self.assumed(now, trust)) {
            SyncState::Unassumed
        } else if !self.sent.iter().all(is_goal) {
            SyncState::Unacknowledged
        } else {
            SyncState::Settled
        }
    }

    /// Makes an empty difference from the state that was sent last, under a new number.
    pub(crate) fn compose_number(&mut self, now: Time) -> Composed {
        let last = self.last();
        let (source, number, state) = (last.number, last.number.next(), last.state.clone());
        self.record(now, number, state);
        Composed {
            source,
            target: number,
            is_new: true,
            throwaway: self.first().number,
            difference: Vec::new(),
        }
    }

    /// Tells whether somebody waits for what has changed since the last send.
    pub(crate) fn is_urgent(&self) -> bool {
        self.goal.is_urgent_after(&self.last().state)
    }

    /// Tells whether what has changed since the last send looks like the whole echo of a key.
    pub(crate) fn is_echo(&self) -> bool {
        self.goal.is_echo_after(&self.last().state)
    }

    /// Returns the object's present state.
    pub fn current(&self) -> &S {
        &self.current
    }

    /// Returns when the object last changed; at first, when the sender was made.
    pub fn last_change(&self) -> Time {
        self.last_change
    }

    /// Returns the newest acknowledged state.
    pub fn acknowledged(&self) -> &S {
        &self.first().state
    }

    /// Returns the number of the newest acknowledged state.
    pub fn acknowledged_number(&self) -> StateNumber {
        self.first().number
    }

    /// Returns when the newest acknowledged state was last sent: so late, at least, the path there and
    /// back worked.
    pub fn acknowledged_sent_at(&self) -> Time {
        self.first().at
    }

    /// Returns the state that was sent last.
    pub fn sent(&self) -> &S {
        &self.last().state
    }

    /// Returns the number of the state that was sent last.
    pub fn sent_number(&self) -> StateNumber {
        self.last().number
    }

    /// Returns when anything was last sent; at first, when the sender was made.
    pub fn sent_at(&self) -> Time {
        self.sent_at
    }

    /// Returns when a difference that was not empty was last sent; at first, when the sender was made.
    pub fn content_at(&self) -> Time {
        self.content_at
    }

    /// Takes note that content was to be sent and none could be: it has its next try after the same pause.
    pub(crate) fn note_try(&mut self, now: Time) {
        self.content_at = now;
    }

    /// Returns how many sent states are kept.
    pub fn count(&self) -> usize {
        self.sent.len()
    }

    /// Returns how much memory the sent states hold, as they [say](Synced::held_bytes) themselves.
    pub fn held_bytes(&self) -> usize {
        self.sent
            .iter()
            .fold(0, |sum, sent| sum.saturating_add(sent.bytes))
    }

    /// Returns the state that the peer is thought to hold.
    ///
    /// Source: docs/protocol.md §5.3: from the acknowledged state on, as long as one was sent a short
    /// while ago. A change of the path is ours. A state that was forgotten ends the walk where it would
    /// have: if it was lost, those that start from it are of no use to the peer. Nothing
    /// [starts](Self::choose) from mere numbers behind the acknowledged state, so on a clean path they do not end it.
    fn assumed(&self, now: Time, trust: Trust) -> &Sent<S> {
        let first = self.first();
        let unacknowledged = self.sent.iter().skip(1);
        let is_mere_number =
            |sent: &&Sent<S>| !trust.is_lossy && !sent.is_probe && sent.state.is_same(&first.state);
        let is_trusted = |sent: &&Sent<S>| {
            !sent.is_probe && trust.covers(now, sent.at) && trust.covers(now, sent.waiting_since)
        };
        let trusted = unacknowledged
            .skip_while(is_mere_number)
            .take_while(is_trusted);
        trusted.last().unwrap_or(first)
    }

    /// Makes the difference from the assumed state or, if that costs hardly more, from the
    /// acknowledged one: then small changes need no particular datagram to arrive.
    ///
    /// An empty difference is never preferred to one with content. It could only come from an object
    /// that is as it was when it was acknowledged, and the peer, which may have another state
    /// meanwhile, would not hurry to acknowledge it.
    ///
    /// Source: docs/protocol.md §5.3.
    fn choose(&self, now: Time, trust: Trust, budget: Budget) -> (StateNumber, Difference<S>) {
        let (first, assumed) = (self.first(), self.assumed(now, trust));
        let resend = self.difference_from(first, budget);
        let is_complete = matches!(resend.reached, Reached::Target);
        // Of most changes that are small the usual difference need not be known.
        if assumed.number == first.number || is_complete && is_always_preferred(resend.bytes.len())
        {
            return (first.number, resend);
        }
        let usual = self.difference_from(assumed, budget);
        if is_complete && is_preferred(resend.bytes.len(), usual.bytes.len()) {
            (first.number, resend)
        } else {
            (assumed.number, usual)
        }
    }

    /// Returns the difference, and stands by the budget where the object does not.
    fn difference_from(&self, source: &Sent<S>, budget: Budget) -> Difference<S> {
        let difference = self.goal.diff_from(&source.state, budget);
        if budget.allows(difference.bytes.len()) {
            return difference;
        }
        Difference {
            bytes: Vec::new(),
            reached: Reached::Between(source.state.clone()),
        }
    }

    /// Finds the number for a state that may be the one which was sent last.
    fn number(
        &self,
        numbering: Numbering,
        is_last: bool,
        is_complete: bool,
        bytes: usize,
    ) -> StateNumber {
        let last = self.last().number;
        // The first states of a server come after each other without a pause, and are known by number.
        let is_opening = last.get() < OPENING_STATES_MAX;
        match numbering {
            // No state can follow MAX, so it has to be the whole object.
            Numbering::Shutdown if is_complete => StateNumber::SHUTDOWN,
            // An empty difference takes a new number, since the peer counts nothing as a sign of
            // life but a new state (docs/protocol.md §5.2).
            Numbering::Repeat if is_last && bytes > 0 => last,
            // Leaves numbers for probes that do not take a peer back which has this state
            // (docs/protocol.md §5.4).
            _ if bytes > PROBE_DIFFERENCE_BYTES && !is_opening => {
                last.after(numbers_left_out(bytes))
            }
            Numbering::Repeat | Numbering::New | Numbering::Shutdown => last.next(),
        }
    }

    fn record(&mut self, now: Time, number: StateNumber, state: S) {
        self.sent_at = now;
        let last = self.last_mut();
        if last.number == number {
            last.at = now;
            last.waiting_since = now;
            // A probe that is sent again as a whole state: later differences may start from it.
            last.is_probe = false;
            return;
        }
        let next = last.number.next();
        let mut sent = Sent::new(now, number, state);
        // No probes are sent in a shutdown, so the numbers below MAX are of no use.
        if number != StateNumber::SHUTDOWN {
            sent.unused = next..number;
        }
        self.enter(sent);
    }

    /// Adds a state behind the last one.
    fn enter(&mut self, sent: Sent<S>) {
        self.sent.push_back(sent);
        self.measure(self.sent.len() - 1);
        if self.sent.len() > SENT_STATES_MAX {
            self.forget(self.sent.len() - SENT_STATE_DROPPED_FROM_END);
        }
    }

    /// Forgets a state that is neither the first nor the last.
    fn forget(&mut self, index: usize) -> Option<Sent<S>> {
        let gone = self.sent.remove(index)?;
        if let Some(next) = self.sent.get_mut(index)
            // Only one of the two ranges can be kept: between them lies a number that was used.
            && next.unused.is_empty()
        {
            next.unused = gone.unused.clone();
        }
        self.measure(index);
        Some(gone)
    }

    /// Forgets states between the first and the last until the rest is within [`SENT_BYTES_MAX`].
    fn make_room(&mut self, now: Time, trust: Trust) {
        while self.sent.len() > 2 && self.held_bytes() > self.bytes_max {
            let index = self.least_useful(now, trust);
            let Some(gone) = self.forget(index) else {
                return;
            };
            // The walk to the assumed state has to end where it would have ended with the forgotten
            // one (docs/protocol.md §5.3).
            if let Some(next) = self.sent.get_mut(index) {
                next.waiting_since = next.waiting_since.min(gone.waiting_since);
            }
        }
    }

    /// Returns the place of the state that is the smallest loss. The peer has to happen to acknowledge
    /// one that is kept. Of those sent so long ago that they must be lost this is not expected, so they
    /// go first; of the others the last goes, so that the older ones stay until they are answered.
    ///
    /// Considered: always the oldest, which meets no peer farther away than what there is room for; and
    /// the one with the closest neighbours in time, which does no better than this.
    fn least_useful(&self, now: Time, trust: Trust) -> usize {
        let last_between = self.sent.len() - 2;
        let is_overdue = |sent: &Sent<S>| sent.at != now && !trust.covers(now, sent.at);
        let oldest = self.sent.range(1..=last_between).position(is_overdue);
        oldest.map_or(last_between, |oldest| oldest + 1)
    }

    fn measure_all(&mut self) {
        (0..self.sent.len()).for_each(|index| self.measure(index));
    }

    /// Reckons anew what the state at that place holds beside the one before it.
    fn measure(&mut self, index: usize) {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.sent.get(before));
        let Some(sent) = self.sent.get(index) else {
            return;
        };
        let bytes = sent.state.held_bytes(before.map(|before| &before.state));
        if let Some(sent) = self.sent.get_mut(index) {
            sent.bytes = bytes;
        }
    }

    fn forget_acknowledged(&mut self) {
        let held = self.first().state.clone();
        for sent in &mut self.sent {
            sent.state.forget_before(&held);
        }
        self.measure_all();
        self.current.forget_before(&held);
        self.goal.forget_before(&held);
    }

    /// Sets the goal: as much of the current state as the window allows.
    fn aim(&mut self, now: Time) {
        self.goal = self.within_window();
        if self.goal.is_same(&self.last().state) {
            self.changed = None;
        } else {
            self.changed.get_or_insert(now);
        }
    }

    fn within_window(&self) -> S {
        if self.window == Budget::UNLIMITED {
            return self.current.clone();
        }
        let ahead = self.current.diff_from(&self.first().state, self.window);
        match ahead.reached {
            Reached::Target => self.current.clone(),
            Reached::Between(state) => state,
        }
    }

    fn first(&self) -> &Sent<S> {
        self.sent
            .front()
            .expect("the acknowledged state is always kept")
    }

    fn last(&self) -> &Sent<S> {
        self.sent
            .back()
            .expect("the acknowledged state is always kept")
    }

    fn last_mut(&mut self) -> &mut Sent<S> {
        self.sent
            .back_mut()
            .expect("the acknowledged state is always kept")
    }
}

/// Tells whether a difference of `resend` bytes from the acknowledged state is worth more than one
/// of `usual` bytes from the assumed state.
///
/// Source: docs/protocol.md §5.3.
fn is_preferred(resend: usize, usual: usize) -> bool {
    if resend == 0 {
        return usual == 0;
    }
    resend <= usual || (resend < PROSPECTIVE_BYTES_MAX && resend < usual + PROSPECTIVE_EXTRA_BYTES)
}

/// Tells whether it is, however long the usual difference may be.
fn is_always_preferred(resend: usize) -> bool {
    resend > 0 && is_preferred(resend, 0)
}

mod chain;
mod probe;

#[cfg(test)]
mod tests;
