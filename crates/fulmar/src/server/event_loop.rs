//! The server's loop: sockets, pty, signals, time.
//!
//! One turn hands everything that is ready to the core, within budgets, and then carries out what
//! the core wants. It waits in one place only and decides nothing about the protocol.

use std::io;
use std::net::IpAddr;

use fulmar_base::Time;
use fulmar_core::{ExitRequest, Server, ServerEnding, ServerEvent};
use fulmar_platform::{Interest, Signal};

use super::control::{SessionControl, Wanted};
use super::program::Program;
use super::sockets::Sockets;
use crate::clock::now;
use crate::login_parent::ParentHandle;
use crate::reactor::{Reactor, ReactorEvent, Token};

/// The signals that a server deals with; it ignores SIGHUP and SIGPIPE.
pub(crate) const SIGNALS: [Signal; 5] = [
    Signal::Terminate,
    Signal::Interrupt,
    Signal::User1,
    Signal::Child,
    Signal::Continue,
];

/// A server at work.
pub(crate) struct EventLoop {
    /// The server's state machine.
    pub(crate) server: Server,
    /// The sockets on which clients come.
    pub(crate) sockets: Sockets,
    /// The program that they come for.
    pub(crate) program: Program,
    /// The one that waits.
    pub(crate) reactor: Reactor,
    /// Whoever stays with the login, until a client was heard.
    pub(crate) parent: Option<ParentHandle>,
    /// The socket for other processes of the user, if the session has one.
    pub(crate) control: Option<SessionControl>,
}

impl EventLoop {
    /// Serves until the session is over.
    ///
    /// # Errors
    ///
    /// When the system does not let us wait any more.
    pub(crate) fn run(mut self) -> io::Result<(ServerEnding, Program)> {
        loop {
            self.wait()?;
            let now = now();
            self.take_in(now);
            if let Some(ending) = self.carry_out(now) {
                self.program.end();
                return Ok((ending, self.program));
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        let server = self.server.poll_timeout().map(|(at, _)| at);
        [server, self.program.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    fn wait(&mut self) -> io::Result<()> {
        let deadline = self.deadline();
        self.reactor.wait(deadline, |registry| {
            if self.program.has_output() || self.sockets.has_more() {
                registry.add_ready(Token::Backlog);
            }
            self.sockets.register(registry);
            if let Some(parent) = &self.parent {
                registry.add(Token::ForkPeer, parent, Interest::Read);
            }
            self.program.register(registry, &self.server);
            if let Some(control) = &self.control {
                control.register(registry);
            }
        })
    }

    /// Hands everything over that has come.
    fn take_in(&mut self, now: Time) {
        let mut is_parent_gone = false;
        let mut pty = None;
        self.sockets.begin_turn();
        while let Some(event) = self.reactor.poll_event() {
            match event {
                ReactorEvent::Hint(hint) => self.server.handle_hint(now, hint),
                ReactorEvent::Signal(signal) => self.handle_signal(now, signal),
                ReactorEvent::Ready(Token::Backlog, _) => {
                    self.sockets.resume(now, &mut self.server)
                }
                ReactorEvent::Ready(Token::Socket(index), _) => {
                    self.sockets.receive(now, index, &mut self.server);
                }
                ReactorEvent::Ready(Token::Carrier(index), _) => {
                    self.sockets.receive_carried(now, index, &mut self.server);
                }
                ReactorEvent::Ready(Token::ForkPeer, _) => is_parent_gone = true,
                ReactorEvent::Ready(Token::Pty, readiness) => pty = Some(readiness),
                ReactorEvent::Ready(token, _) => {
                    if let Some(control) = &mut self.control {
                        control.note_ready(token);
                    }
                }
            }
        }
        self.look_after_parent(now, is_parent_gone);
        // Less while more datagrams wait, so that they are not lost to a program that floods
        // (docs/threat-model.md §6).
        let work = self.sockets.output_work();
        self.program.read(now, pty, work, &mut self.server);
        if self.reactor.is_due() {
            self.program.look(now, &mut self.server);
            self.server.handle_timeout(now);
            self.program.handle_timeout(now, &mut self.server);
        }
    }

    /// A client that was heard is told so, before it can have our answer. A login that ends earlier is
    /// the end of all.
    fn look_after_parent(&mut self, now: Time, is_parent_gone: bool) {
        if self.sockets.has_heard()
            && let Some(parent) = self.parent.take()
        {
            tracing::info!("the client is heard");
            parent.declare_heard();
        }
        if is_parent_gone && self.parent.take().is_some() {
            tracing::info!("the login has ended");
            self.server.request_exit(now, ExitRequest::Now);
        }
    }

    fn handle_signal(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::Child => self.program.reap(now, &mut self.server),
            Signal::User1 => self.server.request_exit(now, ExitRequest::IfIdle),
            // Also sent by whoever looks for the session and does not find its socket.
            Signal::Continue => {
                if let Some(control) = &mut self.control {
                    control.restore();
                }
            }
            _ => self.end(now),
        }
    }

    fn end(&mut self, now: Time) {
        self.program.condemn(now, &mut self.server);
        self.server.request_exit(now, ExitRequest::Now);
    }

    /// Does what other processes of the user have asked for.
    fn obey(&mut self, now: Time) {
        let Some(control) = &mut self.control else {
            return;
        };
        if control.carry_out(now, &mut self.server, &mut self.sockets) == Wanted::End {
            tracing::info!("the user wants the session to end");
            self.end(now);
        }
    }

    /// Does what has been decided, keys first: the program's answer takes longest.
    fn carry_out(&mut self, now: Time) -> Option<ServerEnding> {
        let before = self.handle_events(now);
        self.obey(now);
        self.program.write(now, &mut self.server);
        self.sockets.transmit(now, &mut self.server);
        before.or_else(|| self.handle_events(now))
    }

    fn handle_events(&mut self, now: Time) -> Option<ServerEnding> {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::StartShell { size } => {
                    self.program.start(now, size, &mut self.server);
                }
                ServerEvent::ResizePty { size } => self.program.resize(size),
                ServerEvent::ClientAt { path } => {
                    let address = self.sockets.address(path);
                    tracing::info!(?address, "the client is there");
                    self.note_client(address);
                }
                ServerEvent::ClientDetached => {
                    tracing::info!("nothing is heard of the client");
                    self.note_client(None);
                }
                ServerEvent::Attached => self.note_attachment(true),
                ServerEvent::AttachmentDropped => self.note_attachment(false),
                ServerEvent::Ended(ending) => {
                    tracing::info!(?ending, "the session is over");
                    return Some(ending);
                }
                _ => {}
            }
        }
        None
    }

    fn note_client(&mut self, address: Option<IpAddr>) {
        self.program.record_client(address);
        if let Some(control) = &mut self.control {
            control.note_client(address);
        }
    }

    fn note_attachment(&mut self, has_come: bool) {
        if let Some(control) = &mut self.control {
            control.note_attachment(has_come);
        }
    }
}

#[cfg(test)]
mod tests;
