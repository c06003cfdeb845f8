//! Two ends and a wire between them, for tests that look at single datagrams.

use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_datagram::{Direction, Fragment, Key, Opener, Sealer, Stamps};

use crate::testing::{Board, Log};
use crate::{
    Arrival, Cause, Challenge, Deflater, Endpoint, EndpointConfig, Fragmenter, Instruction, Noise,
    Numbers, Received, Role, StateNumber, Terms, Transmit,
};

pub(super) const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
pub(super) const CLIENT_PATH: PathId = PathId::new(1);
pub(super) const SERVER_PATH: PathId = PathId::new(2);
pub(super) const BOARD_CELLS: usize = 2000;

pub(super) type Client = Endpoint<Log, Board>;
pub(super) type Server = Endpoint<Board, Log>;

pub(super) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(super) fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

/// Noise without surprises: the chaff is always empty, and each challenge another one.
#[derive(Default)]
pub(super) struct Quiet {
    challenges: u8,
}

impl Noise for Quiet {
    fn fill(&mut self, bytes: &mut [u8]) {
        let is_challenge = bytes.len() == Challenge::BYTES;
        self.challenges = self.challenges.wrapping_add(is_challenge.into());
        bytes.fill(if is_challenge { self.challenges } else { 0 });
    }
}

pub(super) fn sealer(direction: Direction) -> Sealer {
    Sealer::new(Key::from_base64(KEY).unwrap(), direction)
}

pub(super) fn opener(direction: Direction) -> Opener {
    Opener::new(&Key::from_base64(KEY).unwrap(), direction)
}

pub(super) fn config(role: Role) -> EndpointConfig {
    EndpointConfig {
        role,
        datagram_bytes: 1252,
        agreement: None,
    }
}

pub(super) fn client() -> Client {
    client_with(None)
}

pub(super) fn client_with(agreement: Option<Terms>) -> Client {
    Endpoint::new(
        at(0),
        EndpointConfig {
            agreement,
            ..config(Role::Client)
        },
        sealer(Direction::ToServer),
        opener(Direction::ToClient),
        Log::default(),
        Board::blank(BOARD_CELLS),
        Box::new(Quiet::default()),
    )
}

pub(super) fn server() -> Server {
    server_with(None)
}

pub(super) fn server_with(agreement: Option<Terms>) -> Server {
    Endpoint::new(
        at(0),
        EndpointConfig {
            agreement,
            ..config(Role::Server)
        },
        sealer(Direction::ToClient),
        opener(Direction::ToServer),
        Board::blank(BOARD_CELLS),
        Log::default(),
        Box::new(Quiet::default()),
    )
}

/// Two ends and a wire of fixed delay, driven from one deadline to the next.
pub(super) struct Pair {
    pub(super) now: Time,
    pub(super) delay: Duration,
    pub(super) client: Client,
    pub(super) server: Server,
    pub(super) log: Log,
    pub(super) board: Board,
    pub(super) wire: Vec<Flight>,
    pub(super) sent: Vec<Sent>,
    /// All datagrams that were sent, also those that were lost.
    pub(super) flights: Vec<Flight>,
    pub(super) loses: Box<dyn Fn(&Flight) -> bool>,
    /// The path on which the server sees the client's datagrams arrive.
    pub(super) client_at: PathId,
    /// True if the client gets what is sent to any path.
    pub(super) is_everywhere: bool,
    /// The number of times that the server has followed the client.
    pub(super) moves: usize,
}

/// A datagram on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) due: Time,
    pub(super) from: Role,
    /// The path that the server sent it on.
    pub(super) path: PathId,
    pub(super) bytes: Vec<u8>,
    /// Its sequence number.
    pub(super) nth: u64,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Time,
    pub(super) from: Role,
    pub(super) path: PathId,
    pub(super) bytes: usize,
    pub(super) cause: Cause,
}

impl Pair {
    pub(super) fn new(delay: Duration) -> Pair {
        Pair::with(delay, [None, None])
    }

    /// Returns two ends of which the client has the one agreement and the server the other.
    pub(super) fn with(delay: Duration, agreements: [Option<Terms>; 2]) -> Pair {
        let mut client = client_with(agreements[0]);
        client.handle_path_opened(at(0), CLIENT_PATH);
        Pair {
            now: at(0),
            delay,
            client,
            server: server_with(agreements[1]),
            log: Log::default(),
            board: Board::blank(BOARD_CELLS),
            wire: Vec::new(),
            sent: Vec::new(),
            flights: Vec::new(),
            loses: Box::new(|_| false),
            client_at: SERVER_PATH,
            is_everywhere: false,
            moves: 0,
        }
    }

