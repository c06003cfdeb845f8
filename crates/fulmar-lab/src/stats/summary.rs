//! Waiting times in a line of a table.

use super::observation::Observation;
use super::survival::KaplanMeier;
use serde_json::{Value, json};
use std::time::Duration;

/// Above this share of censored observations there is no mean.
pub const CENSORED_MAX: f64 = 0.01;

/// Waiting times in a few numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of observations, the censored ones included.
    pub count: usize,
    /// The number of them that never came.
    pub censored: usize,
    /// Half came within this time. `None` here and below where too few came to tell.
    pub median: Option<Duration>,
    /// 90 % came within this time.
    pub p90: Option<Duration>,
    /// 99 % came within this time.
    pub p99: Option<Duration>,
    /// The mean. Censored waits, where they are few enough for there to be a mean, count as if they
    /// had ended at the longest time that was observed, which makes it a lower bound.
    pub mean: Option<Duration>,
    /// The standard deviation of the sample, on the same terms; `None` below two.
    pub deviation: Option<Duration>,
}

impl Summary {
    /// Sums up.
    pub fn of(observations: &[Observation]) -> Self {
        let survival = KaplanMeier::of(observations);
        let censored = observations.iter().filter(|one| one.is_censored());
        let censored = censored.count();
        let count = observations.len();
        let few_enough = count > 0 && censored as f64 <= CENSORED_MAX * count as f64;
        let moments = few_enough.then(|| moments(observations, &survival));
        Self {
            count,
            censored,
            median: survival.quantile(0.5),
            p90: survival.quantile(0.9),
            p99: survival.quantile(0.99),
            mean: moments.map(|(mean, _)| Duration::from_secs_f64(mean)),
            deviation: moments
                .and_then(|(_, deviation)| deviation)
                .map(Duration::from_secs_f64),
        }
    }

    /// Returns all of it as JSON: times in milliseconds, `null` where there is none.
    pub(crate) fn to_json(&self) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        json!({
            "count": self.count,
            "censored": self.censored,
            "median_ms": self.median.map(ms),
            "mean_ms": self.mean.map(ms),
            "deviation_ms": self.deviation.map(ms),
            "p90_ms": self.p90.map(ms),
            "p99_ms": self.p99.map(ms),
        })
    }
}

/// Mean and standard deviation in seconds, with what the estimate leaves over put at the longest
/// time.
fn moments(observations: &[Observation], survival: &KaplanMeier) -> (f64, Option<f64>) {
    let longest = observations.iter().map(|one| one.waited()).max();
    let longest = longest.unwrap_or_default().as_secs_f64();
    let mut last = 0.0;
    let mut weights: Vec<(f64, f64)> = Vec::new();
    for step in survival.steps() {
        weights.push((step.at.as_secs_f64(), step.share - last));
        last = step.share;
    }
    weights.push((longest, 1.0 - last));
    let mean: f64 = weights.iter().map(|(time, weight)| time * weight).sum();
    let variance: f64 = weights
        .iter()
        .map(|(time, weight)| (time - mean).powi(2) * weight)
        .sum();
    let count = observations.len() as f64;
    let deviation = (count > 1.0).then(|| (variance.max(0.0) * count / (count - 1.0)).sqrt());
    (mean.max(0.0), deviation)
}

/// The time within which something that comes is there at once.
///
/// Source: the Mosh paper, "less than 5 ms".
pub const AT_ONCE: Duration = Duration::from_millis(5);

