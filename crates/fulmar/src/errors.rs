//! Everything that can go wrong, in one list: what happened, to whom, and what to try next.

mod copy;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::process::ExitStatus;

use fulmar_core::Names;
use fulmar_datagram::KeyError;
use fulmar_login::{LoginFailure, OpeningError};
use fulmar_platform::Signal;
use fulmar_platform::resolve::{ResolveError, numeric};

pub(crate) use self::copy::CopyFailure;
use crate::advice::Advice;
use crate::shell_words::Unfinished;
use crate::wrapper::Mistake;
use crate::{log, offer_input, server, settings, system};

/// The reason why the program leaves without having done what it was asked for.
///
/// Its text says what happened and to whom, [`advice`](Advice::advice) what to try.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A login came to nothing.
    #[error(transparent)]
    Login(LoginFailure),
    /// A copy came to nothing, or not to all of it.
    #[error(transparent)]
    Copy(CopyFailure),
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] settings::Failure),
    /// Nothing can be logged.
    #[error(transparent)]
    Log(#[from] log::Failure),
    /// There is no server.
    #[error(transparent)]
    Server(#[from] server::Failure),
    /// Neither a host nor anything else was named.
    #[error("nothing to do: no host and no command was given")]
    NothingToDo,

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
    /// The terminal is not in terminfo; an error under the stock name only.
    #[error("the terminal type {} is unknown", term.display())]
    UnknownTerminal {
        /// The value of `TERM`.
        term: OsString,
    },

    /// The server has never answered.
    #[error(
        "no answer from {server}: {sent} datagrams were sent there, {}{}",
        arrived(*is_heard), refused(*refusals)
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
        /// True if any has arrived; `None` if the server does not tell.
        is_heard: Option<bool>,
    },
    /// The end was not confirmed.
    #[error("left without an answer from {server}")]
    Unanswered {
        /// The address to which datagrams went.
        server: String,
    },
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

    /// The words after `mosh` make no sense.
    #[error("{0}")]
    StarterOptions(Mistake),
    /// The line with which ssh is to begin is not one.
    #[error("the command line for ssh makes no sense: {0}")]
    SshCommand(Unfinished),
    /// The line with which ssh is to begin has no word in it.
    #[error("the command line for ssh is empty")]
    NoSshCommand,
    /// The client was asked for its colours.
    #[error("{} -c has failed: {status}", program.display())]
    ClientFailed {
        /// As it was named.
        program: OsString,
        /// The status with which it ended.
        status: ExitStatus,
    },
    /// A name has no address here, or none of the family that was asked for.
    #[error("cannot find {}: {error}", host.display())]
    NoSuchHost {
        /// As it was named.
        host: OsString,
        /// The error of the system's resolver.
        error: ResolveError,
    },
    /// There are addresses of both families, and the user wants to be told.
    #[error("{} has addresses of both IPv4 and IPv6", host.display())]
    MixedFamilies {
        /// As it was named.
        host: OsString,
    },
    /// None of the addresses answers.
    #[error("cannot connect to {}{}: {error}", host.display(), last_tried(*address))]
    NoTcp {
        /// As it was named.
        host: OsString,
        /// The last that was tried.
        address: Option<SocketAddr>,
        /// The system's error at that one.
        error: io::Error,
    },
    /// A line that is for us, but makes no sense. It may have a key in it, so it is not repeated.
    #[error("ssh or the server has printed a line that begins with {begins} and makes no sense")]
    BadLine {
        /// The beginning of the line.
        begins: &'static str,
    },
    /// Somebody besides us has said where the server is.
    #[error("ssh or the server has printed an address, and it was known already")]
    SecondAddress,
    /// ssh has ended, and we do not know where it was.
    #[error("ssh did not tell at which address it has reached {}", host.display())]
    NoServerAddress {
        /// As the user wrote it.
        host: OsString,
    },
    /// ssh has ended without a word of a server.
    #[error("no server was started on {}", host.display())]
    NoServerLine {
        /// As the user wrote it.
        host: OsString,
    },
    /// The server is too old for a range of ports.
    #[error("the server does not understand a range of ports")]
    NoPortRanges,

    /// Anything else that the system refuses.
    #[error(transparent)]
    System(#[from] system::Failure),
}

impl Advice for Failure {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            Failure::Login(failure) => Some(failure),
            Failure::Copy(failure) => Some(failure),
            Failure::Settings(failure) => Some(failure),
            Failure::Log(failure) => Some(failure),
            Failure::Server(failure) => Some(failure),
            Failure::System(failure) => Some(failure),
            _ => None,
        }
    }

    fn advice(&self, names: Names) -> Option<String> {
        let own = names == Names::Own;
        Some(match self {
            Failure::Login(_) | Failure::Copy(_) | Failure::Settings(_) | Failure::Log(_) | Failure::Server(_) | Failure::System(_) => return self.passed_on()?.advice(names),
            Failure::NothingToDo => {
                "try fulmar --local for a session on this machine, or fulmar --help".to_owned()
            }
            Failure::OfServer { advice, .. } if !advice.is_empty() => advice.join("\n"),
            Failure::Opening(OpeningError::TooLong(_)) => offer_input::SHORTER.to_owned(),
            Failure::Opening(OpeningError::ControlCharacter) => {
                "write the command of --server in one line".to_owned()
            }
            Failure::KeyMissing | Failure::BadKey(_) => {
                "the key is the last word of the line MOSH CONNECT <port> <key> that the server \
                 prints: 22 characters"
                    .to_owned()
            }
            Failure::BadAddress { .. } => {
                "give the address in numbers, as 192.0.2.7 or 2001:db8::7".to_owned()
            }
            Failure::NoTerminal(_) if own => {
                "run it in a terminal; a script can give it one with script(1) or tmux".to_owned()
            }
            Failure::UnknownTerminal { .. } => {
                "set TERM to a type that this machine knows, for instance xterm".to_owned()
            }
            Failure::NeverConnected { port, is_heard, .. } => match is_heard {
                None => format!(
                    "check that the server runs and that every firewall on the way lets UDP to port \
                     {port} in there, and its answers back in here"
                ),
                Some(false) => format!(
                    "a firewall there or on the way keeps UDP from port {port}: let it in, or name a \
                     port that is open with -p"
                ),
                Some(true) => format!(
                    "a firewall here or on the way keeps what comes from UDP port {port} out: let \
                     answers in, or try another network"
                ),
            },
            Failure::Unanswered { .. } => {
                "the session may go on there; log in by ssh to see to it".to_owned()
            }
            Failure::Altered => {
                "try again; if it stays so, look for what changes the output of the login: a wrapper \
                 around ssh, or a script that the remote shell reads"
                    .to_owned()
            }
            Failure::KeySpent => "start a new session".to_owned(),
            Failure::Panicked(_) => "please report it, with what you did before".to_owned(),
            Failure::StarterOptions(_) => "mosh --help lists the options".to_owned(),
            Failure::SshCommand(_) | Failure::NoSshCommand => {
                "it reads like this: --ssh='ssh -p 2222 -i \"my key\"'".to_owned()
            }
            Failure::ClientFailed { .. } => "--client names a client like mosh-client".to_owned(),
            Failure::NoSuchHost { .. } => {
                "check the spelling and --family; a name that only ssh knows needs \
                 --experimental-remote-ip=proxy or remote"
                    .to_owned()
            }
            Failure::MixedFamilies { .. } => "choose with --family, or with -4 or -6".to_owned(),
            Failure::NoTcp { .. } => {
                "check that ssh's port is open there, and the family of addresses; if ssh goes there by \
                 way of another host, use --experimental-remote-ip=remote"
                    .to_owned()
            }
            Failure::BadLine { .. } | Failure::SecondAddress => {
                "something over there imitates a server; look at what ssh prints by itself"
                    .to_owned()
            }
            Failure::NoServerAddress { .. } => {
                "if ssh cannot connect, it has said why; if it uses no proxy of ours, try \
                 --experimental-remote-ip=remote or local"
                    .to_owned()
            }
            Failure::NoServerLine { host } => {
                let host = host.display();
                format!(
                    "if ssh works by itself, see that mosh-server or fulmar is installed on {host} \
                     and in the PATH of a command there; --server names it otherwise"
                )
            }
            Failure::NoPortRanges => "give it a single port with -p PORT".to_owned(),
            Failure::LocalServer => "try fulmar server new by itself to see why".to_owned(),
            Failure::NoTerminal(_)
            | Failure::OfServer { .. }
            | Failure::Signalled(_)
            | Failure::TerminalClosed
 => return None,
        })
    }
}

