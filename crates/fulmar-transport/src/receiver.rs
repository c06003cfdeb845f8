//! The peer's object, in the versions that the peer may start from.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;

use crate::instruction::Numbers;
use crate::limits::{PLEDGED_STATES_MAX, RECEIVED_BYTES_MAX, RECEIVED_STATES_MAX};
use crate::{ApplyError, StateNumber, Synced, WorkBudget};

/// Holds received states and makes new ones of them.
///
/// ```text
///  floor                                      newest
///    │                                          │
///   [4]   [9]   [12]   [13]   [20]   [21]     [22]        in order of their numbers
///    │           │                    │
///    │           └────── pledged ─────┘
///    └── the oldest that the peer may start from (throwaway)
/// ```
///
/// The peer may start a difference from the floor, from a state that it knows to be acknowledged, and
/// from one that it hopes has arrived. Only the last kind may be forgotten for lack of room: to the
/// peer it looks as if it was lost. But if it came to start from an acknowledged state that is gone,
/// every difference would miss its source, and the two ends would never meet again.
///
/// So what we acknowledge is *pledged*, and stays until the peer lets it go, or until it has seen our
/// acknowledgement and not made use of it: then it does not keep that state any more and cannot start
/// from it. The pledges under way are few and spread over a round trip; in between the last one is
/// repeated.
///
/// Source: docs/protocol.md §5.2, docs/threat-model.md §6.
#[derive(Clone, Debug)]
pub struct Receiver<S> {
    /// Never empty. Each entry's `bytes` is what it holds beside the entry before it.
    held: VecDeque<Held<S>>,
    acknowledged: StateNumber,
    pledged_at: Time,
    /// The time that it lately took to settle a pledge: about a round trip.
    settling: Duration,
    bytes_max: usize,
}

#[derive(Clone, Debug)]
struct Held<S> {
    number: StateNumber,
    state: S,
    bytes: usize,
    pledge: Option<Pledge>,
}

/// A promise to keep a state.
#[derive(Clone, Copy, Debug)]
struct Pledge {
    at: Time,
    /// The state of ours with which the acknowledgement went out. Once the peer has it, it has seen
    /// the acknowledgement.
    carried_by: StateNumber,
}

/// The new states of the peer that are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intake {
    /// All of them.
    #[default]
    Open,
    /// None, unless they change nothing or end the conversation: it is as if the others had been
    /// lost, and the peer will send them again.
    Held,
}

/// The outcome of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateOutcome {
    /// It made the newest state.
    Newest,
    /// It made a state, but a newer one was there.
    Behind,
    /// The state was there already.
    Duplicate,
}

/// The reason why an instruction made no state. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The throwaway number is above the source, or the target below it.
    #[error("the numbers of the instruction contradict each other")]
    BadNumbers,
    /// The source is not held: lost, forgotten, or never sent.
    #[error("the source of the difference is not held")]
    SourceMissing,
    /// The [intake](Intake) is held.
    #[error("no new states are taken at present")]
    Held,
    /// The object does not understand the difference.
    #[error("the difference does not apply: {0}")]
    BadDifference(ApplyError),
}

impl<S: Synced> Receiver<S> {
    /// Returns a receiver that holds state 0.
    pub fn new(now: Time, initial: S) -> Receiver<S> {
        let bytes = initial.held_bytes(None);
        let zero = Held {
            number: StateNumber::ZERO,
            state: initial,
            bytes,
            pledge: None,
        };
        Receiver {
            held: VecDeque::from([zero]),
            acknowledged: StateNumber::ZERO,
            pledged_at: now,
            settling: Duration::ZERO,
            bytes_max: RECEIVED_BYTES_MAX,
        }
    }

    /// Makes the instruction's target of its source, within a budget of work.
    ///
    /// # Errors
    ///
    /// No state was made and nothing changed.
    pub fn accept(
        &mut self,
        now: Time,
        numbers: Numbers,
        difference: &[u8],
        intake: Intake,
        work: &mut WorkBudget,
    ) -> Result<StateOutcome, Refusal> {
        let Numbers {
            source,
            target,
            throwaway,
            ..
        } = numbers;
        if numbers.contradict() {
            return Err(Refusal::BadNumbers);
        }
        self.settle_pledges(now, numbers);
        // Before anything is forgotten, so that a repeated instruction forgets nothing
        // (docs/protocol.md §5.2).
        if self.find(target).is_some() {
            return Ok(StateOutcome::Duplicate);
        }
        let source = self.find(source).ok_or(Refusal::SourceMissing)?;
        if is_unwanted(intake, target, difference) {
            return Err(Refusal::Held);
        }
        // To a copy, and before anything is forgotten: an instruction that does not apply has
        // changed nothing.
        let state = source
            .advanced(difference, work)
            .map_err(Refusal::BadDifference)?;
        self.throw_away_below(throwaway);
        let outcome = self.insert(target, state);
        self.make_room();
        Ok(outcome)
    }

    /// Returns the newest state.
    pub fn newest(&self) -> &S {
        &self.last().state
    }

    /// Returns the number of the newest state.
    pub fn newest_number(&self) -> StateNumber {
        self.last().number
    }

    /// Returns the number to acknowledge in an instruction that is being sent, and from then on
    /// stands by it. `carried_by` is a state of ours that the peer cannot have without having seen
    /// this instruction or a later one.
    pub fn pledge(&mut self, now: Time, carried_by: StateNumber) -> StateNumber {
        let may_pledge = self.may_pledge(now);
        let newest = self.last_mut();
        let number = newest.number;
        let is_new = newest.pledge.is_none();
        // The end is acknowledged at once: nothing comes after it that could carry a later
        // acknowledgement.
        if is_new && (may_pledge || number == StateNumber::SHUTDOWN) {
            newest.pledge = Some(Pledge {
                at: now,
                carried_by,
            });
            self.pledged_at = now;
            self.acknowledged = number;
        }
        self.acknowledged
    }

