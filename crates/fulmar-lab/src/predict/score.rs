//! Scores a predictor on a session, and on many.

use std::collections::BTreeSet;
use std::time::Duration;

use super::displayed_run::ViewedSession;
use super::leak::{Leaks, leaks};
use super::misprediction::wrongs;
use super::recorded_truth::RecordedTruth;
use super::user_view::UserView;
use crate::judge::WrongInterval;
use crate::stats::{AT_ONCE, Observation};

/// An effect that is there within this time is there at once: the same as for real runs.
pub const INSTANT: Duration = AT_ONCE;

/// The score of a predictor.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// The number of keys.
    pub keys: usize,
    /// The number of them that were wrong: because of them something was for 30 ms and more.
    pub wrong: usize,
    /// The waits of the keys that have an effect.
    pub waits: Vec<Observation>,
    /// The secrets that were shown.
    pub leaks: Leaks,
}

/// The score of one session, with what is behind it.
#[derive(Debug)]
pub struct Scored {
    /// The sums.
    pub score: Score,
    /// The wait of each key; `None` for one without effect.
    pub waits: Vec<Option<Observation>>,
    /// Everything that was wrong.
    pub wrongs: Vec<WrongInterval>,
}

impl Scored {
    /// Judges what was seen.
    pub fn of(truth: &RecordedTruth, view: &UserView<'_>) -> Scored {
        let keys = truth.keys().len();
        let session = ViewedSession { truth, view };
        let waits: Vec<_> = (0..keys).map(|key| session.wait(key)).collect();
        let wrongs = wrongs(truth, view);
        let wrong: BTreeSet<usize> = wrongs.iter().filter_map(|wrong| wrong.key).collect();
        Scored {
            score: Score {
                keys,
                wrong: wrong.len(),
                waits: waits.iter().flatten().copied().collect(),
                leaks: leaks(truth, view),
            },
            waits,
            wrongs,
        }
    }
}

/// Returns true if a wait is none.
pub(super) fn is_instant(wait: Observation) -> bool {
    matches!(wait, Observation::After(time) if time <= INSTANT)
}

impl Score {
    /// Adds another.
    pub fn add(&mut self, other: &Score) {
        self.keys += other.keys;
        self.wrong += other.wrong;
        self.waits.extend_from_slice(&other.waits);
        self.leaks.keys += other.leaks.keys;
        self.leaks.shown += other.leaks.shown;
    }

    /// The share of keys with an effect that was there at once, in percent.
    pub fn instant(&self) -> f64 {
        let instant = self.waits.iter().filter(|wait| is_instant(**wait)).count();
        percent(instant, self.waits.len())
    }

    /// The share of all keys that were wrong, in percent.
    pub fn wrong(&self) -> f64 {
        percent(self.wrong, self.keys)
    }

    /// The mean wait in milliseconds; what never came counts as long as it was waited for.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.waits.iter().map(|wait| millis(*wait)).sum();
        sum / self.waits.len().max(1) as f64
    }

    /// The wait in milliseconds that so large a share does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut waits: Vec<f64> = self.waits.iter().map(|wait| millis(*wait)).collect();
        waits.sort_by(f64::total_cmp);
        let rank = (share * waits.len() as f64).ceil() as usize;
        waits.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn millis(wait: Observation) -> f64 {
    wait.waited().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use Observation::{After, Censored};

    fn score(waits: &[Observation]) -> Score {
        Score {
            keys: 8,
            wrong: 2,
            waits: waits.to_vec(),
            leaks: Leaks { keys: 3, shown: 1 },
        }
    }

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn at_once_is_within_5_ms_and_there() {
        let waits = [
            After(micros(0)),
            After(micros(5000)),
            After(micros(5001)),
            Censored(micros(1)),
        ];
        let score = score(&waits);
        assert_eq!((score.instant(), score.wrong()), (50.0, 25.0));
    }

    #[test]
    fn what_never_came_is_waited_for_as_long_as_it_was() {
        let score = score(&[After(micros(1000)), Censored(micros(5000))]);
        assert_eq!(score.mean(), 3.0);
        assert_eq!(
            [0.5, 0.51, 1.0].map(|share| score.quantile(share)),
            [1.0, 5.0, 5.0]
        );
    }

    #[test]
    fn a_quantile_is_a_wait_that_was_had() {
        let waits: Vec<_> = (1..=100)
            .rev()
            .map(|wait| After(micros(wait * 1000)))
            .collect();
        let score = score(&waits);
        let quantiles = [0.0, 0.005, 0.5, 0.9, 0.99, 1.0].map(|share| score.quantile(share));
        assert_eq!(quantiles, [1.0, 1.0, 50.0, 90.0, 99.0, 100.0]);
    }

    #[test]
    fn nothing_has_no_share_and_no_wait() {
        let nothing = Score::default();
        assert_eq!((nothing.instant(), nothing.wrong()), (0.0, 0.0));
        assert_eq!((nothing.mean(), nothing.quantile(0.5)), (0.0, 0.0));
    }

    #[test]
    fn scores_are_added_up() {
        let mut sum = score(&[After(micros(1))]);
        sum.add(&score(&[Censored(micros(2)), After(micros(3))]));
        assert_eq!((sum.keys, sum.wrong), (16, 4));
        assert_eq!(
            sum.waits,
            [After(micros(1)), Censored(micros(2)), After(micros(3))]
        );
        assert_eq!(sum.leaks, Leaks { keys: 6, shown: 2 });
    }
}
