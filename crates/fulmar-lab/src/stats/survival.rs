//! The estimate of Kaplan and Meier.

use super::observation::Observation;
use std::time::Duration;

/// The distribution of waiting times, some of them censored.
///
/// Source: E. Kaplan and P. Meier, "Nonparametric estimation from incomplete observations", 1958.
/// Without censoring it is the empirical distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct KaplanMeier {
    steps: Vec<Step>,
}

/// A time at which something came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The time.
    pub at: Duration,
    /// The share that came up to and with this time, from 0 to 1.
    pub share: f64,
}

/// Shares this close are the same: they are products of some thousand factors.
const SAME: f64 = 1e-9;

impl KaplanMeier {
    /// Makes the estimate.
    pub fn of(observations: &[Observation]) -> Self {
        let mut sorted = observations.to_vec();
        sorted.sort_unstable_by_key(|one| one.waited());
        let mut steps: Vec<Step> = Vec::new();
        let mut waiting = 1.0;
        let mut at_risk = sorted.len();
        for group in sorted.chunk_by(|one, next| one.waited() == next.waited()) {
            // Who gave up at a time was at risk of what came at that time.
            let came = group.iter().filter(|one| !one.is_censored()).count();
            if came > 0 {
                waiting *= 1.0 - came as f64 / at_risk as f64;
                steps.push(Step {
                    at: group[0].waited(),
                    share: 1.0 - waiting,
                });
            }
            at_risk -= group.len();
        }
        Self { steps }
    }

    /// Returns the cumulative distribution: times in order with the share that came by then. The
    /// last share is below 1 when the longest waits were in vain.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the share that came within `time`, from 0 to 1.
    pub fn share(&self, time: Duration) -> f64 {
        let behind = self.steps.partition_point(|step| step.at <= time);
        behind
            .checked_sub(1)
            .map_or(0.0, |last| self.steps[last].share)
    }

