//! The errors that keep `mosh` from starting a session.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::process::ExitStatus;

use fulmar_compat::MoshLoginError;
use fulmar_core::CompatMode;
use fulmar_login::LoginError;
use fulmar_platform::Signal;
use fulmar_platform::resolve::{ResolveError, numeric};

use crate::advice::{Advice, signal_name, status_after};
use crate::system::SystemError;

/// The reason why `mosh` has started no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MoshError {
    /// The words make no sense, or those of ssh and the server do not.
    #[error(transparent)]
    MoshLogin(#[from] MoshLoginError),
    /// The client was asked for its colours.
    #[error("{} -c has failed: {status}", program.display())]
    ClientFailed {
        /// As it was named.
        program: OsString,
        /// The status with which it ended.
        status: ExitStatus,
    },
    /// A signal came before there was a server.
    #[error("ended by {}", signal_name(*.0))]
    Interrupted(Signal),
    /// A name has no address here, or none of the family that was asked for.
    #[error("cannot find {}: {error}", host.display())]
    NoSuchHost {
        /// As it was named.
        host: OsString,
        /// The error of the system's resolver.
        error: ResolveError,
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
    /// The name is no host to ssh either.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl Advice for MoshLoginError {
    fn advice(&self, _compat: CompatMode) -> Option<String> {
        Some(MoshLoginError::advice(self))
    }
}

impl Advice for MoshError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            MoshError::MoshLogin(failure) => Some(failure),
            MoshError::Login(failure) => Some(failure),
            MoshError::System(failure) => Some(failure),
            _ => None,
        }
    }

    /// As of a shell after a signal.
    fn status(&self, compat: CompatMode) -> u8 {
        match (self, self.passed_on()) {
            (MoshError::Interrupted(signal), _) => status_after(*signal),
            (_, Some(failure)) => failure.status(compat),
            (_, None) => compat.failure_status(),
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            MoshError::ClientFailed { .. } => "--client names a client like mosh-client".to_owned(),
            MoshError::NoSuchHost { .. } => {
                "check the spelling and --family; a name that only ssh knows needs \
                 --experimental-remote-ip=proxy or remote"
                    .to_owned()
            }
            MoshError::NoTcp { .. } => {
                "check that ssh's port is open there, and the family of addresses; if ssh goes there by \
                 way of another host, use --experimental-remote-ip=remote"
                    .to_owned()
            }
            MoshError::Interrupted(_) => return None,
            MoshError::MoshLogin(_) | MoshError::Login(_) | MoshError::System(_) => {
                return self.passed_on()?.advice(compat);
            }
        })
    }
}

fn last_tried(address: Option<SocketAddr>) -> String {
    address.map_or_else(String::new, |address| {
        format!(", the last at {}", numeric(address))
    })
}
