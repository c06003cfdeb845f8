//! A folder of outcomes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{Outcome, RunId};
use crate::whole_file::write_whole;

/// The outcomes of a plan, each in its file. What is there survives an interruption.
#[derive(Clone, Debug)]
pub struct OutcomeFolder {
    root: PathBuf,
}

impl OutcomeFolder {
    /// Opens a folder, and makes it where there is none.
    ///
    /// # Errors
    ///
    /// Where that is not permitted.
    pub fn open(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("making {}", root.display()))?;
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// Returns the outcome of a run, if it has one that can be read.
    pub fn get(&self, run: &RunId) -> Option<Outcome> {
        read(&self.root.join(run.path())).ok()
    }

    /// Writes an outcome, in place of an older one of the same run. It is there whole or not at all.
    ///
    /// # Errors
    ///
    /// Where the disk does not take it.
    pub fn put(&self, outcome: &Outcome) -> Result<()> {
        let path = self.root.join(outcome.run.path());
        let text = serde_json::to_string(outcome)?;
        let place = path.parent().context("a run has a folder")?;
        fs::create_dir_all(place).with_context(|| format!("making {}", place.display()))?;
        write_whole(&path, text)
    }

    /// Returns all outcomes, in the order of their runs.
    ///
    /// # Errors
    ///
    /// Where a file is there that is no outcome.
    pub fn all(&self) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for experiment in folders(&self.root)? {
            for cell in folders(&experiment)? {
                for file in fs::read_dir(&cell)? {
                    let path = file?.path();
                    if path.extension().is_some_and(|ending| ending == "json") {
                        outcomes.push(read(&path)?);
                    }
                }
            }
        }
        outcomes.sort_by(|one: &Outcome, other| one.run.cmp(&other.run));
        Ok(outcomes)
    }
}

fn folders(place: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(place).with_context(|| format!("reading {}", place.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

fn read(path: &Path) -> Result<Outcome> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no outcome", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Figure, RunEnd};
    use crate::testing;

    fn outcome(peer: &str, seed: u64) -> Outcome {
        Outcome {
            figures: [("bytes_up".to_owned(), Figure::new(17.0, "B"))].into(),
            series: [("queue_up".to_owned(), vec![(0.5, 2.0)])].into(),
            ..testing::outcome(peer, seed)
        }
    }

    #[test]
    fn what_was_put_is_there_in_order_and_the_last_of_a_run_holds() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(&place.path().join("out")).unwrap();
        let all = [outcome("mosh", 2), outcome("mosh", 10), outcome("ssh", 1)];
        for outcome in [&all[2], &all[1], &all[0]] {
            assert_eq!(folder.get(&outcome.run), None);
            folder.put(outcome).unwrap();
            assert_eq!(folder.get(&outcome.run).as_ref(), Some(outcome));
        }
        assert_eq!(folder.all().unwrap(), all);
        let mut later = all[0].clone();
        later.end = RunEnd::Failed("no answer".to_owned());
        folder.put(&later).unwrap();
        assert_eq!(folder.all().unwrap()[0], later);
    }

    #[test]
    fn a_file_that_is_no_outcome_is_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(place.path()).unwrap();
        let outcome = outcome("ssh", 1);
        folder.put(&outcome).unwrap();
        let path = place.path().join(outcome.run.path());
        fs::write(&path, "{").unwrap();
        let error = folder.all().unwrap_err();
        assert!(error.to_string().contains("ssh-1.json"), "{error}");
        assert_eq!(folder.get(&outcome.run), None);
    }

    #[test]
    fn what_is_no_outcome_by_its_place_or_name_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(place.path()).unwrap();
        let outcome = outcome("ssh", 1);
        folder.put(&outcome).unwrap();
        let cell = place.path().join("typing/slow");
        for name in ["ssh-2.new", "ssh-2", "notes.txt"] {
            fs::write(cell.join(name), "{").unwrap();
        }
        fs::write(place.path().join("selfcheck.json"), "{").unwrap();
        fs::write(place.path().join("typing/origin.json"), "{").unwrap();
        assert_eq!(folder.all().unwrap(), [outcome]);
    }

    #[test]
    fn a_file_that_was_cut_anywhere_is_no_outcome() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(place.path()).unwrap();
        let outcome = outcome("ssh", 1);
        folder.put(&outcome).unwrap();
        let path = place.path().join(outcome.run.path());
        let whole = fs::read(&path).unwrap();
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert_eq!(folder.get(&outcome.run), None, "cut at {end}");
        }
        fs::write(&path, &whole).unwrap();
        assert_eq!(folder.get(&outcome.run), Some(outcome));
    }
}
