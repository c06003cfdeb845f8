//! A planted bug: a patch, and what is said about it above the changes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// A patch of `testdata/mutants`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// Its file's name without the ending.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The flaw in words.
    pub(super) planted: String,
    /// The package whose tests are run.
    pub(super) package: String,
    /// The test that is expected to fail.
    pub(super) caught_by: String,
}

impl Patch {
    /// Reads all patches of a folder, in the order of their names.
    ///
    /// # Errors
    ///
    /// When one cannot be read, or lacks a line.
    pub(super) fn all(folder: &Path) -> Result<Vec<Patch>> {
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut patches = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "patch") {
                let text = fs::read_to_string(&path)?;
                let patch = Patch::parse(path.clone(), &text);
                patches.push(patch.with_context(|| path.display().to_string())?);
            }
        }
        patches.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(patches)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Patch> {
        let line = |start: &str| {
            let head = text.lines().take_while(|line| !line.starts_with("diff "));
            let found = head.filter_map(|line| line.strip_prefix(start)).next();
            found
                .map(|rest| rest.trim().to_owned())
                .with_context(|| format!("no line begins with {start:?}"))
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Patch {
            name: name.into_owned(),
            planted: line("Planted:")?,
            package: line("Package:")?,
            caught_by: line("Caught by:")?,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Planted: a cap is gone.\nPackage: fulmar-core\nCaught by: a::b\n";

    #[test]
    fn a_patch_says_what_it_plants_where_and_who_should_find_it() {
        let text = format!("{HEAD}\ndiff --git a/a.rs b/a.rs\nPackage: xtask\n");
        let patch = Patch::parse("mutants/01-cap.patch".into(), &text).unwrap();
        let expected = Patch {
            name: "01-cap".to_owned(),
            path: "mutants/01-cap.patch".into(),
            planted: "a cap is gone.".to_owned(),
            package: "fulmar-core".to_owned(),
            caught_by: "a::b".to_owned(),
        };
        assert_eq!(patch, expected);
    }

    #[test]
    fn a_patch_without_one_of_its_lines_is_refused() {
        for gone in ["Planted:", "Package:", "Caught by:"] {
            let text = HEAD.replace(gone, "diff");
            let error = Patch::parse("a.patch".into(), &text).unwrap_err();
            assert!(error.to_string().contains(gone), "{error}");
        }
    }
}
