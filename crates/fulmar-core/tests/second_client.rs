//! Two clients with one key, as somebody starts them who sets `MOSH_KEY` by hand twice: no nonce is
//! used again, and the session of the first goes on (docs/decisions/027-first-sequence-number.md).
//!
//! They are driven turn by turn with a server that both can reach.

use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{Client, ClientConfig, Server, ServerConfig, ServerEvent};
use fulmar_datagram::Key;
use fulmar_sim::NonceLedger;
use fulmar_transport::Arrival;
use fulmar_transport::limits::TURN_WORK_MAX;

const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

fn key() -> Key {
    Key::from_base64(KEY).expect("22 characters of base64")
}

fn seed(number: u64, part: u8) -> [u8; 32] {
    let mut seed = [part; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

/// A server, and what was ever sealed.
struct World {
    now: Duration,
    server: Server,
    ledger: NonceLedger,
    buffer: Vec<u8>,
}

/// A client that the server sees at a path of its own.
struct Seat {
    client: Client,
    path: PathId,
}

impl Seat {
    fn new(now: Duration, number: u64, part: u8) -> Seat {
        let now = Time::from_origin(now);
        let mut client = Client::new(now, ClientConfig::new(key(), seed(number, part)));
        let path = PathId::new(u64::from(part));
        client.handle_path_opened(now, path);
        Seat { client, path }
    }
}

impl World {
    fn new(number: u64) -> World {
        let config = ServerConfig::new(key(), seed(number, 0));
        World {
            now: Duration::ZERO,
            server: Server::new(Time::ZERO, config),
            ledger: NonceLedger::new(),
            buffer: Vec::new(),
        }
    }

    fn record(&mut self, datagram: &[u8]) {
        let entered = self.ledger.record(self.now, 1, datagram);
        entered.unwrap_or_else(|error| panic!("at {:?}: {error}", self.now));
    }

    /// Hands over what the client has to say, and the server's answers to whoever they go to.
    fn turn(&mut self, seats: &mut [&mut Seat]) {
        let now = Time::from_origin(self.now);
        for seat in &mut *seats {
            seat.client.handle_timeout(now);
            while let Some(transmit) = seat.client.poll_transmit(now, &mut self.buffer) {
                let buffer = std::mem::take(&mut self.buffer);
                for datagram in transmit.split(&buffer) {
                    self.record(datagram);
                    let _ = self
                        .server
                        .handle_datagram(now, arrival(seat.path, datagram));
                }
                self.buffer = buffer;
            }
        }
        self.server.handle_timeout(now);
        while let Some(event) = self.server.poll_event() {
            if matches!(event, ServerEvent::StartShell { .. }) {
                assert_eq!(self.server.handle_pty_output(now, b"$ ", TURN_WORK_MAX), 2);
            }
        }
        while let Some(transmit) = self.server.poll_transmit(now, &mut self.buffer) {
            let buffer = std::mem::take(&mut self.buffer);
            for datagram in transmit.split(&buffer) {
                self.record(datagram);
                let mut seats = seats.iter_mut();
                let seat = seats.find(|seat| seat.path == transmit.path);
                let seat = seat.expect("the server answers who has asked");
                let _ = seat
                    .client
                    .handle_datagram(now, arrival(seat.path, datagram));
            }
            self.buffer = buffer;
        }
    }

    fn run(&mut self, time: Duration, seats: &mut [&mut Seat]) {
        let end = self.now + time;
        while self.now < end {
            self.turn(seats);
            self.now += Duration::from_millis(5);
        }
    }
}

fn arrival(path: PathId, bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

#[test]
fn a_second_client_repeats_no_nonce_and_takes_nothing_away() {
    for number in 0..100 {
        let mut world = World::new(number);
        let mut first = Seat::new(world.now, number, 1);
        world.run(Duration::from_secs(1), &mut [&mut first]);
        assert!(first.client.is_connected());

        let mut second = Seat::new(world.now, number, 2);
        let now = Time::from_origin(world.now);
        second.client.handle_keys(now, b"is anybody there?");
        world.run(Duration::from_secs(20), &mut [&mut first, &mut second]);
        assert!(!second.client.is_connected(), "seed {number}");

        first
            .client
            .handle_keys(Time::from_origin(world.now), b"ls\r");
        world.run(Duration::from_secs(1), &mut [&mut first, &mut second]);
        assert_eq!(world.server.pty_input(), b"ls\r", "seed {number}");
        let taken = world.server.pty_input().len();
        let now = Time::from_origin(world.now);
        world.server.pty_taken(now, taken);
        assert_eq!(
            world
                .server
                .handle_pty_output(now, b"a file", TURN_WORK_MAX),
            6
        );
        world.run(Duration::from_secs(1), &mut [&mut first, &mut second]);
        let mut row = String::new();
        let screen = first.client.screen();
        screen.row(fulmar_terminal::Row(0)).push_text(&mut row);
        assert_eq!(row.trim_end(), "$ a file", "seed {number}");
    }
}
