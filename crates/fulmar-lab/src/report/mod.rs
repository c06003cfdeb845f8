//! The report: pages made of the outcomes of a folder. `index.html` has the results; distributions, the
//! timelines and commands of single runs, and predictions have pages beside it.
//!
//! Everything that comes from a file becomes text and nothing else. There is no script
//! in a page and nothing is fetched: it reads the same from a disk, by mail, and in ten years.
//! Charts are drawn as SVG by functions of numbers alone.

mod behind;
mod chart;
mod checks;
mod drawing;
mod evidence;
mod facts;
mod grouped;
mod not_best;
mod number;
mod origin;
mod overview;
mod page;
mod part;
mod peers;
mod plots;
mod predictions;
mod ratios;
mod relations;
mod results;
mod scalar;
mod section;
mod series;
mod table;
mod typed;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;

use crate::experiment::{Experiment, LabSetup};
use crate::outcome::OutcomeFolder;
use crate::predict::PREDICTIONS;
use crate::whole_file::write_whole;
use grouped::ExperimentRuns;
pub use origin::Origin;

/// The file of a folder of outcomes that says how precise the emulation was, as
/// `fulmar-lab selfcheck --json` writes it.
pub const SELFCHECK: &str = "selfcheck.json";

/// The file that says whether equal runs came out equal, as `fulmar-lab pairs` writes it.
pub const PAIRS: &str = "pairs.json";

/// Writes the pages of a folder of outcomes into it, and returns the path of the first one to read.
///
/// What the experiments do not know is in it, too, under its own name.
///
/// # Errors
///
/// Where nothing was measured, an outcome cannot be read, or the page not be written.
pub fn write(root: &Path, experiments: &'static [Experiment], setup: &LabSetup) -> Result<PathBuf> {
    let report = page::Report {
        subjects: subjects(root, experiments, setup)?,
        origin: Origin::of(root),
        selfcheck: found(root, SELFCHECK)?,
        pairs: found(root, PAIRS)?,
        predictions: found(root, PREDICTIONS)?,
    };
    let mut path = root.to_owned();
    for (file, page) in report.pages() {
        path = root.join(file);
        write_whole(&path, page)?;
    }
    Ok(path)
}

/// Returns one chart of a folder of outcomes as an SVG file: that of the first cell of an experiment
/// whose name begins so, in which somebody typed.
///
/// # Errors
///
/// Where there is no such cell, or an outcome cannot be read.
pub fn drawing(
    root: &Path,
    experiments: &'static [Experiment],
    setup: &LabSetup,
    (experiment, cell): (&str, &str),
) -> Result<String> {
    drawing::of(&subjects(root, experiments, setup)?, experiment, cell)
}

/// Returns the table of everybody who typed, in Markdown; empty where nobody did.
///
/// # Errors
///
/// Where an outcome cannot be read.
pub fn table(root: &Path, experiments: &'static [Experiment], setup: &LabSetup) -> Result<String> {
    Ok(overview::markdown(&subjects(root, experiments, setup)?))
}

/// Returns the tables of the predictions that lie in a folder, in Markdown; empty where there are none.
///
/// # Errors
///
/// Where they cannot be read.
pub fn predictions(root: &Path) -> Result<String> {
    Ok(found(root, PREDICTIONS)?.map_or_else(String::new, |rows| predictions::text(&rows)))
}

fn subjects(
    root: &Path,
    experiments: &'static [Experiment],
    setup: &LabSetup,
) -> Result<Vec<ExperimentRuns>> {
    ensure!(root.is_dir(), "{} is no folder", root.display());
    let outcomes = OutcomeFolder::open(root)?.all()?;
    ensure!(
        !outcomes.is_empty(),
        "there are no outcomes in {}",
        root.display()
    );
    Ok(grouped::group(outcomes, experiments, setup))
}

/// Returns what one of the files beside the outcomes says, if it is there.
fn found<T: DeserializeOwned>(root: &Path, name: &str) -> Result<Option<T>> {
    let path = root.join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(None);
    };
    let findings = serde_json::from_str(&text);
    findings
        .map(Some)
        .with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests;
