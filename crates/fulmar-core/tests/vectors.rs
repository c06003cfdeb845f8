//! Conversations of stock Mosh, recorded: our ends take them for their own.

mod support;

use std::collections::BTreeMap;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{Client, ClientConfig, Server, ServerConfig, ServerEvent, UserStream};
use fulmar_datagram::Key;
use fulmar_sim::Random;
use fulmar_terminal::{CursorKeyMode, CursorKeys, Position, Screen, Size, Vocabulary};
use fulmar_transport::{
    Arrival, Budget, DatagramVerdict, Instruction, Reached, Received, StateOutcome, Synced,
};
use serde_json::Value;

use support::text;

/// One recorded conversation.
struct Recording {
    name: String,
    key: String,
    size: Size,
    from_client: Vec<Vec<u8>>,
    from_server: Vec<Vec<u8>>,
    /// The typed keys, as a program in normal cursor mode reads them.
    keys: Vec<u8>,
    sizes: Vec<Size>,
    instructions_from_client: Vec<Vec<u8>>,
    final_screen: FinalScreen,
}

struct FinalScreen {
    size: Size,
    text: String,
    cursor: Position,
}

/// The number of ways of losing, repeating and swapping that each recording is put through.
const SEEDS: u64 = 60;

fn vectors() -> Value {
    let text = include_str!("../../../testdata/datagrams/mosh-datagrams.json");
    serde_json::from_str(text).expect("the vectors are JSON")
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("hexadecimal text");
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).expect("hexadecimal digits");
            u8::from_str_radix(pair, 16).expect("hexadecimal digits")
        })
        .collect()
}

fn number(value: &Value) -> u16 {
    let number = value.as_u64().expect("a number");
    number.try_into().expect("a small number")
}

fn size(value: &Value) -> Size {
    Size::new(number(&value["height"]), number(&value["width"])).expect("a size within the caps")
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn recordings() -> Vec<Recording> {
    array(&vectors()["recordings"])
        .iter()
        .map(recording)
        .collect()
}

fn recording(value: &Value) -> Recording {
    let sent_by = |who: &str| -> Vec<&Value> {
        let datagrams = array(&value["datagrams"]).iter();
        datagrams
            .filter(|datagram| datagram["from"] == who)
            .collect()
    };
    let bytes = |who| {
        sent_by(who)
            .iter()
            .map(|d| hex(&d["datagram_hex"]))
            .collect()
    };
    let (mut keys, mut sizes, mut instructions) = (Vec::new(), Vec::new(), Vec::new());
    // The recorded conversation lost nothing and repeated nothing, so the events of all differences
    // in their order are the stream.
    for datagram in sent_by("client") {
        let instruction = &datagram["completes_instruction"];
        instructions.push(hex(&instruction["protobuf_hex"]));
        for item in array(&instruction["diff_items"]) {
            match item["type"].as_str() {
                Some("keystroke") => keys.extend(hex(&item["keys_hex"])),
                Some("resize") => sizes.push(size(item)),
                other => panic!("a client does not send {other:?}"),
            }
        }
    }
    let last = &value["final_screen"];
    let rows = array(&last["rows_right_trimmed"]).iter();
    let rows: Vec<&str> = rows.map(|row| row.as_str().expect("text")).collect();
    Recording {
        name: value["name"].as_str().expect("text").to_owned(),
        key: value["key_base64"].as_str().expect("text").to_owned(),
        size: size(&value["initial_size"]),
        from_client: bytes("client"),
        from_server: bytes("server"),
        keys: as_read(&keys),
        sizes,
        instructions_from_client: instructions,
        final_screen: FinalScreen {
            size: size(last),
            text: rows.join("\n"),
            cursor: Position::new(number(&last["cursor_row"]), number(&last["cursor_col"])),
        },
    }
}

/// Translates cursor keys as a server does for a program that has not asked for others.
fn as_read(keys: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    let mut translator = CursorKeys::default();
    for &key in keys {
        translator.translate(key, CursorKeyMode::Normal, &mut read);
    }
    read
}

impl Recording {
    fn key(&self) -> Key {
        Key::from_base64(&self.key).expect("a key of stock")
    }

    fn client(&self) -> Client {
        let config = ClientConfig {
            size: self.size,
            ..ClientConfig::new(self.key(), [1; 32])
        };
        Client::new(Time::ZERO, config)
    }

    fn server(&self) -> Server {
        let config = ServerConfig {
            size: self.size,
            ..ServerConfig::new(self.key(), [2; 32])
        };
        Server::new(Time::ZERO, config)
    }
}

fn arrival(bytes: &[u8]) -> Arrival<'_> {
    Arrival {
        path: PathId::new(0),
        ecn: Ecn::Capable0,
        bytes,
    }
}

