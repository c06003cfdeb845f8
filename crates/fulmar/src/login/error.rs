//! The errors that keep a session from beginning.

use fulmar_core::CompatMode;
use fulmar_login::{LoginFailure, OpeningError};

use crate::advice::Advice;
use crate::{client, offer_input, system};

/// The reason why there is no session with a server that we were to start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server that was started beside the client said nothing that helps.
    #[error("the server on this machine ended before it could be reached")]
    LocalServer,

    /// The offer cannot be written down for a server.
    #[error("{0}")]
    Opening(OpeningError),
    /// A server has told why it does not serve.
    #[error("{what}")]
    OfServer {
        /// The failure, in the server's words.
        what: String,
        /// The advice, in lines.
        advice: Vec<String>,
    },

    /// The login came to nothing.
    #[error(transparent)]
    Login(#[from] LoginFailure),
    /// The client is not ready for a session.
    #[error(transparent)]
    Client(#[from] client::Failure),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] system::Failure),
}

impl Advice for Failure {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            Failure::Login(failure) => Some(failure),
            Failure::Client(failure) => Some(failure),
            Failure::System(failure) => Some(failure),
            _ => None,
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            Failure::LocalServer => "try fulmar server new by itself to see why".to_owned(),
            Failure::OfServer { advice, .. } if !advice.is_empty() => advice.join("\n"),
            Failure::Opening(OpeningError::TooLong(_)) => offer_input::SHORTER.to_owned(),
            Failure::Opening(OpeningError::ControlCharacter) => {
                "write the command of --server in one line".to_owned()
            }
            Failure::OfServer { .. } => return None,
            Failure::Login(_) | Failure::Client(_) | Failure::System(_) => {
                return self.passed_on()?.advice(compat);
            }
        })
    }
}
