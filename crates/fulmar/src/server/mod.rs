//! The server: started once for each session, it listens, shows the client what a program draws,
//! and goes when the program does.
//!
//! Source: docs/protocol.md §2.6, §2.9.

pub(crate) mod announce;
pub(crate) mod bind;
mod carriers;
mod carry;
mod control;
mod detach;
mod errand;
mod error;
mod event_loop;
mod foreground;
mod lifetime;
pub(crate) mod listen_args;
pub(crate) mod locale;
mod motd;
mod naming;
mod offered;
mod plan;
mod program;
mod pty_output;
mod setup;
pub(crate) mod shell;
mod sockets;
mod utmp;

use std::io;

use fulmar_compat::mosh_server_version_text;
use fulmar_core::CompatMode;
use fulmar_login::{OfferError, PartialServerOptions, ServerOptions, TERMINAL_VARIABLE};
use fulmar_platform::tty::is_terminal;

use self::detach::{Detached, Outcome, detach};
pub(crate) use self::error::ServerError;
use self::plan::Plan;
use self::setup::{Owner, Records, ServerSetup};
use crate::advice::Advice as _;
use crate::environment;
use crate::login_parent::{DaemonFork, fork_daemon};
use crate::offer_input::{Input, OfferInputError};
use crate::report;
use crate::system::while_doing;

/// Starts a server and returns the status of the process: there will be two, the one that was
/// started and the daemon.
///
/// # Errors
///
/// When it cannot be started, unless that is the daemon's failure, which says why itself.
pub(crate) fn run(options: ServerOptions, compat: CompatMode) -> Result<u8, ServerError> {
    let setup = ServerSetup::find(&Records::from(&options), compat)?;
    let plan = Plan::make(setup, Owner::find(compat)?, options)?;
    for warning in &plan.warnings {
        report::complain(compat.program(), warning);
    }
    match detach().map_err(while_doing("going to the background"))? {
        Detached::Parent {
            outcome: Outcome::Failed,
            ..
        } => Ok(compat.failure_status()),
        Detached::Parent { daemon, .. } => {
            if compat == CompatMode::Mosh {
                // Some scripts look for the last line.
                let version = mosh_server_version_text();
                let told = format!("\n{version}\n[mosh-server detached, pid = {daemon}]\n");
                report::print_to_stderr(&told);
            }
            Ok(0)
        }
        Detached::Daemon(readiness) => plan.serve(readiness),
    }
}

/// Starts a server as a client says on standard input, and returns the status of the process. What
/// goes wrong is printed for the client.
///
/// # Errors
///
/// When a user has started it on a terminal, where no client can say anything.
pub(crate) fn run_as_offered(given: PartialServerOptions) -> Result<u8, ServerError> {
    let is_of_login = environment::current().get(TERMINAL_VARIABLE).is_some();
    if is_terminal(io::stdin()) && !is_of_login {
        return Err(OfferInputError::NoOffer(OfferError::Missing).into());
    }
    serve_as_offered(given).or_else(|failure| {
        announce::failure(&failure);
        Ok(failure.status(CompatMode::Fulmar))
    })
}

fn serve_as_offered(given: PartialServerOptions) -> Result<u8, ServerError> {
    let input = Input::take().map_err(while_doing("taking standard input"))?;
    announce::greet(&environment::current()).map_err(while_doing("greeting the client"))?;
    match fork_daemon().map_err(while_doing("going to the background"))? {
        DaemonFork::Parent(parent) => carry::attend(parent, input),
        DaemonFork::Daemon(parent) => {
            drop(input);
            offered::serve(given, parent)
        }
    }
}
