//! Results for machines.

use serde::{Deserialize, Serialize};

use super::link::TestLink;
use super::predictor_kind::PredictorKind;
use super::score::Score;
use super::recording::RecordingSet;

/// The file beside the outcomes of real runs that holds what `predict --json` has printed.
pub const PREDICTIONS: &str = "predict.json";

/// The results of a plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PredictionRows {
    /// The number of seeds that were added up.
    pub seeds: u64,
    /// Trials in which not everything came before they were over.
    pub unfinished: usize,
    /// A row for each link, predictor, and recording, group or set.
    pub rows: Vec<PredictionRow>,
}

/// The success of a predictor over a link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PredictionRow {
    /// The link.
    pub link: TestLink,
    /// The set that all recordings of it belong to.
    pub set: RecordingSet,
    /// The subject of the row.
    pub of: RowSubject,
    /// The recording's or the group's name; `all` for the whole set.
    pub name: String,
    /// The predictor.
    pub predictor: PredictorKind,
    /// The number of recordings that were added up.
    pub recordings: usize,
    /// Keys.
    pub keys: usize,
    /// Keys that have an effect; the shares and times below are theirs, unless they say otherwise.
    pub with_effect: usize,
    /// Those whose effect was there at once.
    pub instant_percent: f64,
    /// Keys that were wrong, of all keys.
    pub wrong_percent: f64,
    /// The mean wait.
    pub mean_ms: f64,
    /// The wait that half of them did not exceed; and nine of ten, and 99 of 100.
    pub p50_ms: f64,
    /// See `p50_ms`.
    pub p90_ms: f64,
    /// See `p50_ms`.
    pub p99_ms: f64,
    /// Keys of secrets.
    pub secret_keys: usize,
    /// The number of them that were shown.
    pub leaks: usize,
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSubject {
    /// One recording.
    #[default]
    Recording,
    /// The recordings of a set with one kind of programs.
    Group,
    /// A whole set, but for recordings that are apart.
    All,
}

impl PredictionRow {
    /// Fills in the figures of a score.
    pub(super) fn with(self, score: &Score) -> PredictionRow {
        PredictionRow {
            keys: score.keys,
            with_effect: score.waits.len(),
            instant_percent: score.instant(),
            wrong_percent: score.wrong(),
            mean_ms: score.mean(),
            p50_ms: score.quantile(0.5),
            p90_ms: score.quantile(0.9),
            p99_ms: score.quantile(0.99),
            secret_keys: score.leaks.keys,
            leaks: score.leaks.shown,
            ..self
        }
    }
}