/// Returns the share of observations that came within `limit`, of all; `None` without any.
///
/// Here nothing is estimated: a wait given up before `limit` counts as one that did not come.
pub fn share_within(observations: &[Observation], limit: Duration) -> Option<f64> {
    let came = observations
        .iter()
        .filter(|one| one.came().is_some_and(|time| time <= limit));
    let count = observations.len();
    (count > 0).then(|| came.count() as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Observation::{After, Censored};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn near(one: Option<Duration>, other: Duration) -> bool {
        one.is_some_and(|one| one.abs_diff(other) < Duration::from_nanos(10))
    }

    #[test]
    fn an_even_spread_has_its_known_moments() {
        // 1 to n: mean (n + 1) / 2, variance of the sample n (n + 1) / 12.
        let all: Vec<Observation> = (1..=99).map(|time| After(ms(time))).collect();
        let summary = Summary::of(&all);
        assert_eq!((summary.count, summary.censored), (99, 0));
        assert_eq!(summary.median, Some(ms(50)));
        assert_eq!(summary.p90, Some(ms(90)));
        assert_eq!(summary.p99, Some(ms(99)));
        assert!(near(summary.mean, ms(50)));
        let deviation = (99.0_f64 * 100.0 / 12.0).sqrt() / 1000.0;
        assert!(near(summary.deviation, Duration::from_secs_f64(deviation)));
    }

    #[test]
    fn there_is_no_mean_where_more_than_one_in_a_hundred_is_censored() {
        let mut all = vec![After(ms(10)); 99];
        all.push(Censored(ms(1010)));
        assert!(near(Summary::of(&all).mean, ms(20)));
        all.pop();
        all.pop();
        all.push(Censored(ms(1010)));
        let summary = Summary::of(&all);
        assert_eq!((summary.mean, summary.deviation), (None, None));
        assert_eq!(summary.median, Some(ms(10)));
    }

    #[test]
    fn nothing_and_one_thing_are_no_errors() {
        assert_eq!(Summary::of(&[]), Summary::default());
        let one = Summary::of(&[After(ms(5))]);
        assert!(near(one.mean, ms(5)));
        assert_eq!(one.deviation, None);
        let never = Summary::of(&[Censored(ms(5))]);
        assert_eq!((never.median, never.mean), (None, None));
    }

    #[test]
    fn the_share_at_once_counts_all() {
        let all = [After(ms(5)), After(ms(6)), Censored(ms(1)), After(ms(0))];
        assert_eq!(share_within(&all, ms(5)), Some(0.5));
        assert_eq!(share_within(&[], ms(5)), None);
    }

    #[test]
    fn a_deviation_is_that_of_the_sample() {
        // 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, the squares of the differences add up to 32.
        let all = [2, 4, 4, 4, 5, 5, 7, 9].map(|time| After(ms(time)));
        let summary = Summary::of(&all);
        assert!(near(summary.mean, ms(5)));
        let deviation = (32.0_f64 / 7.0).sqrt() / 1000.0;
        assert!(near(summary.deviation, Duration::from_secs_f64(deviation)));
        assert_eq!(
            (summary.median, summary.p90, summary.p99),
            (Some(Duration::from_micros(4500)), Some(ms(9)), Some(ms(9)))
        );
    }

    #[test]
    fn each_quantile_is_that_of_its_name() {
        let all: Vec<Observation> = (1..=1000).map(|time| After(ms(time))).collect();
        let summary = Summary::of(&all);
        let quantiles = [summary.median, summary.p90, summary.p99];
        let quantiles = quantiles.map(|time| time.unwrap().as_micros());
        assert_eq!(quantiles, [500_500, 900_500, 990_500]);
    }

    #[test]
    fn a_wait_given_up_early_stands_for_the_rest_and_not_for_its_own_time() {
        // 199 come at 10 or 20 ms; one that was given up at 1 ms changes nothing of their mean.
        let mut all = vec![After(ms(10)); 100];
        all.extend(vec![After(ms(20)); 99]);
        let mean = Summary::of(&all).mean.unwrap();
        all.push(Censored(ms(1)));
        let summary = Summary::of(&all);
        assert_eq!((summary.count, summary.censored), (200, 1));
        assert!(near(summary.mean, mean), "{summary:?}");
    }

    #[test]
    fn the_order_does_not_matter_and_times_move_and_stretch_all_figures() {
        let times = [3, 1, 4, 1, 5, 9, 2, 6];
        let of = |to: fn(u64) -> u64| Summary::of(&times.map(|time| After(ms(to(time)))));
        let (plain, later, longer) = (of(|time| time), of(|time| time + 50), of(|time| time * 4));
        let mut sorted = times.map(|time| After(ms(time)));
        sorted.sort_by_key(|one| one.waited());
        assert_eq!(Summary::of(&sorted), plain);
        for figure in [
            |one: &Summary| one.median,
            |one: &Summary| one.p90,
            |one: &Summary| one.p99,
            |one: &Summary| one.mean,
        ] {
            let time = figure(&plain).unwrap();
            assert!(near(figure(&later), time + ms(50)));
            assert!(near(figure(&longer), time * 4));
        }
        let deviation = plain.deviation.unwrap();
        assert!(near(later.deviation, deviation));
        assert!(near(longer.deviation, deviation * 4));
    }

    #[test]
    fn what_there_is_not_is_null() {
        let never = [Censored(Duration::from_secs(1))];
        let expected = json!({
            "count": 1, "censored": 1, "median_ms": null, "mean_ms": null, "deviation_ms": null,
            "p90_ms": null, "p99_ms": null,
        });
        assert_eq!(Summary::of(&never).to_json(), expected);
        let twice = [After(Duration::from_millis(250)); 2];
        let summary = Summary::of(&twice).to_json();
        assert_eq!(
            (&summary["median_ms"], &summary["mean_ms"]),
            (&json!(250.0), &json!(250.0))
        );
    }
}
