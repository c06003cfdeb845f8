use std::time::Duration;

use fulmar_datagram::{Direction, Ecn, Key};

use super::*;
use crate::testing::{Board, Log};

const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
const CLIENT_PATH: PathId = PathId::new(1);
const SERVER_PATH: PathId = PathId::new(2);
const BOARD_CELLS: usize = 2000;

type Client = Endpoint<Log, Board>;
type Server = Endpoint<Board, Log>;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

/// Noise without surprises: the chaff is always empty.
struct Quiet;

impl Noise for Quiet {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn sealer(direction: Direction) -> Sealer {
    Sealer::new(Key::from_base64(KEY).unwrap(), direction)
}

fn opener(direction: Direction) -> Opener {
    Opener::new(&Key::from_base64(KEY).unwrap(), direction)
}

fn config(role: Role) -> Config {
    Config {
        role,
        datagram_bytes: 1252,
    }
}

fn client() -> Client {
    Endpoint::new(
        at(0),
        config(Role::Client),
        sealer(Direction::ToServer),
        opener(Direction::ToClient),
        Log::default(),
        Board::blank(BOARD_CELLS),
        Box::new(Quiet),
    )
}

fn server() -> Server {
    Endpoint::new(
        at(0),
        config(Role::Server),
        sealer(Direction::ToClient),
        opener(Direction::ToServer),
        Board::blank(BOARD_CELLS),
        Log::default(),
        Box::new(Quiet),
    )
}

/// Two ends and a wire of fixed delay, driven from one deadline to the next.
struct Pair {
    now: Time,
    delay: Duration,
    client: Client,
    server: Server,
    log: Log,
    board: Board,
    wire: Vec<Flight>,
    sent: Vec<(Time, Role, Cause)>,
    loses: fn(&Flight) -> bool,
}

#[derive(Clone, Debug)]
struct Flight {
    due: Time,
    from: Role,
    bytes: Vec<u8>,
    nth: u64,
}

impl Pair {
    fn new(delay: Duration) -> Pair {
        let mut client = client();
        client.handle_hint(at(0), Hint::PathOpened { path: CLIENT_PATH });
        Pair {
            now: at(0),
            delay,
            client,
            server: server(),
            log: Log::default(),
            board: Board::blank(BOARD_CELLS),
            wire: Vec::new(),
            sent: Vec::new(),
            loses: |_| false,
        }
    }

    fn type_text(&mut self, text: &[u8]) {
        self.log.append(text);
        self.client.set_local(self.now, self.log.clone());
    }

    fn write(&mut self, place: usize, text: &[u8]) {
        self.board.write(place, text);
        self.server.set_local(self.now, self.board.clone());
    }

    /// Lets everything happen that does until then.
    fn run_until(&mut self, end: Time) {
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

    fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    fn deliver(&mut self) {
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.wire)
            .into_iter()
            .partition(|flight| flight.due <= self.now);
        self.wire = rest;
        for Flight { from, bytes, .. } in due {
            let arrival = |path| Arrival {
                path,
                ecn: Ecn::NotCapable,
                bytes: &bytes,
            };
            let _ = match from {
                Role::Client => self.server.handle_datagram(self.now, arrival(SERVER_PATH)),
                Role::Server => self.client.handle_datagram(self.now, arrival(CLIENT_PATH)),
            };
        }
    }

    fn drain(&mut self) {
        let mut out = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
            self.launch(Role::Client, transmit, &out);
        }
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
            self.launch(Role::Server, transmit, &out);
        }
    }

    fn launch(&mut self, from: Role, transmit: Transmit, out: &[u8]) {
        self.sent.push((self.now, from, transmit.cause));
        for (n, bytes) in transmit.split(out).enumerate() {
            let flight = Flight {
                due: self.now + self.delay,
                from,
                bytes: bytes.to_vec(),
                nth: transmit.numbers.sequence.get() + n as u64,
            };
            if !(self.loses)(&flight) {
                self.wire.push(flight);
            }
        }
    }

    fn sends_of(&self, role: Role, cause: Cause) -> Vec<Time> {
        let sends = self.sent.iter().filter(|s| s.1 == role && s.2 == cause);
        sends.map(|s| s.0).collect()
    }
}

#[test]
fn both_objects_arrive() {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"ls\r");
    pair.run_for(ms(300));
    pair.write(0, b"one  two");
    pair.run_for(ms(1000));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.remote().text(), "one  two");
    assert_eq!(pair.client.acknowledged().end(), 3);
    assert_eq!(pair.server.acknowledged().text(), "one  two");
}

#[test]
fn a_lost_first_datagram_is_repeated_after_250_ms() {
    let mut pair = Pair::new(ms(20));
    pair.loses = |flight| flight.from == Role::Client && flight.nth == 0;
    pair.type_text(b"ls\r");
    pair.run_until(at(269));
    assert_eq!(pair.server.remote().end(), 0);
    // 250 ms, there, and at once back.
    pair.run_until(at(290));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.acknowledged_number(), StateNumber::new(2));
    assert_eq!(pair.sends_of(Role::Client, Cause::FirstRepeat), [at(250)]);
}

#[test]
fn a_lost_first_answer_costs_no_more() {
    let mut pair = Pair::new(ms(20));
    pair.loses = |flight| flight.from == Role::Server && flight.nth == 0;
    pair.type_text(b"ls\r");
    pair.run_until(at(250 + 40 + 100));
    assert_eq!(pair.client.acknowledged().end(), 3);
}

#[test]
fn acknowledged_input_is_forgotten_at_both_ends() {
    let mut pair = Pair::new(ms(20));
    pair.type_text(&[b'x'; 10_000]);
    pair.run_for(ms(1000));
    assert_eq!(pair.client.local().kept_bytes(), 0);
    assert_eq!(pair.server.remote().kept_bytes(), 10_000);
    pair.server.forget_consumed();
    assert_eq!(pair.server.remote().kept_bytes(), 0);
    assert_eq!(pair.server.receiver().held_bytes(), 0);
}
