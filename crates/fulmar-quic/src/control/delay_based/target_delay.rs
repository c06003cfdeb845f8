//! The target queueing delay: how long a packet of ours is to wait in the path, as LEDBAT's TARGET (RFC 6817).

use std::time::Duration;

/// The target is this share of the shortest round trip, within bounds.
///
/// Chosen by eye: it is what a key typed beside a copy waits longer. `--example table -- delay yields` shows the sum of all
/// that is decided here: 53 ms beside a copy on a path of 45 ms (docs/decisions/025-congestion-control.md, Figures).
const SHARE: f64 = 0.25;
const MIN: Duration = Duration::from_millis(4);
const MAX: Duration = Duration::from_millis(15);

/// The probe gain doubles up to this while no queue is seen. Chosen by eye.
const PROBE_GAIN_MAX: f64 = 64.0;

/// The target with its probe gain is at most this share of the shortest round trip. Chosen by eye.
const PROBE_SHARE_MAX: f64 = 0.3;

/// Decides how much queue the controller keeps in the path.
#[derive(Clone)]
pub(super) struct TargetDelay {
    probe_gain: f64,
}

impl TargetDelay {
    pub(super) fn new() -> TargetDelay {
        TargetDelay { probe_gain: 1.0 }
    }

    /// Returns the target without any gain.
    pub(super) fn base(min_rtt: Duration) -> Duration {
        min_rtt.mul_f64(SHARE).clamp(MIN, MAX)
    }

    /// Returns the target with the gain of probing and another gain, at least `floor`.
    pub(super) fn get(&self, min_rtt: Duration, gain: f64, floor: Duration) -> Duration {
        let probing = Self::base(min_rtt).mul_f64(self.probe_gain);
        let capped = probing.min(min_rtt.mul_f64(PROBE_SHARE_MAX).max(MIN));
        capped.mul_f64(gain).max(floor)
    }

    /// Ends a round of Cruise in which the shortest round trip met such a queue.
    pub(super) fn end_round(&mut self, min_rtt: Duration, queue: Duration) {
        let target = Self::base(min_rtt);
        // A window that makes no queue is too small: the rate it was computed from was, or the path has become faster.
        // Both fractions were chosen by eye; between them the gain stays.
        if queue < target / 4 {
            self.probe_gain = (self.probe_gain * 2.0).min(PROBE_GAIN_MAX);
        } else if queue > target / 2 {
            self.probe_gain = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);

    #[test]
    fn the_target_is_a_quarter_of_the_round_trip_within_bounds() {
        let base = |ms| TargetDelay::base(Duration::from_millis(ms)).as_millis();
        assert_eq!([base(1), base(40), base(400)], [4, 10, 15]);
    }

    #[test]
    fn the_probe_gain_doubles_until_a_queue_is_seen_and_is_capped_by_the_round_trip() {
        let mut target = TargetDelay::new();
        let get = |target: &TargetDelay| target.get(RTT, 1.0, Duration::ZERO);
        assert_eq!(get(&target), Duration::from_millis(10));
        target.end_round(RTT, Duration::ZERO);
        assert_eq!(get(&target), Duration::from_millis(12), "0.3 of 40 ms");
        target.end_round(RTT, Duration::from_millis(4));
        assert_eq!(get(&target), Duration::from_millis(12), "neither");
        target.end_round(RTT, Duration::from_millis(6));
        assert_eq!(get(&target), Duration::from_millis(10));
    }

    #[test]
    fn a_gain_comes_before_the_floor() {
        let target = TargetDelay::new();
        let floor = Duration::from_millis(22);
        assert_eq!(target.get(RTT, 2.0, floor), floor);
        assert_eq!(target.get(RTT, 2.5, floor), Duration::from_millis(25));
    }
}
