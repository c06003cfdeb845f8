//! The near end: our client, and the user before its terminal.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Hint, PathId};
use fulmar_core::{Client, ClientConfig, ClientEvent, OuterTerminal};
use fulmar_datagram::Key;
use fulmar_sim::{Datagram, Node, SendFailure, Transmit};
use fulmar_terminal::{Size, Vocabulary};
use fulmar_transport::{Arrival, Countable as _};

use super::words;
use crate::typing::{SessionStage, TypingUser, UserAction};

/// A client as the program's loop would drive it, with a user of a terminal that takes all at once.
pub(super) struct SimulatedClient<'a> {
    client: Client,
    pub(super) user: TypingUser<'a>,
    /// True once the typing has begun.
    pub(super) has_begun: bool,
    server: SocketAddr,
    paths_opened: u64,
    buffer: Vec<u8>,
    outgoing: VecDeque<Transmit>,
}

impl<'a> SimulatedClient<'a> {
    pub(super) fn new(key: Key, size: Size, server: SocketAddr, user: TypingUser<'a>) -> Self {
        let config = ClientConfig {
            size,
            outer: outer_terminal(),
            ..ClientConfig::new(key, [1; 32])
        };
        let mut near = Self {
            client: Client::new(words::time(Duration::ZERO), config),
            user,
            has_begun: false,
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
        self.client.handle_path_opened(words::time(now), path);
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

    /// Takes what the client has to send, if there is anything.
    fn send(&mut self, now: Duration) -> bool {
        let Some(transmit) = self
            .client
            .poll_transmit(words::time(now), &mut self.buffer)
        else {
            return false;
        };
        for datagram in transmit.split(&self.buffer) {
            let sent = Transmit::to(self.server, datagram)
                .ecn(transmit.ecn)
                .because(transmit.cause.name());
            self.outgoing.push_back(sent);
        }
        true
    }

    /// Shows the user what is new, and returns whether they did something.
    fn show(&mut self, now: Duration) -> bool {
        let mut drawn = Vec::new();
        self.client.draw(words::time(now), &mut drawn);
        if !drawn.is_empty() {
            self.user.handle_output(now, &drawn);
        }
        match self.user.poll_act(now) {
            Some(UserAction::Type(keys)) => self.client.handle_keys(words::time(now), &keys),
            Some(UserAction::Reach(SessionStage::Begun)) => self.has_begun = true,
            Some(UserAction::Reach(_)) => {}
            None => return false,
        }
        true
    }
}

/// A terminal that can do everything.
pub(crate) fn outer_terminal() -> OuterTerminal {
    OuterTerminal {
        vocabulary: Vocabulary::FULL,
        enter: b"\x1b[?1049h".to_vec(),
        exit: b"\x1b[?1049l".to_vec(),
        synchronized_output: true,
    }
}

impl Node for SimulatedClient<'_> {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        let arrival = Arrival {
            path: PathId::new(self.paths_opened),
            ecn: datagram.ecn,
            bytes: &datagram.bytes,
        };
        let _ = self.client.handle_datagram(words::time(now), arrival);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.client.handle_timeout(words::time(now));
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        loop {
            self.take_events(now);
            if let Some(transmit) = self.outgoing.pop_front() {
                return Some(transmit);
            }
            if !self.send(now) && !self.show(now) {
                return None;
            }
        }
    }

    fn next_timeout(&self) -> Option<Duration> {
        let client = self.client.poll_timeout().map(|(at, _)| at.since_origin());
        [client, self.user.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        let path = PathId::new(self.paths_opened);
        let error = failure.error;
        self.client.handle_send_error(words::time(now), path, error);
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        self.client.handle_hint(words::time(now), hint);
    }
}
