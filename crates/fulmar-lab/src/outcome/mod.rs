//! The outcomes of runs, as they lie on disk: a JSON file for each run, from which a report is made.
//!
//! A run is one session of one peer, or one measurement of one tool: a cell of an experiment, with one
//! seed. Whatever was measured is in its [`Outcome`], with what is needed to do it again by hand.

mod folder;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::judge::RunVerdict;
pub use folder::OutcomeFolder;

/// The identity of a run in a plan.
///
/// All names are of lower-case letters, digits, `-` and `.`, so that they can be names of files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// The experiment, such as `evdo`.
    pub experiment: String,
    /// The setting, such as `lte-500ms-closed`.
    pub cell: String,
    /// The carrier of the session or of the bytes, such as `mosh`.
    pub peer: String,
    /// The seed that all chance of the link followed from.
    pub seed: u64,
}

impl RunId {
    /// Returns the name of the run's file in a folder of outcomes.
    pub fn path(&self) -> PathBuf {
        let file = format!("{}-{}.json", self.peer, self.seed);
        [self.experiment.as_str(), &self.cell, &file]
            .iter()
            .collect()
    }

    /// Returns what it has in common with the runs that differ from it in their seed alone.
    pub(crate) fn without_seed(&self) -> Self {
        Self {
            seed: 0,
            ..self.clone()
        }
    }
}

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The identity of the run.
    pub run: RunId,
    /// The facts of its making.
    pub facts: RunFacts,
    /// The way in which it ended.
    pub end: RunEnd,
    /// Single figures, by name, such as `bytes_up` or `client_cpu`.
    pub figures: BTreeMap<String, Figure>,
    /// The values that changed during the run, by name, such as `queue_down`: pairs of seconds from the start
    /// of the play, and a value.
    pub series: BTreeMap<String, Vec<(f64, f64)>>,
    /// The verdict on the keys, where somebody typed.
    pub verdict: Option<RunVerdict>,
}

/// The facts of the making of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The link, in the words of a [`Scenario`](crate::scenario::Scenario), ends of lines included.
    pub scenario: String,
    /// The commands, with which it was begun: on the client's host first.
    pub commands: Vec<String>,
    /// The typist, `closed` or `open`.
    pub typing: Option<String>,
    /// The recording that was played.
    pub recording: Option<String>,
    /// The beginning: seconds since 1970, UTC.
    pub began: u64,
    /// The time that it took, in seconds.
    pub took: f64,
    /// The number of runs that were under way at the same time, this one included.
    pub side_by_side: usize,
}

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// It has its figures.
    Complete,
    /// It could not be done, or not be judged: why.
    Failed(String),
    /// It was not begun, because this machine lacks something that it needs: what.
    NotMeasured(String),
}

/// A measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// The unit: `ms`, `s`, `B`, `B/s`, `packets`, `share`.
    pub unit: String,
}

impl Figure {
    /// Returns the figure of so many of a unit.
    pub fn new(value: f64, unit: &str) -> Self {
        Self {
            value,
            unit: unit.to_owned(),
        }
    }
}
