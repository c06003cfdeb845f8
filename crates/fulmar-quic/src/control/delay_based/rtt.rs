//! Learns from round trips: the shortest, how they vary, and which delay is nobody's queue.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::delivery_rate::RateSample;

/// The filter of the shortest round trip spans the probes of so many ProbeRTT states. Chosen by eye.
const MIN_RTT_PROBES: usize = 4;

/// The shortest round trip of all is remembered for so long. Chosen by eye: BBR's MinRTTFilterLen is 10 s,
/// LEDBAT's base history (RFC 6817) 10 minutes.
const BASE_RTT_LIFETIME: Duration = Duration::from_secs(60);

/// The RTT variation is a mean of about so many samples. Chosen by eye.
const RTT_VARIATION_SAMPLES: f64 = 64.0;

/// The target queueing delay is at least so many times the RTT variation, up to a cap.
///
/// Measured over recorded cellular links with `--example table -- delay TRACE`: with one time and 150 ms, and 2.5 BDP
/// beside others (`competition.rs`), an EV-DO uplink carried 0.78 of what it can, with these 0.89
/// (docs/decisions/025-congestion-control.md, Figures).
const RTT_VARIATION_GAIN: f64 = 2.0;
const RTT_VARIATION_MAX: Duration = Duration::from_millis(200);

/// The target queueing delay is at least so many times the non-congestive delay, up to a cap.
///
/// Chosen by eye; `--example table -- delay busy` shows what hosts that are late then carry.
const NON_CONGESTIVE_GAIN: f64 = 1.5;
const NON_CONGESTIVE_MAX: Duration = Duration::from_millis(40);

/// Filters the round trip that the path takes without a queue.
#[derive(Clone, Default)]
pub(super) struct MinRtt {
    /// The shortest of each of the last ProbeRTT states, the last one last.
    probed: VecDeque<Duration>,
    /// The shortest of all, and when that was.
    base: Option<(Duration, Instant)>,
}

impl MinRtt {
    /// Returns the shortest round trip that counts now.
    pub(super) fn get(&self) -> Option<Duration> {
        // What was seen while our own queue was empty is surer than what was seen at any time.
        let probed = self.probed.iter().min().copied();
        probed.or(self.base())
    }

    /// Returns the shortest round trip of all: competing flows have added the least to it.
    pub(super) fn base(&self) -> Option<Duration> {
        self.base.map(|(base, _)| base)
    }

    /// Takes a round trip of any state.
    pub(super) fn on_sample(&mut self, now: Instant, rtt: Duration) {
        // It has to age: when the path has become longer, nothing comes below the old one any more.
        let is_old = |at: Instant| now.saturating_duration_since(at) > BASE_RTT_LIFETIME;
        match self.base {
            Some((base, at)) if rtt >= base && !is_old(at) => {}
            _ => self.base = Some((rtt, now)),
        }
    }

    /// Takes the shortest round trip of a ProbeRTT state.
    pub(super) fn on_probe(&mut self, rtt: Duration) {
        if self.probed.len() == MIN_RTT_PROBES {
            self.probed.pop_front();
        }
        self.probed.push_back(rtt);
    }
}

/// Averages round trips and their distance from the average, as RFC 6298 does, only slower.
#[derive(Clone, Default)]
pub(super) struct RttVariation {
    /// In seconds.
    mean: f64,
    variation: f64,
}

impl RttVariation {
    pub(super) fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        if self.mean == 0.0 {
            self.mean = rtt;
        }
        // Before the mean, so that a sample is compared with a mean that is without it (RFC 6298
        // §2.3).
        self.variation += ((rtt - self.mean).abs() - self.variation) / RTT_VARIATION_SAMPLES;
        self.mean += (rtt - self.mean) / RTT_VARIATION_SAMPLES;
    }

    /// Returns the queueing delay that keeps a path busy whose rate comes and goes, as cellular ones' does.
    pub(super) fn delay(&self) -> Duration {
        let delay = Duration::from_secs_f64(self.variation.max(0.0) * RTT_VARIATION_GAIN);
        delay.min(RTT_VARIATION_MAX)
    }
}

/// Estimates how much later than the shortest round trip acknowledgements are without any queue: hosts
/// are busy, links wait for their turn.
#[derive(Clone)]
pub(super) struct NonCongestiveDelay {
    /// Seconds, averaged over ProbeRTT states.
    mean: f64,
    /// The instants between which packets left that met no queue of ours.
    from: Instant,
    to: Instant,
    /// Sum of its round trips in seconds, their number, and the shortest.
    sum: f64,
    count: u32,
    shortest: f64,
}