    pub(super) fn type_text(&mut self, text: &[u8]) {
        self.log.append(text);
        self.client.set_local(self.now, self.log.clone());
    }

    pub(super) fn write(&mut self, place: usize, text: &[u8]) {
        self.board.write(place, text);
        self.server.set_local(self.now, self.board.clone());
    }

    /// Lets everything happen that does until then.
    pub(super) fn run_until(&mut self, end: Time) {
        loop {
            self.drain();
            let wakes = [self.client.poll_timeout(), self.server.poll_timeout()];
            let wakes = wakes.into_iter().flatten().map(|(time, _)| time);
            let next = wakes.chain(self.wire.iter().map(|flight| flight.due)).min();
            let Some(next) = next.filter(|&next| next <= end) else {
                self.now = end;
                return;
            };
            assert!(next > self.now, "woken at {next:?} without progress");
            self.now = next;
            self.deliver();
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
        }
    }

    pub(super) fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    fn deliver(&mut self) {
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.wire)
            .into_iter()
            .partition(|flight| flight.due <= self.now);
        self.wire = rest;
        for Flight {
            from, path, bytes, ..
        } in due
        {
            match from {
                Role::Client => {
                    let before = self.server.path();
                    let _ = self.reach_server(self.client_at, &bytes);
                    self.moves += usize::from(self.server.path() != before);
                }
                // What was sent elsewhere does not reach the client.
                Role::Server if path != self.client_at && !self.is_everywhere => {}
                Role::Server => {
                    let arrival = arrival(CLIENT_PATH, &bytes);
                    let _ = self.client.handle_datagram(self.now, arrival);
                }
            }
        }
    }

    /// Lets a datagram reach the server on that path.
    pub(super) fn reach_server(&mut self, path: PathId, bytes: &[u8]) -> Received {
        let arrival = arrival(path, bytes);
        self.server.handle_datagram(self.now, arrival)
    }

    pub(super) fn drain(&mut self) {
        let mut out = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
            self.launch(Role::Client, transmit, &out);
        }
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            self.launch(Role::Server, transmit, &out);
        }
    }

    fn launch(&mut self, from: Role, transmit: Transmit, out: &[u8]) {
        let Transmit {
            path,
            cause,
            numbers,
            ..
        } = transmit;
        let sent = |bytes: usize| Sent {
            at: self.now,
            from,
            path,
            bytes,
            cause,
        };
        self.sent.push(sent(transmit.length));
        for (n, bytes) in transmit.split(out).enumerate() {
            let flight = Flight {
                due: self.now + self.delay,
                from,
                path,
                bytes: bytes.to_vec(),
                nth: numbers.sequence.get() + n as u64,
            };
            self.flights.push(flight.clone());
            if !(self.loses)(&flight) {
                self.wire.push(flight);
            }
        }
    }

    pub(super) fn sends_of(&self, role: Role, cause: Cause) -> Vec<Time> {
        let sends = self.sent.iter();
        let sends = sends.filter(|sent| sent.from == role && sent.cause == cause);
        sends.map(|sent| sent.at).collect()
    }
}

pub(super) fn arrival(path: PathId, bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

/// A peer that has the key and says whatever a test wants.
pub(super) struct RawPeer {
    sealer: Sealer,
    next_id: u64,
}

impl RawPeer {
    pub(super) fn new(direction: Direction) -> RawPeer {
        RawPeer {
            sealer: sealer(direction),
            next_id: 1,
        }
    }

    /// Returns the datagrams of an instruction.
    pub(super) fn say(&mut self, instruction: &[u8]) -> Vec<Vec<u8>> {
        let mut compressed = Vec::new();
        Deflater::new().deflate(instruction, &mut compressed);
        self.say_compressed(compressed)
    }

    pub(super) fn say_compressed(&mut self, compressed: Vec<u8>) -> Vec<Vec<u8>> {
        let mut fragments = Fragmenter::new(self.next_id, compressed, 1252).unwrap();
        self.next_id += 1;
        let mut datagrams = Vec::new();
        while let Some(fragment) = fragments.take() {
            datagrams.push(self.seal(fragment));
        }
        datagrams
    }

    pub(super) fn seal(&mut self, fragment: Fragment<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        self.sealer.seal(Stamps::NONE, fragment, &mut out).unwrap();
        out
    }
}

/// Returns an instruction with these numbers: source, target, acknowledged, throwaway.
pub(super) fn instruction(numbers: [u64; 4], difference: &[u8]) -> Vec<u8> {
    let [source, target, acknowledged, throwaway] = numbers.map(StateNumber::new);
    let numbers = Numbers {
        source,
        target,
        acknowledged,
        throwaway,
    };
    let mut out = Vec::new();
    Instruction::new(numbers, difference, b"").encode(&mut out);
    out
}
