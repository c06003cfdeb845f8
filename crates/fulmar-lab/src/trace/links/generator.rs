//! Links that are like measured ones, from a seed.

use fulmar_sim::{Chance, LinkTrace, Random};

/// A kind of link: how it wanders, fades and gathers its opportunities.
///
/// The rate is a random walk that returns to its mean, on two time scales, as in the model that
/// Sprout has of cellular links (Winstein, Sivaraman, Balakrishnan, "Stochastic forecasts achieve
/// high throughput and low delay over cellular networks", 2013, §3), but squared, so that it is
/// never negative and more often low than high; with outages of a heavy tail; and in clusters. The
/// numbers were chosen so that the [statistics](super::Statistics) come near those of the traces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkKind {
    /// The name: `like-lte-down`.
    pub name: &'static str,
    /// The measured trace that it is like.
    pub like: &'static str,
    /// The square root of the rate, in Mbit/s, in the middle and its deviation.
    root_middle: f64,
    root_deviation: f64,
    /// The rate is never more than this, in Mbit/s.
    mbit_most: f64,
    /// The share of the variance that passes quickly, and after what time each part does, in seconds.
    quick_share: f64,
    quick_seconds: f64,
    slow_seconds: f64,
    /// Chance that an opportunity has another at the same instant.
    cluster: f64,
    /// Opportunities come at multiples of this many thirds of a millisecond.
    slot_thirds: u32,
    /// The number of outages in each second.
    outages_per_second: f64,
    /// The shortest outage in seconds; the mean is twice that.
    outage_least: f64,
    /// The length of a trace unless another is wanted, in seconds: long enough for its slow part to come
    /// round many times.
    seconds: u32,
}

/// All kinds.
pub const KINDS: [LinkKind; 4] = [
    LinkKind {
        name: "like-evdo-down",
        like: "Verizon-EVDO-driving.down",
        root_middle: 0.59,
        root_deviation: 0.42,
        mbit_most: 2.4,
        quick_share: 0.35,
        quick_seconds: 0.2,
        slow_seconds: 8.0,
        cluster: 0.27,
        slot_thirds: 20,
        outages_per_second: 0.02,
        outage_least: 0.6,
        seconds: 1000,
    },
    LinkKind {
        name: "like-evdo-up",
        like: "Verizon-EVDO-driving.up",
        root_middle: 1.02,
        root_deviation: 0.36,
        mbit_most: 1.22,
        quick_share: 0.35,
        quick_seconds: 0.2,
        slow_seconds: 14.0,
        cluster: 0.17,
        slot_thirds: 20,
        outages_per_second: 0.02,
        outage_least: 0.8,
        seconds: 1000,
    },
    LinkKind {
        name: "like-lte-down",
        like: "Verizon-LTE-short.down",
        root_middle: 2.05,
        root_deviation: 0.8,
        mbit_most: 30.0,
        quick_share: 0.2,
        quick_seconds: 0.25,
        slow_seconds: 5.5,
        cluster: 0.31,
        slot_thirds: 3,
        outages_per_second: 0.01,
        outage_least: 0.7,
        seconds: 300,
    },
    LinkKind {
        name: "like-lte-up",
        like: "Verizon-LTE-short.up",
        root_middle: 2.3,
        root_deviation: 0.72,
        mbit_most: 30.0,
        quick_share: 0.3,
        quick_seconds: 0.4,
        slow_seconds: 5.0,
        cluster: 0.35,
        slot_thirds: 3,
        outages_per_second: 0.01,
        outage_least: 0.7,
        seconds: 300,
    },
];

/// The interval at which the rate is drawn anew, as in Sprout.
const TICK_SECONDS: f64 = 0.02;

/// The size of what an opportunity carries, in Mbit.
const OPPORTUNITY_MBIT: f64 = 0.012;

