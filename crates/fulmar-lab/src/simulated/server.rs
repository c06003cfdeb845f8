//! The remote end: our server, and the played host on its pty.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId};
use fulmar_core::{ForegroundProgram, Server, ServerConfig, ServerEvent, TtyState};
use fulmar_datagram::Key;
use fulmar_sim::{Datagram, Node, SendFailure, Transmit};
use fulmar_terminal::Size;
use fulmar_transport::limits::TURN_WORK_MAX;
use fulmar_transport::{Arrival, StateNumber};

use super::host::PlayedHost;
use super::words::{datagrams, time};
use super::{agreement, tty::Tty};
use crate::trace;

/// A server as the program's loop would drive it, on a pty that takes all at once.
pub(crate) struct SimulatedServer<'a> {
    server: Server,
    pub(crate) host: PlayedHost<'a>,
    /// The terminal that the server may look at, if it has agreed to give hints.
    tty: Option<Tty<'a>>,
    paths: Vec<SocketAddr>,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
    pub(super) frames: Vec<SentFrame>,
    /// The number of bytes of the recording that had been written when each state was first sent.
    states: BTreeMap<StateNumber, usize>,
}

/// Something that the server sent: a piece of a screen, or nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// The time of sending.
    pub at: Duration,
    /// The number of bytes of the recording that the host had written.
    pub written: usize,
    /// The number of bytes of the difference to a former screen.
    pub difference_bytes: usize,
}

impl<'a> SimulatedServer<'a> {
    /// Returns a server; with a terminal to look at it has agreed with its client on everything, and gives hints.
    pub(crate) fn new(key: Key, size: Size, host: PlayedHost<'a>, tty: Option<Tty<'a>>) -> Self {
        let config = ServerConfig {
            size,
            agreement: tty.is_some().then(agreement),
            ..ServerConfig::new(key, [2; 32])
        };
        Self {
            server: Server::new(time(Duration::ZERO), config),
            host,
            tty,
            paths: Vec::new(),
            buffer: Vec::new(),
            outgoing: VecDeque::new(),
            frames: Vec::new(),
            states: BTreeMap::new(),
        }
    }

    /// Returns how many bytes of the recording had been written when a state was first sent.
    pub(crate) fn written_by(&self, state: StateNumber) -> Option<usize> {
        self.states.get(&state).copied()
    }

    fn take_events(&mut self, now: Duration) {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::StartShell { .. } => self.host.start(),
                ServerEvent::ResizePty { size } => {
                    let (columns, rows) = (size.columns(), size.rows());
                    self.host.resize(now, trace::Size { columns, rows });
                }
                _ => {}
            }
        }
    }

    /// Carries bytes between server and host. Returns whether there were any.
    fn run_host(&mut self, now: Duration) -> bool {
        let mut any = false;
        loop {
            self.take_events(now);
            let input = self.server.pty_input().to_vec();
            if !input.is_empty() {
                if let Some(tty) = &mut self.tty {
                    tty.receive(now, input.len());
                }
                self.look(now);
                self.server.pty_taken(time(now), input.len());
                self.host.receive(now, &input);
            }
            let output = self.host.poll_output(now);
            if let Some(output) = &output {
                self.look(now);
                let mut rest: &[u8] = output;
                while !rest.is_empty() {
                    let taken = self
                        .server
                        .handle_pty_output(time(now), rest, TURN_WORK_MAX);
                    rest = rest.get(taken..).unwrap_or_default();
                }
            }
            if input.is_empty() && output.is_none() {
                return any;
            }
            any = true;
        }
    }

    /// Has the server look at the terminal, if it wants to.
    fn look(&mut self, now: Duration) {
        let Some(tty) = self.tty.as_ref().filter(|_| self.server.wants_tty()) else {
            return;
        };
        let Some(seen) = tty.state(now, self.host.written) else {
            return;
        };
        // A recording does not say with which words a program was called.
        let words = format!("{}\0", seen.foreground);
        let program = ForegroundProgram {
            name: seen.foreground.as_bytes(),
            words: words.as_bytes(),
        };
        let seen = TtyState {
            is_canonical: seen.is_canonical,
            has_echo: seen.has_echo,
            program: Some(program),
        };
        self.server.handle_tty(time(now), seen);
    }

    /// Takes what the server has to send, if there is anything.
    fn send(&mut self, now: Duration) -> bool {
        let Some(transmit) = self.server.poll_transmit(time(now), &mut self.buffer) else {
            return false;
        };
        let target = transmit.numbers.instruction.target;
        self.states.entry(target).or_insert(self.host.written);
        self.frames.push(SentFrame {
            at: now,
            written: self.host.written,
            difference_bytes: transmit.numbers.difference_bytes,
        });
        let path = usize::try_from(transmit.path.get()).unwrap_or(usize::MAX);
        let Some(to) = self.paths.get(path) else {
            return true;
        };
        self.outgoing
            .extend(datagrams(&transmit, &self.buffer, *to));
        true
    }
}

impl Node for SimulatedServer<'_> {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let known = self.paths.iter().position(|path| *path == datagram.source);
        let path = known.unwrap_or_else(|| {
            self.paths.push(datagram.source);
            self.paths.len() - 1
        });
        let arrival = Arrival {
            path: PathId::new(path as u64),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let _ = self.server.handle_datagram(time(now), arrival);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.look(now);
        self.server.handle_timeout(time(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        loop {
            self.run_host(now);
            if let Some(transmit) = self.outgoing.pop_front() {
                return Some(transmit);
            }
            if !self.send(now) {
                return None;
            }
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        let server = self.server.poll_timeout().map(|(at, _)| at.since_origin());
        [server, self.host.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let path = self
            .paths
            .iter()
            .position(|path| *path == failure.destination);
        if let Some(path) = path {
            let (path, error) = (PathId::new(path as u64), failure.error);
            self.server.handle_send_error(time(now), path, error);
        }
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.server.handle_hint(time(now), hint);
    }
}
