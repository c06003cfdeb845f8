//! Tells how sure a figure is: intervals by drawing the observations again.

use super::observation::Observation;
use super::summary::Summary;
use super::survival::KaplanMeier;
use fulmar_sim::Random;

/// A figure of a set of observations, in seconds or as a share. `None` where there is none.
pub type Statistic = fn(&[Observation]) -> Option<f64>;

/// Returns the median in seconds: the figure that most intervals are of.
pub fn median(observations: &[Observation]) -> Option<f64> {
    quantile(observations, 0.5)
}

/// Returns the time in seconds within which 90 % came.
pub(crate) fn p90(observations: &[Observation]) -> Option<f64> {
    quantile(observations, 0.9)
}

/// Returns the time in seconds within which 99 % came.
pub(crate) fn p99(observations: &[Observation]) -> Option<f64> {
    quantile(observations, 0.99)
}

fn quantile(observations: &[Observation], share: f64) -> Option<f64> {
    let time = KaplanMeier::of(observations).quantile(share)?;
    Some(time.as_secs_f64())
}

/// Returns the mean in seconds, see [`Summary::mean`].
pub(crate) fn mean(observations: &[Observation]) -> Option<f64> {
    Some(Summary::of(observations).mean?.as_secs_f64())
}

/// The plan for drawing again.
///
/// Keys of one run that follow each other depend on each other: they met the same outage. So keys
/// are drawn in blocks of neighbours, which keeps most of the dependence. Where the answer
/// should hold for other runs, too, runs are drawn before the keys.
///
/// A run is taken as a circle, so that every key is drawn as often as any other.
///
/// Source: D. Politis and J. Romano, "A circular block-resampling procedure for stationary data",
/// 1992.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResamplingPlan {
    /// Keys in a block; a run shorter than this is one block.
    pub block: usize,
    /// True if runs are drawn as well.
    pub draws_runs: bool,
    /// The number of times that everything is drawn.
    pub draws: usize,
    /// The share of draws that the interval holds, such as 0.9.
    pub level: f64,
    /// The seed that all chance follows from.
    pub seed: u64,
}

impl ResamplingPlan {
    /// The plan for the keys of runs that stay as they are: blocks of 20, which is some seconds of
    /// typing, 1000 draws, 90 %. Chosen by eye; the interval hardly moves from 10 to 40.
    pub fn keys(seed: u64) -> Self {
        Self {
            block: 20,
            draws_runs: false,
            draws: 1000,
            level: 0.9,
            seed,
        }
    }

    /// As [`keys`](Self::keys), and runs are drawn before their keys.
    pub(crate) fn runs_and_keys(seed: u64) -> Self {
        Self {
            draws_runs: true,
            ..Self::keys(seed)
        }
    }
}

/// The interval in which a figure lies, with some certainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The lower end; −∞ where a difference has none.
    pub low: f64,
    /// The upper end; ∞ where a wait had no end in too many draws.
    pub high: f64,
}

impl ConfidenceInterval {
    /// True when the interval holds `value`.
    pub fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Returns the interval of the figure of `one` less that of `other`, each a list of runs with their keys in
/// order, and drawn by itself.
///
/// A draw in which too few keys came for there to be a figure counts as infinite. `None` without
/// any key, and where half of the draws have no figure at all, as infinity less infinity has none.
pub fn difference(
    one: &[Vec<Observation>],
    other: &[Vec<Observation>],
    statistic: Statistic,
    plan: ResamplingPlan,
) -> Option<ConfidenceInterval> {
    let (mut first, mut second) = (Resampler::new(plan, 0), Resampler::new(plan, 1));
    drawn(plan, || {
        Some(first.figure(one, statistic)? - second.figure(other, statistic)?)
    })
}

/// Returns the interval of the figure of `one` divided by that of `other`, on the terms of [`difference`].
pub fn ratio(
    one: &[Vec<Observation>],
    other: &[Vec<Observation>],
    statistic: Statistic,
    plan: ResamplingPlan,
) -> Option<ConfidenceInterval> {
    let (mut first, mut second) = (Resampler::new(plan, 0), Resampler::new(plan, 1));
    drawn(plan, || {
        Some(first.figure(one, statistic)? / second.figure(other, statistic)?)
    })
}

/// Draws as often as planned and cuts off both ends.
fn drawn(
    plan: ResamplingPlan,
    mut figure: impl FnMut() -> Option<f64>,
) -> Option<ConfidenceInterval> {
    let mut figures: Vec<f64> = (0..plan.draws)
        .filter_map(|_| figure())
        .filter(|figure| !figure.is_nan())
        .collect();
    if figures.is_empty() || figures.len() * 2 < plan.draws {
        return None;
    }
    figures.sort_by(f64::total_cmp);
    let cut = (1.0 - plan.level) / 2.0 * (figures.len() - 1) as f64;
    let cut = cut.round() as usize;
    Some(ConfidenceInterval {
        low: figures[cut],
        high: figures[figures.len() - 1 - cut],
    })
}

/// Draws keys.
struct Resampler {
    random: Random,
    plan: ResamplingPlan,
    drawn: Vec<Observation>,
}

impl Resampler {
    fn new(plan: ResamplingPlan, stream: u64) -> Self {
        Self {
            random: Random::stream(plan.seed, stream),
            plan,
            drawn: Vec::new(),
        }
    }

