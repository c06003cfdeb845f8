//! Our object: its present state, and the states that the peer may have of it.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_datagram::Time;

use crate::limits::{
    PROSPECTIVE_BYTES_MAX, PROSPECTIVE_EXTRA_BYTES, RETRY_MARGIN, SENT_STATE_DROPPED_FROM_END,
    SENT_STATES_MAX,
};
use crate::{Budget, Difference, Reached, StateNumber, Synced};

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
    current: S,
    /// The state that the peer is to have: `current`, or as much of it as the window allows.
    goal: S,
    window: Budget,
    /// The time at which `goal` became different from the last sent state.
    changed: Option<Time>,
    /// The time of the object's last change of any kind.
    last_change: Time,
}

#[derive(Clone, Debug)]
struct Sent<S> {
    number: StateNumber,
    at: Time,
    state: S,
}

/// How the goal stands to the states that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not the one that was sent last.
    Unsent {
        /// Since when.
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
/// ago on the present way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The round trip's [timeout](crate::RoundTrip::timeout), after which something is thought lost.
    pub timeout: Duration,
    /// Since when the way has not changed. What was sent earlier went another way.
    pub since: Time,
}

impl Trust {
    /// None of them.
    pub const NONE: Trust = Trust {
        timeout: Duration::ZERO,
        since: Time::from_origin(Duration::MAX),
    };

    fn covers(self, now: Time, sent_at: Time) -> bool {
        sent_at >= self.since && now.since(sent_at) < self.timeout + RETRY_MARGIN
    }
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
            number: StateNumber::ZERO,
            at: now,
            state: initial.clone(),
        };
        Sender {
            sent: VecDeque::from([zero]),
            goal: initial.clone(),
            current: initial,
            window,
            changed: None,
            last_change: now,
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

    /// Takes note that the peer holds the state of that number, if it is one that we keep.
    pub fn acknowledge(&mut self, now: Time, number: StateNumber) -> Acknowledged {
        match self.sent.binary_search_by_key(&number, |sent| sent.number) {
            Err(_) => Acknowledged::Unknown,
            Ok(0) => Acknowledged::Known,
            Ok(place) => {
                self.sent.drain(..place);
                self.forget_acknowledged();
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
        let target = self.number(numbering, is_last, is_complete, bytes.is_empty());
        let is_new = target != self.last().number;
        self.record(now, target, state);
        Composed {
            source,
            target,
            is_new,
            throwaway,
            difference: bytes,
        }
    }

    /// Returns how the goal stands to the states that were sent.
    pub fn standing(&self, now: Time, trust: Trust) -> Standing {
        let is_goal = |sent: &Sent<S>| sent.state.is_same(&self.goal);
        if !is_goal(self.last()) {
            let changed = self.changed.unwrap_or(self.last_change);
            Standing::Unsent { changed }
        } else if !is_goal(self.assumed(now, trust)) {
            Standing::Unassumed
        } else if !self.sent.iter().all(is_goal) {
            Standing::Unacknowledged
        } else {
            Standing::Settled
        }
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

    /// Returns when the newest acknowledged state was last sent: so late, at least, the way there and
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
        self.last().at
    }

    /// Returns how many sent states are kept.
    pub fn count(&self) -> usize {
        self.sent.len()
    }

    /// Returns the state that the peer is thought to hold.
    ///
    /// Source: docs/protocol.md §5.3: from the acknowledged state on, as long as one was sent a short
    /// while ago. A change of the way is ours.
    fn assumed(&self, now: Time, trust: Trust) -> &Sent<S> {
        let unacknowledged = self.sent.iter().skip(1);
        let trusted = unacknowledged.take_while(|sent| trust.covers(now, sent.at));
        trusted.last().unwrap_or(self.first())
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
        is_empty: bool,
    ) -> StateNumber {
        let last = self.last().number;
        match numbering {
            Numbering::Shutdown if is_complete => StateNumber::SHUTDOWN,
            Numbering::Repeat if is_last && !is_empty => last,
            Numbering::Repeat | Numbering::New | Numbering::Shutdown => last.next(),
        }
    }

    fn record(&mut self, now: Time, number: StateNumber, state: S) {
        let last = self.last_mut();
        if last.number == number {
            last.at = now;
            return;
        }
        self.sent.push_back(Sent {
            number,
            at: now,
            state,
        });
        if self.sent.len() > SENT_STATES_MAX {
            self.sent
                .remove(self.sent.len() - SENT_STATE_DROPPED_FROM_END);
        }
    }

    fn forget_acknowledged(&mut self) {
        let held = self.first().state.clone();
        for sent in &mut self.sent {
            sent.state.forget_before(&held);
        }
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

#[cfg(test)]
mod tests;
