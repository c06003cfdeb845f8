//! Finds programs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fulmar_testbed::peers::find;

/// The name of our own program.
const LAB: &str = "fulmar-lab";

/// The reason why something cannot be measured on a machine: a program that it needs is not installed there.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not installed")]
pub(crate) struct NotInstalled(pub(crate) String);

/// Returns where a program is that cannot be done without.
///
/// # Errors
///
/// [`NotInstalled`].
pub(crate) fn require(name: &str) -> Result<PathBuf> {
    find(name).ok_or_else(|| NotInstalled(name.to_owned()).into())
}

/// Returns our own program: this one, or in a test the one built beside it.
pub(crate) fn lab() -> Result<PathBuf> {
    let this = std::env::current_exe().context("looking for the program itself")?;
    let is_lab = |path: &Path| path.file_name().is_some_and(|name| name == LAB);
    // Tests lie one folder deeper.
    let beside = this.ancestors().skip(1).take(2).map(|up| up.join(LAB));
    let mut places = std::iter::once(this.clone()).chain(beside);
    places
        .find(|place| is_lab(place) && place.is_file())
        .with_context(|| format!("there is no {LAB} beside {}", this.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_or_named() {
        assert!(require("sh").is_ok());
        let error = require("no-such-program").unwrap_err();
        assert_eq!(error.to_string(), "no-such-program is not installed");
    }
}
