//! Peers that have the key and mean no good, or are mad: every field at every odd value, and bytes
//! that are no message at all. Nothing panics, nothing grows, the session goes on.

use std::rc::Rc;
use std::time::Duration;

use fulmar_core::{
    Client, ClientConfig, HostScreen, Server, ServerConfig, ServerEvent, UserStream, WindowSize,
};
use fulmar_datagram::{Direction, Ecn, Key, Opener, Sealer, Time};
use fulmar_sim::Random;
use fulmar_terminal::{Checker, Size};
use fulmar_transport::{
    ApplyError, Arrival, Budget, Config, Difference, Endpoint, Noise, PathId, Role, Synced, wire,
};
use proptest::prelude::*;

const PATH: PathId = PathId::new(1);

/// The delay of acknowledgements and a bit, so that the next difference starts from this state.
const UNTIL_ACKNOWLEDGED: Duration = Duration::from_millis(300);

/// The longest delay before a change is sent.
const UNTIL_COLLECTED: Duration = Duration::from_millis(10);

fn key() -> Key {
    Key::from_base64("c68K8iLyuCr1oEM7Hszyjg").expect("22 characters of base64")
}

/// An object that sends whatever it was told to.
#[derive(Clone, Default)]
struct Forged {
    number: u64,
    bytes: Rc<[u8]>,
}

impl Synced for Forged {
    fn is_same(&self, other: &Forged) -> bool {
        self.number == other.number
    }

    fn diff_from(&self, _: &Forged, _: Budget) -> Difference<Forged> {
        Difference::complete(self.bytes.to_vec())
    }

    fn apply(&mut self, _: &[u8]) -> Result<(), ApplyError> {
        Ok(())
    }

    fn held_bytes(&self, _: Option<&Forged>) -> usize {
        0
    }
}

struct Silence;

impl Noise for Silence {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A peer with the right key and the wrong intentions.
struct Villain {
    endpoint: Endpoint<Forged, Forged>,
    number: u64,
}

impl Villain {
    fn new(role: Role) -> Villain {
        let (from, to) = match role {
            Role::Client => (Direction::ToClient, Direction::ToServer),
            Role::Server => (Direction::ToServer, Direction::ToClient),
        };
        let config = Config {
            role,
            datagram_bytes: 1252,
            agreement: None,
        };
        let mut endpoint = Endpoint::new(
            Time::ZERO,
            config,
            Sealer::new(key(), to),
            Opener::new(&key(), from),
            Forged::default(),
            Forged::default(),
            Box::new(Silence),
        );
        endpoint.handle_path_opened(Time::ZERO, PATH);
        Villain {
            endpoint,
            number: 0,
        }
    }

    /// Returns the datagrams that carry this difference.
    fn send(&mut self, now: Time, difference: &[u8]) -> Vec<Vec<u8>> {
        self.number += 1;
        let state = Forged {
            number: self.number,
            bytes: Rc::from(difference),
        };
        self.endpoint.set_local(now, state);
        let now = now + UNTIL_COLLECTED;
        self.endpoint.handle_timeout(now);
        let (mut buffer, mut datagrams) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            datagrams.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        assert_eq!(self.endpoint.sent_number().get(), self.number);
        datagrams
    }
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PATH,
        ecn: Ecn::NotCapable,
        bytes,
    }
}

/// A server and a client that sends it differences, one a second.
struct AttackedServer {
    server: Server,
    villain: Villain,
    now: Time,
    /// The number of times that the pty got another size.
    resized: usize,
}

impl AttackedServer {
    fn new() -> AttackedServer {
        AttackedServer {
            server: Server::new(Time::ZERO, ServerConfig::new(key(), [2; 32])),
            villain: Villain::new(Role::Client),
            now: Time::ZERO,
            resized: 0,
        }
    }

    fn send(&mut self, difference: &[u8]) {
        self.now += Duration::from_secs(1);
        for datagram in self.villain.send(self.now, difference) {
            let _ = self.server.handle_datagram(self.now, arrival(&datagram));
        }
        self.now += UNTIL_ACKNOWLEDGED;
        self.server.handle_timeout(self.now);
        let mut buffer = Vec::new();
        while self.server.poll_transmit(self.now, &mut buffer).is_some() {
            let _ = self
                .villain
                .endpoint
                .handle_datagram(self.now, arrival(&buffer));
        }
        while let Some(event) = self.server.poll_event() {
            self.resized += usize::from(matches!(event, ServerEvent::ResizePty { .. }));
        }
        let next = self.server.poll_timeout().map(|(at, _)| at);
        assert!(next.is_none_or(|next| next > self.now), "it wants to spin");
    }