impl NonCongestiveDelay {
    pub(super) fn new(now: Instant) -> NonCongestiveDelay {
        NonCongestiveDelay {
            mean: 0.0,
            from: now,
            to: now,
            sum: 0.0,
            count: 0,
            shortest: f64::INFINITY,
        }
    }

    /// Notes between which instants the queue was drained: the round trips of what left then are yet to come.
    pub(super) fn on_probe(&mut self, from: Instant, to: Instant) {
        *self = NonCongestiveDelay {
            mean: self.mean,
            from,
            to,
            ..NonCongestiveDelay::new(to)
        };
    }

    pub(super) fn on_sample(&mut self, sample: &RateSample) {
        if sample.sent < self.from {
            return;
        }
        if sample.sent <= self.to {
            let rtt = sample.rtt.as_secs_f64();
            self.sum += rtt;
            self.count += 1;
            self.shortest = self.shortest.min(rtt);
            return;
        }
        // The first packet that left later: all of the probe has been acknowledged.
        let count = std::mem::take(&mut self.count);
        if count > 0 {
            let delay = self.sum / f64::from(count) - self.shortest;
            self.mean += (delay - self.mean) / MIN_RTT_PROBES as f64;
        }
    }

    /// Returns the queueing delay that keeps such a path busy. With less the window would shrink for ever: what is
    /// late is taken for a queue, and a smaller window makes it no less late.
    pub(super) fn delay(&self) -> Duration {
        // Rounding makes the mean of equal round trips shorter than each of them.
        let delay = Duration::from_secs_f64(self.mean.max(0.0) * NON_CONGESTIVE_GAIN);
        delay.min(NON_CONGESTIVE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Instant {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        Instant::now()
    }

    #[test]
    fn probed_round_trips_count_before_the_shortest_of_all() {
        let (now, ms) = (origin(), Duration::from_millis);
        let mut min_rtt = MinRtt::default();
        assert_eq!(min_rtt.get(), None);
        min_rtt.on_sample(now, ms(40));
        assert_eq!(min_rtt.get(), Some(ms(40)));
        for probed in [50, 60, 60, 60] {
            min_rtt.on_probe(ms(probed));
        }
        assert_eq!(min_rtt.get(), Some(ms(50)));
        min_rtt.on_probe(ms(60));
        assert_eq!(min_rtt.get(), Some(ms(60)), "four probes are remembered");
        assert_eq!(min_rtt.base(), Some(ms(40)));
    }

    #[test]
    fn the_shortest_round_trip_of_all_is_forgotten_after_a_minute() {
        let (now, ms) = (origin(), Duration::from_millis);
        let mut min_rtt = MinRtt::default();
        min_rtt.on_sample(now, ms(40));
        min_rtt.on_sample(now + BASE_RTT_LIFETIME, ms(50));
        assert_eq!(min_rtt.base(), Some(ms(40)));
        min_rtt.on_sample(now + BASE_RTT_LIFETIME + ms(1), ms(50));
        assert_eq!(min_rtt.base(), Some(ms(50)));
    }

    #[test]
    fn non_congestive_delay_is_how_late_the_packets_of_a_probe_are_on_average() {
        let (now, ms) = (origin(), Duration::from_millis);
        let sample = |sent: Instant, rtt: u64| RateSample {
            rate: 0.0,
            rtt: ms(rtt),
            in_flight: 0,
            sent,
        };
        let mut delay = NonCongestiveDelay::new(now);
        delay.on_probe(now + ms(10), now + ms(20));
        delay.on_sample(&sample(now + ms(5), 900));
        delay.on_sample(&sample(now + ms(10), 40));
        delay.on_sample(&sample(now + ms(20), 60));
        assert_eq!(delay.delay(), Duration::ZERO, "the probe is not over");
        delay.on_sample(&sample(now + ms(21), 900));
        // 10 ms on average, a quarter of it after one probe, one and a half times that.
        let found = delay.delay().as_secs_f64();
        assert!((found - 0.00375).abs() < 1e-9, "{found}");
    }

    #[test]
    fn equal_round_trips_are_no_delay() {
        let (now, ms) = (origin(), Duration::from_millis);
        let mut delay = NonCongestiveDelay::new(now);
        delay.on_probe(now, now + ms(10));
        for at in 0..12 {
            let (sent, rtt) = (now + ms(at), ms(100));
            let (rate, in_flight) = (0.0, 0);
            delay.on_sample(&RateSample {
                rate,
                rtt,
                in_flight,
                sent,
            });
        }
        // Eleven times 0.1 is less than 1.1, as it is rounded.
        assert_eq!(delay.delay(), Duration::ZERO);
    }
}
