//! What runs gave, as it lies on disk: a JSON file for each run, from which a report is made.
//!
//! A run is one session of one peer, or one measurement of one tool: a cell of an experiment, with one
//! seed. Whatever was measured is in its [`Outcome`], with what is needed to do it again by hand.

mod folder;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::judge::Verdict;
pub use folder::Folder;

/// Which run of a plan.
///
/// All names are of lower-case letters, digits, `-` and `.`, so that they can be names of files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId {
    /// The experiment, such as `evdo`.
    pub experiment: String,
    /// Which of its settings, such as `lte-500ms-closed`.
    pub cell: String,
    /// Who carried the session or the bytes, such as `mosh`.
    pub peer: String,
    /// What all chance of the link followed from.
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
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which run it was.
    pub run: RunId,
    /// How it was made.
    pub facts: Facts,
    /// How it ended.
    pub end: End,
    /// Single figures, by name, such as `bytes_up` or `client_cpu`.
    pub figures: BTreeMap<String, Figure>,
    /// What changed during the run, by name, such as `queue_down`: pairs of seconds from the start of the
    /// play, and a value.
    pub series: BTreeMap<String, Vec<(f64, f64)>>,
    /// What became of the keys, where somebody typed.
    pub verdict: Option<Verdict>,
}

/// How a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The link, in the words of a [`Scenario`](crate::scenario::Scenario), ends of lines included.
    pub scenario: String,
    /// The commands, with which it was begun: on the client's host first.
    pub commands: Vec<String>,
    /// The typist, `closed` or `open`.
    pub typing: Option<String>,
    /// The recording that was played.
    pub recording: Option<String>,
    /// When it began: seconds since 1970, UTC.
    pub began: u64,
    /// How long it took, in seconds.
    pub took: f64,
    /// How many runs were under way at the same time, this one included.
    pub side_by_side: usize,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It has its figures.
    Complete,
    /// It could not be done, or not be judged: why.
    Failed(String),
}

/// A measured number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// What it counts: `ms`, `s`, `B`, `B/s`, `packets`, `share`.
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
