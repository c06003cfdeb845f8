//! Plans a server before it goes to the background, and then serves as planned.

use std::io;

use fulmar_core::{Agreement, CompatMode, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_login::{ServerOptions, SessionInfo};
use fulmar_platform::{Signal, Tty, User, WindowSize, locale_codeset, signals};
use fulmar_terminal::Size;

use super::announce;
use super::bind::{self, Bound};
use super::control::SessionControl;
use super::detach::{Readiness, Streams};
use super::errand;
use super::error::ServerError;
use super::event_loop::{EventLoop, SIGNALS};
use super::locale;
use super::program::Program;
use super::setup::{Owner, ServerSetup};
use super::shell::Shell;
use super::sockets::Sockets;
use super::utmp::LoginRecord;
use crate::clock::now;
use crate::login_parent::ParentHandle;
use crate::reactor::Reactor;
use crate::sessions::ControlSocket;
use crate::system::{SystemError, while_doing};
use crate::{random, report, session_key};

/// A server that could be started.
pub(crate) struct Plan {
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
    setup: ServerSetup,
    user: Option<User>,
    options: ServerOptions,
    shell: Shell,
    size: Size,
}

/// Everything that a daemon holds before its first turn.
pub(crate) struct Opened {
    /// The sockets on which it listens.
    pub(crate) bound: Bound,
    /// The session's key.
    pub(crate) key: Key,
    /// The other things that may happen: signals, changes of the network.
    pub(crate) reactor: Reactor,
    /// The socket for other processes of the user, if the session has one.
    pub(crate) control: Option<ControlSocket>,
    /// The other sessions of the user that have no client.
    pub(crate) detached: Vec<SessionInfo>,
}

impl Plan {
    /// Makes it, and with it everything that can fail while the user still watches.
    ///
    /// # Errors
    ///
    /// When there could be no such session.
    pub(crate) fn make(
        mut setup: ServerSetup,
        owner: Owner,
        options: ServerOptions,
    ) -> Result<Plan, ServerError> {
        let Owner { user, warnings } = owner;
        let mut programs = setup.environment.clone();
        let chosen = locale::choose(&mut programs, &options.locale, locale_codeset);
        let shell = Shell::new(&options.command, programs, user.as_ref(), options.colors);
        // Stock finds out when it is too late to say so here, and nobody is to wait for us then.
        if setup.compat == CompatMode::Fulmar
            && let Some(obstacle) = shell.obstacle()
        {
            let program = shell.program().to_owned();
            return Err(ServerError::CannotRun { program, obstacle });
        }
        let complaints = std::mem::take(&mut setup.timeouts.complaints);
        let all = [complaints, warnings].into_iter().flatten();
        Ok(Plan {
            warnings: all.chain(chosen.warning()).collect(),
            setup,
            user,
            size: options.size.unwrap_or_else(window_of_stdin),
            options,
            shell,
        })
    }

    /// Serves one session, in the background, for whoever has the printed key, and returns the status to leave with.
    /// Where it cannot listen, the user is told.
    ///
    /// # Errors
    ///
    /// When it cannot wait.
    pub(crate) fn serve(self, readiness: Readiness) -> Result<u8, ServerError> {
        let compat = self.setup.compat;
        let opened = match self.open() {
            Ok(opened) => opened,
            // Whoever started us may not listen any more once the parent has left.
            Err(failure) => return Ok(report::failure(&failure, compat.program(), compat)),
        };
        readiness
            .declare(self.streams())
            .map_err(while_doing("letting go of the terminal"))?;
        self.work(opened, None, None)
    }

    /// Listens, and prints where.
    fn open(&self) -> Result<Opened, ServerError> {
        ignore_signals()?;
        let ServerSetup {
            environment,
            compat,
            ..
        } = &self.setup;
        let mut opened = Opened {
            bound: bind::bind(&self.options.bind, self.options.ports, environment, *compat)?,
            key: session_key::fresh()?,
            reactor: watch()?,
            control: None,
            detached: Vec::new(),
        };
        for complaint in &opened.bound.complaints {
            report::complain(compat.program(), complaint);
        }
        announce::announce(opened.bound.port, &opened.key)
            .map_err(while_doing("printing port and key"))?;
        // Whoever has asked for the port does not wait for this.
        opened.detached = errand::detached(environment);
        Ok(opened)
    }

    /// Returns what it was made on.
    pub(crate) fn setup(&self) -> &ServerSetup {
        &self.setup
    }

    /// Returns what is to become of the standard streams.
    pub(crate) fn streams(&self) -> Streams {
        match self.options.verbosity {
            0 => Streams::Released,
            _ => Streams::Kept,
        }
    }

    /// Serves the session, for whoever has that key.
    ///
    /// # Errors
    ///
    /// When it cannot wait.
    pub(crate) fn work(
        self,
        opened: Opened,
        parent: Option<ParentHandle>,
        agreement: Option<Agreement>,
    ) -> Result<u8, ServerError> {
        let Opened {
            bound,
            key,
            reactor,
            control,
            detached,
        } = opened;
        let ServerSetup {
            compat,
            timeouts,
            core_limit,
            trace,
            ..
        } = self.setup;
        tracing::info!(port = bound.port, "listening");
        let mut config = ServerConfig::new(key, random::seed()?);
        config.size = self.size;
        config.datagram_bytes = bound.datagram_bytes();
        config.network_timeout = timeouts.network;
        config.signal_timeout = timeouts.signal;
        config.agreement = agreement;
        config.history = self.options.history;
        let record = LoginRecord::new(std::process::id(), bound.port, compat);
        record.name_attached();
        let command = &self.options.command;
        let control = control.map(|socket| SessionControl::new(now(), socket, command, &bound));
        let mut program = Program::new(self.shell, self.user, core_limit, compat, record);
        program.mention(detached);
        let event_loop = EventLoop {
            server: Server::new(now(), config),
            sockets: Sockets::new(bound.sockets, trace),
            program,
            reactor,
            parent,
            control,
        };
        let (_, program) = event_loop
            .run()
            .map_err(while_doing("waiting for something to happen"))?;
        Ok(if program.has_failed() {
            compat.failure_status()
        } else {
            0
        })
    }
}

/// Ignores the signals that are about a terminal or a login which a server does not need.
///
/// # Errors
///
/// When the system refuses.
pub(crate) fn ignore_signals() -> Result<(), SystemError> {
    for signal in [Signal::HangUp, Signal::Pipe] {
        signals::ignore(signal).map_err(while_doing("ignoring signals"))?;
    }
    Ok(())
}

/// Begins to watch for what may happen to a server.
///
/// # Errors
///
/// When the system has no descriptors left.
pub(crate) fn watch() -> Result<Reactor, SystemError> {
    Reactor::new(&SIGNALS).map_err(while_doing("watching for signals"))
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
