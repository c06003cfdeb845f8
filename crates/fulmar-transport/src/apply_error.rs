//! Says that a difference is of no use to its object.

use crate::wire::WireError;

/// The bytes of a difference do not make sense for the object they are for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{reason}")]
pub struct ApplyError {
    reason: &'static str,
}

impl ApplyError {
    /// Returns an error with the reason, in words that name no content.
    pub const fn new(reason: &'static str) -> ApplyError {
        ApplyError { reason }
    }

    /// Returns the reason.
    pub const fn reason(&self) -> &'static str {
        self.reason
    }
}

impl From<WireError> for ApplyError {
    fn from(_: WireError) -> ApplyError {
        ApplyError::new("the difference is not a message")
    }
}
