//! The errors of system calls that any part of the program may need.

use std::ffi::{OsStr, OsString};
use std::io;

use fulmar_core::CompatMode;

use crate::advice::{Advice, remedy};

/// The system does not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SystemError {
    /// An action was refused.
    #[error("{doing}: {error}")]
    Refused {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A program of the user's choice does not start.
    #[error("cannot start {}: {error}", program.display())]
    CannotStart {
        /// As it was named.
        program: OsString,
        /// The system's error.
        error: io::Error,
    },
}

impl Advice for SystemError {
    fn advice(&self, _compat: CompatMode) -> Option<String> {
        match self {
            SystemError::Refused { error, .. } => remedy(error).map(str::to_owned),
            SystemError::CannotStart { error, .. } => Some(
                remedy(error)
                    .unwrap_or(
                        "check that it is installed and in PATH, or name it by its full path",
                    )
                    .to_owned(),
            ),
        }
    }
}

/// Names what we were doing when the system refused.
pub(crate) fn while_doing(doing: &'static str) -> impl FnOnce(io::Error) -> SystemError {
    move |error| SystemError::Refused { doing, error }
}

/// Names the program that the system does not start.
pub(crate) fn cannot_start(program: &OsStr) -> impl FnOnce(io::Error) -> SystemError {
    let program = program.to_owned();
    move |error| SystemError::CannotStart { program, error }
}