    /// Returns the time within which a share came, or `None` when too few ever came to tell.
    ///
    /// Where exactly that share came by one time and more by the next it is the middle between the
    /// two, as usual for a median of an even number.
    ///
    /// # Panics
    ///
    /// Where `share` is not above 0 and at most 1.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        assert!(share > 0.0 && share <= 1.0, "{share} is no share");
        let reached = self.steps.partition_point(|step| step.share < share - SAME);
        let step = self.steps.get(reached)?;
        let is_exact = (step.share - share).abs() <= SAME;
        match self.steps.get(reached + 1) {
            Some(next) if is_exact => Some((step.at + next.at) / 2),
            _ => Some(step.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Observation::{After, Censored};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn after(times: &[u64]) -> Vec<Observation> {
        times.iter().map(|time| After(ms(*time))).collect()
    }

    #[test]
    fn without_censoring_quantiles_are_those_of_the_sample() {
        let odd = KaplanMeier::of(&after(&[30, 10, 20]));
        assert_eq!(odd.quantile(0.5), Some(ms(20)));
        let even = KaplanMeier::of(&after(&[10, 40, 20, 30]));
        assert_eq!(even.quantile(0.5), Some(ms(25)));
        let hundred: Vec<u64> = (1..=100).collect();
        let hundred = KaplanMeier::of(&after(&hundred));
        assert_eq!(hundred.quantile(0.9), Some(Duration::from_micros(90_500)));
        assert_eq!(hundred.quantile(0.991), Some(ms(100)));
        assert_eq!(hundred.quantile(1.0), Some(ms(100)));
    }

    #[test]
    fn the_textbook_example_comes_out() {
        // 6-mercaptopurine in leukaemia, E. Freireich et al. 1963: weeks of remission, the table
        // of D. Cox and D. Oakes 1984; + is censored. S: .857 .807 .753 .690 .627 .538 .448.
        let came = [6, 6, 6, 7, 10, 13, 16, 22, 23];
        let censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
        let mut observations = after(&came);
        observations.extend(censored.map(|week| Censored(ms(week))));
        let survival = KaplanMeier::of(&observations);
        let waiting: Vec<f64> = survival
            .steps()
            .iter()
            .map(|step| ((1.0 - step.share) * 1000.0).round() / 1000.0)
            .collect();
        assert_eq!(waiting, [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]);
        assert_eq!(survival.quantile(0.5), Some(ms(23)));
        assert_eq!(survival.quantile(0.9), None);
    }

    #[test]
    fn a_censored_wait_moves_quantiles_up_and_leaving_it_out_would_not() {
        let mut observations = after(&[10, 20, 30]);
        observations.extend([Censored(ms(5)), Censored(ms(40)), Censored(ms(40))]);
        assert_eq!(KaplanMeier::of(&observations).quantile(0.5), Some(ms(30)));
        assert_eq!(
            KaplanMeier::of(&after(&[10, 20, 30])).quantile(0.5),
            Some(ms(20))
        );
    }

    #[test]
    fn who_never_came_has_no_median() {
        let survival = KaplanMeier::of(&[After(ms(1)), Censored(ms(9)), Censored(ms(9))]);
        assert_eq!(survival.quantile(0.5), None);
        assert_eq!(survival.quantile(0.3), Some(ms(1)));
        assert_eq!(KaplanMeier::of(&[]).quantile(0.5), None);
    }

    #[test]
    fn shares_are_read_off_the_steps() {
        let survival = KaplanMeier::of(&after(&[10, 20, 20, 30]));
        let shares = [9, 10, 19, 20, 30].map(|time| survival.share(ms(time)));
        assert_eq!(shares, [0.0, 0.25, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn the_control_group_of_the_textbook_comes_out_with_its_ties() {
        // The placebo group of the same table, none censored: half had relapsed within 8 weeks.
        let weeks = [
            1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23,
        ];
        let survival = KaplanMeier::of(&after(&weeks));
        assert_eq!(survival.steps().len(), 12);
        assert_eq!(survival.quantile(0.5), Some(ms(8)));
        let waiting = [1, 2, 5, 8, 17, 22].map(|week| 21.0 * (1.0 - survival.share(ms(week))));
        assert_eq!(waiting.map(f64::round), [19.0, 17.0, 12.0, 8.0, 2.0, 1.0]);
    }

    #[test]
    fn a_quantile_between_two_is_their_middle_only_where_the_share_is_exact() {
        let four = KaplanMeier::of(&after(&[10, 20, 30, 40]));
        let quantiles = [0.24, 0.25, 0.25001, 0.75, 0.75001, 1.0].map(|share| four.quantile(share));
        assert_eq!(
            quantiles.map(|time| time.unwrap().as_millis()),
            [10, 15, 20, 35, 40, 40]
        );
        // A share that is the product of 500 factors is exact enough.
        let thousand: Vec<u64> = (1..=1000).collect();
        let thousand = KaplanMeier::of(&after(&thousand));
        let quantiles = [0.5, 0.9, 0.99].map(|share| thousand.quantile(share).unwrap());
        assert_eq!(
            quantiles.map(|time| time.as_micros()),
            [500_500, 900_500, 990_500]
        );
    }

    #[test]
    fn the_order_of_observations_does_not_matter() {
        let mut observations = after(&[7, 7, 3, 9, 12, 3]);
        observations.extend([3, 7, 8, 20].map(|time| Censored(ms(time))));
        let expected = KaplanMeier::of(&observations);
        for _ in 0..observations.len() {
            observations.rotate_left(1);
            assert_eq!(KaplanMeier::of(&observations), expected);
        }
        observations.reverse();
        assert_eq!(KaplanMeier::of(&observations), expected);
    }

    #[test]
    fn later_and_longer_waits_move_and_stretch_quantiles() {
        let of = |to: fn(u64) -> u64| {
            let mut observations = after(&[4, 8, 15, 16, 23, 42].map(to));
            observations.extend([9, 15].map(|time| Censored(ms(to(time)))));
            KaplanMeier::of(&observations)
        };
        let (plain, later, longer) = (of(|time| time), of(|time| time + 7), of(|time| time * 3));
        for share in [0.1, 0.25, 0.5, 0.8, 1.0] {
            let time = plain.quantile(share).unwrap();
            assert_eq!(later.quantile(share), Some(time + ms(7)));
            assert_eq!(longer.quantile(share), Some(time * 3));
        }
    }

    #[test]
    fn what_was_given_up_early_counts_for_the_others_in_proportion() {
        // Of four one gives up at 5: each of the three left stands for a third of all.
        let mut observations = after(&[10, 20, 30]);
        observations.push(Censored(ms(5)));
        let shares = [10, 20, 30].map(|time| KaplanMeier::of(&observations).share(ms(time)) * 3.0);
        assert_eq!(
            shares.map(|share| (share * 1e9).round() / 1e9),
            [1.0, 2.0, 3.0]
        );
        // Of four one gives up at 25: only the last can stand for it, and has twice the weight.
        observations[3] = Censored(ms(25));
        let shares = [10, 20, 30].map(|time| KaplanMeier::of(&observations).share(ms(time)));
        assert_eq!(shares, [0.25, 0.5, 1.0]);
    }

    #[test]
    fn the_longest_wait_in_vain_leaves_the_last_quantile_open() {
        let mut observations = after(&[0, 10]);
        observations.push(Censored(ms(10)));
        let survival = KaplanMeier::of(&observations);
        assert!(survival.steps().last().unwrap().share < 0.7);
        assert_eq!(survival.quantile(0.6), Some(ms(10)));
        assert_eq!(survival.quantile(1.0), None);
        let never = KaplanMeier::of(&[Censored(ms(3)); 2]);
        assert_eq!((never.steps().len(), never.share(ms(9))), (0, 0.0));
    }
}
