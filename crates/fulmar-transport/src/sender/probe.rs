//! A small difference to a peer of which it is not known what it has got.

use fulmar_base::Time;

use super::{Composed, Numbering, Probed, Sender, Sent, Trust};
use crate::limits::{PROBE_DIFFERENCE_BYTES, SENT_STATE_DROPPED_FROM_END, SENT_STATES_MAX};
use crate::{Budget, Difference, Reached, StateNumber, Synced};

const BUDGET: Budget = Budget::of_bytes(PROBE_DIFFERENCE_BYTES);

/// A difference from one of the kept states, and where it leads.
struct Step<S> {
    source: StateNumber,
    bytes: Vec<u8>,
    state: S,
}

impl<S: Synced> Sender<S> {
    /// Makes a difference of at most [`PROBE_DIFFERENCE_BYTES`], and enters its target among the sent
    /// states. All that is missing goes if it is as short as that.
    ///
    /// What was sent in vain may have arrived all the same, and its acknowledgement been lost. So there
    /// are two kinds, in turns:
    ///
    /// ```text
    ///  acknowledged  beginning      last                 goal
    ///      │             │            │                    │
    ///     [7] ─────────►[8] ╶╶╶╶╶╶╶╶ [24] ──────►[25] ╶╶╶╶►│
    ///          the peer has 7          the peer has 24
    /// ```
    ///
    /// The peer takes the one for its newest state that starts from what it has, and acknowledges it at
    /// once, since it has content. Neither leads back, whatever the peer has: the number of the first is
    /// one of those that were left out before 24. Where nothing as short can be made, nothing but a
    /// number is sent.
    ///
    /// Source: docs/protocol.md §5.4.
    pub fn compose_probe(&mut self, now: Time) -> Composed {
        let missing = self.difference_from(self.first(), BUDGET);
        if matches!(missing.reached, Reached::Target) {
            return self.compose(now, Trust::NONE, Numbering::New, BUDGET);
        }
        let probe = match self.probed {
            Probed::End => self.beginning(now).or_else(|| self.end(now)),
            Probed::Beginning => self.end(now).or_else(|| self.beginning(now)),
        };
        probe.unwrap_or_else(|| self.nothing_but_a_number(now))
    }

    /// Tells whether a probe could lead from the acknowledged state on, so that its acknowledgement says that nothing else
    /// has arrived.
    pub(crate) fn has_beginning(&self) -> bool {
        let missing = self.difference_from(self.first(), BUDGET);
        if matches!(missing.reached, Reached::Target) {
            return true;
        }
        let Some(index) = self.first_far() else {
            return false;
        };
        let is_repeated = index
            .checked_sub(1)
            .and_then(|before| self.sent.get(before))
            .is_some_and(|before| self.is_beginning(before));
        is_repeated
            || self
                .sent
                .get(index)
                .is_some_and(|far| !far.unused.is_empty())
    }

    /// Returns the place of the first state that is far from the acknowledged one.
    fn first_far(&self) -> Option<usize> {
        let is_far = |sent: &Sent<S>| {
            let difference = self.difference_from_to(self.first(), &sent.state);
            matches!(difference.reached, Reached::Between(_))
        };
        self.sent.iter().position(is_far)
    }

    /// Tells whether a state is one that a probe has led to from the acknowledged one.
    fn is_beginning(&self, sent: &Sent<S>) -> bool {
        sent.is_probe && !sent.state.is_same(&self.first().state)
    }

    /// Leads from the acknowledged state a short way towards the first one that is far from it.
    fn beginning(&mut self, now: Time) -> Option<Composed> {
        let index = self.first_far()?;
        let (before, far) = (self.sent.get(index.checked_sub(1)?)?, self.sent.get(index)?);
        // The last probe of this kind stands there already. It goes out again, under the same
        // number.
        let is_repeated = self.is_beginning(before);
        let (number, goal) = if is_repeated {
            (before.number, before.state.clone())
        } else {
            (far.unused.start, far.state.clone())
        };
        // No number is left below the far state, and one above it would take a peer back that has
        // that state.
        if !is_repeated && far.unused.is_empty() {
            return None;
        }
        let step = step(self.first(), &goal)?;
        if is_repeated && !step.state.is_same(&goal) {
            // Of one number there is one state.
            return None;
        }
        self.probed = Probed::Beginning;
        self.sent_at = now;
        if is_repeated {
            self.sent.get_mut(index - 1)?.at = now;
        } else {
            self.sent.get_mut(index)?.unused.start = number.next();
            self.insert_probe(now, index, probe(now, number, step.state));
        }
        Some(self.composed(step.source, number, false, step.bytes))
    }

    /// Leads from the newest state that was sent as it should be a short way towards the goal.
    fn end(&mut self, now: Time) -> Option<Composed> {
        let source = self.sent.iter().rev().find(|sent| !sent.is_probe);
        let step = step(source.unwrap_or(self.first()), &self.goal)?;
        if step.state.is_same(&self.goal) {
            self.changed = None;
        }
        self.probed = Probed::End;
        Some(self.append_probe(now, step))
    }

    fn nothing_but_a_number(&mut self, now: Time) -> Composed {
        let last = self.last();
        let step = Step {
            source: last.number,
            bytes: Vec::new(),
            state: last.state.clone(),
        };
        self.append_probe(now, step)
    }

    fn append_probe(&mut self, now: Time, step: Step<S>) -> Composed {
        let number = self.last().number.next();
        self.sent_at = now;
        let composed = self.composed(step.source, number, true, step.bytes);
        self.enter(probe(now, number, step.state));
        self.make_room(now, Trust::NONE);
        composed
    }

    /// Enters a state between others. For lack of room one goes that is not the new one.
    fn insert_probe(&mut self, now: Time, index: usize, sent: Sent<S>) {
        self.sent.insert(index, sent);
        if self.sent.len() > SENT_STATES_MAX {
            let goes = self.sent.len() - SENT_STATE_DROPPED_FROM_END;
            self.forget(goes + usize::from(goes == index));
        }
        self.measure_all();
        self.make_room(now, Trust::NONE);
    }

    fn composed(
        &self,
        source: StateNumber,
        target: StateNumber,
        is_new: bool,
        difference: Vec<u8>,
    ) -> Composed {
        Composed {
            source,
            target,
            is_new,
            throwaway: self.first().number,
            difference,
        }
    }

    fn difference_from_to(&self, source: &Sent<S>, state: &S) -> Difference<S> {
        state.diff_from(&source.state, BUDGET)
    }
}

fn probe<S>(now: Time, number: StateNumber, state: S) -> Sent<S> {
    Sent {
        is_probe: true,
        ..Sent::new(now, number, state)
    }
}

/// Returns as much of the way from a sent state to another state as a probe can carry, if it is any.
fn step<S: Synced>(source: &Sent<S>, goal: &S) -> Option<Step<S>> {
    let Difference { bytes, reached } = goal.diff_from(&source.state, BUDGET);
    let state = match reached {
        Reached::Target => goal.clone(),
        Reached::Between(state) => state,
    };
    let is_any = !bytes.is_empty() && BUDGET.allows(bytes.len());
    is_any.then_some(Step {
        source: source.number,
        bytes,
        state,
    })
}
