//! The errors that keep a client from a session, or end one.

use std::ffi::OsString;
use std::io;

use fulmar_core::CompatMode;
use fulmar_datagram::KeyError;
use fulmar_login::LoginError;
use fulmar_platform::Signal;

use crate::advice::{Advice, signal_name, status_after};
use crate::log::LogError;
use crate::system::SystemError;

/// The reason why a client has no session, or none any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The client has no key.
    #[error("no key: MOSH_KEY is not set and no line came on standard input")]
    KeyMissing,
    /// The key is not one.
    #[error("the key cannot be right: {0}")]
    BadKey(KeyError),
    /// The server's address is not numeric.
    #[error("{} is not a numeric address", text.display())]
    BadAddress {
        /// As it was written.
        text: OsString,
    },
    /// There is no terminal to draw on.
    #[error("there is no terminal: {0}")]
    NoTerminal(io::Error),
    /// Standard output was redirected, and drawing would go to the terminal all the same.
    #[error("standard output is not a terminal")]
    Redirected,
    /// The terminal is not in terminfo; an error under the stock name only.
    #[error("the terminal type {} is unknown", term.display())]
    UnknownTerminal {
        /// The value of `TERM`.
        term: OsString,
    },

    /// The server has never answered.
    #[error(
        "no answer from {server}: {sent} datagrams were sent there, {}{}",
        arrived(*is_heard), refused(*refusals, *is_local)
    )]
    NeverConnected {
        /// The address to which datagrams went.
        server: String,
        /// The port to which they went.
        port: u16,
        /// The number of datagrams.
        sent: usize,
        /// The number of times that somebody refused to carry or take one.
        refusals: u64,
        /// True if somebody on the way has said that it lets nothing through.
        is_filtered: bool,
        /// True if any has arrived; `None` if the server does not tell.
        is_heard: Option<bool>,
        /// True if the address is one of this machine itself.
        is_local: bool,
    },
    /// No network leads to the server.
    #[error("no network leads from here to {server}")]
    NoRoute {
        /// The address to which datagrams were to go.
        server: String,
    },
    /// This machine lets nothing out to the server.
    #[error("a firewall on this machine forbids to send to {server}")]
    Forbidden {
        /// The address to which datagrams were to go.
        server: String,
        /// The port to which they were to go.
        port: u16,
    },
    /// The user left a server that had ended already, as far as anybody has said.
    #[error("{}", gone(server, *is_local))]
    ServerGone {
        /// The address to which datagrams went.
        server: String,
        /// True if the address is one of this machine itself.
        is_local: bool,
    },
    /// The user left a session that its machine does not know any more.
    #[error("the session has ended: {server} has none of that name any more")]
    SessionMissing {
        /// The address to which datagrams went.
        server: String,
    },
    /// The end was not confirmed.
    #[error("you left, and {server} has not confirmed it")]
    Unanswered {
        /// The address to which datagrams went.
        server: String,
    },
    /// The session was left, so that it goes on, and the server has not said that it knows.
    #[error("{}; {}", left(*signal), unheard(server, *is_rejected))]
    LeftUnheard {
        /// The address to which datagrams went.
        server: String,
        /// The signal that asked us to leave, if it was not the user.
        signal: Option<Signal>,
        /// True if somebody says that nothing listens there any more.
        is_rejected: bool,
    },
    /// A signal asked us to leave before the server could have answered.
    #[error("ended by {}", signal_name(*.0))]
    GivenUp(Signal),
    /// A signal asked us to leave.
    #[error("ended by {}", signal_name(*.0))]
    Signalled(Signal),
    /// The terminal was closed.
    #[error("the terminal was closed")]
    TerminalClosed,
    /// The client's and the server's agreement differ.
    #[error(
        "what we offered to the server, or what it announced, was changed at the login; nothing was started there"
    )]
    Altered,
    /// No more may be encrypted.
    #[error("the session's key has been used for as long as is safe")]
    KeySpent,
    /// A bug of ours.
    #[error("a bug in fulmar: {0}")]
    Panicked(String),

    /// The login that was still to help has failed.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] fulmar_settings::SettingsError),
    /// Nothing can be logged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl Advice for ClientError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            ClientError::Login(failure) => Some(failure),
            ClientError::Settings(failure) => Some(failure),
            ClientError::Log(failure) => Some(failure),
            ClientError::System(failure) => Some(failure),
            _ => None,
        }
    }

    fn status(&self, compat: CompatMode) -> u8 {
        match (self, self.passed_on()) {
            (ClientError::GivenUp(signal), _) => status_after(*signal),
            (_, Some(failure)) => failure.status(compat),
            (_, None) => compat.failure_status(),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        let own = compat == CompatMode::Fulmar;
        Some(match self {
            ClientError::KeyMissing | ClientError::BadKey(_) => {
                "the key is the last word of the line MOSH CONNECT <port> <key> that the server \
                 prints: 22 characters"
                    .to_owned()
            }
            ClientError::BadAddress { .. } => {
                "give the address in numbers, as 192.0.2.7 or 2001:db8::7".to_owned()
            }
            ClientError::Redirected => {
                "run it in a terminal, without redirection of its output".to_owned()
            }
            ClientError::NoTerminal(_) if own => {
                "run it in a terminal; a script can give it one with script(1) or tmux".to_owned()
            }
            ClientError::UnknownTerminal { .. } => {
                "set TERM to a type that this machine knows, for instance xterm".to_owned()
            }
            ClientError::NeverConnected {
                port,
                refusals: 1..,
                is_local: true,
                ..
            } => format!(
                "check that the server runs, and that {port} is its port: the server prints it after MOSH CONNECT"
            ),
            ClientError::NeverConnected {
                port,
                refusals: 1..,
                is_filtered: false,
                is_heard: Some(false),
                ..
            } => format!(
                "a firewall there or on the way blocks UDP to port {port}, or the server has ended: open the port, \
                 or choose an open one with -p"
            ),
            ClientError::NeverConnected { port, is_heard, .. } => match is_heard {
                None => format!(
                    "check that the server runs, and that every firewall on the way lets UDP through to port \
                     {port} there, and the answers back"
                ),
                Some(false) => format!(
                    "a firewall there or on the way blocks UDP to port {port}: open it, or choose an \
                     open port with -p"
                ),
                Some(true) => format!(
                    "a firewall here or on the way blocks what comes from UDP port {port}: let the \
                     answers in, or try another network"
                ),
            },
            ClientError::Forbidden { port, .. } => format!(
                "let UDP out to port {port}, in the firewall here, or choose a port with -p to which it may go; \
                 ssh alone may still work"
            ),
            ClientError::NoRoute { .. } => {
                "UDP goes there directly, even if ssh goes through a jump host: use a network or a VPN that leads to \
                 that address, or ssh alone"
                    .to_owned()
            }
            ClientError::Unanswered { .. } => {
                "the session may still run there; half a minute from now, the next fulmar to that host says so, and \
                 how to end it"
                    .to_owned()
            }
            ClientError::ServerGone { is_local: true, .. } => {
                "start a new session: this one has ended with its server".to_owned()
            }
            ClientError::ServerGone { .. } => {
                "start a new session; if it is a firewall, this one still runs there, and half a minute from now the \
                 next fulmar to that host says so, and how to end it"
                    .to_owned()
            }
            ClientError::SessionMissing { .. } => {
                "start a new session; fulmar ls lists those that are there".to_owned()
            }
            ClientError::Altered => {
                "try again; if it happens again, look for what changes the output of the login: a wrapper \
                 around ssh, or a script that the remote shell reads"
                    .to_owned()
            }
            ClientError::KeySpent => "start a new session".to_owned(),
            ClientError::Panicked(_) => "please report it, with what you did before".to_owned(),
            ClientError::NoTerminal(_)
            | ClientError::GivenUp(_)
            | ClientError::LeftUnheard { .. }
            | ClientError::Signalled(_)
            | ClientError::TerminalClosed => return None,
            ClientError::Login(_) | ClientError::Settings(_) | ClientError::Log(_) | ClientError::System(_) => {
                return self.passed_on()?.advice(compat);
            }
        })
    }
}

