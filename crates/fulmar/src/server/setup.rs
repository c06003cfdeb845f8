//! The ground of a server: what it finds before it knows what it is for.

use std::path::Path;

use fulmar_core::CompatMode;
use fulmar_login::{PartialServerOptions, ServerOptions};
use fulmar_platform::{CoreLimit, User, forbid_core_dumps};
use fulmar_settings::{Environment, ServerTimeouts};

use super::error::ServerError;
use super::lifetime;
use crate::environment;
use crate::log::{self, Log};
use crate::system::while_doing;
use crate::trace::Trace;

/// The places in which a server writes what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records<'a> {
    /// As [`ServerOptions::log`](ServerOptions::log).
    pub(crate) log: Option<&'a Path>,
    /// As [`ServerOptions::trace`](ServerOptions::trace).
    pub(crate) trace: Option<&'a Path>,
    /// As [`ServerOptions::verbosity`](ServerOptions::verbosity).
    pub(crate) verbosity: u8,
}

impl<'a> From<&'a ServerOptions> for Records<'a> {
    fn from(options: &'a ServerOptions) -> Records<'a> {
        Records {
            log: options.log.as_deref(),
            trace: options.trace.as_deref(),
            verbosity: options.verbosity,
        }
    }
}

/// No client has a say in it.
impl<'a> From<&'a PartialServerOptions> for Records<'a> {
    fn from(options: &'a PartialServerOptions) -> Records<'a> {
        Records {
            log: options.log.as_deref(),
            trace: options.trace.as_deref(),
            verbosity: options.verbosity,
        }
    }
}

/// The things that are there, whatever the session will be.
pub(crate) struct ServerSetup {
    /// The program that the server behaves as: Fulmar or Mosh.
    pub(crate) compat: CompatMode,
    /// The environment that it was started with.
    pub(crate) environment: Environment,
    /// The times after which it leaves.
    pub(crate) timeouts: ServerTimeouts,
    /// The former limit for core dumps.
    pub(crate) core_limit: CoreLimit,
    /// The file in which each datagram is noted.
    pub(crate) trace: Trace,
}

impl ServerSetup {
    /// Looks around, and begins to write down what happens.
    ///
    /// # Errors
    ///
    /// When there could be no session of any kind.
    pub(crate) fn find(
        records: &Records<'_>,
        compat: CompatMode,
    ) -> Result<ServerSetup, ServerError> {
        let core_limit = forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
        let environment = environment::current();
        let log = match records.log {
            Some(path) => Log::File(path),
            None if records.verbosity > 0 => Log::Stderr,
            None => Log::Off,
        };
        log::begin(log, &environment)?;
        let trace = Trace::begin(records.trace)?;
        Ok(ServerSetup {
            compat,
            timeouts: ServerTimeouts::of(&environment, compat),
            environment,
            core_limit,
            trace,
        })
    }
}

/// The owner of the server.
pub(crate) struct Owner {
    /// The user, if the system knows one.
    pub(crate) user: Option<User>,
    /// Warnings about what may end the user's processes.
    pub(crate) warnings: Vec<String>,
}

impl Owner {
    /// Finds out, which may take a question to another machine.
    ///
    /// # Errors
    ///
    /// When the system cannot tell.
    pub(crate) fn find(compat: CompatMode) -> Result<Owner, ServerError> {
        let user = User::current().map_err(while_doing("looking you up"))?;
        let name = user.as_ref().map_or("", |user| &user.name);
        let warnings = match compat {
            CompatMode::Fulmar => lifetime::warnings(name),
            CompatMode::Mosh => Vec::new(),
        };
        Ok(Owner { user, warnings })
    }
}
