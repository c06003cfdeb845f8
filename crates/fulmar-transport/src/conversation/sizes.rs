//! Finds how long datagrams may be: by what is acknowledged, and by probes.
//!
//! Source: docs/protocol.md §3.6 and §13.10.

use fulmar_base::Time;
use fulmar_datagram::Sequence;

use super::Conversation;
use crate::allowance::Allowance;
use crate::black_hole::{Arrived, Departed};
use crate::cause::Cause;
use crate::counters::tick;
use crate::dialect::Dialect;
use crate::extensions::Extensions;
use crate::instruction::Numbers;
use crate::outbox::{Cost, Outgoing};
use crate::sender::ChainState;
use crate::timing::is_active;
use crate::{StateNumber, Synced};

impl<L: Synced, R: Synced> Conversation<L, R> {
    /// Takes note of what an acknowledgement tells of datagrams that are too long.
    pub(super) fn judge_length(&mut self, now: Time, number: StateNumber) {
        let round_trip = self.clock.round_trip();
        let is_black_hole = self.path_mtu.acknowledged(Arrived {
            now,
            number,
            round_trip: round_trip.smoothed(),
            timeout: round_trip.timeout(),
            loss: self.loss.share(),
        });
        if is_black_hole {
            tick(&mut self.counters.black_holes);
        }
    }

    /// Takes note of how long an instruction was on its way. A probe is longer than what is known to pass.
    pub(super) fn note_length(&mut self, now: Time, outgoing: &Outgoing, cost: Cost) {
        if outgoing.padded_to.is_some() {
            return;
        }
        let Numbers { source, target, .. } = outgoing.numbers;
        self.path_mtu.sent(Departed {
            at: now,
            source,
            target,
            acknowledged: self.sender.acknowledged_number(),
            longest: cost.longest,
            datagrams: cost.datagrams,
        });
    }

    /// Tells whether something short is sent for that cause, to see whether long datagrams are lost for their length. Where
    /// nothing short can show that, they are taken for lost after a while: shorter ones cost little.
    pub(super) fn asks_shortly(&mut self, now: Time, cause: Cause) -> bool {
        let is_retry =
            matches!(cause, Cause::Resend | Cause::Retry) && self.closing.own().is_none();
        let (timeout, loss) = (self.clock.round_trip().timeout(), self.loss.share());
        if !is_retry || !self.path_mtu.wants_short(now, timeout, loss) {
            return false;
        }
        let can_ask = self.sender.has_beginning();
        if can_ask {
            self.path_mtu.ask_shortly();
        } else if self
            .path_mtu
            .presume(now, timeout, loss, self.liveness.arrived)
        {
            tick(&mut self.counters.black_holes);
        }
        can_ask
    }

    fn uses_sizes(&self) -> bool {
        self.agrees_on_sizes && self.handshake.dialect() == Dialect::Native
    }

    /// Takes note of a probe of the path's MTU, and of the answer to one of ours.
    pub(super) fn hear_probe(&mut self, now: Time, sequence: Sequence, extensions: Extensions<'_>) {
        if !self.uses_sizes() {
            return;
        }
        if extensions.padding.is_some() {
            self.probe_answer.hear(now, sequence);
        }
        if let Some(probed) = extensions.probed {
            self.path_mtu.probe_answered(now, probed);
        }
    }

    /// Begins the next probe. Returns how long it is; `None` if there is nothing left to try.
    pub(super) fn begin_size_probe(&mut self, now: Time) -> Option<usize> {
        let timeout = self.clock.round_trip().timeout();
        self.path_mtu
            .begin_probe(now, timeout, self.liveness.arrived)
    }

    /// Returns when a probe of the path's MTU is to be sent: on a path that works, is validated and has room, and not among
    /// links, which would have to begin anew.
    pub(super) fn size_probe_due(&self, now: Time) -> Option<Time> {
        let is_possible = self.paths.allowance() == Allowance::Unlimited
            && self.liveness.path_probe.is_none()
            && self.chain() == ChainState::None;
        if !is_possible {
            return None;
        }
        let due = self
            .path_mtu
            .probe_due(self.clock.round_trip().timeout())?
            .max(self.window_opens(now).unwrap_or(now));
        is_active(due, self.silent_since()).then_some(due)
    }
}