impl LinkKind {
    /// Returns the kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns a trace of the usual length.
    #[must_use]
    pub fn trace(&self, seed: u64) -> LinkTrace {
        self.generate(seed, self.seconds)
    }

    /// Returns a trace of so many seconds, the same for the same seed on every machine.
    ///
    /// # Panics
    ///
    /// Where it is to take no time, or more than a month.
    #[must_use]
    pub fn generate(&self, seed: u64, seconds: u32) -> LinkTrace {
        assert!((1..=2_600_000).contains(&seconds), "no such trace");
        let mut walk = Walk::new(self, Random::stream(seed, 0));
        let mut random = Random::stream(seed, 1);
        let mut times = Vec::new();
        let slot_seconds = f64::from(self.slot_thirds) / 3000.0;
        let end_thirds = seconds * 3000;
        for thirds in (0..end_thirds).step_by(self.slot_thirds as usize) {
            let mbit = walk.at(f64::from(thirds) / 3000.0);
            let clusters = mbit / OPPORTUNITY_MBIT * slot_seconds * (1.0 - self.cluster);
            if random.unit() < clusters {
                times.push(thirds / 3);
                while random.unit() < self.cluster {
                    times.push(thirds / 3);
                }
            }
        }
        // The last one sets the period.
        times.push(seconds * 1000);
        LinkTrace::from_times(times).expect("time goes on")
    }
}

/// The rate as time goes on. Only sums, products, quotients and square roots, which are the same on
/// every machine.
struct Walk<'a> {
    kind: &'a LinkKind,
    random: Random,
    next_tick: f64,
    quick: f64,
    slow: f64,
    mbit: f64,
    out_until: f64,
}

impl<'a> Walk<'a> {
    fn new(kind: &'a LinkKind, mut random: Random) -> Self {
        let (quick, slow) = (step(&mut random), step(&mut random));
        Self {
            kind,
            random,
            next_tick: 0.0,
            quick,
            slow,
            mbit: 0.0,
            out_until: 0.0,
        }
    }

    /// Returns the rate in Mbit/s at this time, which is not before the last.
    fn at(&mut self, seconds: f64) -> f64 {
        while seconds >= self.next_tick {
            self.tick();
        }
        if seconds < self.out_until {
            0.0
        } else {
            self.mbit
        }
    }

    fn tick(&mut self) {
        let kind = self.kind;
        self.quick = returning(self.quick, kind.quick_seconds, &mut self.random);
        self.slow = returning(self.slow, kind.slow_seconds, &mut self.random);
        let wander =
            kind.quick_share.sqrt() * self.quick + (1.0 - kind.quick_share).sqrt() * self.slow;
        let root = (kind.root_middle + kind.root_deviation * wander).max(0.0);
        self.mbit = (root * root).min(kind.mbit_most);
        let chance = kind.outages_per_second * TICK_SECONDS;
        if self.random.happens(Chance::percent(chance * 100.0)) {
            // Pareto with exponent 2.
            let length = kind.outage_least / (1.0 - self.random.unit()).sqrt();
            self.out_until = self.out_until.max(self.next_tick + length);
        }
        self.next_tick += TICK_SECONDS;
    }
}

/// One step of a walk with variance 1 that forgets where it was within `seconds`.
fn returning(value: f64, seconds: f64, random: &mut Random) -> f64 {
    let kept = 1.0 - TICK_SECONDS / seconds;
    kept * value + (1.0 - kept * kept).sqrt() * step(random)
}

