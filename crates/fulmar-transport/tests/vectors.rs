//! Every datagram that a stock client and a stock server were recorded with.
//!
//! Data: `testdata/datagrams/mosh-datagrams.json`.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use fulmar_base::Time;
use fulmar_datagram::{DatagramOrder, Direction, Key, Opened, Opener, Sealer};
use fulmar_transport::{
    ApplyError, Assembly, Budget, Deflater, Difference, Fragmenter, Inflater, Instruction, Intake,
    Numbers, Receiver, Refusal, StateNumber, StateOutcome, Synced, WorkBudget,
};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../testdata/datagrams/mosh-datagrams.json");
const NOW: Time = Time::ZERO;

/// A recorded run.
struct Recording {
    name: String,
    key: String,
    datagrams: Vec<Datagram>,
}

/// A recorded datagram and what it says.
struct Datagram {
    direction: Direction,
    bytes: Vec<u8>,
    completes: Option<Completed>,
}

/// The instruction that a datagram completes, as the recording has it.
struct Completed {
    zlib: Vec<u8>,
    protobuf: Vec<u8>,
    numbers: Numbers,
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field]
        .as_str()
        .unwrap_or_else(|| panic!("no {field}"))
}

fn hex(value: &Value, field: &str) -> Vec<u8> {
    let decoded = HEXLOWER.decode(text(value, field).as_bytes());
    decoded.expect("the recording is in hex")
}

fn state(value: &Value, field: &str) -> StateNumber {
    let number = text(value, field).parse();
    StateNumber::new(number.expect("a state is a number"))
}

fn array<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field]
        .as_array()
        .unwrap_or_else(|| panic!("no {field}"))
}

fn recordings() -> Vec<Recording> {
    let vectors: Value = serde_json::from_str(VECTORS).expect("the recordings are JSON");
    let recordings = array(&vectors, "recordings").iter();
    recordings
        .map(|recording| Recording {
            name: text(recording, "name").to_owned(),
            key: text(recording, "key_base64").to_owned(),
            datagrams: array(recording, "datagrams").iter().map(datagram).collect(),
        })
        .collect()
}

fn datagram(value: &Value) -> Datagram {
    let completes = &value["completes_instruction"];
    Datagram {
        direction: match text(value, "from") {
            "client" => Direction::ToServer,
            _ => Direction::ToClient,
        },
        bytes: hex(value, "datagram_hex"),
        completes: completes.is_object().then(|| Completed {
            zlib: hex(completes, "zlib_hex"),
            protobuf: hex(completes, "protobuf_hex"),
            numbers: Numbers {
                source: state(completes, "old_num"),
                target: state(completes, "new_num"),
                acknowledged: state(completes, "ack_num"),
                throwaway: state(completes, "throwaway_num"),
            },
        }),
    }
}

fn key_of(text: &str) -> Key {
    Key::from_base64(text).expect("the recording has a key")
}

/// Opens, assembles and inflates all that travels in one direction.
struct Pipeline {
    opener: Opener,
    plaintext: Vec<u8>,
    assembly: Assembly,
    inflater: Inflater,
}

impl Pipeline {
    fn new(key: &str, direction: Direction) -> Pipeline {
        Pipeline {
            opener: Opener::new(&key_of(key), direction),
            plaintext: Vec::new(),
            assembly: Assembly::new(),
            inflater: Inflater::new(),
        }
    }

    /// Returns the compressed and the inflated instruction that a datagram completes.
    fn take(&mut self, bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let opened = self.opener.open(bytes, &mut self.plaintext);
        let opened = opened.expect("a recorded datagram is genuine");
        let zlib = self.assembly.add(NOW, opened.fragment);
        let zlib = zlib.expect("recorded fragments fit together")?;
        let protobuf = self.inflater.inflate(&zlib);
        let protobuf = protobuf.expect("a recorded instruction can be inflated");
        Some((zlib.to_vec(), protobuf.to_vec()))
    }
}

#[test]
fn there_are_41_datagrams() {
    let counts: Vec<_> = recordings().iter().map(|r| r.datagrams.len()).collect();
    assert_eq!(counts, [27, 14]);
}

#[test]
fn every_instruction_is_read_as_recorded_and_written_byte_for_byte() {
    for recording in recordings() {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let mut pipeline = Pipeline::new(&recording.key, direction);
            let travels = |datagram: &&Datagram| datagram.direction == direction;
            for datagram in recording.datagrams.iter().filter(travels) {
                let taken = pipeline.take(&datagram.bytes);
                assert_eq!(taken.is_some(), datagram.completes.is_some());
                let (Some((zlib, protobuf)), Some(expected)) = (taken, &datagram.completes) else {
                    continue;
                };
                assert_eq!((&zlib, &protobuf), (&expected.zlib, &expected.protobuf));
                let instruction = Instruction::decode(&protobuf).unwrap();
                assert_eq!(instruction.numbers, expected.numbers);
                assert_eq!(instruction.protocol_version, 2);
                let mut written = Vec::new();
                instruction.encode(&mut written);
                assert_eq!(written, protobuf, "{}", recording.name);
            }
        }
    }
}

