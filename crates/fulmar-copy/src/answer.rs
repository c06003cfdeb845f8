//! The answer to a request.

use crate::entry_error::EntryError;

/// The remote end's answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It will be done.
    Ready {
        /// To `Put`: true if the target is a folder, into which roots go under their names. Otherwise the one root gets the
        /// target's name. To `Get`: true if several roots may come, which need such a folder.
        into_folder: bool,
    },
    /// It will not.
    Refused(EntryError),
}
