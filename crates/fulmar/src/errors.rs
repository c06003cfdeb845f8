//! The errors of all parts of the program, brought together.
//!
//! Each part has an error type of its own, with texts and advice.

use fulmar_core::CompatMode;

use crate::advice::Advice;
use crate::{client, copy, login, server, system, wrapper};

/// The reason why the program leaves without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Neither a host nor anything else was named.
    #[error("nothing to do: no host and no command was given")]
    NothingToDo,
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] fulmar_settings::SettingsError),
    /// A session has not begun.
    #[error(transparent)]
    Login(#[from] login::Failure),
    /// The client has no session, or none any more.
    #[error(transparent)]
    Client(#[from] client::Failure),
    /// There is no server, or no session on it.
    #[error(transparent)]
    Server(#[from] server::Failure),
    /// A copy came to nothing, or not to all of it.
    #[error(transparent)]
    Copy(#[from] copy::Failure),
    /// The stand-in for stock's starter has started nothing.
    #[error(transparent)]
    Wrapper(#[from] wrapper::Failure),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] system::Failure),
}

impl Advice for Failure {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            Failure::NothingToDo => None,
            Failure::Settings(failure) => Some(failure),
            Failure::Login(failure) => Some(failure),
            Failure::Client(failure) => Some(failure),
            Failure::Server(failure) => Some(failure),
            Failure::Copy(failure) => Some(failure),
            Failure::Wrapper(failure) => Some(failure),
            Failure::System(failure) => Some(failure),
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
