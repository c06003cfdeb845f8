//! The errors that keep the starter from starting a session.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::process::ExitStatus;

use fulmar_core::Names;
use fulmar_login::LoginFailure;
use fulmar_login::shell_words::Unfinished;
use fulmar_platform::resolve::{ResolveError, numeric};

use super::options::UsageError;
use crate::advice::Advice;
use crate::system;

/// The reason why the starter has started nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The words after `mosh` make no sense.
    #[error("{0}")]
    StarterOptions(UsageError),
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
    /// The name is no host to ssh either.
    #[error(transparent)]
    Login(#[from] LoginFailure),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] system::Failure),
}

impl Advice for Failure {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            Failure::Login(failure) => Some(failure),
            Failure::System(failure) => Some(failure),
            _ => None,
        }
    }

    fn advice(&self, names: Names) -> Option<String> {
        Some(match self {
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
            Failure::Login(_) | Failure::System(_) => return self.passed_on()?.advice(names),
        })
    }
}

fn last_tried(address: Option<SocketAddr>) -> String {
    address.map_or_else(String::new, |address| {
        format!(", the last at {}", numeric(address))
    })
}