    fn figure(&mut self, runs: &[Vec<Observation>], statistic: Statistic) -> Option<f64> {
        self.drawn.clear();
        for run in 0..runs.len() {
            let run = if self.plan.draws_runs {
                self.below(runs.len())
            } else {
                run
            };
            self.draw_keys(&runs[run]);
        }
        let is_empty = self.drawn.is_empty();
        (!is_empty).then(|| statistic(&self.drawn).unwrap_or(f64::INFINITY))
    }

    fn draw_keys(&mut self, run: &[Observation]) {
        let block = self.plan.block.clamp(1, run.len().max(1));
        let mut left = run.len();
        while left > 0 {
            let start = self.below(run.len());
            let keys = run.iter().cycle().skip(start).take(block.min(left));
            self.drawn.extend(keys);
            left = left.saturating_sub(block);
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Observation::{After, Censored};
    use std::time::Duration;

    fn seconds(times: impl IntoIterator<Item = f64>) -> Vec<Observation> {
        times
            .into_iter()
            .map(|time| After(Duration::from_secs_f64(time)))
            .collect()
    }

    /// The interval of the figure of some runs: what they have more than a run whose only key came at once.
    fn interval(
        runs: &[Vec<Observation>],
        statistic: Statistic,
        plan: ResamplingPlan,
    ) -> Option<ConfidenceInterval> {
        difference(runs, &[vec![After(Duration::ZERO)]], statistic, plan)
    }

    /// `count` waits, each 1 s plus up to 1 s, the next like the last with chance `memory`.
    fn waits(seed: u64, count: usize, memory: f64) -> Vec<Observation> {
        let mut random = Random::stream(seed, 9);
        let mut last = random.unit();
        seconds((0..count).map(|_| {
            if random.unit() >= memory {
                last = random.unit();
            }
            1.0 + last
        }))
    }

    #[test]
    fn equal_keys_leave_no_doubt() {
        let runs = [seconds([0.25; 50]), seconds([0.25; 30])];
        let interval = interval(&runs, median, ResamplingPlan::runs_and_keys(1)).unwrap();
        assert_eq!((interval.low, interval.high), (0.25, 0.25));
    }

    #[test]
    fn a_mean_is_as_sure_as_the_textbook_says() {
        // A uniform spread of width 1: the mean of n has the standard error 1 / sqrt(12 n), and
        // 90 % of a normal law lie within 1.645 of them.
        let runs = [waits(3, 1200, 0.0)];
        let plan = ResamplingPlan {
            block: 1,
            ..ResamplingPlan::keys(2)
        };
        let interval = interval(&runs, mean, plan).unwrap();
        let expected = 2.0 * 1.645 / (12.0_f64 * 1200.0).sqrt();
        let width = interval.high - interval.low;
        assert!(
            (width / expected - 1.0).abs() < 0.15,
            "{width} for {expected}"
        );
        assert!(interval.holds(mean(&runs[0]).unwrap()));
    }

    #[test]
    fn blocks_widen_the_interval_of_keys_that_depend_on_each_other() {
        // Waits that repeat the last one with chance 0.9 have (1 + 0.9) / (1 - 0.9) = 19 times
        // the variance of a mean of independent ones.
        let runs = [waits(3, 2000, 0.9)];
        let width = |block| {
            let plan = ResamplingPlan {
                block,
                draws: 300,
                ..ResamplingPlan::keys(2)
            };
            let interval = interval(&runs, mean, plan).unwrap();
            interval.high - interval.low
        };
        let ratio = width(100) / width(1);
        assert!(
            (3.3..5.5).contains(&ratio),
            "{ratio} for {}",
            19.0_f64.sqrt()
        );
    }

    #[test]
    fn runs_that_differ_make_the_interval_wide_when_they_are_drawn() {
        let runs = [seconds([1.0; 40]), seconds([2.0; 40]), seconds([3.0; 40])];
        let kept = interval(&runs, mean, ResamplingPlan::keys(1)).unwrap();
        assert_eq!((kept.low, kept.high), (2.0, 2.0));
        let drawn = interval(&runs, mean, ResamplingPlan::runs_and_keys(1)).unwrap();
        assert!(drawn.low < 1.5 && drawn.high > 2.5, "{drawn:?}");
    }

    #[test]
    fn a_difference_of_equals_holds_nothing_and_of_others_does_not() {
        let (one, same) = ([waits(1, 400, 0.0)], [waits(2, 400, 0.0)]);
        let later: Vec<Observation> = one[0]
            .iter()
            .map(|wait| After(wait.waited() + Duration::from_millis(500)))
            .collect();
        let plan = ResamplingPlan::keys(5);
        assert!(difference(&one, &same, median, plan).unwrap().holds(0.0));
        let apart = difference(&[later], &one, median, plan).unwrap();
        assert!(apart.low > 0.3 && apart.high < 0.7, "{apart:?}");
    }

    #[test]
    fn a_ratio_is_one_figure_over_the_other() {
        let twice = ratio(
            &[seconds([2.0; 9])],
            &[seconds([1.0; 9])],
            median,
            ResamplingPlan::keys(1),
        );
        let twice = twice.unwrap();
        assert_eq!((twice.low, twice.high), (2.0, 2.0));
    }

    #[test]
    fn what_never_came_is_infinite_and_no_keys_are_no_figure() {
        let never = [vec![Censored(Duration::from_secs(9)); 20]];
        let plan = ResamplingPlan::keys(1);
        let interval_of_never = interval(&never, median, plan).unwrap();
        assert_eq!(interval_of_never.low, f64::INFINITY);
        assert_eq!(difference(&never, &never, median, plan), None);
        assert_eq!(interval(&[vec![]], median, plan), None);
        assert_eq!(interval(&[], median, plan), None);
    }

    #[test]
    fn a_seed_repeats_its_interval() {
        let runs = [waits(1, 100, 0.5)];
        let interval = |seed| interval(&runs, median, ResamplingPlan::keys(seed)).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
    }

    /// The number of observations: a statistic that shows how many are drawn.
    fn count(observations: &[Observation]) -> Option<f64> {
        Some(observations.len() as f64)
    }

    #[test]
    fn as_many_keys_are_drawn_as_there_were() {
        // 47 is no multiple of the block of 20, and 5 is less than one.
        let runs = [waits(1, 47, 0.0), waits(2, 5, 0.0)];
        let other = [waits(3, 20, 0.0)];
        let drawn = difference(&runs, &other, count, ResamplingPlan::keys(1)).unwrap();
        assert_eq!((drawn.low, drawn.high), (32.0, 32.0));
    }

    #[test]
    fn the_interval_cuts_as_much_off_either_end() {
        let of = |level, draws: usize| {
            let mut figures = (0..draws).map(|number| Some(number as f64));
            let plan = ResamplingPlan {
                level,
                draws,
                ..ResamplingPlan::keys(1)
            };
            drawn(plan, || figures.next_back().flatten()).unwrap()
        };
        let ends = |interval: ConfidenceInterval| (interval.low, interval.high);
        assert_eq!(ends(of(0.9, 1001)), (50.0, 950.0));
        assert_eq!(ends(of(0.5, 101)), (25.0, 75.0));
        assert_eq!(ends(of(1.0, 11)), (0.0, 10.0));
        assert!(of(0.9, 1001).holds(950.0) && !of(0.9, 1001).holds(951.0));
    }

    #[test]
    fn there_is_an_interval_where_half_of_the_draws_have_a_figure() {
        let of = |figures: usize| {
            let mut number = 0;
            let plan = ResamplingPlan {
                draws: 100,
                ..ResamplingPlan::keys(1)
            };
            drawn(plan, || {
                number += 1;
                (number <= figures).then_some(1.0)
            })
        };
        assert!(of(50).is_some());
        assert!(of(49).is_none());
    }

    #[test]
    fn every_key_of_a_run_is_drawn_as_often_as_any_other_and_in_company() {
        let run = seconds((0..10).map(f64::from));
        let plan = ResamplingPlan {
            block: 4,
            ..ResamplingPlan::keys(3)
        };
        let mut draw = Resampler::new(plan, 0);
        let (mut counts, mut neighbours, mut pairs) = ([0_u32; 10], 0_u32, 0_u32);
        for _ in 0..4000 {
            draw.drawn.clear();
            draw.draw_keys(&run);
            let places: Vec<usize> = draw
                .drawn
                .iter()
                .map(|key| key.waited().as_secs() as usize)
                .collect();
            places.iter().for_each(|place| counts[*place] += 1);
            pairs += 9;
            let follows = |pair: &&[usize]| pair[1] == (pair[0] + 1) % 10;
            neighbours += places.windows(2).filter(follows).count() as u32;
        }
        assert!(
            counts.iter().all(|count| count.abs_diff(4000) < 300),
            "{counts:?}"
        );
        // Blocks of 4, 4 and 2 have 3 + 3 + 1 neighbours, and two seams fit by chance in one of ten.
        let share = f64::from(neighbours) / f64::from(pairs);
        assert!((share - 7.2 / 9.0).abs() < 0.01, "{share}");
    }

    #[test]
    fn an_interval_holds_the_truth_as_often_as_it_says() {
        // Of 150 samples of a uniform law with the median 1.5, 90 % are to hold it: 135, and two
        // standard deviations of a count of that chance are 7.
        let plan = ResamplingPlan {
            block: 1,
            draws: 200,
            ..ResamplingPlan::keys(1)
        };
        let holding = (0..150).filter(|seed| {
            let runs = [waits(*seed, 60, 0.0)];
            let plan = ResamplingPlan {
                seed: *seed,
                ..plan
            };
            interval(&runs, median, plan).unwrap().holds(1.5)
        });
        let holding = holding.count();
        assert!((126..=144).contains(&holding), "{holding}");
    }

    #[test]
    fn only_an_interval_that_draws_runs_holds_for_runs_that_differ() {
        // Twelve runs, each with a wait of its own around which its keys vary little.
        let holding = |plan: fn(u64) -> ResamplingPlan| {
            let holding = (0..100).filter(|seed| {
                let own = waits(*seed, 12, 0.0);
                let runs: Vec<Vec<Observation>> = own
                    .iter()
                    .map(|own| {
                        seconds(
                            (0..20)
                                .map(|key| own.waited().as_secs_f64() + f64::from(key % 3) * 0.01),
                        )
                    })
                    .collect();
                let plan = ResamplingPlan {
                    draws: 100,
                    ..plan(*seed)
                };
                interval(&runs, mean, plan).unwrap().holds(1.51)
            });
            holding.count()
        };
        let (kept, drawn) = (
            holding(ResamplingPlan::keys),
            holding(ResamplingPlan::runs_and_keys),
        );
        assert!(kept < 20 && (75..=97).contains(&drawn), "{kept} {drawn}");
    }

    #[test]
    fn times_move_and_stretch_their_interval() {
        let of = |to: fn(f64) -> f64| {
            let runs = [waits(4, 80, 0.3), waits(5, 40, 0.3)];
            let runs =
                runs.map(|run| seconds(run.iter().map(|wait| to(wait.waited().as_secs_f64()))));
            let ConfidenceInterval { low, high } =
                interval(&runs, median, ResamplingPlan::runs_and_keys(6)).unwrap();
            (low, high)
        };
        let near = |one: (f64, f64), other: (f64, f64)| {
            (one.0 - other.0).abs() + (one.1 - other.1).abs() < 1e-6
        };
        let (low, high) = of(|time| time);
        assert!(low < high);
        assert!(near(of(|time| time + 3.0), (low + 3.0, high + 3.0)));
        assert!(near(of(|time| time * 5.0), (low * 5.0, high * 5.0)));
    }

    #[test]
    fn a_difference_and_a_ratio_are_of_the_first_to_the_second() {
        let (three, one) = ([seconds([3.0; 9])], [seconds([1.0; 9])]);
        let plan = ResamplingPlan::keys(1);
        let ends =
            |interval: Option<ConfidenceInterval>| interval.map(|one| (one.low, one.high)).unwrap();
        assert_eq!(ends(difference(&three, &one, median, plan)), (2.0, 2.0));
        assert_eq!(ends(difference(&one, &three, median, plan)), (-2.0, -2.0));
        assert_eq!(ends(ratio(&three, &one, median, plan)), (3.0, 3.0));
    }

    #[test]
    fn both_sides_of_a_comparison_are_drawn_by_themselves() {
        let runs = [waits(1, 100, 0.0)];
        let plan = ResamplingPlan::keys(1);
        let apart = difference(&runs, &runs, median, plan).unwrap();
        assert!(apart.low < 0.0 && apart.high > 0.0, "{apart:?}");
        let apart = ratio(&runs, &runs, median, plan).unwrap();
        assert!(apart.low < 1.0 && apart.high > 1.0, "{apart:?}");
    }

    #[test]
    fn a_figure_that_too_many_draws_lack_has_no_upper_end() {
        // Half and one of the keys come, so about half of the draws have a median.
        let mut run = seconds([1.0; 21]);
        run.extend([Censored(Duration::from_secs(9)); 19]);
        let plan = ResamplingPlan {
            block: 1,
            ..ResamplingPlan::keys(2)
        };
        let interval = interval(&[run], median, plan).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, f64::INFINITY));
        assert!(interval.holds(f64::INFINITY) && !interval.holds(0.5));
    }

    #[test]
    fn a_single_key_is_its_own_interval() {
        let interval = interval(
            &[seconds([0.125])],
            median,
            ResamplingPlan::runs_and_keys(1),
        )
        .unwrap();
        assert_eq!((interval.low, interval.high), (0.125, 0.125));
    }
}
