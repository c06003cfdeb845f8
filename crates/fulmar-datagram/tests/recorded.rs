//! The recorded datagrams of two stock programs (`testdata/datagrams`) open, seal again to the same bytes,
//! and are refused once they have been tampered with.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use data_encoding::HEXLOWER;
use fulmar_datagram::{
    DatagramOrder, Direction, Fragment, FragmentHeader, FragmentIndex, Key, Nonce, OpenError,
    Opener, Sealer, Sequence, Stamp, Stamps,
};
use serde_json::Value;

#[test]
fn every_recorded_datagram_opens_to_what_was_recorded() {
    let mut opened_count = 0;
    for run in recordings() {
        let mut openers = BTreeMap::from(
            BOTH_WAYS.map(|direction| (direction, Opener::new(&run.key(), direction))),
        );
        let mut buffer = Vec::new();
        for recorded in &run.datagrams {
            let opener = openers
                .get_mut(&recorded.nonce.direction)
                .expect("one for each way");
            let opened = opener
                .open(&recorded.bytes, &mut buffer)
                .expect("it is genuine");
            assert_eq!(opened.sequence, recorded.nonce.sequence);
            assert_eq!(
                opened.order,
                DatagramOrder::InOrder,
                "the relay overtook nothing"
            );
            assert_eq!(opened.stamps, recorded.stamps);
            assert_eq!(opened.fragment, recorded.fragment());
            opened_count += 1;
        }
    }
    assert_eq!(opened_count, 41);
}

#[test]
fn every_recorded_datagram_seals_again_to_the_same_bytes() {
    for run in recordings() {
        let mut sealers = BTreeMap::from(
            BOTH_WAYS.map(|direction| (direction, Sealer::new(run.key(), direction))),
        );
        for recorded in &run.datagrams {
            let sealer = sealers
                .get_mut(&recorded.nonce.direction)
                .expect("one for each way");
            let mut sealed = Vec::new();
            let sequence = sealer.seal(recorded.stamps, recorded.fragment(), &mut sealed);
            assert_eq!(sequence, Ok(recorded.nonce.sequence));
            assert_eq!(HEXLOWER.encode(&sealed), HEXLOWER.encode(&recorded.bytes));
        }
    }
}

#[test]
fn the_nonce_of_a_recorded_datagram_is_read_without_the_key() {
    for recorded in recordings().iter().flat_map(|run| &run.datagrams) {
        assert_eq!(Nonce::of(&recorded.bytes), Some(recorded.nonce));
    }
}

#[test]
fn a_recording_played_twice_is_late_the_second_time() {
    for run in recordings() {
        let mut opener = Opener::new(&run.key(), Direction::ToClient);
        let mut buffer = Vec::new();
        let to_client: Vec<_> = run
            .datagrams
            .iter()
            .filter(|recorded| recorded.nonce.direction == Direction::ToClient)
            .collect();
        for order in [DatagramOrder::InOrder, DatagramOrder::Late] {
            for recorded in &to_client {
                let opened = opener
                    .open(&recorded.bytes, &mut buffer)
                    .expect("it is genuine");
                assert_eq!(opened.order, order);
                assert_eq!(opened.fragment, recorded.fragment());
            }
        }
    }
}

#[test]
fn what_was_tampered_with_is_refused_and_the_conversation_goes_on() {
    let runs = recordings();
    let negatives = negatives();
    assert_eq!(negatives.len(), 5);
    for negative in negatives {
        let run = runs
            .iter()
            .find(|run| run.name == negative.recording)
            .expect("it names a run");
        let mut opener = Opener::new(&run.key(), negative.direction);
        let mut buffer = Vec::new();
        let verdict = opener
            .open(&negative.bytes, &mut buffer)
            .map(|opened| opened.order);
        assert_eq!(verdict, Err(negative.expected), "{}", negative.name);
        assert!(buffer.iter().all(|&byte| byte == 0), "{}", negative.name);

        let genuine = run
            .datagrams
            .iter()
            .find(|recorded| recorded.nonce.direction == negative.direction)
            .expect("both sides speak");
        let next = opener
            .open(&genuine.bytes, &mut buffer)
            .expect("it is genuine");
        assert_eq!(
            next.order,
            DatagramOrder::InOrder,
            "after {}",
            negative.name
        );
    }
}

