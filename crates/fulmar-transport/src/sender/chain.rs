//! Cuts what is long into states of one datagram each, for a path that loses datagrams.
//!
//! An instruction of many datagrams is lost if one of them is. So the way from the acknowledged state to the one that
//! is to be sent is cut into *links*, each of which leads from one kept state to the next and fits into a datagram:
//!
//! ```text
//!  acknowledged                                     last
//!      │                                             │
//!     [7] ──► [40] ──► [41] ──► [42] ╶╶╶╶╶╶╶╶╶╶╶╶► [103]
//!                                └ the next link starts here
//! ```
//!
//! The last state is entered first, behind numbers that are left out for those on the way. So a link that is sent again keeps
//! its number and its content, and none takes the peer back. Whatever arrives of it need not be sent again.
//!
//! Source: docs/protocol.md §5.4.

use fulmar_base::Time;

use super::{Composed, Sender, Sent, Trust};
use crate::limits::{
    CHAIN_STATES_MAX, LEFT_OUT_PER_BYTES, NUMBERS_LEFT_OUT, SENT_STATES_MAX, VAIN_ROUNDS_MAX,
};
use crate::{Budget, Difference, Reached, StateNumber, Synced};

/// The progress of the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainState {
    /// There are none.
    None,
    /// One can be sent.
    Ready,
    /// One is to be sent as soon as others have been acknowledged.
    Blocked,
    /// All were sent, and some are not acknowledged.
    Sent,
}

/// The success of sending links, round by round.
///
/// Where the peer has a state that was forgotten here, links before that get nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// True if something was acknowledged in this round.
    is_fruitful: bool,
    /// The count of rounds one after the other that got nowhere.
    vain: u32,
}

impl Rounds {
    pub(super) fn acknowledged(&mut self) {
        *self = Rounds {
            is_fruitful: true,
            vain: 0,
        };
    }

    fn judge(&mut self) {
        if !std::mem::take(&mut self.is_fruitful) {
            self.vain = self.vain.saturating_add(1);
        }
    }

    fn are_given_up(self) -> bool {
        self.vain >= VAIN_ROUNDS_MAX
    }
}

impl<S: Synced> Sender<S> {
    /// Tells whether the next difference would be longer than the budget.
    pub(crate) fn is_long(&self, now: Time, trust: Trust, budget: Budget) -> bool {
        let (_, difference) = self.choose(now, trust, budget);
        !matches!(difference.reached, Reached::Target)
    }

    /// Tells whether links have not helped to get through what is missing.
    pub(crate) fn has_given_up_links(&self) -> bool {
        self.rounds.are_given_up()
    }

    /// Takes note that links have to be sent again to a peer that was heard meanwhile.
    pub(crate) fn judge_links(&mut self) {
        self.rounds.judge();
    }

    /// Begins to send links, up to the goal, from the state on that the peer is thought to hold.
    pub(crate) fn begin_chain(&mut self, now: Time, trust: Trust) {
        let source = self.assumed(now, trust).number;
        if self.goal.is_same(&self.last().state) {
            self.chain_base = self
                .sent
                .iter()
                .rev()
                .nth(1)
                .map_or(source, |sent| sent.number);
        } else {
            self.chain_base = self.last().number;
            let missing = self.difference_from(self.last(), Budget::UNLIMITED);
            let before = self.last().number;
            let number = before.after(numbers_left_out(missing.bytes.len()));
            let mut sent = link(now, number, self.goal.clone());
            sent.unused = before.next()..number;
            self.enter(sent);
            self.changed = None;
        }
        self.next_link = Some(source);
    }

    /// Begins to send the links again that have not been acknowledged, or new ones if the goal has changed and states may be
    /// skipped.
    pub(crate) fn repeat_chain(&mut self, now: Time, skips: bool) {
        if skips && !self.goal.is_same(&self.last().state) {
            self.begin_chain(now, Trust::NONE);
        }
        self.repeated_at = now;
        self.next_link = Some(self.first().number);
    }

    /// Sends no more links for now.
    pub(crate) fn pause_chain(&mut self) {
        self.next_link = None;
    }

    /// Returns how the links stand. Where nothing is missing there are none: a peer does not hurry to acknowledge what is
    /// empty.
    pub(crate) fn chain_state(&self) -> ChainState {
        if self.first().state.is_same(&self.last().state) {
            return ChainState::None;
        }
        let Some(source) = self.next_link else {
            let has_links = self.sent.iter().skip(1).any(|sent| sent.is_link);
            return if has_links {
                ChainState::Sent
            } else {
                ChainState::None
            };
        };
        // The last but one leads to new states.
        let is_repeated = self.sent.iter().rev().nth(1);
        let is_repeated = is_repeated.is_some_and(|sent| source < sent.number);
        if is_repeated || self.sent.len() < CHAIN_STATES_MAX {
            ChainState::Ready
        } else {
            ChainState::Blocked
        }
    }

