//! A client and a server, and two ways between them, each of which comes and goes.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_base::{Ecn, Hint, PathId, Time};
use fulmar_core::{
    Agreement, Capabilities, Client, ClientConfig, ClientEnding, Server, ServerConfig, ServerEvent,
    Way, WayPreference, Ways,
};
use fulmar_datagram::Key;
use fulmar_sim::{NonceLedger, Random};
use fulmar_transport::Arrival;
use fulmar_transport::limits::TURN_WORK_MAX;

use super::edges::{ASK_AFTER, SILENT_MAX};

/// The paths of ssh begin here.
pub(super) const FIRST_STREAM: u64 = 1 << 63;

/// The paths that a server sees of one address of the client.
pub(super) const PER_ADDRESS: u64 = 1 << 20;

/// The kinds of packets that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// UDP to the server, and from it.
    pub(crate) udp: [bool; 2],
    /// TCP. What an ssh carries waits meanwhile.
    pub(crate) tcp: bool,
}

/// A datagram on its way.
pub(super) struct Flight {
    pub(super) path: u64,
    pub(super) is_up: bool,
    pub(super) bytes: Vec<u8>,
}

/// An ssh that carries datagrams.
pub(super) struct Stream {
    pub(super) path: u64,
    /// The time at which the server has last heard something over it.
    pub(super) heard: Option<Duration>,
    /// The time since which it should have brought something.
    pub(super) silent_since: Option<Duration>,
    /// True if nothing passes, and nobody knows.
    pub(super) is_dead: bool,
}

pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) number: u64,
    pub(crate) random: Random,
    pub(crate) open: Open,
    /// The time that a datagram takes one way, over UDP and over ssh.
    pub(crate) delays: [Duration; 2],
    /// Datagrams of a thousand that UDP loses.
    pub(crate) loss: u64,
    pub(crate) client: Client,
    pub(crate) server: Server,
    pub(crate) ways: Ways,
    /// Everything that the program has read.
    pub(crate) read: Vec<u8>,
    /// The number of times that the way has changed.
    pub(crate) changes: u64,
    pub(crate) ending: Option<ClientEnding>,
    ledger: NonceLedger,
    /// By the time at which each arrives, and the order in which they were sent.
    wire: BTreeMap<(Duration, u64), Flight>,
    /// The datagrams that wait for TCP.
    held: Vec<Flight>,
    sent: u64,
    /// The newest of the client's paths over UDP, and the address from which it sends.
    pub(super) udp: u64,
    pub(super) address: u64,
    pub(super) stream: Option<Stream>,
    pub(super) streams: u64,
    /// The time at which an ssh that was run is there.
    pub(super) coming: Option<Duration>,
    /// The time at which an ssh ended that was the way.
    pub(super) lost: Option<Duration>,
}

pub(super) fn way_of(path: u64) -> Way {
    if path < FIRST_STREAM {
        Way::Udp
    } else {
        Way::Ssh
    }
}

