//! The answer to a request.

use crate::entry_error::EntryError;

/// The remote end's answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It will be done.
    Ready {
        /// To `Put`: whether the target is a folder, into which roots go under their names.
        /// Otherwise the one root gets the target's name.
        is_folder: bool,
    },
    /// It will not.
    Refused(EntryError),
}