/// Returns the number of the state that has just become the newest, if one has.
fn newest(received: &Received) -> Option<u64> {
    let instruction = received.instruction?;
    let is_newest = instruction.outcome == Some(StateOutcome::Newest);
    is_newest.then(|| instruction.numbers.target.get())
}

/// Feeds a client and returns the screen of every state that was its newest at a time.
fn screens(recording: &Recording, datagrams: &[Vec<u8>]) -> BTreeMap<u64, Screen> {
    let mut client = recording.client();
    let mut screens = BTreeMap::new();
    for datagram in datagrams {
        let received = client.handle_datagram(Time::ZERO, arrival(datagram));
        if let Some(state) = newest(&received) {
            screens.insert(state, client.screen().clone());
        }
    }
    screens
}

/// Returns the effect of a client on a server: the keys that it typed, and the windows that it had.
fn typed_and_sizes(server: &mut Server) -> (Vec<u8>, Vec<Size>) {
    let mut sizes = Vec::new();
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::StartShell { size } | ServerEvent::ResizePty { size } => sizes.push(size),
            _ => {}
        }
    }
    let mut typed = Vec::new();
    while !server.pty_input().is_empty() {
        typed.extend_from_slice(server.pty_input());
        let count = server.pty_input().len();
        server.pty_taken(Time::ZERO, count);
    }
    (typed, sizes)
}

/// Repeats, swaps and leaves out some of the datagrams.
fn mangled(datagrams: &[Vec<u8>], seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::stream(seed, 0);
    let mut mangled: Vec<Vec<u8>> = Vec::new();
    for datagram in datagrams {
        match random.below(6) {
            0 => {}
            1 => mangled.extend([datagram.clone(), datagram.clone()]),
            2 => {
                let place = mangled.len().saturating_sub(1);
                mangled.insert(place, datagram.clone());
            }
            _ => mangled.push(datagram.clone()),
        }
    }
    mangled
}

#[test]
fn a_client_shows_what_stock_showed() {
    for recording in recordings() {
        let screens = screens(&recording, &recording.from_server);
        let wanted = &recording.final_screen;
        let (state, screen) = screens.last_key_value().expect("there are states");
        assert_eq!(*state, u64::MAX, "{}", recording.name);
        assert_eq!(screen.size(), wanted.size, "{}", recording.name);
        assert_eq!(text(screen), wanted.text, "{}", recording.name);
        assert_eq!(
            screen.cursor().position,
            wanted.cursor,
            "{}",
            recording.name
        );
    }
}

#[test]
fn a_server_reads_what_was_typed_and_the_windows_sizes() {
    for recording in recordings() {
        let mut server = recording.server();
        let (mut typed, mut sizes) = (Vec::new(), Vec::new());
        for datagram in &recording.from_client {
            let received = server.handle_datagram(Time::ZERO, arrival(datagram));
            assert!(
                matches!(received, Some(received) if received.verdict == DatagramVerdict::Fresh)
            );
            server.handle_timeout(Time::ZERO);
            let (keys, windows) = typed_and_sizes(&mut server);
            typed.extend(keys);
            sizes.extend(windows);
        }
        assert_eq!(typed, recording.keys, "{}", recording.name);
        assert_eq!(sizes.first(), recording.sizes.first(), "{}", recording.name);
    }
}

#[test]
fn every_size_of_a_recording_is_applied_in_its_time() {
    for recording in recordings() {
        let mut server = recording.server();
        let mut sizes = Vec::new();
        for (turn, datagram) in recording.from_client.iter().enumerate() {
            let now = Time::ZERO + std::time::Duration::from_millis(30 * turn as u64);
            let _ = server.handle_datagram(now, arrival(datagram));
            sizes.extend(typed_and_sizes(&mut server).1);
        }
        assert_eq!(sizes, recording.sizes, "{}", recording.name);
    }
}

