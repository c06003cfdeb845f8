//! The errors of finding sessions and of asking their servers.

use std::io;

use fulmar_core::CompatMode;
use fulmar_login::SessionName;

use crate::advice::Advice;

/// The answer of a session that has no room for another port.
pub(crate) const PORTS_USED: &str = "it listens on as many ports as a session may";

/// The beginning of the words about a session that is not there.
pub(crate) const NO_SESSION: &str = "there is no session ";

/// The reason why a session that is there cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    /// There is no session at all.
    #[error("there is no session of yours to attach to")]
    NoSessions,
    /// There is no session of that name.
    #[error("{NO_SESSION}{name}{}", others(there))]
    NotFound {
        /// The name.
        name: SessionName,
        /// The names that there are.
        there: Vec<SessionName>,
        /// True if a session of that name is of use, whatever it has shown.
        may_begin: bool,
    },
    /// There are several, each with a client.
    #[error("there are several sessions, each with a client: {}", listed(there))]
    Several {
        /// Their names.
        there: Vec<SessionName>,
    },
    /// The session is the one from which it is asked for.
    #[error("this runs in session {name} itself")]
    Inside {
        /// The session's name.
        name: SessionName,
    },
    /// A session of that name is there already.
    #[error("there is a session {name} already")]
    NameTaken {
        /// The name.
        name: SessionName,
    },
    /// The session has no room for another port.
    #[error("the session says: {PORTS_USED}")]
    PortsUsed,
    /// The server of a session does not do it.
    #[error("the session says: {0}")]
    Refused(String),
    /// The server of a session does not answer.
    #[error("the server of session {name} does not answer: {error}")]
    NoAnswer {
        /// The session's name.
        name: SessionName,
        /// The number of the server's process, if it is known.
        pid: Option<u32>,
        /// The system's error.
        error: io::Error,
    },
    /// There can be no socket for a session of that name.
    #[error("there can be no session {name}, as nobody could find it: {error}")]
    NoSocket {
        /// The name.
        name: SessionName,
        /// The system's error.
        error: io::Error,
    },
    /// The command line of this server says what is run, and sessions may run anything.
    #[error("the command of this server is fixed, so it leads to no other session")]
    Fixed,
}

impl SessionsError {
    /// Returns the error of a server that does not answer. Silence has no better name with the system than that of a
    /// resource.
    pub(super) fn no_answer(
        name: SessionName,
        pid: Option<u32>,
        error: io::Error,
    ) -> SessionsError {
        let error = match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                io::Error::new(io::ErrorKind::TimedOut, "it has been silent for too long")
            }
            _ => error,
        };
        SessionsError::NoAnswer { name, pid, error }
    }

    /// Returns the same where a new session would not do.
    pub(crate) fn of_one_that_is_there(self) -> SessionsError {
        match self {
            SessionsError::NotFound { name, there, .. } => SessionsError::NotFound {
                name,
                there,
                may_begin: false,
            },
            other => other,
        }
    }
}

impl Advice for SessionsError {
    fn advice(&self, _compat: CompatMode) -> Option<String> {
        Some(match self {
            SessionsError::NoSessions => "fulmar attach --or-new begins one".to_owned(),
            SessionsError::NotFound {
                may_begin: true, ..
            } => "fulmar ls lists them; fulmar attach --or-new begins one of that name".to_owned(),
            SessionsError::NotFound { .. } => "fulmar ls lists them".to_owned(),
            SessionsError::Several { .. } => "name one of them behind the host".to_owned(),
            SessionsError::NameTaken { .. } => {
                "take it with fulmar attach, or choose another name".to_owned()
            }
            SessionsError::NoAnswer { pid, .. } => {
                let number = pid.map_or_else(String::new, |pid| format!(" -9 {pid}"));
                format!("try again; if it stays so, its server hangs, and kill{number} there ends it")
            }
            SessionsError::PortsUsed => {
                "leave out -p, and port in the configuration, so that a port will do that it has already"
                    .to_owned()
            }
            SessionsError::NoSocket { .. } => {
                "sockets are in ~/.local/state/fulmar/run there, or in a folder of /tmp: see that one of them can be made, or \
                 log in without a name"
                    .to_owned()
            }
            SessionsError::Fixed => {
                "log in with a key for which no command is forced".to_owned()
            }
            SessionsError::Inside { .. } => {
                "run it outside of the session; Ctrl-^ d leaves that".to_owned()
            }
            SessionsError::Refused(_) => return None,
        })
    }
}

fn others(there: &[SessionName]) -> String {
    match there {
        [] => String::new(),
        [only] => format!("; there is {only}"),
        several => format!("; there are {}", listed(several)),
    }
}

fn listed(names: &[SessionName]) -> String {
    let names: Vec<&str> = names.iter().map(SessionName::as_str).collect();
    names.join(", ")
}
