//! Scores a predictor on a session, and on many.

use std::collections::BTreeSet;
use std::time::Duration;

use super::leak::{Leaks, leaks};
use super::misprediction::{Misprediction, wrongs};
use super::recorded_truth::RecordedTruth;
use super::user_view::UserView;
use super::wait::wait;
use crate::stats::Observation;

/// An effect that is there within this time is there at once.
pub const INSTANT: Duration = Duration::from_millis(5);

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
    pub wrongs: Vec<Misprediction>,
}

impl Scored {
    /// Judges what was seen.
    pub fn of(truth: &RecordedTruth, view: &UserView<'_>) -> Scored {
        let keys = truth.keys().len();
        let waits: Vec<_> = (0..keys).map(|key| wait(truth, view, key)).collect();
        let wrongs = wrongs(truth, view);
        let wrong: BTreeSet<usize> = wrongs.iter().map(|wrong| wrong.key).collect();
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
