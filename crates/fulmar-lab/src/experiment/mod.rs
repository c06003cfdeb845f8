//! The experiments, each with its source, its published figures, and its cells.
//!
//! A cell is one setting of an experiment. For each of its peers, and for each seed, its
//! [`Work`] is done once, and leaves an [`Outcome`](crate::outcome::Outcome). The [`catalogue`] has
//! all of them.

pub mod catalogue;
mod setup;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;

use crate::judge::RunVerdict;
use crate::outcome::Figure;
pub use setup::LabSetup;
pub(crate) use setup::own_recordings;

/// Something that others measured before, or that we claim.
pub struct Experiment {
    /// Its name on the command line, such as `evdo`.
    pub name: &'static str,
    /// Its title in the report.
    pub title: &'static str,
    /// The source that it comes from.
    pub source: &'static str,
    /// A description: what is done, and what the figures mean, in a few sentences.
    pub about: &'static str,
    /// The times of keys that others measured.
    pub published: &'static [Published],
    /// The figures that others measured and that are no times of keys.
    pub quoted: &'static [Quoted],
    /// The reasons why published relations between programs hold here or do not: paragraphs, with an empty
    /// line between two, in which `{CELL PEER FIGURE}` stands for what was measured.
    pub why: &'static str,
    /// Its settings.
    pub cells: fn(&LabSetup) -> Vec<Cell>,
}

/// A published figure: times of keys in milliseconds.
pub struct Published {
    /// The publisher.
    pub by: &'static str,
    /// The program that was measured, such as `mosh`.
    pub peer: &'static str,
    /// The cells that it is to be compared with begin with this.
    pub cells: &'static str,
    /// The median, in the words of the source.
    pub median: &'static str,
    /// The mean.
    pub mean: &'static str,
    /// The standard deviation.
    pub deviation: &'static str,
}

/// A published figure of its own kind, and the one that it is to be compared with.
pub struct Quoted {
    /// The publisher.
    pub by: &'static str,
    /// The name of the figure.
    pub what: &'static str,
    /// The figure with its unit, in the words of the source.
    pub said: &'static str,
    /// The cells beside which it stands begin with this.
    pub cells: &'static str,
    /// The peer.
    pub peer: &'static str,
    /// The figure of its outcomes.
    pub figure: &'static str,
}

/// One setting of an experiment.
pub struct Cell {
    /// Its name, such as `lte-500ms-closed`: see [`RunId`](crate::outcome::RunId).
    pub name: String,
    /// Its title in the report.
    pub title: String,
    /// The peers that take part.
    pub peers: Vec<String>,
    /// The time that one run takes, about.
    pub takes: Duration,
    /// True where nothing else may run on this machine at the same time.
    pub is_alone: bool,
    /// The work of a run.
    pub work: Box<dyn Work>,
}

/// The work of a run.
pub trait Work: Send + Sync {
    /// Measures one peer once.
    ///
    /// # Errors
    ///
    /// Where it cannot be measured; the reason is kept as the outcome of the run.
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured>;

    /// Returns the time that a run of this peer takes, about, if that is not what the cell says.
    fn takes(&self, _peer: &str) -> Option<Duration> {
        None
    }

    /// Returns true if any remote shell can take part, and not only the peers that the cell names.
    fn takes_any_peer(&self) -> bool {
        false
    }

    /// The files of the folder of data that it cannot do without, such as
    /// `link-traces/Verizon-LTE-short.up`.
    fn needs(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the parameters of the work, for a reader: name and value.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The measurements of a run: see [`Outcome`](crate::outcome::Outcome).
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The link, in the words of a scenario.
    pub scenario: String,
    /// The commands, those on the client's host first.
    pub commands: Vec<String>,
    /// The typist, `closed` or `open`.
    pub typing: Option<String>,
    /// The recording that was played.
    pub recording: Option<String>,
    /// Single figures by name.
    pub figures: BTreeMap<String, Figure>,
    /// The values that changed during the run: seconds, and a value.
    pub series: BTreeMap<String, Vec<(f64, f64)>>,
    /// The verdict on the keys, where somebody typed.
    pub verdict: Option<RunVerdict>,
}