    fn is_alive(&self) -> bool {
        self.server.poll_timeout().is_some()
    }
}

/// A client and a server that sends it differences, one a second.
struct AttackedClient {
    client: Client,
    villain: Villain,
    now: Time,
    checker: Checker,
}

impl AttackedClient {
    fn new() -> AttackedClient {
        let mut attacked = AttackedClient {
            client: Client::new(Time::ZERO, ClientConfig::new(key(), [1; 32])),
            villain: Villain::new(Role::Server),
            now: Time::ZERO,
            checker: Checker::default(),
        };
        attacked.client.handle_path_opened(Time::ZERO, PATH);
        attacked.exchange();
        attacked
    }

    /// Hands over what the client sends.
    fn exchange(&mut self) {
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                let _ = self
                    .villain
                    .endpoint
                    .handle_datagram(self.now, arrival(datagram));
            }
        }
    }

    fn send(&mut self, difference: &[u8]) {
        self.now += Duration::from_secs(1);
        for datagram in self.villain.send(self.now, difference) {
            let _ = self.client.handle_datagram(self.now, arrival(&datagram));
        }
        self.now += UNTIL_ACKNOWLEDGED;
        self.client.handle_timeout(self.now);
        self.exchange();
        let mut drawn = Vec::new();
        self.client.draw(self.now, &mut drawn);
        let checked = self.checker.check(&drawn);
        assert!(checked.is_ok(), "{checked:?}");
        while self.client.poll_event().is_some() {}
        let next = self.client.poll_timeout().map(|(at, _)| at);
        assert!(next.is_none_or(|next| next > self.now), "it wants to spin");
    }

    fn is_alive(&self) -> bool {
        self.client.poll_timeout().is_some()
    }
}

/// Returns a message with one instruction with one field of one message with some fields.
fn message(kind: u32, fields: &[(u32, Field)]) -> Vec<u8> {
    let mut out = Vec::new();
    wire::put_message(&mut out, 1, |instruction| {
        wire::put_message(instruction, kind, |message| {
            for (number, field) in fields {
                match field {
                    Field::Number(value) => wire::put_uint(message, *number, *value),
                    Field::Bytes(bytes) => wire::put_bytes(message, *number, bytes),
                }
            }
        });
    });
    out
}

#[derive(Clone, Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Numbers at which something could turn over.
const ODD: [u64; 12] = [
    0,
    1,
    2,
    4096,
    4097,
    65_535,
    65_536,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    i64::MIN as u64,
    u64::MAX,
];

#[test]
fn every_odd_size_is_survived_by_a_server() {
    let mut attacked = AttackedServer::new();
    for width in ODD {
        for height in ODD {
            let fields = [(5, Field::Number(width)), (6, Field::Number(height))];
            attacked.send(&message(3, &fields));
            let size = attacked.server.screen().size();
            let cells = u32::from(size.rows()) * u32::from(size.columns());
            assert!(cells <= Size::CELLS_MAX);
        }
        attacked.send(&message(3, &[(5, Field::Number(width))]));
        attacked.send(&message(3, &[(6, Field::Bytes(vec![0]))]));
    }
    assert!(attacked.server.ignored_resizes() > 100);
    assert!(attacked.is_alive());
}

#[test]
fn every_odd_size_and_echo_ack_is_survived_by_a_client() {
    let mut attacked = AttackedClient::new();
    for width in ODD {
        for height in [1, 0, 4096, u64::MAX] {
            let fields = [(5, Field::Number(width)), (6, Field::Number(height))];
            attacked.send(&message(3, &fields));
        }
        attacked.send(&message(7, &[(8, Field::Number(width))]));
        attacked.send(&message(7, &[(8, Field::Bytes(vec![1]))]));
        attacked.send(&message(7, &[]));
    }
    assert!(attacked.is_alive());
    assert!(attacked.client.is_connected());
}

#[test]
fn host_bytes_of_every_kind_reach_the_users_terminal_only_as_what_is_permitted() {
    let mut attacked = AttackedClient::new();
    for bytes in [
        b"\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1bZ\x05".as_slice(),
        b"\x1b]52;c;?\x07\x1b]52;c;not base64!\x07",
        b"\x1b]10;?\x07\x1b]4;1;?\x07\x1b]11;?\x1b\\",
        b"\x1b[14t\x1b[21t\x1b[8;9;9t\x1b[5i",
        b"\x1bP+q544e\x1b\\\x1bP$qm\x1b\\",
        b"\x1b]0;evil\x1b[2Jtitle\x9b6n\x07",
        "\x1b]2;c1 \u{9b}6n \u{90} title\x07".as_bytes(),
        b"\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
        b"\x1b]1337;File=:AAAA\x07\x1b_Gf=100;AAAA\x1b\\",
        b"\x1b[?2026h unfinished",
        b"\x1b[999999999999999;99999999999999999H\x1b[99999999999999X\x1b[2147483648@",
        b"\xff\xfe\x80 broken \xc3",
    ] {
        attacked.send(&message(2, &[(4, Field::Bytes(bytes.to_vec()))]));
    }
    assert!(attacked.is_alive());
}

