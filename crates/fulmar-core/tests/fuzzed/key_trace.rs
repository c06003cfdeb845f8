//! Keys in any order, at any pace, over a path that loses some of what is sent.

use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{Client, ClientConfig, EscapeKey, Server, ServerConfig};
use fulmar_datagram::Key;
use fulmar_predict::{PredictionConfig, PredictionMode};
use fulmar_sim::Choices;
use fulmar_terminal::{Checker, Size};
use fulmar_transport::Arrival;

const PATH: PathId = PathId::new(1);

/// The most work of the program's output at once.
const WORK_MAX: u64 = 1 << 20;

/// A client and a server, and what is on its way between them.
struct Pair {
    now: Time,
    client: Client,
    server: Server,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
    checker: Checker,
    read: Vec<u8>,
}

/// Types what the bytes choose, and has a program echo it or write something else.
///
/// # Panics
///
/// Where something typed is lost, doubled or out of order, or the client writes what is not permitted.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mode = [
        PredictionMode::Adaptive,
        PredictionMode::Always,
        PredictionMode::Never,
    ][usize::from(choices.below(3))];
    let mut pair = Pair::new(mode);
    let mut typed = Vec::new();
    while !choices.is_over() {
        match choices.below(10) {
            0..=2 => {
                let keys = choices.bytes();
                typed.extend_from_slice(keys);
                pair.client.handle_keys(pair.now, keys);
            }
            3 => pair.deliver_up(),
            4 => pair.deliver_down(),
            5 => pair.up.clear(),
            6 => pair.echo(choices.byte()),
            7 => pair.write(&harmless(choices.bytes())),
            8 => pair.now += Duration::from_millis(choices.byte().into()),
            _ => {
                let (rows, columns) = (choices.below(60), choices.below(200));
                let size = Size::new(1 + u16::from(rows), 1 + u16::from(columns));
                pair.client
                    .handle_resize(pair.now, size.expect("it is small"));
            }
        }
        pair.turn();
    }
    // What may be a cursor key waits for its last byte (docs/protocol.md §9.1).
    typed.push(b'.');
    pair.client.handle_keys(pair.now, b".");
    pair.turn();
    pair.settle();
    assert_eq!(plain(&pair.read), plain(&typed));
}

/// A cursor key in one form, as the server may give it the other.
fn plain(keys: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    for &key in keys {
        match (key, plain.last()) {
            (b'O', Some(0x1b)) => plain.push(b'['),
            _ => plain.push(key),
        }
    }
    plain
}

/// Output that asks the terminal nothing, and sets no modes.
fn harmless(output: &[u8]) -> Vec<u8> {
    let is_harmless = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0x08 | b' '..=b'~' | 0xa0..);
    output.iter().copied().filter(is_harmless).collect()
}

impl Pair {
    fn new(mode: PredictionMode) -> Pair {
        let key = || Key::from_bytes([1; 16].into());
        let config = ClientConfig {
            escape_key: EscapeKey::DISABLED,
            prediction: PredictionConfig {
                mode,
                ..PredictionConfig::default()
            },
            ..ClientConfig::new(key(), [1; 32])
        };
        let mut client = Client::new(Time::ZERO, config);
        client.handle_path_opened(Time::ZERO, PATH);
        Pair {
            now: Time::ZERO,
            client,
            server: Server::new(Time::ZERO, ServerConfig::new(key(), [2; 32])),
            up: Vec::new(),
            down: Vec::new(),
            checker: Checker::default(),
            read: Vec::new(),
        }
    }

    fn turn(&mut self) {
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        while self.client.poll_event().is_some() {}
        while self.server.poll_event().is_some() {}
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut buffer) {
            self.up.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        while let Some(transmit) = self.server.poll_transmit(self.now, &mut buffer) {
            self.down
                .extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        let mut drawn = Vec::new();
        self.client.draw(self.now, &mut drawn);
        let checked = self.checker.check(&drawn);
        assert!(checked.is_ok(), "{checked:?}");
    }

    fn deliver_up(&mut self) {
        for datagram in std::mem::take(&mut self.up) {
            let _ = self.server.handle_datagram(self.now, arrival(&datagram));
        }
    }

    fn deliver_down(&mut self) {
        for datagram in std::mem::take(&mut self.down) {
            let _ = self.client.handle_datagram(self.now, arrival(&datagram));
        }
    }

    /// Has the program read so many bytes and show them.
    fn echo(&mut self, count: u8) {
        let input = self.server.pty_input();
        let taken = input.get(..count.into()).unwrap_or(input).to_vec();
        self.server.pty_taken(self.now, taken.len());
        self.read.extend_from_slice(&taken);
        self.write(&harmless(&taken));
    }

    fn write(&mut self, output: &[u8]) {
        let mut rest = output;
        while !rest.is_empty() {
            let taken = self.server.handle_pty_output(self.now, rest, WORK_MAX);
            rest = &rest[taken..];
        }
    }

    /// Lets everything arrive.
    fn settle(&mut self) {
        for _ in 0..1000 {
            self.deliver_up();
            self.deliver_down();
            self.echo(u8::MAX);
            self.now += Duration::from_millis(250);
            self.turn();
            let is_read = self.server.pty_input().is_empty();
            if is_read && self.client.unacknowledged_bytes() == 0 && self.client.is_connected() {
                return;
            }
        }
        panic!("it does not come to rest");
    }
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PATH,
        ecn: Ecn::NotCapable,
        bytes,
    }
}
