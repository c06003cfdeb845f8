//! The server: started once for each session, it listens, shows the client what a program draws,
//! and goes when the program does.
//!
//! Source: docs/protocol.md §2.6.

mod announce;
mod bind;
mod detach;
mod event_loop;
pub(crate) mod locale;
mod motd;
pub(crate) mod options;
pub(crate) mod ports;
mod program;
mod shell;
mod sockets;
pub(crate) mod stock_options;
mod timeouts;
mod utmp;

use std::io;

use fulmar_core::{Names, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_platform::{CoreLimit, Signal, Tty, User, WindowSize, forbid_core_dumps, signals};
use fulmar_terminal::Size;

use self::bind::Bound;
use self::detach::{Detached, Outcome, Readiness, Streams, detach};
use self::event_loop::{EventLoop, SIGNALS};
use self::locale::Chosen;
use self::options::Options;
use self::program::Program;
use self::shell::Shell;
use self::sockets::Sockets;
use self::timeouts::Timeouts;
use crate::environment::Environment;
use crate::errors::{Failure, while_doing};
use crate::log::{self, Log};
use crate::surroundings::{Surroundings, now};
use crate::trace::Trace;
use crate::{random, report};

/// What a server has found out before it goes to the background.
struct Plan {
    options: Options,
    names: Names,
    environment: Environment,
    shell: Shell,
    user: Option<User>,
    timeouts: Timeouts,
    size: Size,
    core_limit: CoreLimit,
    trace: Trace,
}

/// Starts a server and returns the status of the process: there will be two, the one that was
/// started and the daemon.
///
/// # Errors
///
/// When it cannot be started. In the parent this is [`Failure::Told`], for the daemon has said why.
pub(crate) fn run(options: Options, names: Names) -> Result<u8, Failure> {
    let plan = Plan::make(options, names)?;
    match detach().map_err(while_doing("going to the background"))? {
        Detached::Parent {
            outcome: Outcome::Failed,
            ..
        } => Err(Failure::Told),
        Detached::Parent { daemon, .. } => {
            if names == Names::Stock {
                // Some starters look for the last line.
                let version = stock_options::version_text();
                let told = format!("\n{version}\n[mosh-server detached, pid = {daemon}]\n");
                report::print_to_stderr(&told);
            }
            Ok(0)
        }
        Detached::Daemon(readiness) => plan.serve(readiness),
    }
}

impl Plan {
    fn make(options: Options, names: Names) -> Result<Plan, Failure> {
        let core_limit = forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
        let environment = Environment::current();
        let log = match &options.log {
            Some(path) => Log::File(path),
            None if options.verbosity > 0 => Log::Stderr,
            None => Log::Off,
        };
        log::begin(log, &environment)?;
        let trace = Trace::begin(options.trace.as_deref())?;
        let user = User::current().map_err(while_doing("looking you up"))?;
        let mut programs = environment.clone();
        let chosen = locale::choose(&mut programs, &options.locale);
        let shell = Shell::new(&options.command, programs, user.as_ref(), options.colors);
        // Stock finds out when it is too late to say so here, and nobody is to wait for us then.
        if names == Names::Own && !shell.is_there() {
            let program = shell.program().to_owned();
            return Err(Failure::ShellMissing { program });
        }
        let timeouts = Timeouts::of(&environment, names);
        for complaint in &timeouts.complaints {
            report::complain(names.program(), complaint);
        }
        if chosen == Chosen::Fallback {
            let what = "no UTF-8 locale here nor from the client; the program gets C.UTF-8";
            report::complain(names.program(), what);
        }
        Ok(Plan {
            options,
            names,
            environment,
            shell,
            user,
            timeouts,
            size: window_of_stdin(),
            core_limit,
            trace,
        })
    }

    /// Serves one session, in the background.
    fn serve(self, readiness: Readiness) -> Result<u8, Failure> {
        for signal in [Signal::HangUp, Signal::Pipe] {
            signals::ignore(signal).map_err(while_doing("ignoring signals"))?;
        }
        let surroundings =
            Surroundings::watch(&SIGNALS).map_err(while_doing("watching for signals"))?;
        let Options { bind, ports, .. } = &self.options;
        let bound = bind::bind(bind, *ports, &self.environment, self.names)?;
        for complaint in &bound.complaints {
            report::complain(self.names.program(), complaint);
        }
        let key = random::key()?;
        announce::announce(bound.port, &key).map_err(while_doing("printing port and key"))?;
        let streams = match self.options.verbosity {
            0 => Streams::Released,
            _ => Streams::Kept,
        };
        readiness
            .declare(streams)
            .map_err(while_doing("letting go of the terminal"))?;
        tracing::info!(port = bound.port, "listening");
        self.work(bound, key, surroundings)
    }

    fn work(self, bound: Bound, key: Key, surroundings: Surroundings) -> Result<u8, Failure> {
        let mut config = ServerConfig::new(key, random::seed()?);
        config.size = self.size;
        config.datagram_bytes = bound.datagram_bytes();
        config.network_timeout = self.timeouts.network;
        config.signal_timeout = self.timeouts.signal;
        let pid = std::process::id();
        let event_loop = EventLoop {
            server: Server::new(now(), config),
            sockets: Sockets::new(bound.sockets, self.trace),
            program: Program::new(self.shell, self.user, self.core_limit, self.names, pid),
            surroundings,
        };
        let (_, program) = event_loop
            .run()
            .map_err(while_doing("waiting for something to happen"))?;
        Ok(match program.has_failed() {
            true => self.names.failure_status(),
            false => 0,
        })
    }
}

/// Returns the size that the window has before a client tells its own: that of the terminal on
/// standard input, if it is one.
fn window_of_stdin() -> Size {
    let window = Tty::open(io::stdin()).ok().and_then(|tty| tty.size());
    window.and_then(size).unwrap_or_default()
}

fn size(window: WindowSize) -> Option<Size> {
    Size::new(window.rows, window.columns)
}
