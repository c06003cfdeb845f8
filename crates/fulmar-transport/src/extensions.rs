//! The fields of an instruction that are ours.

use crate::challenge::Challenge;
use crate::wire::{Field, Value, bytes_field_bytes, put_bytes, put_uint};

mod field {
    pub(super) const DIGEST: u32 = 64;
    pub(super) const FAREWELL: u32 = 65;
    pub(super) const SILENCE: u32 = 66;
    pub(super) const MOVES: u32 = 67;
    pub(super) const CHALLENGE: u32 = 68;
    pub(super) const PADDING: u32 = 69;
    pub(super) const PROBED: u32 = 70;
    pub(super) const FAREWELL_WORDS: u32 = 71;
}

/// The fields of an instruction beyond stock's seven, numbered from 64 on (docs/protocol.md §13.2). A stock peer passes
/// them over.
///
/// It is read without trust and without errors: an instruction is as good without, and whether it
/// means anything is for the [dialect](crate::Dialect) to say.
///
/// Source: docs/protocol.md §13.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions<'a> {
    /// The digest of the agreement as its sender has it, of whatever length; empty if the field held no bytes at all.
    pub digest: Option<&'a [u8]>,
    /// The number that goes with its sender's goodbye.
    pub farewell: Option<u64>,
    /// The text that goes with that number, or what is to pass for it.
    pub farewell_words: Option<&'a [u8]>,
    /// The milliseconds for which its sender, a client, will be silent at most. The receiver answers at once.
    pub silence: Option<u64>,
    /// The number of times that its sender, a server, has seen the client move.
    pub moves: Option<u64>,
    /// The random value by which a server validates a path, and which a client returns.
    pub challenge: Option<Challenge>,
    /// Bytes that make its datagram as long as the probe that it is. The receiver answers at once.
    pub padding: Option<&'a [u8]>,
    /// The sequence number of the last datagram with a probe that its sender has had.
    pub probed: Option<u64>,
}

impl<'a> Extensions<'a> {
    /// Takes a field over, if it is one of ours. Of a repeated one the last counts.
    pub(crate) fn take(&mut self, field: &Field<'a>) {
        match (field.number, field.value) {
            (field::DIGEST, Value::Bytes(bytes)) => self.digest = Some(bytes),
            (field::DIGEST, _) => self.digest = Some(&[]),
            (field::FAREWELL, Value::Varint(number)) => self.farewell = Some(number),
            (field::FAREWELL_WORDS, Value::Bytes(bytes)) => self.farewell_words = Some(bytes),
            (field::SILENCE, Value::Varint(millis)) => self.silence = Some(millis),
            (field::MOVES, Value::Varint(number)) => self.moves = Some(number),
            (field::PADDING, Value::Bytes(bytes)) => self.padding = Some(bytes),
            (field::PROBED, Value::Varint(number)) => self.probed = Some(number),
            (field::CHALLENGE, Value::Bytes(bytes)) => {
                self.challenge = bytes.try_into().ok().map(Challenge::new);
            }
            _ => {}
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        if let Some(digest) = self.digest {
            put_bytes(out, field::DIGEST, digest);
        }
        let numbers = [
            (field::FAREWELL, self.farewell),
            (field::SILENCE, self.silence),
            (field::MOVES, self.moves),
        ];
        for (field, number) in numbers {
            if let Some(number) = number {
                put_uint(out, field, number);
            }
        }
        if let Some(challenge) = &self.challenge {
            put_bytes(out, field::CHALLENGE, challenge.as_bytes());
        }
        if let Some(padding) = self.padding {
            put_bytes(out, field::PADDING, padding);
        }
        if let Some(number) = self.probed {
            put_uint(out, field::PROBED, number);
        }
        if let Some(words) = self.farewell_words {
            put_bytes(out, field::FAREWELL_WORDS, words);
        }
    }

    /// Returns a bound on what [`encode`](Extensions::encode) appends.
    pub(crate) fn encoded_bytes_max(&self) -> usize {
        let [digest, padding, words] = [self.digest, self.padding, self.farewell_words]
            .map(|bytes| bytes.map_or(0, <[u8]>::len));
        EXTENSION_BYTES_MAX
            + digest
            + bytes_field_bytes(field::PADDING, padding)
            + bytes_field_bytes(field::FAREWELL_WORDS, words)
    }
}

/// Appends a field of padding to an instruction, so that it becomes `bytes` long. Nothing is appended to one that
/// misses less than a field of 128 bytes.
pub(crate) fn pad(instruction: &mut Vec<u8>, bytes: usize) {
    let missing = bytes.saturating_sub(instruction.len());
    // The key and the length of the field have two bytes each if it has 128 bytes and more.
    if let Some(length) = missing.checked_sub(4).filter(|&length| length >= 128) {
        put_bytes(instruction, field::PADDING, &vec![0; length]);
    }
}

/// The most bytes of the fields that we write, but for the digest itself and padding: six keys, two lengths, four integers
/// of up to ten bytes, and a challenge.
///
/// Source: docs/protocol.md §13.2, as the encoding of Protocol Buffers has it.
pub(crate) const EXTENSION_BYTES_MAX: usize = bytes_field_bytes(field::DIGEST, 0)
    + 2
    + 4 * (bytes_field_bytes(field::FAREWELL, 0) + 9)
    + bytes_field_bytes(field::CHALLENGE, Challenge::BYTES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::MessageReader;

    fn read(bytes: &[u8]) -> Extensions<'_> {
        let mut extensions = Extensions::default();
        for field in MessageReader::new().message(bytes) {
            extensions.take(&field.unwrap());
        }
        extensions
    }

