//! The errors of all parts of the program, brought together.
//!
//! Each part has an error type of its own, with texts and advice.

use fulmar_core::CompatMode;

use crate::advice::Advice;
use crate::client::ClientError;
use crate::copy::CopyError;
use crate::login::SessionError;
use crate::mosh::MoshError;
use crate::server::ServerError;
use crate::system::SystemError;

/// The reason why the program leaves without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FulmarError {
    /// Neither a host nor anything else was named.
    #[error("nothing to do: no host and no command was given")]
    NothingToDo,
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] fulmar_settings::SettingsError),
    /// A session has not begun.
    #[error(transparent)]
    Login(#[from] SessionError),
    /// The client has no session, or none any more.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There is no server, or no session on it.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A copy came to nothing, or not to all of it.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The stand-in for stock's `mosh` has started no session.
    #[error(transparent)]
    Mosh(#[from] MoshError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl Advice for FulmarError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            FulmarError::NothingToDo => None,
            FulmarError::Settings(failure) => Some(failure),
            FulmarError::Login(failure) => Some(failure),
            FulmarError::Client(failure) => Some(failure),
            FulmarError::Server(failure) => Some(failure),
            FulmarError::Copy(failure) => Some(failure),
            FulmarError::Mosh(failure) => Some(failure),
            FulmarError::System(failure) => Some(failure),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        match self.passed_on() {
            Some(failure) => failure.advice(compat),
            None => Some(
                "try fulmar --local for a session on this machine, or fulmar --help".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod examples;