fn seed(number: u64, part: u8) -> [u8; 32] {
    let mut seed = [part; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

impl World {
    pub(crate) fn new(number: u64, delays: [Duration; 2], open: Open) -> World {
        let agreement = Agreement::of(b"an offer", b"an answer", Capabilities::ALL);
        let mut config = ServerConfig::new(Key::from_bytes([7; 16].into()), seed(number, 1));
        config.agreement = Some(agreement);
        let server = Server::new(Time::ZERO, config);
        let mut config = ClientConfig::new(Key::from_bytes([7; 16].into()), seed(number, 2));
        config.agreement = Some(agreement);
        let mut client = Client::new(Time::ZERO, config);
        client.handle_path_opened(Time::ZERO, PathId::new(1));
        World {
            now: Duration::ZERO,
            number,
            random: Random::stream(number, 0),
            open,
            delays,
            loss: 0,
            client,
            server,
            ways: Ways::new(Time::ZERO, WayPreference::Auto),
            read: Vec::new(),
            changes: 0,
            ending: None,
            ledger: NonceLedger::new(),
            wire: BTreeMap::new(),
            held: Vec::new(),
            sent: 0,
            udp: 1,
            address: 0,
            stream: None,
            streams: 0,
            coming: None,
            lost: None,
        }
    }

    pub(crate) fn time(&self) -> Time {
        Time::from_origin(self.now)
    }

    /// Lets the time pass, from one thing that happens to the next.
    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.turn();
            self.now = self
                .next()
                .max(self.now + Duration::from_millis(1))
                .min(end);
        }
    }

    /// Lets the time pass until that is so; returns how long it took, if it was within a minute.
    pub(crate) fn run_until(&mut self, mut is_so: impl FnMut(&World) -> bool) -> Option<Duration> {
        let begun = self.now;
        while self.now < begun + Duration::from_secs(60) {
            self.turn();
            if is_so(self) {
                return Some(self.now - begun);
            }
            self.now = self.next().max(self.now + Duration::from_millis(1));
        }
        None
    }

    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        let now = self.time();
        self.client.handle_keys(now, keys);
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let now = self.time();
        let taken = self.server.handle_pty_output(now, bytes, TURN_WORK_MAX);
        assert_eq!(taken, bytes.len());
    }

    /// Has the client come from another address from now on.
    pub(crate) fn move_on(&mut self, is_noticed: bool) {
        self.address += 1;
        if is_noticed {
            let now = self.time();
            self.ways.try_soon(now);
            self.client.handle_hint(now, Hint::AddressChanged);
        }
    }

    /// Ends the ssh; either end notices.
    pub(crate) fn kill_ssh(&mut self) {
        let was_way = self.stream.is_some() && self.ways.in_use() == Way::Ssh;
        self.lost = was_way.then_some(self.now).or(self.lost);
        self.close_ssh();
    }

    /// Has nothing pass over the ssh any more, which nobody is told.
    pub(crate) fn silence_ssh(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.is_dead = true;
        }
    }

    /// Has other things pass from now on.
    pub(crate) fn set_open(&mut self, open: Open) {
        self.open = open;
        if open.tcp {
            for flight in std::mem::take(&mut self.held) {
                self.launch(flight);
            }
        }
    }

    fn next(&self) -> Duration {
        let millis = |time: Time| time.since(Time::ZERO);
        let arrival = self.wire.keys().next().map(|(due, _)| *due);
        let client = self.client.poll_timeout().map(|(due, _)| millis(due));
        let server = self.server.poll_timeout().map(|(due, _)| millis(due));
        let ask = Some(ASK_AFTER).filter(|ask| *ask > self.now);
        let silent = self.stream.as_ref().and_then(|stream| stream.silent_since);
        let silent = silent.map(|since| since + SILENT_MAX);
        let dues = [arrival, client, server, self.coming, ask, silent];
        dues.into_iter().flatten().min().unwrap_or(self.now)
    }

    fn turn(&mut self) {
        let now = self.time();
        self.deliver();
        self.attend_ssh();
        self.client.handle_timeout(now);
        self.handle_client_events();
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(now, &mut buffer) {
            self.send_up(&transmit, &buffer);
        }
        self.handle_client_events();
        self.server.handle_timeout(now);
        self.run_program();
        while let Some(transmit) = self.server.poll_transmit(now, &mut buffer) {
            self.send_down(&transmit, &buffer);
        }
    }

    /// Enters a datagram in the ledger. Going two ways it is still one.
    pub(super) fn enter(&mut self, datagram: &[u8]) {
        let entered = self.ledger.record(self.now, 0, datagram);
        entered.unwrap_or_else(|error| panic!("seed {}: {error}", self.number));
    }

    /// Sends a datagram on its way, if it is not lost.
    pub(super) fn launch(&mut self, flight: Flight) {
        let [udp, ssh] = self.delays;
        let delay = match way_of(flight.path) {
            Way::Ssh => ssh,
            Way::Udp => {
                let passes = self.open.udp[usize::from(!flight.is_up)];
                if !passes || self.random.below(1000) < self.loss {
                    return;
                }
                udp
            }
        };
        self.sent += 1;
        self.wire.insert((self.now + delay, self.sent), flight);
    }

    fn deliver(&mut self) {
        let now = self.time();
        while let Some(entry) = self.wire.first_entry()
            && entry.key().0 <= self.now
        {
            let flight = entry.remove();
            let Flight { path, is_up, .. } = flight;
            let way = way_of(path);
            let stream = self.stream.as_ref().filter(|one| one.path == path);
            let is_there = match way {
                Way::Ssh => stream.is_some_and(|stream| !stream.is_dead),
                Way::Udp => path / PER_ADDRESS == self.address,
            };
            if !is_there {
                continue;
            }
            if way == Way::Ssh && !self.open.tcp {
                self.held.push(flight);
                continue;
            }
            let path = if is_up || way == Way::Ssh {
                path
            } else {
                path % PER_ADDRESS
            };
            let arrival = Arrival {
                path: PathId::new(path),
                ecn: Ecn::NotCapable,
                bytes: &flight.bytes,
            };
            if !is_up {
                self.hear(way, arrival);
                continue;
            }
            let received = self.server.handle_datagram(now, arrival);
            let is_genuine = received.is_some_and(|one| one.sequence.is_some());
            let stream = self.stream.as_mut();
            if let Some(stream) = stream.filter(|_| is_genuine && way == Way::Ssh) {
                stream.heard = Some(self.now);
            }
        }
    }

    fn run_program(&mut self) {
        let now = self.time();
        while let Some(event) = self.server.poll_event() {
            let has_ended = matches!(event, ServerEvent::Ended(_));
            assert!(!has_ended, "seed {}: {event:?}", self.number);
        }
        while !self.server.pty_input().is_empty() {
            let input = self.server.pty_input().to_vec();
            self.server.pty_taken(now, input.len());
            self.write(&input);
            self.read.extend(input);
        }
    }
}