/// Returns a difference of so many resizes, the last of them to this width.
fn resizes(count: u64, last: u64) -> Vec<u8> {
    let width = |place| {
        if place == count {
            last
        } else {
            1 + place % 4000
        }
    };
    let resize = |place| {
        message(
            3,
            &[(5, Field::Number(width(place))), (6, Field::Number(11))],
        )
    };
    (1..=count).flat_map(resize).collect()
}

#[test]
fn of_thousands_of_resizes_in_a_difference_the_last_is_applied() {
    let mut attacked = AttackedServer::new();
    attacked.send(&message(2, &[(4, Field::Bytes(b"x".to_vec()))]));
    let before = attacked.resized;
    attacked.send(&resizes(2500, 77));
    assert_eq!(
        attacked.server.screen().size(),
        Size::new(11, 77).expect("a size")
    );
    assert_eq!(attacked.resized, before + 1);
}

#[test]
fn a_difference_of_more_messages_than_the_cap_is_refused() {
    // Each resize is an instruction with one message in it: docs/threat-model.md §6.
    let most = 16_384 / 2;
    assert!(UserStream::reading().apply(&resizes(most, 77)).is_ok());
    assert!(UserStream::reading().apply(&resizes(most + 1, 77)).is_err());
}

#[test]
fn a_stream_that_never_forgets_is_not_kept() {
    let mut attacked = AttackedServer::new();
    let mut read = 0;
    for _ in 0..20 * 64 {
        let typed = message(2, &[(4, Field::Bytes(vec![b'x'; 1 << 14]))]);
        attacked.send(&typed);
        let count = attacked.server.pty_input().len();
        let now = attacked.now;
        attacked.server.pty_taken(now, count);
        read += count;
    }
    assert_eq!(read, 20 << 20);
    assert!(attacked.is_alive());
}

#[test]
fn odd_sizes_are_told_apart_from_screens() {
    let odd = WindowSize {
        width: 0,
        height: 24,
    };
    assert_eq!(odd.to_size(), None);
}

/// Returns bytes that look like a message in places.
fn almost_a_message(seed: u64) -> Vec<u8> {
    let mut random = Random::stream(seed, 0);
    let mut bytes = Vec::new();
    for _ in 0..random.below(60) {
        match random.below(6) {
            0 => bytes.push(random.below(256) as u8),
            1 => {
                let kind = random.below(10) as u32;
                let value = ODD[random.below(ODD.len() as u64) as usize];
                let field = [
                    Field::Number(value),
                    Field::Bytes(vec![b'a'; value.min(9) as usize]),
                ];
                let field = &field[random.below(2) as usize];
                bytes.extend(message(
                    kind.max(1),
                    &[(random.below(10) as u32 + 1, field.clone())],
                ));
            }
            2 => wire::put_uint(&mut bytes, 1 + random.below(100) as u32, random.bits()),
            3 => bytes.extend([0x0a, random.below(30) as u8, 0x12]),
            4 => {
                bytes.pop();
            }
            _ => {
                let text = vec![random.below(256) as u8; random.below(40) as usize];
                bytes.extend(message(2, &[(4, Field::Bytes(text))]));
            }
        }
    }
    bytes
}

proptest! {
    #[test]
    fn a_server_survives_what_is_almost_a_message(seeds in prop::collection::vec(any::<u64>(), 1..6)) {
        let mut attacked = AttackedServer::new();
        for seed in seeds {
            attacked.send(&almost_a_message(seed));
        }
        prop_assert!(attacked.is_alive());
    }

    #[test]
    fn a_client_survives_what_is_almost_a_message(seeds in prop::collection::vec(any::<u64>(), 1..6)) {
        let mut attacked = AttackedClient::new();
        for seed in seeds {
            attacked.send(&almost_a_message(seed));
        }
        prop_assert!(attacked.is_alive());
    }

    #[test]
    fn decoders_survive_what_is_almost_a_message(seed in any::<u64>()) {
        let bytes = almost_a_message(seed);
        let mut stream = UserStream::reading();
        if stream.apply(&bytes).is_ok() {
            stream.take_new();
        }
        let _ = HostScreen::blank(Size::default()).apply(&bytes);
    }
}
