//! The local end: our client, and somebody who uses it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId};
use fulmar_core::{Client, ClientConfig, ClientEvent, OuterTerminal};
use fulmar_datagram::Key;
use fulmar_sim::{Datagram, Node, SendFailure, Transmit};
use fulmar_terminal::{Size, Vocabulary};
use fulmar_transport::{Arrival, Received, StateNumber};

use super::words::{datagrams, time};
use crate::typing::{SessionStage, TypingUser, UserAction};

/// A client as the program's loop would drive it, with its user.
pub(crate) struct SimulatedClient<U> {
    pub(crate) client: Client,
    pub(crate) user: U,
    server: SocketAddr,
    paths_opened: u64,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
}

/// Somebody who uses a client.
pub(crate) trait ClientUser {
    /// Looks and types once nothing is left to be sent, and returns whether the client may have something to send
    /// because of that.
    fn act(&mut self, now: Duration, client: &mut Client) -> bool;

    /// Returns when to act again although nothing comes.
    fn poll_timeout(&self) -> Option<Duration>;

    /// Takes note that the client sends a state.
    fn handle_sent(&mut self, _state: StateNumber) {}

    /// Takes note of what a datagram has brought.
    fn handle_received(&mut self, _now: Duration, _client: &Client, _received: &Received) {}

    /// Takes note that the session is over.
    fn handle_left(&mut self) {}
}

/// Returns the configuration of a client on a terminal that can do everything.
pub(crate) fn client_config(key: Key, size: Size) -> ClientConfig {
    ClientConfig {
        size,
        outer: OuterTerminal {
            vocabulary: Vocabulary::FULL,
            enter: b"\x1b[?1049h".to_vec(),
            exit: b"\x1b[?1049l".to_vec(),
            synchronized_output: true,
            ..OuterTerminal::default()
        },
        ..ClientConfig::new(key, [1; 32])
    }
}

impl<U: ClientUser> SimulatedClient<U> {
    pub(crate) fn new(config: ClientConfig, server: SocketAddr, user: U) -> Self {
        let mut near = Self {
            client: Client::new(time(Duration::ZERO), config),
            user,
            server,
            paths_opened: 0,
            buffer: Vec::new(),
            outgoing: VecDeque::new(),
        };
        near.open_path(Duration::ZERO);
        near
    }

    /// A new local port is the old one here: the simulator's hosts have one.
    fn open_path(&mut self, now: Duration) {
        self.paths_opened += 1;
        let path = PathId::new(self.paths_opened);
        self.client.handle_path_opened(time(now), path);
    }

    fn take_events(&mut self, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::OpenPath => self.open_path(now),
                ClientEvent::Ended(_) => self.user.handle_left(),
                _ => {}
            }
        }
    }

    /// Takes what the client has to send, and returns whether there was anything.
    fn send(&mut self, now: Duration) -> bool {
        let Some(transmit) = self.client.poll_transmit(time(now), &mut self.buffer) else {
            return false;
        };
        self.user.handle_sent(transmit.numbers.instruction.target);
        self.outgoing
            .extend(datagrams(&transmit, &self.buffer, self.server));
        true
    }
}

impl<U: ClientUser> Node for SimulatedClient<U> {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let arrival = Arrival {
            path: PathId::new(self.paths_opened),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let received = self.client.handle_datagram(time(now), arrival);
        self.user.handle_received(now, &self.client, &received);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.client.handle_timeout(time(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        loop {
            self.take_events(now);
            if let Some(transmit) = self.outgoing.pop_front() {
                return Some(transmit);
            }
            if !self.send(now) && !self.user.act(now, &mut self.client) {
                return None;
            }
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        let client = self.client.poll_timeout().map(|(at, _)| at.since_origin());
        client.into_iter().chain(self.user.poll_timeout()).min()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let path = PathId::new(self.paths_opened);
        self.client
            .handle_send_error(time(now), path, failure.error);
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.client.handle_hint(time(now), hint);
    }
}

/// The user of a real run, before a terminal that takes all at once.
pub(super) struct TerminalUser<'a> {
    pub(super) user: TypingUser<'a>,
    /// True once the typing has begun.
    pub(super) has_begun: bool,
}

impl ClientUser for TerminalUser<'_> {
    fn act(&mut self, now: Duration, client: &mut Client) -> bool {
        let mut drawn = Vec::new();
        client.draw(time(now), &mut drawn);
        if !drawn.is_empty() {
            self.user.handle_output(now, &drawn);
        }
        match self.user.poll_act(now) {
            Some(UserAction::Type(keys)) => client.handle_keys(time(now), &keys),
            Some(UserAction::Reach(SessionStage::Begun)) => self.has_begun = true,
            Some(UserAction::Reach(_)) => {}
            None => return false,
        }
        true
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.user.poll_timeout()
    }

    fn handle_left(&mut self) {
        self.user.handle_left();
    }
}
