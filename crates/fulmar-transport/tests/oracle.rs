//! The same messages, read and written by `prost`: both have to agree.
//!
//! Source of the messages: docs/protocol.md §5.1 and §6; docs/decisions/003-own-protobuf-codec.md.

use fulmar_transport::wire::{self, Field, MessageReader, WireError};
use fulmar_transport::{Instruction, Numbers, StateNumber};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct OracleInstruction {
    #[prost(uint32, optional, tag = "1")]
    protocol_version: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    old_num: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    new_num: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    ack_num: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    throwaway_num: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "6")]
    diff: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "7")]
    chaff: Option<Vec<u8>>,
}

/// Both messages of docs/protocol.md §6, whose fields do not collide.
#[derive(Clone, PartialEq, Message)]
struct OracleMessage {
    #[prost(message, repeated, tag = "1")]
    instruction: Vec<OracleEvent>,
}

#[derive(Clone, PartialEq, Message)]
struct OracleEvent {
    #[prost(message, optional, tag = "2")]
    text: Option<OracleText>,
    #[prost(message, optional, tag = "3")]
    resize: Option<OracleResize>,
    #[prost(message, optional, tag = "7")]
    echo_ack: Option<OracleEchoAck>,
}

#[derive(Clone, PartialEq, Message)]
struct OracleText {
    #[prost(bytes = "vec", optional, tag = "4")]
    bytes: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct OracleResize {
    #[prost(int32, optional, tag = "5")]
    width: Option<i32>,
    #[prost(int32, optional, tag = "6")]
    height: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct OracleEchoAck {
    #[prost(uint64, optional, tag = "8")]
    number: Option<u64>,
}

/// Reads the message of §6 with our reader into the oracle's types, an instruction with the same
/// field twice as the oracle does: the parts are merged.
fn read_message(bytes: &[u8]) -> Result<OracleMessage, WireError> {
    let mut reader = MessageReader::new();
    let mut message = OracleMessage::default();
    let mut fields = reader.message(bytes);
    while let Some(field) = fields.next() {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        let mut event = OracleEvent::default();
        let mut parts = reader.sub_message(&fields, &field)?;
        while let Some(part) = parts.next() {
            let part = part?;
            if ![2, 3, 7].contains(&part.number) {
                continue;
            }
            let values = reader.sub_message(&parts, &part)?;
            for value in values {
                event.put(part.number, value?)?;
            }
            event.put_empty(part.number);
        }
        message.instruction.push(event);
    }
    Ok(message)
}

impl OracleEvent {
    fn put_empty(&mut self, part: u32) {
        match part {
            2 => drop(self.text.get_or_insert_default()),
            3 => drop(self.resize.get_or_insert_default()),
            _ => drop(self.echo_ack.get_or_insert_default()),
        }
    }

    fn put(&mut self, part: u32, value: Field<'_>) -> Result<(), WireError> {
        match (part, value.number) {
            (2, 4) => self.text.get_or_insert_default().bytes = Some(value.bytes()?.to_vec()),
            (3, 5) => self.resize.get_or_insert_default().width = Some(value.int32()?),
            (3, 6) => self.resize.get_or_insert_default().height = Some(value.int32()?),
            (7, 8) => self.echo_ack.get_or_insert_default().number = Some(value.uint()?),
            _ => {}
        }
        Ok(())
    }
}

/// Compares two readings of the same bytes. Groups deeper than ours go are the one thing in which we
/// refuse more.
fn agree<T: PartialEq + std::fmt::Debug>(
    ours: Result<T, WireError>,
    theirs: Result<T, prost::DecodeError>,
) -> Result<(), TestCaseError> {
    match (ours, theirs) {
        (Err(WireError::TooDeep), _) | (Err(_), Err(_)) => Ok(()),
        (Ok(ours), Ok(theirs)) => {
            prop_assert_eq!(ours, theirs);
            Ok(())
        }
        (ours, theirs) => Err(TestCaseError::fail(format!("{ours:?} against {theirs:?}"))),
    }
}

fn our_instruction(bytes: &[u8]) -> Result<OracleInstruction, WireError> {
    let instruction = Instruction::decode(bytes)?;
    let Numbers {
        source,
        target,
        acknowledged,
        throwaway,
    } = instruction.numbers;
    Ok(OracleInstruction {
        protocol_version: Some(instruction.protocol_version),
        old_num: Some(source.get()),
        new_num: Some(target.get()),
        ack_num: Some(acknowledged.get()),
        throwaway_num: Some(throwaway.get()),
        diff: Some(instruction.difference.to_vec()),
        chaff: Some(instruction.chaff.to_vec()),
    })
}

/// Fills in what is absent, as the protocol has it.
fn their_instruction(bytes: &[u8]) -> Result<OracleInstruction, prost::DecodeError> {
    let read = OracleInstruction::decode(bytes)?;
    Ok(OracleInstruction {
        protocol_version: Some(read.protocol_version()),
        old_num: Some(read.old_num()),
        new_num: Some(read.new_num()),
        ack_num: Some(read.ack_num()),
        throwaway_num: Some(read.throwaway_num()),
        diff: Some(read.diff().to_vec()),
        chaff: Some(read.chaff().to_vec()),
    })
}

/// Numbers that matter more often than chance would have it.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..300_u64, Just(u64::MAX)]
}

/// Bytes that look like fields more often than chance would have it.
fn fields() -> impl Strategy<Value = Vec<u8>> {
    let field = (0..70_u64, 0..8_u64, number(), vec(any::<u8>(), 0..12)).prop_map(
        |(number, wire_type, value, bytes)| {
            let mut out = Vec::new();
            wire::put_varint(&mut out, number << 3 | wire_type);
            match wire_type {
                0 => wire::put_varint(&mut out, value),
                1 => out.extend(value.to_le_bytes()),
                2 => {
                    wire::put_varint(&mut out, bytes.len() as u64);
                    out.extend(bytes);
                }
                5 => out.extend((value as u32).to_le_bytes()),
                _ => {}
            }
            out
        },
    );
    vec(field, 0..12).prop_map(|fields| fields.concat())
}

fn events() -> impl Strategy<Value = OracleMessage> {
    let text = vec(any::<u8>(), 0..40).prop_map(|bytes| OracleEvent {
        text: Some(OracleText { bytes: Some(bytes) }),
        ..OracleEvent::default()
    });
    let resize = any::<(i32, i32)>().prop_map(|(width, height)| OracleEvent {
        resize: Some(OracleResize {
            width: Some(width),
            height: Some(height),
        }),
        ..OracleEvent::default()
    });
    let echo_ack = number().prop_map(|number| OracleEvent {
        echo_ack: Some(OracleEchoAck {
            number: Some(number),
        }),
        ..OracleEvent::default()
    });
    vec(prop_oneof![text, resize, echo_ack], 0..10)
        .prop_map(|instruction| OracleMessage { instruction })
}

/// Writes a message of §6 with our functions.
fn write_message(message: &OracleMessage) -> Vec<u8> {
    let mut out = Vec::new();
    for event in &message.instruction {
        wire::put_message(&mut out, 1, |out| {
            if let Some(text) = &event.text {
                wire::put_message(out, 2, |out| wire::put_bytes(out, 4, text.bytes()));
            }
            if let Some(resize) = &event.resize {
                wire::put_message(out, 3, |out| {
                    wire::put_int32(out, 5, resize.width());
                    wire::put_int32(out, 6, resize.height());
                });
            }
            if let Some(echo_ack) = &event.echo_ack {
                wire::put_message(out, 7, |out| wire::put_uint(out, 8, echo_ack.number()));
            }
        });
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_are_read_alike(bytes in vec(any::<u8>(), 0..60)) {
        agree(our_instruction(&bytes), their_instruction(&bytes))?;
        agree(read_message(&bytes), OracleMessage::decode(&bytes[..]))?;
    }

    #[test]
    fn arbitrary_fields_are_read_alike(bytes in fields()) {
        agree(our_instruction(&bytes), their_instruction(&bytes))?;
        agree(read_message(&bytes), OracleMessage::decode(&bytes[..]))?;
    }

    #[test]
    fn damaged_instructions_are_read_alike(
        numbers in [number(), number(), number(), number()],
        difference in vec(any::<u8>(), 0..50),
        place in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let mut bytes = written(numbers, &difference, b"chaff");
        let place = place.index(bytes.len());
        bytes[place] = value;
        agree(our_instruction(&bytes), their_instruction(&bytes))?;
    }

    #[test]
    fn what_we_write_is_what_the_oracle_writes(
        numbers in [number(), number(), number(), number()],
        difference in vec(any::<u8>(), 0..300),
        chaff in vec(any::<u8>(), 0..17),
    ) {
        let bytes = written(numbers, &difference, &chaff);
        let theirs = OracleInstruction::decode(&bytes[..]).unwrap();
        prop_assert_eq!(theirs.encode_to_vec(), bytes.clone());
        prop_assert_eq!(our_instruction(&bytes).unwrap(), theirs);
    }

    #[test]
    fn events_are_written_and_read_alike(message in events()) {
        let bytes = write_message(&message);
        prop_assert_eq!(&bytes, &message.encode_to_vec());
        prop_assert_eq!(read_message(&bytes), Ok(message));
    }
}

fn written(numbers: [u64; 4], difference: &[u8], chaff: &[u8]) -> Vec<u8> {
    let [source, target, acknowledged, throwaway] = numbers.map(StateNumber::new);
    let numbers = Numbers {
        source,
        target,
        acknowledged,
        throwaway,
    };
    let mut bytes = Vec::new();
    Instruction::new(numbers, difference, chaff).encode(&mut bytes);
    bytes
}