#[test]
fn differences_of_the_user_stream_are_written_as_stock_wrote_them() {
    for recording in recordings() {
        let mut states = BTreeMap::from([(0, UserStream::reading())]);
        for bytes in &recording.instructions_from_client {
            let instruction = Instruction::decode(bytes).expect("an instruction of stock");
            let (source, target) = (
                instruction.numbers.source.get(),
                instruction.numbers.target.get(),
            );
            let source = states.get(&source).expect("nothing was lost").clone();
            let mut state = source.clone();
            state
                .apply(
                    instruction.difference,
                    &mut fulmar_transport::WorkBudget::unlimited(),
                )
                .expect("a difference of stock");
            let again = state.diff_from(&source, Budget::UNLIMITED);
            assert!(matches!(again.reached, Reached::Target));
            assert_eq!(again.bytes, instruction.difference, "{}", recording.name);
            states.insert(target, state);
        }
    }
}

#[test]
fn whatever_the_network_did_a_state_is_the_same_screen() {
    for recording in recordings() {
        let whole = screens(&recording, &recording.from_server);
        let mut reached = 0;
        for seed in 0..SEEDS {
            for (state, screen) in screens(&recording, &mangled(&recording.from_server, seed)) {
                let stock = &Vocabulary::STOCK;
                let same = whole.get(&state).expect("a state of the recording");
                assert_eq!(
                    screen.projected(stock),
                    same.projected(stock),
                    "state {state} of {} with seed {seed}",
                    recording.name
                );
                reached += 1;
            }
        }
        assert!(reached > SEEDS);
    }
}

#[test]
fn whatever_the_network_did_what_arrives_was_typed_in_that_order() {
    for recording in recordings() {
        let mut complete = 0;
        for seed in 0..SEEDS {
            let mut server = recording.server();
            for datagram in mangled(&recording.from_client, seed) {
                let _ = server.handle_datagram(Time::ZERO, arrival(&datagram));
            }
            let (typed, _) = typed_and_sizes(&mut server);
            assert!(recording.keys.starts_with(&typed), "seed {seed}");
            complete += usize::from(typed == recording.keys);
        }
        assert!(complete > 0);
    }
}

#[test]
fn a_repeated_datagram_changes_nothing() {
    for recording in recordings() {
        let mut server = recording.server();
        for datagram in &recording.from_client {
            let _ = server.handle_datagram(Time::ZERO, arrival(datagram));
        }
        typed_and_sizes(&mut server);
        for datagram in &recording.from_client {
            let _ = server.handle_datagram(Time::ZERO, arrival(datagram));
            assert_eq!(typed_and_sizes(&mut server), (vec![], vec![]));
        }
    }
}

#[test]
fn what_stock_refuses_is_refused_and_the_session_goes_on() {
    let (vectors, recordings) = (vectors(), recordings());
    let negative = array(&vectors["negative"]);
    assert!(!negative.is_empty());
    for case in negative {
        let name = &case["name"];
        let recording = recordings
            .iter()
            .find(|recording| case["recording"] == recording.name.as_str())
            .expect("a case belongs to a recording");
        let bytes = hex(&case["datagram_hex"]);
        let (mut client, mut server) = (recording.client(), recording.server());
        let verdict = match case["deliver_to"].as_str() {
            Some("client") => client.handle_datagram(Time::ZERO, arrival(&bytes)).verdict,
            _ => {
                let received = server.handle_datagram(Time::ZERO, arrival(&bytes));
                received.expect("the server has a link").verdict
            }
        };
        assert!(matches!(verdict, DatagramVerdict::Dropped(_)), "{name}");
        for datagram in &recording.from_client {
            let _ = server.handle_datagram(Time::ZERO, arrival(datagram));
        }
        for datagram in &recording.from_server {
            let _ = client.handle_datagram(Time::ZERO, arrival(datagram));
        }
        assert_eq!(typed_and_sizes(&mut server).0, recording.keys, "{name}");
        assert_eq!(text(client.screen()), recording.final_screen.text, "{name}");
    }
}
