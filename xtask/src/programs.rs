//! The programs that measure and are measured.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::workspace::{self, Workspace};

/// The program of this package, built for release.
pub(crate) fn built(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let mut build = workspace.cargo(["build", "--release", "--locked", "--package", package]);
    workspace::run(&mut build)?;
    Ok(target(workspace)?.join("release").join(package))
}

/// Returns the folder in which cargo builds.
pub(crate) fn target(workspace: &Workspace) -> Result<PathBuf> {
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"].as_str();
    Ok(PathBuf::from(target.context("no target directory")?))
}
