//! The message that travels: from which state to which, and what is acknowledged.

use crate::StateNumber;
use crate::dialect::Digest;
use crate::extensions::{EXTENSION_BYTES_MAX, Extensions};
use crate::limits::PROTOCOL_VERSION;
use crate::wire::{MessageReader, WireError, bytes_field_bytes, put_bytes, put_uint};

mod field {
    pub(super) const PROTOCOL_VERSION: u32 = 1;
    pub(super) const SOURCE: u32 = 2;
    pub(super) const TARGET: u32 = 3;
    pub(super) const ACKNOWLEDGED: u32 = 4;
    pub(super) const THROWAWAY: u32 = 5;
    pub(super) const DIFFERENCE: u32 = 6;
    pub(super) const CHAFF: u32 = 7;
}

/// The four numbers of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// The state that the difference starts from (`old_num`).
    pub source: StateNumber,
    /// The state that it leads to (`new_num`).
    pub target: StateNumber,
    /// The newest state of the receiver's object that the sender of this holds (`ack_num`).
    pub acknowledged: StateNumber,
    /// States of the sender's object below this are not needed any more (`throwaway_num`).
    pub throwaway: StateNumber,
}

impl Numbers {
    /// Tells whether no honest peer can mean them: they forget their own source, or go back.
    ///
    /// Source: docs/protocol.md §12.1.
    pub fn contradict(&self) -> bool {
        self.throwaway > self.source || self.target < self.source
    }
}

/// An instruction as it lies in a buffer.
///
/// Written, it has all seven fields in order, also empty ones, as stock Mosh has it. When one is
/// read, an absent field counts as 0 or empty, of a repeated one the last counts, and unknown
/// fields are passed over. The fields from 64 up are ours.
///
/// Source: docs/protocol.md §5.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// [`PROTOCOL_VERSION`], or something that we do not speak.
    pub protocol_version: u32,
    /// The numbers of its states.
    pub numbers: Numbers,
    /// The bytes that turn the source into the target; empty if they are the same.
    pub difference: &'a [u8],
    /// Random bytes that blur the length.
    pub chaff: &'a [u8],
    /// The fields that stock does not know.
    pub extensions: Extensions<'a>,
}

impl<'a> Instruction<'a> {
    /// Returns an instruction of our version, without extensions.
    pub const fn new(numbers: Numbers, difference: &'a [u8], chaff: &'a [u8]) -> Instruction<'a> {
        Instruction {
            protocol_version: PROTOCOL_VERSION,
            numbers,
            difference,
            chaff,
            extensions: Extensions {
                digest: None,
                farewell: None,
                farewell_words: None,
                silence: None,
                moves: None,
                challenge: None,
                padding: None,
                probed: None,
            },
        }
    }

    /// Reads an instruction.
    ///
    /// # Errors
    ///
    /// The bytes are no message, or a known field has the wrong type.
    pub fn decode(bytes: &'a [u8]) -> Result<Instruction<'a>, WireError> {
        let mut instruction = Instruction::default();
        for field in MessageReader::new().message(bytes) {
            let field = field?;
            let numbers = &mut instruction.numbers;
            match field.number {
                // A `uint32` is the lowest 32 bits of what was sent.
                field::PROTOCOL_VERSION => instruction.protocol_version = field.uint()? as u32,
                field::SOURCE => numbers.source = StateNumber::new(field.uint()?),
                field::TARGET => numbers.target = StateNumber::new(field.uint()?),
                field::ACKNOWLEDGED => numbers.acknowledged = StateNumber::new(field.uint()?),
                field::THROWAWAY => numbers.throwaway = StateNumber::new(field.uint()?),
                field::DIFFERENCE => instruction.difference = field.bytes()?,
                field::CHAFF => instruction.chaff = field.bytes()?,
                _ => instruction.extensions.take(&field),
            }
        }
        Ok(instruction)
    }

    /// Appends the wire form to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_bytes_max());
        put_uint(out, field::PROTOCOL_VERSION, self.protocol_version.into());
        put_uint(out, field::SOURCE, self.numbers.source.get());
        put_uint(out, field::TARGET, self.numbers.target.get());
        put_uint(out, field::ACKNOWLEDGED, self.numbers.acknowledged.get());
        put_uint(out, field::THROWAWAY, self.numbers.throwaway.get());
        put_bytes(out, field::DIFFERENCE, self.difference);
        put_bytes(out, field::CHAFF, self.chaff);
        self.extensions.encode(out);
    }

    /// Returns a bound on the bytes of the wire form.
    fn encoded_bytes_max(&self) -> usize {
        NUMBER_FIELDS_BYTES_MAX
            + bytes_field_bytes(field::DIFFERENCE, self.difference.len())
            + bytes_field_bytes(field::CHAFF, self.chaff.len())
            + self.extensions.encoded_bytes_max()
    }
}

/// The most bytes of the five integer fields: each a key of one byte and an integer of up to ten.
///
/// Source: docs/protocol.md §5.1, as the encoding of Protocol Buffers has it.
const NUMBER_FIELDS_BYTES_MAX: usize = 5 * 11;

