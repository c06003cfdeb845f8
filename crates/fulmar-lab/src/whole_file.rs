//! Files that are there whole or not at all.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Writes a file in place of an older one: beside it first, so that nobody ever reads a part.
///
/// # Errors
///
/// When the disk does not take it.
pub(crate) fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, path))
        .with_context(|| format!("writing {}", path.display()))
}
