//! The statistics of a link trace, by which two traces can be compared.

use fulmar_sim::LinkTrace;

/// The width of the bins that rates are counted in, for all but the quantiles.
const BIN_MS: u32 = 100;

/// The lags of the autocorrelation, in bins.
const LAGS: [usize; 5] = [1, 5, 10, 50, 100];

/// The size of what an opportunity carries, in bits.
const OPPORTUNITY_BITS: f64 = 1500.0 * 8.0;

/// Statistics of one period of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The length of a period, in seconds.
    pub seconds: f64,
    /// The mean rate.
    pub mbit_mean: f64,
    /// The rates of single seconds: what 10, 50 and 90 % of them do not exceed.
    pub mbit_quantiles: [f64; 3],
    /// Standard deviation of the rate over its mean, in bins of 100 ms.
    pub variation: f64,
    /// Correlation of the rate with itself 0.1, 0.5, 1, 5 and 10 s later, in bins of 100 ms.
    pub autocorrelation: [f64; 5],
    /// Share of opportunities at the same millisecond as the one before.
    pub clustered: f64,
    /// Gaps of more than 100 ms, each minute.
    pub gaps_per_minute: f64,
    /// Share of the time that is in gaps of more than 100 ms, and of more than 1 s.
    pub time_in_gaps: [f64; 2],
    /// The longest gap, in seconds.
    pub gap_longest: f64,
}