const BOTH_WAYS: [Direction; 2] = [Direction::ToServer, Direction::ToClient];

struct Recording {
    name: String,
    key_base64: String,
    datagrams: Vec<Recorded>,
}

impl Recording {
    fn key(&self) -> Key {
        Key::from_base64(&self.key_base64).expect("a server printed it")
    }
}

struct Recorded {
    bytes: Vec<u8>,
    nonce: Nonce,
    stamps: Stamps,
    header: FragmentHeader,
    content: Vec<u8>,
}

impl Recorded {
    fn fragment(&self) -> Fragment<'_> {
        Fragment {
            header: self.header,
            content: &self.content,
        }
    }
}

struct Negative {
    name: String,
    recording: String,
    direction: Direction,
    bytes: Vec<u8>,
    expected: OpenError,
}

/// Returns the runs of all files in the folder.
fn recordings() -> Vec<Recording> {
    files()
        .iter()
        .flat_map(|file| list(&file["recordings"]))
        .map(recording)
        .collect()
}

fn negatives() -> Vec<Negative> {
    files()
        .iter()
        .flat_map(|file| list(&file["negative"]))
        .map(negative)
        .collect()
}

fn files() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/datagrams");
    fs::read_dir(&folder)
        .expect("the folder is in the repository")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|path| fs::read(path).expect("the file can be read"))
        .map(|bytes| serde_json::from_slice(&bytes).expect("the file is JSON"))
        .collect()
}

fn recording(value: &Value) -> Recording {
    Recording {
        name: text(&value["name"]).to_owned(),
        key_base64: text(&value["key_base64"]).to_owned(),
        datagrams: list(&value["datagrams"]).iter().map(recorded).collect(),
    }
}

fn recorded(value: &Value) -> Recorded {
    let direction = match text(&value["from"]) {
        "client" => Direction::ToServer,
        _ => Direction::ToClient,
    };
    let fragment = &value["fragment"];
    Recorded {
        bytes: hex(&value["datagram_hex"]),
        nonce: Nonce {
            direction,
            sequence: Sequence::new(number(&value["seq"])).expect("63 bits"),
        },
        stamps: Stamps {
            sent: stamp(&value["timestamp"]),
            reply: stamp(&value["timestamp_reply"]),
        },
        header: FragmentHeader {
            id: number(&fragment["id"]),
            index: u16::try_from(number(&fragment["num"]))
                .ok()
                .and_then(FragmentIndex::new)
                .expect("15 bits"),
            is_final: fragment["final"].as_bool().expect("a truth value"),
        },
        content: hex(&fragment["content_hex"]),
    }
}

fn negative(value: &Value) -> Negative {
    let name = text(&value["name"]).to_owned();
    let expected = match name.as_str() {
        "too short" => OpenError::TooShort,
        "reflected" => OpenError::WrongDirection,
        _ => {
            assert!(
                text(&value["expect"]).starts_with("authentication failure"),
                "{name}"
            );
            OpenError::BadSeal
        }
    };
    let direction = match text(&value["deliver_to"]) {
        "client" => Direction::ToClient,
        _ => Direction::ToServer,
    };
    let bytes = hex(&value["datagram_hex"]);
    Negative {
        name,
        recording: text(&value["recording"]).to_owned(),
        direction,
        bytes,
        expected,
    }
}

fn stamp(value: &Value) -> Option<Stamp> {
    Stamp::from_wire(number(value).try_into().expect("16 bits"))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .expect("a number")
}

fn hex(value: &Value) -> Vec<u8> {
    HEXLOWER
        .decode(text(value).as_bytes())
        .expect("lower-case hexadecimal")
}