fn arrived(is_heard: Option<bool>) -> &'static str {
    match is_heard {
        None => "none came back",
        Some(false) => "none arrived",
        Some(true) => "some arrived, but no answer arrives here",
    }
}

fn gone(server: &str, is_local: bool) -> String {
    if is_local {
        format!("the server is gone: nothing listens any more at {server}")
    } else {
        format!(
            "you left, and what was sent to {server} was rejected: by a firewall, or because the server has gone"
        )
    }
}

fn left(signal: Option<Signal>) -> String {
    match signal {
        None => "you have left".to_owned(),
        Some(Signal::HangUp) => "the terminal was closed".to_owned(),
        Some(signal) => format!("ended by {}", signal_name(signal)),
    }
}

fn unheard(server: &str, is_rejected: bool) -> String {
    if is_rejected {
        format!(
            "what was sent to {server} was rejected: if by a firewall, the session goes on there, and if its server has gone, \
             it has ended"
        )
    } else {
        format!("{server} has not confirmed it, and the session goes on unless that has ended")
    }
}

fn refused(refusals: u64, is_local: bool) -> String {
    match (refusals, is_local) {
        (0, _) => String::new(),
        (_, true) => "; nothing listens at that port of this machine".to_owned(),
        (1, false) => "; sending failed or was refused once, here, there or on the way".to_owned(),
        (_, false) => {
            format!("; sending failed or was refused {refusals} times, here, there or on the way")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_is_told_with_address_port_and_remedy() {
        let failure = ClientError::NeverConnected {
            server: "192.0.2.7, UDP port 60001".to_owned(),
            port: 60001,
            sent: 19,
            refusals: 0,
            is_filtered: false,
            is_heard: None,
            is_local: false,
        };
        let told = failure.to_string();
        assert!(told.contains("192.0.2.7, UDP port 60001"), "{told}");
        assert!(told.contains("19 datagrams"), "{told}");
        let advice = failure.advice(CompatMode::Fulmar).unwrap();
        assert!(advice.contains("60001"), "{advice}");
    }

    #[test]
    fn which_way_is_closed_is_told_where_it_is_known() {
        let failure = |is_heard| ClientError::NeverConnected {
            server: "192.0.2.7, UDP port 60001".to_owned(),
            port: 60001,
            sent: 8,
            refusals: 2,
            is_filtered: false,
            is_heard,
            is_local: false,
        };
        for (is_heard, told, advice) in [
            (None, "none came back", "every firewall"),
            (Some(false), "none arrived", "there or on the way"),
            (Some(true), "some arrived", "here or on the way"),
        ] {
            let failure = failure(is_heard);
            assert!(failure.to_string().contains(told), "{failure}");
            assert!(failure.to_string().contains("refused 2 times"), "{failure}");
            assert!(failure.advice(CompatMode::Fulmar).unwrap().contains(advice));
        }
    }

    #[test]
    fn a_session_behind_a_firewall_is_not_called_gone() {
        for (is_local, words) in [(true, "has ended with its server"), (false, "still runs")] {
            let server = "192.0.2.7, UDP port 60001".to_owned();
            let failure = ClientError::ServerGone { server, is_local };
            assert_eq!(failure.to_string().contains("firewall"), !is_local);
            let advice = failure.advice(CompatMode::Fulmar).unwrap();
            assert!(advice.contains(words), "{advice}");
        }
    }

    #[test]
    fn nothing_on_the_way_is_blamed_for_a_port_of_this_machine() {
        let failure = ClientError::NeverConnected {
            server: "127.0.0.1, UDP port 60001".to_owned(),
            port: 60001,
            sent: 8,
            refusals: 8,
            is_filtered: false,
            is_heard: None,
            is_local: true,
        };
        let advice = failure.advice(CompatMode::Fulmar).unwrap();
        let told = format!("{failure}; {advice}");
        assert!(told.contains("nothing listens at that port"), "{told}");
        assert!(!told.contains("on the way"), "{told}");
    }

    #[test]
    fn failures_have_the_status_of_ssh_or_of_stock() {
        assert_eq!(ClientError::KeyMissing.status(CompatMode::Fulmar), 255);
        assert_eq!(ClientError::KeyMissing.status(CompatMode::Mosh), 1);
    }
}