fn last_tried(address: Option<SocketAddr>) -> String {
    address.map_or_else(String::new, |address| {
        format!(", the last at {}", numeric(address))
    })
}

fn arrived(is_heard: Option<bool>) -> &'static str {
    match is_heard {
        None => "none came back",
        Some(false) => "none arrived",
        Some(true) => "some arrived, but no answer arrives here",
    }
}

fn refused(refusals: u64) -> String {
    match refusals {
        0 => String::new(),
        refusals => format!("; {refusals} times a machine on the way refused"),
    }
}

fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::HangUp => "SIGHUP",
        Signal::Interrupt => "SIGINT",
        Signal::Quit => "SIGQUIT",
        Signal::Pipe => "SIGPIPE",
        Signal::Terminate => "SIGTERM",
        Signal::User1 => "SIGUSR1",
        Signal::User2 => "SIGUSR2",
        Signal::Alarm => "SIGALRM",
        Signal::VirtualAlarm => "SIGVTALRM",
        Signal::Profile => "SIGPROF",
        Signal::ProcessorLimit => "SIGXCPU",
        Signal::FileLimit => "SIGXFSZ",
        Signal::Abort => "SIGABRT",
        Signal::BadCall => "SIGSYS",
        Signal::Trap => "SIGTRAP",
        _ => "a signal",
    }
}