    /// Returns the number that was last [pledged](Receiver::pledge).
    pub fn acknowledged(&self) -> StateNumber {
        self.acknowledged
    }

    /// Returns how many states above the floor are pledged.
    #[cfg(test)]
    pub(crate) fn pledged_count(&self) -> usize {
        self.pledges().count()
    }

    /// Lets all states forget what lies before the newest, because the application has it.
    pub fn forget_consumed(&mut self) {
        let newest = self.newest().clone();
        for held in &mut self.held {
            held.state.forget_before(&newest);
        }
        for index in 0..self.held.len() {
            self.measure(index);
        }
    }

    /// Returns how many states are held.
    pub fn count(&self) -> usize {
        self.held.len()
    }

    /// Returns how much memory the states hold, as they [say](Synced::held_bytes) themselves.
    pub fn held_bytes(&self) -> usize {
        self.held
            .iter()
            .fold(0, |sum, held| sum.saturating_add(held.bytes))
    }

    /// Tells whether one more state may be pledged: while few are, and not all at once, so that some
    /// of the peer's states of every moment are among them. A peer that sends faster than it hears
    /// of us keeps only some of its states, and must be met there.
    fn may_pledge(&self, now: Time) -> bool {
        let sum_up = |(count, bytes): (usize, usize), held: &Held<S>| {
            (count + 1, bytes.saturating_add(held.bytes))
        };
        let (count, bytes) = self.pledges().fold((0, 0), sum_up);
        let pause = self.settling / PLEDGED_STATES_MAX as u32;
        count < PLEDGED_STATES_MAX
            && bytes <= self.bytes_max / 2
            && now.since(self.pledged_at) >= pause
    }

    fn pledges(&self) -> impl Iterator<Item = &Held<S>> {
        let above_floor = self.held.iter().skip(1);
        above_floor.filter(|held| held.pledge.is_some())
    }

    /// Takes back what was pledged in vain: acknowledged, seen, and still not made the floor.
    ///
    /// An acknowledgement that is overtaken by dozens of others, over a whole round trip, and then
    /// arrives could still be made use of. That is not reckoned with.
    fn settle_pledges(&mut self, now: Time, numbers: Numbers) {
        for held in self.held.iter_mut().skip(1) {
            let Some(Pledge { at, carried_by }) = held.pledge else {
                continue;
            };
            // The peer has made use of it, which tells how long an acknowledgement takes.
            if held.number <= numbers.throwaway {
                self.settling = now.since(at);
            } else if carried_by <= numbers.acknowledged {
                held.pledge = None;
                self.settling = now.since(at);
            }
        }
    }

    fn find(&self, number: StateNumber) -> Option<&Held<S>> {
        let index = self
            .held
            .binary_search_by_key(&number, |held| held.number)
            .ok()?;
        self.held.get(index)
    }

    fn last(&self) -> &Held<S> {
        self.held.back().expect("the floor is always held")
    }

    fn last_mut(&mut self) -> &mut Held<S> {
        self.held.back_mut().expect("the floor is always held")
    }

    /// Forgets what the peer says it will not start from. The source of its difference is held and
    /// not below, so something always remains.
    fn throw_away_below(&mut self, floor: StateNumber) {
        let below = self.held.partition_point(|held| held.number < floor);
        if below > 0 && below < self.held.len() {
            self.held.drain(..below);
            self.measure(0);
        }
    }

    fn insert(&mut self, number: StateNumber, state: S) -> StateOutcome {
        let index = self.held.partition_point(|held| held.number < number);
        let entry = Held {
            number,
            state,
            bytes: 0,
            pledge: None,
        };
        self.held.insert(index, entry);
        self.measure(index);
        // The one after it shares with the new one now.
        self.measure(index + 1);
        if index + 1 == self.held.len() {
            StateOutcome::Newest
        } else {
            StateOutcome::Behind
        }
    }

    /// Forgets states between the floor and the newest until the rest is within the caps.
    fn make_room(&mut self) {
        while self.held.len() > 2
            && (self.held.len() > RECEIVED_STATES_MAX + 1 || self.held_bytes() > self.bytes_max)
        {
            let between = 1..self.held.len() - 1;
            let oldest_free = self
                .held
                .range(between)
                .position(|held| held.pledge.is_none())
                // All are pledged, and memory has a bound all the same: the oldest goes.
                .unwrap_or(0);
            self.held.remove(oldest_free + 1);
            self.measure(oldest_free + 1);
        }
    }

    /// Reckons anew what the state at that place holds beside the one before it.
    fn measure(&mut self, index: usize) {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.held.get(before));
        let Some(held) = self.held.get(index) else {
            return;
        };
        let bytes = held.state.held_bytes(before.map(|before| &before.state));
        if let Some(held) = self.held.get_mut(index) {
            held.bytes = bytes;
        }
    }
}

impl<S: Synced> Held<S> {
    fn advanced(&self, difference: &[u8], work: &mut WorkBudget) -> Result<S, ApplyError> {
        let mut state = self.state.clone();
        if !difference.is_empty() {
            state.apply(difference, work)?;
        }
        Ok(state)
    }
}

/// Tells whether a state is to be treated as lost. What changes nothing costs nothing, and keeps the
/// peer in touch; the end has to be heard in any case.
fn is_unwanted(intake: Intake, target: StateNumber, difference: &[u8]) -> bool {
    intake == Intake::Held && !difference.is_empty() && target != StateNumber::SHUTDOWN
}

#[cfg(test)]
mod tests;
