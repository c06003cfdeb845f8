//! The remote end: started by ssh for one copy, it listens, works, and leaves.
//!
//! It leaves by itself in every case: when the copy is over, when ssh ends before it was reached, when nobody
//! comes within a minute, when the local end closes or is silent for as long as it is told.
//!
//! Source: docs/protocol.md §2.10, docs/threat-model.md §9.

use std::io;
use std::thread;
use std::time::Duration;

use fulmar_copy::RateLimiter;
use fulmar_core::CompatMode;
use fulmar_login::{COPY_VERSION, CopyParams};
use fulmar_platform::process::send_signal;
use fulmar_platform::tty::is_terminal;
use fulmar_platform::udp::{Fragmentation, IcmpErrors, UdpOptions};
use fulmar_platform::{Signal, StandardPipes, forbid_core_dumps, signals};
use fulmar_quic::{Connection, ConnectionOptions, Secret};
use fulmar_settings::Environment;
use zeroize::Zeroizing;

use super::arguments::CopyServerArgs;
use super::error::CopyError;
use super::remote_end::{Login, MAKE_WAY, RemoteEnd, name_process};
use super::remote_sockets::RemoteSockets;
use super::udp_connection::origin;
use crate::advice::Advice as _;
use crate::clock::now;
use crate::environment;
use crate::log::{self, Log};
use crate::login_parent::{DaemonFork, Leave, ParentHandle, fork_daemon};
use crate::process_title::PortUse;
use crate::random;
use crate::reactor::Reactor;
use crate::server::bind::{self, Bound};
use crate::server::{ServerError, announce};
use crate::system::while_doing;

/// The time for which a local end may be silent. It gives up itself after ten minutes, but not while its machine
/// sleeps. Chosen by eye: longer than a meal.
///
/// Source: docs/threat-model.md §9.
const SILENT_MAX: Duration = Duration::from_secs(3600);

/// The time for which an older copy is asked to let go of a port. Chosen by eye: its own silence counts from
/// [`MAKES_WAY_AFTER`](super::remote_end::MAKES_WAY_AFTER) on, and it may have begun only just before.
const ASKED_WITHIN: Duration = Duration::from_secs(5);

/// The time between two times that it is asked. Chosen by eye.
const ASKED_EACH: Duration = Duration::from_millis(100);

/// The signals that a remote end deals with; it ignores SIGHUP, SIGPIPE and SIGXFSZ, which is an error like others then.
const SIGNALS: [Signal; 3] = [Signal::Terminate, Signal::Interrupt, MAKE_WAY];

/// Starts the remote end of a copy, and returns the status of the process: there will be two, the one that ssh
/// waits for and the one that works.
///
/// # Errors
///
/// When a user has started it.
pub(crate) fn run(arguments: &CopyServerArgs) -> Result<u8, CopyError> {
    if is_terminal(io::stdin()) {
        return Err(CopyError::NotByHand);
    }
    serve(arguments).or_else(|failure| {
        announce::failure(&failure);
        Ok(failure.status(CompatMode::Fulmar))
    })
}

fn serve(arguments: &CopyServerArgs) -> Result<u8, CopyError> {
    forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
    match fork_daemon().map_err(while_doing("going to the background"))? {
        DaemonFork::Parent(parent) => Ok(match parent.wait() {
            Ok(Leave::Heard) => 0,
            _ => CompatMode::Fulmar.failure_status(),
        }),
        DaemonFork::Daemon(parent) => work(arguments, parent),
    }
}

fn work(arguments: &CopyServerArgs, parent: ParentHandle) -> Result<u8, CopyError> {
    let environment = environment::current();
    let log = arguments.log.as_deref().map_or(Log::Off, Log::File);
    log::begin(log, &environment)?;
    for signal in [Signal::HangUp, Signal::Pipe, Signal::FileLimit] {
        signals::ignore(signal).map_err(while_doing("ignoring signals"))?;
    }
    let reactor = Reactor::new(&SIGNALS).map_err(while_doing("watching for signals"))?;
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        fragmentation: Fragmentation::Forbidden,
        ..UdpOptions::default()
    };
    let bound = listen(arguments, &environment, options)?;
    name_process(&PortUse::Copy.process_title(bound.port));
    // Only in the process that does not fork any more (docs/threat-model.md §5).
    let secret = secret()?;
    let quic = ConnectionOptions {
        idle_timeout: arguments.idle.map_or(SILENT_MAX, Duration::from_secs),
        ..ConnectionOptions::default()
    };
    let connection = Connection::server(&secret, random::seed()?, origin(), now(), &quic);
    let params = CopyParams {
        version: COPY_VERSION,
        port: bound.port,
        secret,
    };
    announce::print_copy_params(&environment, params)
        .map_err(while_doing("printing port and secret"))?;
    let login = Login {
        pipes: StandardPipes::take().map_err(while_doing("taking standard input"))?,
        parent,
    };
    RemoteEnd::new(
        reactor,
        RemoteSockets::new(bound.sockets),
        connection,
        login,
        RateLimiter::new(arguments.limit, now()),
    )
    .run();
    Ok(0)
}

/// Listens. A port that an older copy of the same user has is asked for: an interrupted one waits there, and keeps
/// nothing that is not on the disk.
fn listen(
    arguments: &CopyServerArgs,
    environment: &Environment,
    options: UdpOptions,
) -> Result<Bound, ServerError> {
    let limit = now() + ASKED_WITHIN;
    loop {
        let (wish, ports) = (arguments.bind(), arguments.ports());
        let bound = bind::bind_with(&wish, ports, environment, CompatMode::Fulmar, options);
        match older_copy(&bound).filter(|_| now() < limit) {
            None => return bound,
            Some(pid) => {
                // One that has left meanwhile is what is wanted.
                let _ = send_signal(pid, MAKE_WAY);
                thread::sleep(ASKED_EACH);
            }
        }
    }
}

/// Returns the number of the copy that has the port, if one has.
fn older_copy(bound: &Result<Bound, ServerError>) -> Option<u32> {
    match bound {
        Err(ServerError::PortsBusy {
            holder: Some(holder),
            ..
        }) if holder.port_use == PortUse::Copy => Some(holder.pid),
        _ => None,
    }
}

fn secret() -> Result<Secret, CopyError> {
    let mut bytes = Zeroizing::new([0; 32]);
    fulmar_platform::random(bytes.as_mut_slice()).map_err(while_doing("making a secret"))?;
    Ok(Secret::from_bytes(bytes))
}
