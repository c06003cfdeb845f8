//! Flows that fill the queue: finding that there are some, and sharing with them as CUBIC does.
//!
//! A controller that keeps a delay starves beside one that fills the queue, so Copa has a TCP-competitive mode (Arun and
//! Balakrishnan, NSDI 2018, §2.2). Copa looks whether the queue empties once in five round trips; here our own queue is
//! drained in ProbeRTT, so a queue that stays then is somebody else's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, Cubic, CubicConfig};

use super::target_delay::TargetDelay;

/// After so many ProbeRTT states in a row with a standing queue others compete. Chosen by eye: one may be chance, and
/// another connection of ours that drains at another time.
const STANDING_QUEUES: u32 = 2;

/// The window beside others is at most so many BDP.
///
/// Measured over recorded cellular links, together with the RTT variation (`rtt.rs`): with 2.5 an EV-DO downlink carried 0.88
/// of what it can, with 4 it is 0.91 (docs/decisions/025-congestion-control.md, Figures).
const BDP_MAX: f64 = 4.0;

/// The window beside others is this part of CUBIC's.
///
/// Chosen by the shares of `--example table -- delay share`: the means of four runs are 0.37 to 0.57 of the link
/// (docs/decisions/025-congestion-control.md, Figures).
const CUBIC_SHARE: f64 = 0.75;

/// Beside others every loss counts while the random loss rate is below this; else only those of rounds with
/// excessive loss. Chosen by eye.
const RANDOM_LOSS_NEGLIGIBLE: f64 = 0.002;

/// The controller's losses, as far as competing needs to know them.
pub(super) struct Loss {
    pub(super) bytes: u64,
    /// The share of packets that is lost whatever we send.
    pub(super) random_rate: f64,
    /// True if the round has lost more than that.
    pub(super) is_excessive: bool,
}

/// Knows whether others fill the queue, and then the window that CUBIC would have.
#[derive(Clone, Default)]
pub(super) struct Competition {
    /// ProbeRTT states in a row that left a queue standing.
    standing_queues: u32,
    cubic: Option<Box<Cubic>>,
}

impl Competition {
    /// Returns whether somebody competes.
    pub(super) fn is_on(&self) -> bool {
        self.cubic.is_some()
    }

    /// Returns the least window beside others; none if there are none.
    pub(super) fn window(&self, bdp: f64) -> f64 {
        self.cubic.as_ref().map_or(0.0, |cubic| {
            (cubic.window() as f64 * CUBIC_SHARE).min(bdp * BDP_MAX)
        })
    }

    /// Takes the shortest round trip of a ProbeRTT state, beside the shortest of all; `window` is what CUBIC begins with.
    pub(super) fn on_probe(
        &mut self,
        now: Instant,
        probed: Duration,
        base: Duration,
        window: u64,
        mtu: u16,
    ) {
        // More than what two of us keep beside each other, and more than jitter. Both were chosen by eye.
        let is_standing = probed > base + (TargetDelay::base(base) * 3 / 2).max(base / 8);
        self.standing_queues = if is_standing {
            self.standing_queues + 1
        } else {
            0
        };
        if self.standing_queues == 0 {
            self.cubic = None;
        } else if self.standing_queues >= STANDING_QUEUES && self.cubic.is_none() {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            let mut cubic = Cubic::new(Arc::new(config), now, mtu);
            // A loss ends its slow start: the window is known already.
            cubic.on_congestion_event(now, now, false, 0);
            self.cubic = Some(Box::new(cubic));
        }
    }

    pub(super) fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_sent(now, bytes, last_packet_number);
        }
    }

    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    pub(super) fn on_loss(&mut self, now: Instant, sent: Instant, loss: &Loss) {
        // CUBIC takes every loss for a full queue, and would get nothing where radio loses some all the time.
        let counts = loss.random_rate < RANDOM_LOSS_NEGLIGIBLE || loss.is_excessive;
        if let Some(cubic) = self.cubic.as_mut().filter(|_| counts) {
            cubic.on_congestion_event(now, sent, false, loss.bytes);
        }
    }

    pub(super) fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(cubic) = &mut self.cubic {
            cubic.on_mtu_update(new_mtu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Duration = Duration::from_millis(40);
    /// Half as long again as the target of 10 ms.
    const STANDING: Duration = Duration::from_millis(55);

    fn probed(rtts: &[Duration]) -> Competition {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        let now = Instant::now();
        let mut competition = Competition::default();
        for rtt in rtts {
            competition.on_probe(now, *rtt, BASE, 100_000, 1200);
        }
        competition
    }

    #[test]
    fn two_standing_queues_in_a_row_are_competition_and_an_empty_one_ends_it() {
        let longer = STANDING + Duration::from_micros(1);
        assert!(!probed(&[longer]).is_on());
        assert!(probed(&[longer, longer]).is_on());
        assert!(!probed(&[STANDING, STANDING]).is_on());
        assert!(!probed(&[longer, STANDING, longer]).is_on());
        assert!(!probed(&[longer, longer, STANDING]).is_on());
    }

    #[test]
    fn the_window_beside_others_is_three_quarters_of_cubics_and_four_bdp_at_most() {
        let alone = probed(&[]);
        assert_eq!(alone.window(1e9), 0.0);
        let longer = STANDING + Duration::from_micros(1);
        let beside = probed(&[longer, longer]);
        // RFC 9438 §4.6: after a loss CUBIC has 0.7 of its window.
        assert_eq!(beside.window(1e9), 0.75 * 70_000.0);
        assert_eq!(beside.window(1000.0), 4000.0);
    }
}
