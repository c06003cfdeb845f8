//! Loss: which part of it is random, and what the rest does to the target delay.
//!
//! What is lost of the packets of ProbeRTT, when the queue is empty, is lost at random, on radio for instance. Only what a
//! round loses beyond that is congestion.

use std::collections::VecDeque;
use std::time::Instant;

/// Loss is excessive beyond the random loss by this share of what was sent and so many standard deviations. Chosen by eye:
/// 1 round of 40 is beyond two by chance, and the share keeps paths quiet on which none was known.
const EXCESS_LOSS_RATE: f64 = 0.005;
const STANDARD_DEVIATIONS: f64 = 2.0;

/// A packet is taken to have so many bytes, the least that a path of QUIC carries (RFC 9000 §14), for the standard deviation.
const PACKET_BYTES: f64 = 1200.0;

/// A round without excessive loss brings back so much of the backoff factor: 32 of them make up for a halving. Chosen by eye.
const BACKOFF_RECOVERY: f64 = 1.0 / 64.0;

/// The backoff factor is at least this. Chosen by eye.
const BACKOFF_MIN: f64 = 1.0 / 16.0;

/// A random loss rate beyond this is not made up for: the window is nearly twice the BDP then. Chosen by eye.
const RANDOM_LOSS_RATE_MAX: f64 = 0.45;

/// The factor by which the losses of earlier ProbeRTT states count with each new one. Chosen by eye: the last
/// four weigh 0.7 of all.
const PROBE_RTT_MEMORY: f64 = 0.75;

/// So many states are remembered: a packet that is older counts for the round. Chosen by eye: a state lasts a round trip at
/// least.
const SPANS_MAX: usize = 4;

/// The time in which the controller was in one state.
#[derive(Clone)]
struct Span {
    began: Instant,
    is_probe_rtt: bool,
}

/// Counts lost bytes of what left in ProbeRTT, and of the round.
#[derive(Clone)]
pub(super) struct LossTracker {
    spans: VecDeque<Span>,
    probe_rtt: LossCounts,
    round: LossCounts,
    backoff: f64,
    is_excessive: bool,
    /// A router has marked a packet of this round (ECN, RFC 3168).
    is_marked: bool,
}

impl Default for LossTracker {
    fn default() -> LossTracker {
        LossTracker {
            spans: VecDeque::new(),
            probe_rtt: LossCounts::default(),
            round: LossCounts::default(),
            backoff: 1.0,
            is_excessive: false,
            is_marked: false,
        }
    }
}

/// Bytes lost of bytes sent.
#[derive(Clone, Copy, Default)]
struct LossCounts {
    lost: f64,
    sent: f64,
}

impl LossCounts {
    fn rate(self) -> f64 {
        if self.sent > 0.0 {
            self.lost / self.sent
        } else {
            0.0
        }
    }
}

impl LossTracker {
    /// Notes that the packets from now on belong to another state.
    pub(super) fn begin_state(&mut self, now: Instant, is_probe_rtt: bool) {
        if is_probe_rtt {
            self.probe_rtt.lost *= PROBE_RTT_MEMORY;
            self.probe_rtt.sent *= PROBE_RTT_MEMORY;
        }
        let began = now;
        self.spans.push_back(Span {
            began,
            is_probe_rtt,
        });
        while self.spans.len() > SPANS_MAX {
            self.spans.pop_front();
        }
    }

    pub(super) fn on_ack(&mut self, sent: Instant, bytes: u64) {
        self.counts_of(sent).sent += bytes as f64;
    }

    pub(super) fn on_loss(&mut self, sent: Instant, bytes: u64) {
        let counts = self.counts_of(sent);
        counts.sent += bytes as f64;
        counts.lost += bytes as f64;
    }

    /// Notes that a router says its queue fills, which is excessive whatever is lost.
    pub(super) fn on_congestion_mark(&mut self) {
        self.is_marked = true;
    }

