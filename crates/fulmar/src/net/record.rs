//! Datagrams in a stream of bytes, as the pipes of an ssh carry them.
//!
//! ```text
//!   length u16, big-endian, 1 to 2048 | so many bytes
//! ```
//!
//! Source: docs/protocol.md §2.12.

use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;

/// The bytes of a length.
///
/// Source: docs/protocol.md §2.12.
const LENGTH_BYTES: usize = 2;

/// Bytes that are no record. Nothing that follows them can be made sense of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedRecord;

/// Appends a datagram as a record. One that no peer would take is left out.
pub(super) fn append(out: &mut Vec<u8>, datagram: &[u8]) {
    let length = u16::try_from(datagram.len()).unwrap_or(u16::MAX);
    if (1..=DATAGRAM_BYTES_MAX).contains(&datagram.len()) {
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(datagram);
    }
}

/// A reader of records, which takes bytes as they come.
///
/// It holds what was taken and less than a record more.
#[derive(Debug, Default)]
pub(super) struct RecordReader {
    bytes: Vec<u8>,
    /// The bytes at the beginning that were handed out.
    used: usize,
}

impl RecordReader {
    /// Takes some bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.used);
        self.used = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next datagram; `None` if it is not whole.
    ///
    /// # Errors
    ///
    /// When there are bytes that are no record.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, MalformedRecord> {
        let Some(length) = self.next_length()? else {
            return Ok(None);
        };
        let begin = self.used + LENGTH_BYTES;
        let datagram = self.bytes.get(begin..begin + length);
        if datagram.is_some() {
            self.used = begin + length;
        }
        Ok(datagram)
    }

    /// Tells if there is something to hand out, or to complain of.
    pub(super) fn has_next(&self) -> bool {
        let missing = |length| self.bytes.len() < self.used + LENGTH_BYTES + length;
        match self.next_length() {
            Ok(length) => length.is_some_and(|length| !missing(length)),
            Err(MalformedRecord) => true,
        }
    }

    /// Returns the length of the next datagram, if it has come.
    fn next_length(&self) -> Result<Option<usize>, MalformedRecord> {
        let rest = self.bytes.get(self.used..).unwrap_or_default();
        let Some(length) = rest.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(*length));
        if (1..=DATAGRAM_BYTES_MAX).contains(&length) {
            Ok(Some(length))
        } else {
            Err(MalformedRecord)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(reader: &mut RecordReader) -> Result<Vec<Vec<u8>>, MalformedRecord> {
        let mut read = Vec::new();
        while let Some(datagram) = reader.next()? {
            read.push(datagram.to_vec());
        }
        Ok(read)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_wherever_it_is_cut(
            datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..9),
            cut in 1_usize..400,
        ) {
            let mut bytes = Vec::new();
            for datagram in &datagrams {
                append(&mut bytes, datagram);
            }
            let (mut reader, mut all) = (RecordReader::default(), Vec::new());
            for piece in bytes.chunks(cut) {
                reader.take(piece);
                all.extend(read(&mut reader).unwrap());
                prop_assert!(!reader.has_next());
            }
            prop_assert_eq!(all, datagrams);
        }

        #[test]
        fn any_bytes_end_in_an_error_or_are_used_up_but_for_part_of_a_record(
            bytes in prop::collection::vec(any::<u8>(), 0..5000),
        ) {
            let mut reader = RecordReader::default();
            reader.take(&bytes);
            if read(&mut reader).is_ok() {
                prop_assert!(bytes.len() - reader.used < LENGTH_BYTES + DATAGRAM_BYTES_MAX);
            }
        }
    }

    #[test]
    fn a_length_that_no_datagram_has_is_refused_before_anything_of_it_is_waited_for() {
        for length in [0, 2049, u16::MAX] {
            let mut reader = RecordReader::default();
            reader.take(&length.to_be_bytes());
            assert!(reader.has_next());
            assert_eq!(reader.next(), Err(MalformedRecord), "{length}");
        }
        let mut longest = vec![8, 0];
        longest.resize(2 + 2047, 7);
        let mut reader = RecordReader::default();
        reader.take(&longest);
        assert_eq!(reader.next(), Ok(None));
        reader.take(&[7]);
        assert_eq!(reader.next(), Ok(Some(&[7; 2048][..])));
    }

    #[test]
    fn what_nobody_would_take_is_not_written() {
        let mut bytes = Vec::new();
        append(&mut bytes, &[]);
        append(&mut bytes, &[0; 2049]);
        assert!(bytes.is_empty());
    }
}
