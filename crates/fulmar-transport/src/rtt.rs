//! Measures the round trip.

use std::time::Duration;

use crate::limits::{RTO_MAX, RTO_MIN, RTTVAR_INITIAL, SRTT_INITIAL};

/// The smoothed round trip and its variation.
///
/// Source: docs/protocol.md §3.2, after RFC 6298 section 2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoundTrip {
    estimate: Option<Estimate>,
    samples: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    smoothed: Duration,
    variation: Duration,
}

impl RoundTrip {
    /// Returns an estimate that knows nothing yet.
    pub const fn new() -> RoundTrip {
        RoundTrip {
            estimate: None,
            samples: 0,
        }
    }

    /// Takes a measured round trip into account.
    pub fn sample(&mut self, measured: Duration) {
        self.samples = self.samples.saturating_add(1);
        self.estimate = Some(match self.estimate {
            None => Estimate {
                smoothed: measured,
                variation: measured / 2,
            },
            // The variation is reckoned against the old mean, so it comes first.
            Some(Estimate {
                smoothed,
                variation,
            }) => Estimate {
                variation: weighted(variation, 3, smoothed.abs_diff(measured), 4),
                smoothed: weighted(smoothed, 7, measured, 8),
            },
        });
    }

    /// Returns the smoothed round trip; a second before the first sample.
    pub fn smoothed(&self) -> Duration {
        self.estimate.map_or(SRTT_INITIAL, |e| e.smoothed)
    }

    /// Returns the smoothed variation; half a second before the first sample.
    pub fn variation(&self) -> Duration {
        self.estimate.map_or(RTTVAR_INITIAL, |e| e.variation)
    }

    /// Returns after how long a datagram may be thought lost: `SRTT + 4 RTTVAR` in whole
    /// milliseconds, within 50 ms and the larger of 1 s and twice the round trip.
    ///
    /// Source: docs/protocol.md §3.2. The fixed ceiling of stock Mosh would, at a round trip of 5 s,
    /// have everything sent five times.
    pub fn timeout(&self) -> Duration {
        let ceiling = self
            .estimate
            .map_or(RTO_MAX, |known| RTO_MAX.max(known.smoothed * 2));
        whole_millis(self.smoothed() + self.variation() * 4).clamp(RTO_MIN, ceiling)
    }

    /// Tells whether there has been a sample.
    pub fn is_known(&self) -> bool {
        self.estimate.is_some()
    }

    /// Returns how many samples there have been.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

/// Returns the mean of `old`, which counts `parts` times of `whole`, and `new`, which counts once.
fn weighted(old: Duration, parts: u32, new: Duration, whole: u32) -> Duration {
    (old * parts + new) / whole
}

/// Rounds up to a whole number of milliseconds.
pub(crate) fn whole_millis(duration: Duration) -> Duration {
    let begun = duration.subsec_nanos().div_ceil(1_000_000);
    Duration::from_secs(duration.as_secs()).saturating_add(Duration::from_millis(begun.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn after(samples: &[u64]) -> RoundTrip {
        let mut round_trip = RoundTrip::new();
        for &sample in samples {
            round_trip.sample(ms(sample));
        }
        round_trip
    }

    #[test]
    fn it_begins_with_a_second() {
        let none = RoundTrip::new();
        assert_eq!((none.smoothed(), none.variation()), (ms(1000), ms(500)));
        // 1000 + 4 * 500, cut off: what is not measured does not raise the ceiling.
        assert_eq!(none.timeout(), ms(1000));
        assert!(!none.is_known());
    }

    #[test]
    fn the_first_sample_is_taken_as_it_is() {
        let one = after(&[100]);
        assert_eq!((one.smoothed(), one.variation()), (ms(100), ms(50)));
        assert_eq!(one.timeout(), ms(300));
    }

    #[test]
    fn later_samples_count_an_eighth() {
        let two = after(&[100, 180]);
        assert_eq!(two.smoothed(), ms(110));
        // Three quarters of 50 and one quarter of the distance to the *old* mean, 80.
        assert_eq!(two.variation(), Duration::from_micros(57_500));
        assert_eq!(two.timeout(), ms(340));
    }

    #[test]
    fn the_timeout_is_rounded_up_and_has_a_floor() {
        assert_eq!(after(&[0]).timeout(), ms(50));
        let mut odd = RoundTrip::new();
        odd.sample(Duration::from_micros(33_333));
        assert_eq!(odd.timeout(), ms(100));
    }

    #[test]
    fn the_ceiling_follows_a_long_round_trip() {
        assert_eq!(after(&[400]).timeout(), ms(1000));
        assert_eq!(after(&[8000]).timeout(), ms(16_000));
    }
}
