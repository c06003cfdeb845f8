//! Recordings with their truth.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::group::ProgramGroup;
use super::recorded_truth::RecordedTruth;
use super::set::RecordingSet;
use crate::trace::{Meta, Trace};

/// A recording and what its keys do.
#[derive(Debug)]
pub struct Recording {
    /// Its file's name.
    pub name: String,
    /// The set that it belongs to.
    pub set: RecordingSet,
    /// The recording.
    pub trace: Trace,
    /// The truth: the effects of its keys.
    pub truth: RecordedTruth,
}

impl Recording {
    /// Reads a recording, and its sidecar if it has one.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Recording> {
        let trace = Trace::read(path)?;
        let beside = Meta::path_beside(path);
        let meta = if beside.is_file() {
            Some(Meta::read(&beside)?)
        } else {
            None
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Recording {
            set: RecordingSet::of(path),
            ..Recording::new(&name, trace, meta.as_ref())
        })
    }

    /// Returns a recording by that name, of no set of ours.
    pub fn new(name: &str, trace: Trace, meta: Option<&Meta>) -> Recording {
        Recording {
            name: name.to_owned(),
            set: RecordingSet::Others,
            truth: RecordedTruth::of(&trace, meta),
            trace,
        }
    }

    /// Reads all recordings of a folder whose name holds one of `parts`, or all if there are none, in
    /// the order of their names.
    ///
    /// # Errors
    ///
    /// As of one; and where there is none.
    pub fn read_all(folder: &Path, parts: &[String]) -> Result<Vec<Recording>> {
        let reading = || format!("reading {}", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_wanted = parts.is_empty() || parts.iter().any(|part| name.contains(part));
            let is_trace = !name.ends_with(".meta") && !name.contains("README");
            if path.is_file() && is_trace && is_wanted {
                paths.push(path);
            }
        }
        paths.sort();
        ensure!(
            !paths.is_empty(),
            "{} has no such recording",
            folder.display()
        );
        paths.iter().map(|path| Recording::read(path)).collect()
    }

    /// Returns the kind of programs that it has.
    pub fn group(&self) -> ProgramGroup {
        ProgramGroup::of(&self.name)
    }

    /// Returns true if it was made to be hard on purpose, and stays out of the totals.
    pub fn is_apart(&self) -> bool {
        self.name.starts_with("own-adversarial")
    }

    /// Returns true if it belongs to the totals of a set.
    pub(super) fn is_counted_in(&self, set: RecordingSet) -> bool {
        self.set == set && !self.is_apart()
    }
}
