//! The errors that keep a server from serving.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use fulmar_core::CompatMode;
use fulmar_login::{PortRange, STATUS_NO_PROGRAM};

use crate::advice::Advice;
use crate::log::LogError;
use crate::offer_input::OfferInputError;
use crate::process_title::{PortHolder, PortUse};
use crate::server::shell::Obstacle;
use crate::sessions::SessionsError;
use crate::system::SystemError;

/// The reason why there is no server, or no session on it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// All ports are taken, on every address that was tried.
    #[error("cannot listen on UDP {ports}: {error}{}", by(holder.as_ref()))]
    PortsBusy {
        /// The ports that were tried.
        ports: PortRange,
        /// The system's error at the last one.
        error: io::Error,
        /// Our user's process that has the port, if it is a single one.
        holder: Option<PortHolder>,
    },
    /// The program of the session is not there, or cannot be run.
    #[error("cannot run {}: {obstacle}", program.display())]
    CannotRun {
        /// As it was named.
        program: OsString,
        /// The reason.
        obstacle: Obstacle,
    },
    /// Whoever started the server has gone before a client was heard.
    #[error("the login has ended before the client was heard")]
    LoginEnded,
    /// The server in the background has ended before a client was heard.
    #[error("the server has ended before it heard a client")]
    ServerEnded,
    /// The session that is wanted cannot be had.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    /// There is no offer.
    #[error(transparent)]
    Offer(#[from] OfferInputError),
    /// Nothing can be logged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

/// Commands that shells have in themselves, and that are not programs as well. Source: POSIX, 2.14 and 2.9.4.
const OF_SHELL: [&str; 20] = [
    ".", ":", "alias", "break", "cd", "eval", "exec", "export", "for", "if", "jobs", "set",
    "source", "trap", "ulimit", "umask", "unalias", "unset", "until", "while",
];

impl Advice for ServerError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            ServerError::Sessions(failure) => Some(failure),
            ServerError::Offer(failure) => Some(failure),
            ServerError::Log(failure) => Some(failure),
            ServerError::System(failure) => Some(failure),
            _ => None,
        }
    }

    /// As of a shell if the program is not there, which a client passes on.
    fn status(&self, compat: CompatMode) -> u8 {
        match (self, self.passed_on()) {
            (ServerError::CannotRun { .. }, _) => STATUS_NO_PROGRAM,
            (_, Some(failure)) => failure.status(compat),
            (_, None) => compat.failure_status(),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            ServerError::PortsBusy {
                holder: Some(PortHolder { pid, port_use, .. }),
                ports,
                ..
            } => {
                let ending = match port_use {
                    PortUse::Copy => format!("kill {pid} there ends that one"),
                    PortUse::Session | PortUse::DetachedSession => format!(
                        "fulmar attach takes that session, and fulmar kill or kill {pid} there ends it"
                    ),
                };
                let ports = ports.ten_from_lowest();
                let ports = ports.as_option();
                format!("a range of ports, as in --port {ports}, has room for several; {ending}")
            }
            ServerError::PortsBusy { error, ports, .. }
                if error.kind() == io::ErrorKind::PermissionDenied && ports.are_privileged() =>
            {
                "ports below 1024 need root; choose another with --port PORT or --port LOW:HIGH".to_owned()
            }
            ServerError::PortsBusy { .. } => {
                "choose other ports with --port PORT or --port LOW:HIGH, or end what nobody uses there (pgrep -a fulmar)"
                    .to_owned()
            }
            ServerError::CannotRun { program, .. } if is_of_shell(program) => {
                "the words behind the host are a program and its arguments; a line for the shell is one word, in quotes, \
                 as in 'cd /tmp && ls'"
                    .to_owned()
            }
            ServerError::CannotRun {
                obstacle: Obstacle::Folder | Obstacle::NotExecutable,
                ..
            } => "name a program; chmod +x makes a script one".to_owned(),
            ServerError::CannotRun { .. } => {
                "check the spelling, SHELL and PATH, or name the program by its full path"
                    .to_owned()
            }
            ServerError::ServerEnded => {
                "a client has one minute to connect; if it was quicker, let it write a log with --log FILE"
                    .to_owned()
            }
            ServerError::LoginEnded => return None,
            ServerError::Sessions(_)
            | ServerError::Offer(_)
            | ServerError::Log(_)
            | ServerError::System(_) => {
                return self.passed_on()?.advice(compat);
            }
        })
    }
}

/// Tells if a word is one that a shell would understand, and means no program: a line, an assignment, or a command of
/// the shell's own.
fn is_of_shell(program: &OsStr) -> bool {
    let word = program.as_bytes();
    let has_sign = word.iter().any(|byte| b" =|&;<>()$*".contains(byte));
    has_sign || OF_SHELL.iter().any(|own| own.as_bytes() == word)
}

fn by(holder: Option<&PortHolder>) -> String {
    holder.map_or_else(String::new, |holder| format!(" by {holder}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_only_a_shell_understands_is_told_to_be_a_line_in_quotes() {
        for (program, is_of_shell) in [
            ("cd", true),
            ("FOO=1", true),
            ("ls | head", true),
            ("nano", false),
            ("/opt/c++/bin/x-1.2", false),
        ] {
            let program = program.into();
            let failure = ServerError::CannotRun {
                program,
                obstacle: Obstacle::Missing,
            };
            let advice = failure.advice(CompatMode::Fulmar).unwrap();
            assert_eq!(
                advice.contains("one word, in quotes"),
                is_of_shell,
                "{failure}"
            );
        }
    }

    #[test]
    fn a_port_that_needs_root_is_not_called_busy() {
        let advice = |ports: &str, kind: io::ErrorKind| {
            let failure = ServerError::PortsBusy {
                ports: PortRange::parse(ports).unwrap(),
                error: kind.into(),
                holder: None,
            };
            failure.advice(CompatMode::Fulmar).unwrap()
        };
        let denied = io::ErrorKind::PermissionDenied;
        for ports in ["80", "80:90", "1000:1023"] {
            assert!(advice(ports, denied).contains("need root"), "{ports}");
        }
        for ports in ["1024", "0"] {
            assert!(!advice(ports, denied).contains("need root"), "{ports}");
        }
        assert!(!advice("80", io::ErrorKind::AddrInUse).contains("need root"));
    }
}