#[test]
fn every_instruction_that_we_compress_and_cut_can_be_joined_and_inflated() {
    let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new());
    for recording in recordings() {
        for completed in recording
            .datagrams
            .iter()
            .filter_map(|d| d.completes.as_ref())
        {
            let mut zlib = Vec::new();
            deflater.deflate(&completed.protobuf, &mut zlib);
            let mut cut = Fragmenter::new(1, zlib, 500).unwrap();
            let mut assembly = Assembly::new();
            let mut whole = None;
            while let Some(fragment) = cut.take() {
                whole = assembly.add(NOW, fragment).unwrap().map(|w| w.into_owned());
            }
            let inflated = inflater.inflate(whole.as_deref().unwrap());
            assert_eq!(inflated, Ok(&completed.protobuf[..]));
        }
    }
}

#[test]
fn every_datagram_is_sealed_again_to_the_same_bytes() {
    for recording in recordings() {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let key = || key_of(&recording.key);
            let mut opener = Opener::new(&key(), direction);
            let mut sealer = Sealer::new(key(), direction);
            for datagram in recording
                .datagrams
                .iter()
                .filter(|d| d.direction == direction)
            {
                let mut plaintext = Vec::new();
                let opened = opener.open(&datagram.bytes, &mut plaintext).unwrap();
                let Opened {
                    stamps,
                    fragment,
                    order,
                    ..
                } = opened;
                assert_eq!(order, DatagramOrder::InOrder);
                let mut sealed = Vec::new();
                sealer.seal(stamps, fragment, &mut sealed).unwrap();
                assert_eq!(sealed, datagram.bytes);
            }
        }
    }
}

/// Remembers the way to a state: each difference behind the ones before. Two such states are the same
/// only if the same differences led to them, which is more than any real object asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct History(Vec<Vec<u8>>);

impl Synced for History {
    fn is_same(&self, other: &History) -> bool {
        self == other
    }

    fn diff_from(&self, _: &History, _: Budget) -> Difference<History> {
        unreachable!("these states are only received")
    }

    fn apply(&mut self, difference: &[u8], _: &mut WorkBudget) -> Result<(), ApplyError> {
        self.0.push(difference.to_vec());
        Ok(())
    }

    fn held_bytes(&self, _: Option<&History>) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

/// The instructions of one direction of a recording, in order.
fn instructions(recording: &Recording, direction: Direction) -> Vec<&Completed> {
    let travels = |datagram: &&Datagram| datagram.direction == direction;
    let datagrams = recording.datagrams.iter().filter(travels);
    datagrams.filter_map(|d| d.completes.as_ref()).collect()
}

/// Receives instructions in the given order and returns every state that was reached.
fn replay(order: &[&Completed]) -> BTreeMap<StateNumber, History> {
    let mut receiver = Receiver::new(NOW, History::default());
    let mut reached = BTreeMap::new();
    for completed in order {
        let instruction = Instruction::decode(&completed.protobuf);
        let instruction = instruction.expect("a recorded instruction can be read");
        let outcome = receiver.accept(
            NOW,
            instruction.numbers,
            instruction.difference,
            Intake::Open,
            &mut WorkBudget::unlimited(),
        );
        match outcome {
            Ok(StateOutcome::Newest) => {
                reached.insert(receiver.newest_number(), receiver.newest().clone());
            }
            Ok(StateOutcome::Behind | StateOutcome::Duplicate) | Err(Refusal::SourceMissing) => {}
            Err(refusal) => panic!("{refusal}"),
        }
    }
    reached
}

fn each_direction(mut check: impl FnMut(&[&Completed])) {
    for recording in recordings() {
        for direction in [Direction::ToServer, Direction::ToClient] {
            check(&instructions(&recording, direction));
        }
    }
}

#[test]
fn a_whole_recording_reaches_every_state() {
    each_direction(|all| {
        let numbers: Vec<_> = all.iter().map(|one| one.numbers.target).collect();
        let reached: Vec<_> = replay(all).into_keys().collect();
        assert_eq!(reached, numbers);
    });
}

#[test]
fn duplicates_change_nothing() {
    each_direction(|all| {
        let expected = replay(all);
        let doubled: Vec<_> = all.iter().flat_map(|&one| [one, one]).collect();
        assert_eq!(replay(&doubled), expected);
        let twice = [all, all].concat();
        assert_eq!(replay(&twice), expected);
    });
}

#[test]
fn whatever_is_swapped_or_left_out_no_state_is_ever_another() {
    each_direction(|all| {
        let expected = replay(all);
        let check = |order: &[&Completed]| {
            for (number, state) in replay(order) {
                assert_eq!(Some(&state), expected.get(&number), "state {number}");
            }
        };
        for place in 0..all.len() {
            let mut order = all.to_vec();
            order.remove(place);
            check(&order);
            for other in place + 1..all.len() {
                let mut order = all.to_vec();
                order.swap(place, other);
                check(&order);
            }
        }
    });
}
