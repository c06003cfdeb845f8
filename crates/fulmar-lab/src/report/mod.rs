//! The report: one page that needs nothing beside itself, made of the outcomes of a folder.
//!
//! Everything that comes from a file becomes text and nothing else. There is no script
//! in the page and nothing is fetched: it reads the same from a disk, by mail, and in ten years.
//! Charts are drawn as SVG by functions of numbers alone.

mod chart;
mod facts;
mod grouped;
mod markup;
mod number;
mod origin;
mod overview;
mod page;
mod peers;
mod plots;
mod precision;
mod ratios;
mod scalar;
mod section;
mod series;
mod table;
mod typed;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::experiment::{Experiment, Surroundings};
use crate::outcome::Folder;
pub use origin::Origin;

/// The file of a folder of outcomes that says how precise the emulation was, as
/// `fulmar-lab selfcheck --json` writes it.
pub const SELFCHECK: &str = "selfcheck.json";

/// The page.
const PAGE: &str = "index.html";

/// Writes the report of a folder of outcomes into it, and returns its path.
///
/// What the experiments do not know is in it, too, under its own name.
///
/// # Errors
///
/// Where nothing was measured, an outcome cannot be read, or the page not be written.
pub fn write(root: &Path, experiments: &[Experiment], around: &Surroundings) -> Result<PathBuf> {
    ensure!(root.is_dir(), "{} is no folder", root.display());
    let outcomes = Folder::open(root)?.all()?;
    ensure!(
        !outcomes.is_empty(),
        "there are no outcomes in {}",
        root.display()
    );
    let report = page::Report {
        subjects: grouped::group(outcomes, experiments, around),
        origin: Origin::of(root),
        selfcheck: selfcheck(root)?,
    };
    let path = root.join(PAGE);
    let beside = path.with_extension("new");
    std::fs::write(&beside, report.page())
        .and_then(|()| std::fs::rename(&beside, &path))
        .with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn selfcheck(root: &Path) -> Result<Option<Value>> {
    let path = root.join(SELFCHECK);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(None);
    };
    let findings = serde_json::from_str(&text);
    findings
        .map(Some)
        .with_context(|| format!("{} is no self-check", path.display()))
}

#[cfg(test)]
mod contrast;