#[cfg(test)]
mod examples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_is_told_with_address_port_and_remedy() {
        let failure = Failure::NeverConnected {
            server: "192.0.2.7, UDP port 60001".to_owned(),
            port: 60001,
            sent: 19,
            refusals: 0,
            is_heard: None,
        };
        let told = failure.to_string();
        assert!(told.contains("192.0.2.7, UDP port 60001"), "{told}");
        assert!(told.contains("19 datagrams"), "{told}");
        let advice = failure.advice(Names::Own).unwrap();
        assert!(advice.contains("60001"), "{advice}");
    }

    #[test]
    fn which_way_is_closed_is_told_where_it_is_known() {
        let failure = |is_heard| Failure::NeverConnected {
            server: "192.0.2.7, UDP port 60001".to_owned(),
            port: 60001,
            sent: 8,
            refusals: 2,
            is_heard,
        };
        for (is_heard, told, advice) in [
            (None, "none came back", "every firewall"),
            (Some(false), "none arrived", "there or on the way"),
            (Some(true), "some arrived", "here or on the way"),
        ] {
            let failure = failure(is_heard);
            assert!(failure.to_string().contains(told), "{failure}");
            assert!(failure.to_string().contains("2 times"), "{failure}");
            assert!(failure.advice(Names::Own).unwrap().contains(advice));
        }
    }

    #[test]
    fn failures_have_the_status_of_ssh_or_of_stock() {
        assert_eq!(Failure::KeyMissing.status(Names::Own), 255);
        assert_eq!(Failure::KeyMissing.status(Names::Stock), 1);
    }
}