/// A uniform number with mean 0 and variance 1. A walk adds up many of them, which is nearly normal.
fn step(random: &mut Random) -> f64 {
    (random.unit() - 0.5) * 12_f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::links::{Statistics, measured};

    /// The mean of a value over some generated traces.
    fn mean_of(traces: &[Statistics], value: impl Fn(&Statistics) -> f64) -> f64 {
        traces.iter().map(value).sum::<f64>() / traces.len() as f64
    }

    #[test]
    fn generated_links_have_the_statistics_of_the_measured_ones() {
        for kind in &KINDS {
            let like = measured(kind.like).expect("each kind is like a measured trace");
            let traces: Vec<Statistics> = (1..=3)
                .map(|seed| Statistics::of(&kind.trace(seed)))
                .collect();
            // The margins are the sampling errors of the shortest: 140 s of a walk that turns round
            // within 5 s has a mean that is good to a fifth, and two gaps of more than a second.
            let mut misses = Vec::new();
            let mut near = |what: &str, value: fn(&Statistics) -> f64, margin: f64| {
                let (seen, wanted) = (mean_of(&traces, value), value(&like));
                if (seen - wanted).abs() > margin {
                    misses.push(format!("{what}: {seen:.3} for {wanted:.3}"));
                }
            };
            near("mean rate", |s| s.mbit_mean, 0.15 * like.mbit_mean);
            near(
                "low rate",
                |s| s.mbit_quantiles[0],
                0.4 * like.mbit_quantiles[0] + OPPORTUNITY_MBIT,
            );
            near(
                "usual rate",
                |s| s.mbit_quantiles[1],
                0.2 * like.mbit_quantiles[1],
            );
            near(
                "high rate",
                |s| s.mbit_quantiles[2],
                0.2 * like.mbit_quantiles[2],
            );
            near("variation", |s| s.variation, 0.15 * like.variation);
            near("correlation at 0.1 s", |s| s.autocorrelation[0], 0.1);
            near("correlation at 1 s", |s| s.autocorrelation[2], 0.1);
            near("correlation at 5 s", |s| s.autocorrelation[3], 0.1);
            near("correlation at 10 s", |s| s.autocorrelation[4], 0.15);
            near("clustered", |s| s.clustered, 0.02);
            near("gaps", |s| s.gaps_per_minute, 0.5 * like.gaps_per_minute);
            near(
                "time in gaps",
                |s| s.time_in_gaps[0],
                0.75 * like.time_in_gaps[0],
            );
            near(
                "time in long gaps",
                |s| s.time_in_gaps[1],
                0.75 * like.time_in_gaps[1],
            );
            assert!(misses.is_empty(), "{}: {misses:?}", kind.name);
        }
    }

    #[test]
    fn a_seed_gives_the_same_link_for_ever() {
        // Seeds in reports are worth something only while this holds.
        let kind = LinkKind::named("like-lte-down").expect("it is a kind");
        let trace = kind.generate(7, 60);
        assert_eq!(trace, kind.generate(7, 60));
        assert_ne!(trace, kind.generate(8, 60));
        let first: Vec<u32> = trace.times_ms().iter().copied().take(8).collect();
        assert_eq!(
            (trace.len(), first),
            (19_317, vec![9, 10, 10, 23, 27, 35, 53, 67])
        );
    }

    #[test]
    fn a_link_is_as_long_as_was_asked_for() {
        let kind = LinkKind::named("like-evdo-up").expect("it is a kind");
        assert_eq!(kind.generate(1, 60).period().as_secs(), 60);
    }

    #[test]
    fn a_walk_is_nearly_normal() {
        let mut random = Random::stream(1, 0);
        let mut value = 0.0;
        let mut walk = || {
            // Far enough apart to be independent: e^-5.
            (0..50).for_each(|_| value = returning(value, 0.2, &mut random));
            value
        };
        let values: Vec<f64> = (0..10_000).map(|_| walk()).collect();
        let mean = values.iter().sum::<f64>() / 1e4;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 1e4;
        let within = values.iter().filter(|value| value.abs() < 1.0).count() as f64 / 1e4;
        // Three standard errors.
        assert!(mean.abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 3.0 * 2e-4_f64.sqrt(), "{variance}");
        assert!(
            (within - 0.6827).abs() < 3.0 * (0.6827 * 0.3173 / 1e4_f64).sqrt(),
            "{within}"
        );
    }
}
