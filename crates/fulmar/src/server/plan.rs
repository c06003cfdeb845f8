//! What a server finds out before it goes to the background, and what it then does.

use std::io;

use fulmar_core::{Agreement, Names, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_platform::{
    CoreLimit, Signal, Tty, User, WindowSize, forbid_core_dumps, locale_codeset, signals,
};
use fulmar_terminal::Size;

use super::announce;
use super::attendant::Bond;
use super::bind::{self, Bound};
use super::detach::{Readiness, Streams};
use super::event_loop::{EventLoop, SIGNALS};
use super::lifetime;
use super::locale;
use super::options::Options;
use super::program::Program;
use super::shell::Shell;
use super::sockets::Sockets;
use super::timeouts::Timeouts;
use crate::bootstrap::lines::Answer;
use crate::environment::Environment;
use crate::errors::{Failure, while_doing};
use crate::log::{self, Log};
use crate::surroundings::{Surroundings, now};
use crate::trace::Trace;
use crate::{random, report};

/// A server that could be started.
pub(crate) struct Plan {
    /// What the user is to know.
    pub(crate) warnings: Vec<String>,
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

/// Everything that a daemon holds before its first turn.
struct Opened {
    bound: Bound,
    key: Key,
    surroundings: Surroundings,
}

impl Plan {
    /// Makes it, and with it everything that can fail while the user still watches.
    ///
    /// # Errors
    ///
    /// When there could be no session.
    pub(crate) fn make(options: Options, names: Names) -> Result<Plan, Failure> {
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
        let chosen = locale::choose(&mut programs, &options.locale, locale_codeset);
        let shell = Shell::new(&options.command, programs, user.as_ref(), options.colors);
        // Stock finds out when it is too late to say so here, and nobody is to wait for us then.
        if names == Names::Own && !shell.is_there() {
            let program = shell.program().to_owned();
            return Err(Failure::ShellMissing { program });
        }
        let mut timeouts = Timeouts::of(&environment, names);
        let mut warnings = std::mem::take(&mut timeouts.complaints);
        warnings.extend(chosen.warning());
        if names == Names::Own {
            let user = user.as_ref().map_or("", |user| &user.name);
            warnings.extend(lifetime::warnings(user));
        }
        Ok(Plan {
            warnings,
            size: options.size.unwrap_or_else(window_of_stdin),
            options,
            names,
            environment,
            shell,
            user,
            timeouts,
            core_limit,
            trace,
        })
    }

    /// Serves one session, in the background, for whoever has the printed key.
    ///
    /// # Errors
    ///
    /// When it cannot listen, or cannot wait.
    pub(crate) fn serve(self, readiness: Readiness) -> Result<u8, Failure> {
        let opened = self.open()?;
        for complaint in &opened.bound.complaints {
            report::complain(self.names.program(), complaint);
        }
        announce::announce(opened.bound.port, &opened.key)
            .map_err(while_doing("printing port and key"))?;
        readiness
            .declare(self.streams())
            .map_err(while_doing("letting go of the terminal"))?;
        self.work(opened, None, None)
    }

    /// Serves one session, in the background, for a client to which `answer` is ours.
    ///
    /// # Errors
    ///
    /// As for [`serve`](Plan::serve).
    pub(crate) fn serve_as_agreed(
        self,
        mut bond: Bond,
        answer: &Answer,
        agreement: Agreement,
    ) -> Result<u8, Failure> {
        let opened = self.open()?;
        let Bound {
            port, complaints, ..
        } = &opened.bound;
        let warnings = [&self.warnings[..], complaints].concat();
        bond.declare_ready();
        announce::answer(&warnings, answer, *port, &opened.key)
            .map_err(while_doing("printing port and key"))?;
        self.streams()
            .let_go()
            .map_err(while_doing("letting go of the terminal"))?;
        self.work(opened, Some(bond), Some(agreement))
    }

    fn streams(&self) -> Streams {
        match self.options.verbosity {
            0 => Streams::Released,
            _ => Streams::Kept,
        }
    }

    /// Watches for signals, listens, and makes the key.
    fn open(&self) -> Result<Opened, Failure> {
        for signal in [Signal::HangUp, Signal::Pipe] {
            signals::ignore(signal).map_err(while_doing("ignoring signals"))?;
        }
        let surroundings =
            Surroundings::watch(&SIGNALS).map_err(while_doing("watching for signals"))?;
        let Options { bind, ports, .. } = &self.options;
        Ok(Opened {
            bound: bind::bind(bind, *ports, &self.environment, self.names)?,
            key: random::key()?,
            surroundings,
        })
    }

    fn work(
        self,
        opened: Opened,
        bond: Option<Bond>,
        agreement: Option<Agreement>,
    ) -> Result<u8, Failure> {
        let Opened {
            bound,
            key,
            surroundings,
        } = opened;
        tracing::info!(port = bound.port, "listening");
        let mut config = ServerConfig::new(key, random::seed()?);
        config.size = self.size;
        config.datagram_bytes = bound.datagram_bytes();
        config.network_timeout = self.timeouts.network;
        config.signal_timeout = self.timeouts.signal;
        config.agreement = agreement;
        let pid = std::process::id();
        let event_loop = EventLoop {
            server: Server::new(now(), config),
            sockets: Sockets::new(bound.sockets, self.trace),
            program: Program::new(self.shell, self.user, self.core_limit, self.names, pid),
            surroundings,
            bond,
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
