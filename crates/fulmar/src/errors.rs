//! The errors of all parts of the program, brought together.
//!
//! Each part has an error type of its own, with texts and advice.

use fulmar_core::CompatMode;
use fulmar_login::SessionNameError;

use crate::advice::Advice;
use crate::cli::MisplacedFlag;
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
    /// A flag stands before a subcommand that cannot use it.
    #[error("{0}")]
    MisplacedFlag(#[from] MisplacedFlag),
    /// The words behind a subcommand are too few or too many.
    #[error("the words behind fulmar {command} are too few or too many")]
    Operands {
        /// The subcommand.
        command: &'static str,
        /// The ways to write it, one on each line.
        usage: &'static str,
    },
    /// A word is no name of a session.
    #[error(transparent)]
    SessionName(#[from] SessionNameError),
    /// A flag is one of ssh, scp or rsync.
    #[error("{flag} is not a flag of fulmar: {instead}")]
    ForeignFlag {
        /// The flag.
        flag: String,
        /// The way to do it instead.
        instead: String,
        /// The status to leave with.
        status: u8,
    },
    /// A login came to nothing, perhaps because something else was meant by its words.
    #[error("{failure}")]
    Hinted {
        /// The failure of the login.
        failure: Box<SessionError>,
        /// The words that may have been meant.
        hint: String,
    },
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
            FulmarError::NothingToDo
            | FulmarError::MisplacedFlag(_)
            | FulmarError::Operands { .. }
            | FulmarError::ForeignFlag { .. } => None,
            FulmarError::SessionName(failure) => Some(failure),
            FulmarError::Settings(failure) => Some(failure),
            FulmarError::Login(failure) => Some(failure),
            FulmarError::Hinted { failure, .. } => Some(failure.as_ref()),
            FulmarError::Client(failure) => Some(failure),
            FulmarError::Server(failure) => Some(failure),
            FulmarError::Copy(failure) => Some(failure),
            FulmarError::Mosh(failure) => Some(failure),
            FulmarError::System(failure) => Some(failure),
        }
    }

    fn status(&self, compat: CompatMode) -> u8 {
        match (self, self.passed_on()) {
            (FulmarError::ForeignFlag { status, .. }, _) => *status,
            (_, Some(failure)) => failure.status(compat),
            (_, None) => compat.failure_status(),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        match self {
            FulmarError::NothingToDo => Some(
                "try fulmar --local for a session on this machine, or fulmar --help".to_owned(),
            ),
            FulmarError::MisplacedFlag(MisplacedFlag { command, .. }) => {
                Some(format!("fulmar {command} --help lists its flags"))
            }
            FulmarError::Operands { usage, .. } => {
                let ways: Vec<&str> = usage.lines().map(str::trim).collect();
                Some(format!("write {}", ways.join(", or ")))
            }
            // The message says it.
            FulmarError::ForeignFlag { .. } => None,
            FulmarError::Hinted { failure, hint } => Some(match failure.advice(compat) {
                Some(advice) => format!("{hint}\n{advice}"),
                None => hint.clone(),
            }),
            _ => self.passed_on()?.advice(compat),
        }
    }
}

#[cfg(test)]
mod examples;