/// The most bytes that an instruction adds to a difference of up to 4 MiB: the integers, two keys,
/// two lengths, the chaff, and our own fields.
///
/// Source: docs/protocol.md §5.1 and §13.2.
pub(crate) const INSTRUCTION_OVERHEAD_BYTES_MAX: usize = NUMBER_FIELDS_BYTES_MAX
    + bytes_field_bytes(6, 0)
    + 3
    + bytes_field_bytes(7, 16)
    + EXTENSION_BYTES_MAX
    + Digest::BYTES;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Challenge;

    fn numbers(source: u64, target: u64, acknowledged: u64, throwaway: u64) -> Numbers {
        let [source, target, acknowledged, throwaway] =
            [source, target, acknowledged, throwaway].map(StateNumber::new);
        Numbers {
            source,
            target,
            acknowledged,
            throwaway,
        }
    }

    fn encoded(instruction: Instruction<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        instruction.encode(&mut out);
        out
    }

    #[test]
    fn all_seven_fields_are_written_in_order() {
        let empty = Instruction::new(numbers(0, 1, 0, 0), b"", b"");
        assert_eq!(
            encoded(empty),
            [
                0x08, 2, 0x10, 0, 0x18, 1, 0x20, 0, 0x28, 0, 0x32, 0, 0x3A, 0
            ]
        );
    }

    #[test]
    fn what_is_written_can_be_read() {
        let full = Instruction::new(numbers(3, u64::MAX, 1 << 40, 2), b"difference", &[7; 16]);
        assert_eq!(Instruction::decode(&encoded(full)), Ok(full));
    }

    #[test]
    fn absent_fields_are_zero_and_unknown_ones_nothing() {
        assert_eq!(Instruction::decode(b""), Ok(Instruction::default()));
        let full = Instruction::new(numbers(1, 2, 3, 1), b"d", b"c");
        let mut bytes = Vec::new();
        for number in [8, 99, 1000] {
            put_uint(&mut bytes, number, 5);
            put_bytes(&mut bytes, number, b"what");
        }
        full.encode(&mut bytes);
        assert_eq!(Instruction::decode(&bytes), Ok(full));
    }

    #[test]
    fn of_a_repeated_field_the_last_counts() {
        let mut bytes = encoded(Instruction::new(numbers(1, 2, 3, 1), b"first", b""));
        put_uint(&mut bytes, field::TARGET, 9);
        put_bytes(&mut bytes, field::DIFFERENCE, b"second");
        let read = Instruction::decode(&bytes).unwrap();
        assert_eq!(read.numbers, numbers(1, 9, 3, 1));
        assert_eq!(read.difference, b"second");
    }

    #[test]
    fn a_version_is_32_bits() {
        let mut bytes = Vec::new();
        put_uint(&mut bytes, field::PROTOCOL_VERSION, (1 << 32) + 2);
        let read = Instruction::decode(&bytes).unwrap();
        assert_eq!(read.protocol_version, 2);
    }

    #[test]
    fn a_field_of_the_wrong_type_is_refused() {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, field::TARGET, b"1");
        assert_eq!(
            Instruction::decode(&bytes),
            Err(WireError::WrongType { number: 3 })
        );
    }

    #[test]
    fn our_own_fields_come_after_those_of_stock() {
        let plain = Instruction::new(numbers(1, 2, 3, 1), b"d", b"c");
        let ours = Instruction {
            extensions: Extensions {
                digest: Some(&[9; 32]),
                farewell: Some(3),
                farewell_words: Some(b"here"),
                silence: Some(6000),
                moves: Some(1),
                challenge: Some(Challenge::new([7; Challenge::BYTES])),
                padding: Some(&[0; 3]),
                probed: Some(5),
            },
            ..plain
        };
        let bytes = encoded(ours);
        assert_eq!(Instruction::decode(&bytes), Ok(ours));
        let tail = bytes.strip_prefix(encoded(plain).as_slice()).unwrap();
        assert_eq!(tail[..3], [0x82, 0x04, 32]);
        assert_eq!(tail[35..38], [0x88, 0x04, 3]);
        assert_eq!(tail[38..45], [0x90, 0x04, 0xf0, 0x2e, 0x98, 0x04, 1]);
        assert_eq!(tail[45..56], [0xa2, 0x04, 8, 7, 7, 7, 7, 7, 7, 7, 7]);
        assert_eq!(tail[56..65], [0xaa, 0x04, 3, 0, 0, 0, 0xb0, 0x04, 5]);
        assert_eq!(tail[65..], *b"\xba\x04\x04here");
    }

    #[test]
    fn the_overhead_is_the_longest_instruction_less_its_difference() {
        let difference = vec![0; 4_000_000];
        let longest = Instruction {
            protocol_version: u32::MAX,
            numbers: numbers(u64::MAX, u64::MAX, u64::MAX, u64::MAX),
            difference: &difference,
            chaff: &[0; 16],
            extensions: Extensions {
                digest: Some(&[0; Digest::BYTES]),
                farewell: Some(u64::MAX),
                // It goes with a goodbye, which has room.
                farewell_words: None,
                silence: Some(u64::MAX),
                moves: Some(u64::MAX),
                challenge: Some(Challenge::new([7; Challenge::BYTES])),
                padding: None,
                probed: Some(u64::MAX),
            },
        };
        let overhead = encoded(longest).len() - difference.len();
        assert!(overhead <= INSTRUCTION_OVERHEAD_BYTES_MAX, "{overhead}");
    }
}