    fn written(extensions: Extensions<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        extensions.encode(&mut out);
        assert!(out.len() <= extensions.encoded_bytes_max());
        out
    }

    #[test]
    fn what_is_written_can_be_read() {
        let digests: [Option<&[u8]>; 3] = [None, Some(&[7; 32]), Some(&[])];
        for digest in digests {
            for farewell in [None, Some(0), Some(u64::MAX)] {
                let extensions = Extensions {
                    digest,
                    farewell,
                    farewell_words: digest,
                    silence: farewell,
                    moves: farewell.map(|number| number / 2),
                    challenge: farewell.map(|number| Challenge::new(number.to_be_bytes())),
                    padding: digest,
                    probed: farewell,
                };
                assert_eq!(read(&written(extensions)), extensions);
            }
        }
        assert!(written(Extensions::default()).is_empty());
    }

    #[test]
    fn fields_of_stock_and_of_tomorrow_are_passed_over() {
        let mut bytes = Vec::new();
        for number in [1, 7, 63, 72, 1000] {
            put_uint(&mut bytes, number, 5);
            put_bytes(&mut bytes, number, b"what");
        }
        assert_eq!(read(&bytes), Extensions::default());
    }

    #[test]
    fn a_digest_of_the_wrong_type_is_one_that_equals_none() {
        let mut bytes = Vec::new();
        put_uint(&mut bytes, field::DIGEST, 5);
        assert_eq!(read(&bytes).digest, Some(&[][..]));
    }

    #[test]
    fn a_number_of_the_wrong_type_is_none() {
        let mut bytes = Vec::new();
        for number in [field::FAREWELL, field::SILENCE, field::MOVES, field::PROBED] {
            put_bytes(&mut bytes, number, b"5");
        }
        put_uint(&mut bytes, field::CHALLENGE, 5);
        put_uint(&mut bytes, field::PADDING, 5);
        assert_eq!(read(&bytes), Extensions::default());
    }

    #[test]
    fn a_challenge_of_another_length_is_none() {
        for length in [0, 7, 9, 32] {
            let mut bytes = Vec::new();
            put_bytes(&mut bytes, field::CHALLENGE, &vec![7; length]);
            assert_eq!(read(&bytes), Extensions::default(), "{length}");
        }
    }

    #[test]
    fn padding_makes_an_instruction_as_long_as_was_said() {
        for bytes in [200, 1000, 2000] {
            let mut instruction = vec![0x08, 2];
            pad(&mut instruction, bytes);
            assert_eq!(instruction.len(), bytes);
            assert!(read(&instruction).padding.is_some());
        }
        for bytes in [0, 1, 100] {
            let mut instruction = vec![0x08, 2];
            pad(&mut instruction, bytes);
            assert_eq!(instruction.len(), 2);
        }
    }

    #[test]
    fn of_a_repeated_field_the_last_counts() {
        let mut bytes = Vec::new();
        for number in [1, 2] {
            put_bytes(&mut bytes, field::DIGEST, &[number; 3]);
            put_uint(&mut bytes, field::FAREWELL, number.into());
        }
        let last = Extensions {
            digest: Some(&[2; 3]),
            farewell: Some(2),
            ..Extensions::default()
        };
        assert_eq!(read(&bytes), last);
    }
}
