//! Peers that have the key and mean no good, or are mad: every field at every odd value, and bytes
//! that are no message at all. Nothing panics, nothing grows, the session goes on.

use std::rc::Rc;
use std::time::Duration;

use fulmar_base::{Ecn, Hint, PathId, Time};
use fulmar_core::{
    Client, ClientConfig, HostScreen, Server, ServerConfig, ServerEvent, UserStream, WindowSize,
};
use fulmar_datagram::{Direction, Key, Opener, Sealer};
use fulmar_sim::Random;
use fulmar_terminal::{Checker, Size};
use fulmar_transport::limits::{INSTRUCTION_BYTES_MAX, INSTRUCTION_WORK_MAX, TURN_WORK_MAX};
use fulmar_transport::{
    ApplyError, Arrival, Budget, Difference, Endpoint, EndpointConfig, Noise, Role, Synced,
    WorkBudget, wire,
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

    fn apply(&mut self, _: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
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
        let config = EndpointConfig {
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
        let before = self.endpoint.sent_number();
        // Nobody answers, and it sends all the same.
        self.endpoint.handle_hint(now, Hint::LinkUp);
        self.endpoint.set_local(now, state);
        let now = now + UNTIL_COLLECTED;
        self.endpoint.handle_timeout(now);
        let (mut buffer, mut datagrams) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            datagrams.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
        }
        assert!(self.endpoint.sent_number() > before);
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

    /// Sends a difference, and returns how much work it has made.
    fn send(&mut self, difference: &[u8]) -> u64 {
        self.drawn_after(difference).0
    }

    /// Sends a difference, and returns how much work it has made, and what the user's terminal gets.
    fn drawn_after(&mut self, difference: &[u8]) -> (u64, String) {
        self.now += Duration::from_secs(1);
        let mut work = 0;
        for datagram in self.villain.send(self.now, difference) {
            let received = self.client.handle_datagram(self.now, arrival(&datagram));
            work += received.work;
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
        (work, String::from_utf8_lossy(&drawn).into_owned())
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

/// The work of the largest control function: all cells of the largest screen, copied and changed.
const FUNCTION_WORK_MAX: u64 = 3 * Size::CELLS_MAX as u64;

/// Input that makes as much work as it can, a piece of each kind.
const WORST: [&[u8]; 12] = [
    b"\x1b[ @",
    b"\x1b['}",
    b"\x1b#8\x1b[ @",
    b"\x1b[99S",
    b"\x1b[L",
    b"\n",
    b"\x1bc",
    b"\x1b[4096I\x1b[4096Z",
    "漢\x1b[65535b".as_bytes(),
    b"\x1b[4hx\x1b[65535b",
    b"\x1b[?1049h\x1b[?1049l",
    b"\x1b]8;;x:y\x07x",
];

/// Makes a screen of that size of which no two rows are the same.
fn varied(size: Size) -> Vec<u8> {
    let rows = (1..=size.rows()).map(|row| format!("\x1b[{row}H{row}"));
    rows.collect::<String>().into_bytes()
}

fn resize(size: Size) -> Vec<u8> {
    let (width, height) = (size.columns().into(), size.rows().into());
    message(3, &[(5, Field::Number(width)), (6, Field::Number(height))])
}

fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    message(2, &[(4, Field::Bytes(bytes.to_vec()))])
}

/// Some kilobytes on the wire inflate to megabytes, in thousands of parts, each of which may want to
/// move a million cells.
#[test]
fn the_work_of_an_instruction_has_a_bound_however_many_parts_it_has() {
    let largest = Size::new(256, 4096).expect("the largest");
    for size in [Size::default(), largest] {
        let mut attacked = AttackedClient::new();
        attacked.send(&resize(size));
        attacked.send(&host_bytes(&varied(size)));
        for worst in WORST {
            let piece = worst.repeat(2048 / worst.len());
            let work = attacked.send(&host_bytes(&piece).repeat(2000));
            let bound = INSTRUCTION_WORK_MAX + INSTRUCTION_BYTES_MAX as u64 + FUNCTION_WORK_MAX;
            let kind = String::from_utf8_lossy(worst);
            assert!(work <= bound, "{work} for {kind:?} at {size}");
            assert!(work > 1 << 20, "{work} for {kind:?} at {size}");
        }
        let narrow = Size::new(size.rows(), size.columns() - 1).expect("in bounds");
        let there_and_back = [
            resize(narrow),
            host_bytes(b"x"),
            resize(size),
            host_bytes(b"y"),
        ];
        let work = attacked.send(&there_and_back.concat().repeat(4000));
        let bound = INSTRUCTION_WORK_MAX + INSTRUCTION_BYTES_MAX as u64 + 4 * FUNCTION_WORK_MAX;
        assert!(work <= bound, "{work} for resizes at {size}");
        assert!(attacked.is_alive());
    }
}

#[test]
fn the_user_is_told_of_a_screen_that_is_refused_until_one_is_taken() {
    let mut attacked = AttackedClient::new();
    attacked.send(&host_bytes(b"$ "));
    let piece = b"\x1b#8\x1b[ @".repeat(256);
    let (_, drawn) = attacked.drawn_after(&host_bytes(&piece).repeat(1900));
    assert!(drawn.contains("cannot be shown"), "{drawn}");
    let (_, drawn) = attacked.drawn_after(&host_bytes(b"ls"));
    assert!(drawn.contains("ls"), "{drawn}");
    assert!(!drawn.contains("cannot be shown"), "{drawn}");
}

/// The largest window is not touched by the bound: it is made larger, and painted anew with as many bytes as
/// an instruction may have.
#[test]
fn the_largest_screen_is_resized_and_painted_within_the_work_of_an_instruction() {
    let (before, after) = (Size::new(255, 4096), Size::new(256, 4095));
    let paint = |size: Size, colour: u8| {
        let rows = (1..=size.rows()).map(|row| {
            let text = "漢x".repeat(usize::from(size.columns()) / 3);
            format!("\x1b[{row}H\x1b[{};38;5;{}m{text}", 40 + colour, row % 256)
        });
        rows.collect::<String>()
    };
    let mut work = WorkBudget::unlimited();
    let mut screen = HostScreen::blank(before.expect("in bounds"));
    for colour in 1..=2 {
        let first = format!("{}\x1b[?1049h", paint(before.expect("in bounds"), colour));
        screen
            .apply(&host_bytes(first.as_bytes()), &mut work)
            .expect("it is drawn");
    }
    let mut work = WorkBudget::new(INSTRUCTION_WORK_MAX);
    let after = after.expect("in bounds");
    let mut frame = paint(after, 3).into_bytes();
    while frame.len() < INSTRUCTION_BYTES_MAX - 100 {
        frame.extend_from_slice(b"\x1b[38;2;10;20;30;48;2;40;50;60mx\x1b[100;100H");
    }
    let difference = [resize(after), host_bytes(&frame)].concat();
    assert_eq!(screen.apply(&difference, &mut work), Ok(()));
    assert!(work.spent() > INSTRUCTION_WORK_MAX / 4, "{}", work.spent());
}

#[test]
fn the_work_of_a_turn_has_a_bound_whatever_the_program_writes() {
    let largest = Size::new(256, 4096).expect("the largest");
    for size in [Size::default(), largest] {
        for worst in WORST {
            let mut attacked = AttackedServer::new();
            attacked.send(&resize(size));
            let now = attacked.now;
            for varied in varied(size).chunks(1024) {
                assert_eq!(
                    attacked
                        .server
                        .handle_pty_output(now, varied, TURN_WORK_MAX),
                    varied.len()
                );
            }
            let output = worst.repeat(65_536 / worst.len());
            let mut rest = &output[..];
            let mut turns = 0;
            while !rest.is_empty() && turns < 5 {
                let before = attacked.server.screen().work();
                let taken = attacked.server.handle_pty_output(now, rest, TURN_WORK_MAX);
                let work = attacked.server.screen().work() - before;
                let kind = String::from_utf8_lossy(worst);
                assert!(taken > 0, "{kind:?}");
                let bound = TURN_WORK_MAX + FUNCTION_WORK_MAX;
                assert!(work <= bound, "{work} for {kind:?} at {size}");
                rest = &rest[taken..];
                turns += 1;
            }
            assert!(attacked.is_alive());
        }
    }
}

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
        b"\x1b]52;c;a===\x07\x1b]52;c;m\x07\x1b]52;c;abc\x07",
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
    assert!(
        UserStream::reading()
            .apply(&resizes(most, 77), &mut WorkBudget::unlimited())
            .is_ok()
    );
    assert!(
        UserStream::reading()
            .apply(&resizes(most + 1, 77), &mut WorkBudget::unlimited())
            .is_err()
    );
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
        if stream.apply(&bytes, &mut WorkBudget::unlimited()).is_ok() {
            stream.take_new();
        }
        let _ = HostScreen::blank(Size::default()).apply(&bytes, &mut WorkBudget::unlimited());
    }
}
