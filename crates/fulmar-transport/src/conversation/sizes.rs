//! Finds how long datagrams may be by what is acknowledged.
//!
//! Source: docs/protocol.md §3.6.

use fulmar_base::Time;

use super::Conversation;
use crate::black_hole::{Arrived, Departed};
use crate::counters::tick;
use crate::instruction::Numbers;
use crate::outbox::{Cost, Outgoing};
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

    /// Takes note of how long an instruction was on its way.
    pub(super) fn note_length(&mut self, now: Time, outgoing: &Outgoing, cost: Cost) {
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

    /// Tells whether it is time to send something short, to see whether long datagrams are lost for their length.
    pub(super) fn wants_short(&self, now: Time) -> bool {
        let timeout = self.clock.round_trip().timeout();
        self.path_mtu.wants_short(now, timeout, self.loss.share())
    }
}
