//! The records of a session that a user may ask for.

use std::path::PathBuf;

/// The records that may be written about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFiles {
    /// The file for a line about each datagram and each prediction.
    pub trace: Option<PathBuf>,
    /// The file for a log.
    pub log: Option<PathBuf>,
}