/// A line of a table: its name, its value, and the decimals of that.
type Line = (&'static str, fn(&Statistics) -> f64, usize);

/// The lines of a table about a link.
pub(crate) const LINES: [Line; 16] = [
    ("period, s", |s| s.seconds, 1),
    ("mean rate, Mbit/s", |s| s.mbit_mean, 3),
    ("rate of a second, 10 %", |s| s.mbit_quantiles[0], 3),
    ("… 50 %", |s| s.mbit_quantiles[1], 3),
    ("… 90 %", |s| s.mbit_quantiles[2], 3),
    ("deviation / mean, 0.1 s", |s| s.variation, 3),
    ("autocorrelation, 0.1 s", |s| s.autocorrelation[0], 3),
    ("… 0.5 s", |s| s.autocorrelation[1], 3),
    ("… 1 s", |s| s.autocorrelation[2], 3),
    ("… 5 s", |s| s.autocorrelation[3], 3),
    ("… 10 s", |s| s.autocorrelation[4], 3),
    ("in the same ms, %", |s| s.clustered * 100.0, 2),
    ("gaps over 0.1 s, per min", |s| s.gaps_per_minute, 2),
    (
        "time in gaps over 0.1 s, %",
        |s| s.time_in_gaps[0] * 100.0,
        2,
    ),
    ("time in gaps over 1 s, %", |s| s.time_in_gaps[1] * 100.0, 2),
    ("longest gap, s", |s| s.gap_longest, 3),
];

impl Statistics {
    /// Computes them.
    #[must_use]
    pub fn of(trace: &LinkTrace) -> Self {
        let times = trace.times_ms();
        let gaps: Vec<u32> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let seconds = trace.period().as_secs_f64();
        let bins = rates(trace, BIN_MS);
        let mean = mean(&bins);
        let in_gaps = |over: u32| {
            let long = gaps.iter().filter(|&&gap| gap > over);
            f64::from(long.sum::<u32>()) / 1e3 / seconds
        };
        let mut by_second = rates(trace, 1000);
        by_second.sort_by(f64::total_cmp);
        Self {
            seconds,
            mbit_mean: trace.bits_per_second() / 1e6,
            mbit_quantiles: [0.1, 0.5, 0.9].map(|share| quantile(&by_second, share)),
            variation: covariance(&bins, mean, 0).sqrt() / mean,
            autocorrelation: LAGS
                .map(|lag| covariance(&bins, mean, lag) / covariance(&bins, mean, 0)),
            clustered: share(&gaps, |gap| gap == 0),
            gaps_per_minute: share(&gaps, |gap| gap > 100) * gaps.len() as f64 / seconds * 60.0,
            time_in_gaps: [100, 1000].map(in_gaps),
            gap_longest: f64::from(gaps.iter().copied().max().unwrap_or(0)) / 1e3,
        }
    }
}

/// The rate of each whole bin of a period, in Mbit/s.
fn rates(trace: &LinkTrace, bin_ms: u32) -> Vec<f64> {
    let period_ms = trace.times_ms().last().copied().unwrap_or(0);
    let mut counts = vec![0.0; (period_ms / bin_ms) as usize];
    for time in trace.times_ms() {
        if let Some(count) = counts.get_mut((time / bin_ms) as usize) {
            *count += 1.0;
        }
    }
    let rate = |count: f64| count * OPPORTUNITY_BITS / f64::from(bin_ms) / 1e3;
    counts.into_iter().map(rate).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean product of deviations of values `lag` apart.
fn covariance(values: &[f64], mean: f64, lag: usize) -> f64 {
    let later = values.iter().skip(lag);
    let products = values
        .iter()
        .zip(later)
        .map(|(a, b)| (a - mean) * (b - mean));
    products.sum::<f64>() / values.len() as f64
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

fn share(gaps: &[u32], is_one: impl Fn(u32) -> bool) -> f64 {
    let count = gaps.iter().filter(|&&gap| is_one(gap)).count();
    count as f64 / gaps.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn a_steady_link_has_no_variation_and_no_gaps() {
        // One each 10 ms for 10 s: 1.2 Mbit/s.
        let trace = LinkTrace::from_times((0..=1000).map(|n| n * 10).collect()).unwrap();
        let statistics = Statistics::of(&trace);
        assert!((statistics.mbit_mean - 1.2).abs() < 0.01);
        assert_eq!(statistics.mbit_quantiles, [1.2; 3]);
        assert!(is_about(statistics.variation, 0.0));
        assert_eq!(statistics.time_in_gaps, [0.0; 2]);
        assert!(is_about(statistics.gap_longest, 0.010));
    }

    #[test]
    fn a_link_that_is_on_and_off_is_described_in_closed_form() {
        // On for 1 s, at one each ms, off for 1 s, 20 times: the last second is the pause.
        let on = (0..20).flat_map(|cycle| (0..1000).map(move |ms| cycle * 2000 + ms));
        let times: Vec<u32> = on.chain([40_000]).collect();
        let statistics = Statistics::of(&LinkTrace::from_times(times).unwrap());
        assert!(is_about(statistics.mbit_quantiles[0], 0.0));
        assert!(is_about(statistics.mbit_quantiles[2], 12.0));
        // A square wave: deviation equals mean; half a period later it is its opposite, and the
        // last bins have no partner: 390 of 400 products.
        assert!(is_about(statistics.variation, 1.0));
        assert!(is_about(statistics.autocorrelation[2], -390.0 / 400.0));
        assert!((statistics.time_in_gaps[0] - 0.5).abs() < 0.001);
        assert!((statistics.time_in_gaps[1] - 0.5).abs() < 0.001);
        assert!(is_about(statistics.gap_longest, 1.001));
        assert!((statistics.gaps_per_minute - 30.0).abs() < 0.01);
    }

    #[test]
    fn opportunities_at_one_instant_are_counted() {
        let trace = LinkTrace::from_times(vec![5, 5, 5, 10, 100]).unwrap();
        assert!(is_about(Statistics::of(&trace).clustered, 0.5));
    }

    #[test]
    fn quantiles_are_those_of_the_rates_of_seconds() {
        let second = |n: u32| (0..=n).map(move |number| n * 1000 + number);
        let times = (0..10).flat_map(second).chain([10_000]).collect();
        let statistics = Statistics::of(&LinkTrace::from_times(times).unwrap());
        let rates = [1.0, 5.0, 9.0].map(|count| count * 0.012);
        for (quantile, rate) in statistics.mbit_quantiles.into_iter().zip(rates) {
            assert!(is_about(quantile, rate), "{statistics:?}");
        }
    }
}
