//! The errors that keep a session from beginning.

use fulmar_core::CompatMode;
use fulmar_login::{
    BootstrapRequestError, LoginError, STATUS_NO_PROGRAM, SshError, StandardStream,
};
use fulmar_platform::Signal;

use crate::advice::{Advice, signal_name, status_after};
use crate::client::ClientError;
use crate::offer_input;
use crate::system::SystemError;

/// The reason why there is no session with a server that we were to start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The server that was started beside the client said nothing that helps.
    #[error("the server on this machine ended before it could be reached")]
    LocalServer,

    /// A signal came before there was a session.
    #[error("ended by {}", signal_name(*.0))]
    Interrupted(Signal),
    /// A shell was asked for, and there is no terminal to show it on.
    #[error("{0} is not a terminal, and no command was given")]
    Redirected(StandardStream),
    /// A session was to be taken, and there is no terminal to show it on.
    #[error("{0} is not a terminal")]
    AttachRedirected(StandardStream),
    /// The offer cannot be written down for a server.
    #[error("{0}")]
    Request(BootstrapRequestError),
    /// A server has told why it does not serve.
    #[error("{what}")]
    OfServer {
        /// The failure, in the server's words.
        what: String,
        /// The advice, in lines.
        advice: Vec<String>,
    },

    /// A server has told that it cannot run the program.
    #[error("{what}")]
    ProgramMissing {
        /// The failure, in the server's words.
        what: String,
        /// The advice, in lines.
        advice: Vec<String>,
    },

    /// The login came to nothing.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The client is not ready for a session.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl SessionError {
    /// Returns the reason why there is no session with that wish where this stream is redirected.
    pub(crate) fn redirected(stream: StandardStream, is_attach: bool) -> SessionError {
        if is_attach {
            SessionError::AttachRedirected(stream)
        } else {
            SessionError::Redirected(stream)
        }
    }

    /// Returns true if ssh does not know the host.
    pub(crate) fn is_of_unknown_host(&self) -> bool {
        matches!(
            self,
            SessionError::Login(LoginError::SshEnded {
                error: SshError::UnknownHost | SshError::NoNameServer,
                ..
            })
        )
    }

    /// Returns true if ssh did not get in, or nothing has answered over UDP.
    pub(crate) fn is_unreached(&self) -> bool {
        matches!(
            self,
            SessionError::Login(LoginError::SshEnded { .. })
                | SessionError::Client(
                    ClientError::NeverConnected { .. }
                        | ClientError::NoRoute { .. }
                        | ClientError::Forbidden { .. }
                )
        )
    }
}

impl Advice for SessionError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            SessionError::Login(failure) => Some(failure),
            SessionError::Client(failure) => Some(failure),
            SessionError::System(failure) => Some(failure),
            _ => None,
        }
    }

    /// As of a shell if the program is not there, or after a signal.
    fn status(&self, compat: CompatMode) -> u8 {
        match (self, self.passed_on()) {
            (SessionError::ProgramMissing { .. }, _) => STATUS_NO_PROGRAM,
            (SessionError::Interrupted(signal), _) => status_after(*signal),
            (_, Some(failure)) => failure.status(compat),
            (_, None) => compat.failure_status(),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            SessionError::Redirected(_) => {
                "add a command, as in fulmar HOST 'ls | wc', which then runs over ssh; or run fulmar in a \
                 terminal, without redirection"
                    .to_owned()
            }
            SessionError::AttachRedirected(_) => {
                "run fulmar attach in a terminal, without redirection".to_owned()
            }
            SessionError::LocalServer => "run fulmar server new on its own to see why".to_owned(),
            SessionError::OfServer { advice, .. } | SessionError::ProgramMissing { advice, .. }
                if !advice.is_empty() =>
            {
                advice.join("\n")
            }
            SessionError::Request(
                BootstrapRequestError::LongCommand(_) | BootstrapRequestError::TooLong(_),
            ) => offer_input::SHORTER.to_owned(),
            SessionError::Request(BootstrapRequestError::ControlCharacter) => {
                "write the command of --server in one line".to_owned()
            }
            SessionError::OfServer { .. }
            | SessionError::ProgramMissing { .. }
            | SessionError::Interrupted(_) => return None,
            SessionError::Login(_) | SessionError::Client(_) | SessionError::System(_) => {
                return self.passed_on()?.advice(compat);
            }
        })
    }
}
