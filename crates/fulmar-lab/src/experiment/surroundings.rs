//! The programs and data that there are to measure with.

use std::path::PathBuf;

/// Programs and data that experiments need.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Our program.
    pub fulmar: PathBuf,
    /// The folder of data that are not ours to ship: `key-traces` and `link-traces` in it.
    pub data: Option<PathBuf>,
    /// Our own recordings.
    pub recordings: PathBuf,
    /// True for a meaningful subset in a short time.
    pub is_quick: bool,
    /// True where generated links and our own recordings stand in for data that are not ours to ship.
    pub is_generated: bool,
}