    /// Returns what a packet counts for by the state in which it left, not by that in which its fate is known.
    fn counts_of(&mut self, sent: Instant) -> &mut LossCounts {
        let span = self.spans.iter().rev().find(|span| span.began <= sent);
        if span.is_some_and(|span| span.is_probe_rtt) {
            return &mut self.probe_rtt;
        }
        &mut self.round
    }

    /// Ends a round: excessive loss halves the backoff factor, a round without any lets it recover.
    pub(super) fn end_round(&mut self) {
        let counts = std::mem::take(&mut self.round);
        // All that left in this round left in ProbeRTT. It says nothing, and a mark counts for the
        // next one.
        if counts.sent == 0.0 {
            return;
        }
        let is_marked = std::mem::take(&mut self.is_marked);
        let expected = self.random_loss_rate() * counts.sent;
        // Of n packets that are lost with probability p, np are on average, with a standard deviation of about √np.
        let chance = STANDARD_DEVIATIONS * (expected * PACKET_BYTES).sqrt();
        self.is_excessive =
            is_marked || counts.lost > expected + EXCESS_LOSS_RATE * counts.sent + chance;
        self.backoff = if self.is_excessive {
            (self.backoff / 2.0).max(BACKOFF_MIN)
        } else {
            (self.backoff + BACKOFF_RECOVERY).min(1.0)
        };
    }

    /// Returns the share of packets that is lost whatever we send.
    pub(super) fn random_loss_rate(&self) -> f64 {
        self.probe_rtt.rate().min(RANDOM_LOSS_RATE_MAX)
    }

    /// Returns the part of the target delay that may be used, 1 without excessive loss.
    pub(super) fn backoff(&self) -> f64 {
        self.backoff
    }

    /// Returns whether the last round has lost more than at random.
    pub(super) fn is_excessive(&self) -> bool {
        self.is_excessive
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends rounds of so many packets, of which so many are lost, after a ProbeRTT with a loss rate of its own;
    /// the tracker after them.
    fn after(probe_rtt: (u64, u64), rounds: &[(u64, u64)]) -> LossTracker {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        let origin = Instant::now();
        let mut losses = LossTracker::default();
        let mut now = origin;
        let mut send = |losses: &mut LossTracker, (all, lost): (u64, u64)| {
            losses.on_ack(now, (all - lost) * 1200);
            losses.on_loss(now, lost * 1200);
            losses.end_round();
            now += Duration::from_millis(50);
            now
        };
        losses.begin_state(origin, true);
        let next = send(&mut losses, probe_rtt);
        losses.begin_state(next, false);
        for round in rounds {
            send(&mut losses, *round);
        }
        losses
    }

    #[test]
    fn losses_that_stop_in_probe_rtt_halve_the_backoff_factor() {
        let losses = after((100, 0), &[(100, 1)]);
        assert!(losses.is_excessive());
        assert_eq!(losses.backoff(), 0.5);
        assert_eq!(after((100, 0), &[(100, 1); 9]).backoff(), BACKOFF_MIN);
    }

    #[test]
    fn random_losses_are_made_up_for() {
        let losses = after((1000, 20), &[(1000, 20), (1000, 28)]);
        assert_eq!(losses.random_loss_rate(), 0.02);
        assert!(!losses.is_excessive(), "chance loses eight more of 1000");
        assert_eq!(losses.backoff(), 1.0);
        // 20 expected, 5 allowed, 9 by chance.
        assert!(after((1000, 20), &[(1000, 35)]).is_excessive());
    }

    #[test]
    fn a_congestion_mark_counts_as_a_loss_and_backoff_ends_after_32_rounds() {
        let mut losses = after((100, 0), &[]);
        losses.on_congestion_mark();
        let marked = losses.clone();
        losses.on_ack(losses.spans[1].began, 1200);
        losses.end_round();
        assert_eq!(losses.backoff(), 0.5);
        assert_eq!(marked.backoff(), 1.0, "only at the end of the round");
        for _ in 0..32 {
            losses.on_ack(losses.spans[1].began, 1200);
            losses.end_round();
        }
        assert_eq!(losses.backoff(), 1.0);
    }
}