    /// Returns when the oldest link was sent that is not acknowledged, or all of them again.
    pub(crate) fn oldest_link_at(&self) -> Time {
        let mut links = self.sent.iter().skip(1).filter(|sent| sent.is_link);
        let oldest = links.next().map_or(self.sent_at, |sent| sent.at);
        oldest.max(self.repeated_at)
    }

    /// Makes the next link, of a difference within the budget unless no numbers are left for it; `None` if there is none.
    ///
    /// An object that grows, such as what somebody types, goes through all its states: to a peer one that is newer by
    /// its number must not be older by what it holds. Others may skip those that are no links.
    pub(crate) fn compose_link(
        &mut self,
        now: Time,
        budget: Budget,
        skips: bool,
    ) -> Option<Composed> {
        let source = self.next_link?;
        // That may be acknowledged or forgotten meanwhile.
        let after = self.sent.partition_point(|sent| sent.number <= source);
        let source = after.saturating_sub(1);
        let Some((target, Difference { bytes, reached })) = self.next_step(source, budget, skips)
        else {
            self.next_link = None;
            return None;
        };
        if let Reached::Between(state) = reached {
            self.insert_link(now, target, state);
        }
        let (source, throwaway) = (self.sent.get(source)?.number, self.first().number);
        let last = self.last().number;
        let sent = self.sent.get_mut(target)?;
        let number = sent.number;
        // One before the last proves nothing by its number (docs/threat-model.md §7).
        let is_new = sent.is_probe && number == last;
        (sent.at, sent.waiting_since) = (now, now);
        (sent.is_probe, sent.is_link) = (false, true);
        self.next_link = (number < last).then_some(number);
        (self.sent_at, self.content_at) = (now, now);
        self.make_room(now, Trust::NONE);
        Some(Composed {
            source,
            target: number,
            is_new,
            throwaway,
            difference: bytes,
        })
    }

    /// Returns where the link from the state at `source` leads, and its difference: to the farthest state that the budget
    /// reaches without a longer step between, else as far towards the next one as the budget goes. One that lies behind
    /// the source, as a probe may have left it, is passed over.
    fn next_step(
        &self,
        source: usize,
        budget: Budget,
        skips: bool,
    ) -> Option<(usize, Difference<S>)> {
        let last = self.sent.len() - 1;
        let source_state = &self.sent.get(source)?.state;
        let mut farthest = None;
        for (index, sent) in self.sent.iter().enumerate().skip(source + 1) {
            let is_older = !sent.is_link || sent.number <= self.chain_base;
            if skips && is_older && index != last {
                continue;
            }
            let difference = sent.state.diff_from(source_state, budget);
            if matches!(difference.reached, Reached::Target) {
                // The peer does not hurry to acknowledge a difference that is empty.
                if !difference.bytes.is_empty() || index == last {
                    farthest = Some((index, difference));
                }
            } else if farthest.is_some() {
                break;
            } else if !difference.bytes.is_empty() && self.has_room_before(sent) {
                return Some((index, difference));
            } else {
                let whole = sent.state.diff_from(source_state, Budget::UNLIMITED);
                if matches!(whole.reached, Reached::Target) {
                    return Some((index, whole));
                }
            }
        }
        farthest
    }

    /// Tells whether a state can be entered before that one.
    fn has_room_before(&self, sent: &Sent<S>) -> bool {
        self.sent.len() < SENT_STATES_MAX && !sent.unused.is_empty()
    }

    /// Enters a state before the one at `index`, under one of the numbers that were left out there.
    fn insert_link(&mut self, now: Time, index: usize, state: S) {
        let Some(next) = self.sent.get_mut(index) else {
            return;
        };
        let unused = next.unused.clone();
        let number = unused
            .start
            .after(NUMBERS_LEFT_OUT - 1)
            .min(unused.end.before());
        next.unused.start = number.next();
        let mut sent = link(now, number, state);
        sent.unused = unused.start..number;
        self.sent.insert(index, sent);
        self.measure(index);
        self.measure(index + 1);
    }
}

/// Returns a state that nothing starts from before it is sent.
fn link<S>(now: Time, number: StateNumber, state: S) -> Sent<S> {
    Sent {
        is_probe: true,
        is_link: true,
        ..Sent::new(now, number, state)
    }
}

/// Returns how many numbers are left out for the states on the way to one that is so many bytes away: enough for links, and
/// for the probes before each.
pub(super) fn numbers_left_out(bytes: usize) -> u64 {
    (bytes as u64 / LEFT_OUT_PER_BYTES).max(NUMBERS_LEFT_OUT)
}
