//! Streams over one pipe each way: ssh's own input and output.
//!
//! ```text
//!   stream u8 | length u24 | bytes        length 0: nothing more comes on this stream
//! ```
//!
//! Source: docs/protocol.md §2.10.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use fulmar_copy::{Arrived, StreamId, Streams};
use fulmar_platform::Transfer;

/// A pipe each way, neither of which waits.
pub(super) trait Pipes {
    /// Reads what has come.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer>;

    /// Writes what there is room for.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer>;
}

/// Data streams: what shares one pipe gains nothing by being several.
const DATA_STREAMS: usize = 1;

/// The most bytes that wait to be written: as much as a pipe of Linux holds, a few times.
///
/// Source: docs/threat-model.md §6, frames of a copy over ssh.
const OUTGOING_BYTES_MAX: usize = 256 * 1024;

/// The room beyond that for control.
///
/// Source: docs/threat-model.md §6, frames of a copy over ssh.
const CONTROL_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that wait to be read, of all streams.
///
/// Source: docs/threat-model.md §6, frames of a copy over ssh.
const INCOMING_BYTES_MAX: usize = 1024 * 1024;

/// The most bytes of a frame that we write.
///
/// Chosen by eye.
const FRAME_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that are read at once.
const BYTES_AT_ONCE: usize = 64 * 1024;

/// The most bytes that are read, and written, in one turn of a loop.
const BYTES_PER_TURN: usize = 512 * 1024;

/// The length of a frame's head.
///
/// Source: docs/protocol.md §2.10.
const HEAD_BYTES: usize = 4;

/// The reason why the pipes carry nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PipeFault {
    /// They have ended.
    #[error("ssh has ended")]
    Ended,
    /// Bytes came that are no frame.
    #[error("the far end writes something else than frames")]
    NoFrame,
}

/// The streams.
#[derive(Debug, Default)]
pub(super) struct SshStreams {
    streams: [Incoming; DATA_STREAMS + 1],
    /// The bytes that have come of a frame's head.
    head: Vec<u8>,
    /// The frame that is being read: its stream, and what is missing of it.
    frame: Option<(usize, usize)>,
    incoming_bytes: usize,
    outgoing: BytesMut,
    has_ended: bool,
}

/// The bytes that have come on a stream.
#[derive(Debug, Default)]
struct Incoming {
    bytes: BytesMut,
    has_ended: bool,
}

impl SshStreams {
    /// Returns streams on which so much has come already.
    ///
    /// # Errors
    ///
    /// When that is no frame.
    pub(super) fn with(early: &[u8]) -> Result<SshStreams, PipeFault> {
        let mut streams = SshStreams::default();
        streams.take(early)?;
        Ok(streams)
    }

    /// Writes a line before all frames.
    pub(super) fn say(&mut self, line: &[u8]) {
        self.outgoing.extend_from_slice(line);
    }

    /// Tells if there is room for more to come.
    pub(super) fn wants_more(&self) -> bool {
        !self.has_ended && self.incoming_bytes < INCOMING_BYTES_MAX
    }

    /// Tells if something waits to be written.
    pub(super) fn has_more(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Reads and writes what is possible without waiting, within the budget of a turn. Returns whether
    /// there may be more to do at once.
    ///
    /// # Errors
    ///
    /// When the pipes have ended, or what comes is no frame.
    pub(super) fn turn(&mut self, pipes: &mut impl Pipes) -> Result<bool, PipeFault> {
        self.flush(pipes)?;
        let mut buffer = vec![0; BYTES_AT_ONCE];
        let mut budget = BYTES_PER_TURN / BYTES_AT_ONCE;
        // What is not read stays in the pipe, which in the end holds back the remote end: over ssh
        // there is no other flow control.
        while self.wants_more() {
            if budget == 0 {
                return Ok(true);
            }
            budget -= 1;
            match pipes.read(&mut buffer) {
                Ok(Transfer::Bytes(count)) => self.take(buffer.get(..count).unwrap_or_default())?,
                Ok(Transfer::WouldBlock) => break,
                Ok(Transfer::Closed) | Err(_) => {
                    self.has_ended = true;
                    // What has come before is read first.
                    let is_whole = self.streams.iter().all(|stream| stream.has_ended);
                    return if is_whole || self.incoming_bytes > 0 {
                        Ok(false)
                    } else {
                        Err(PipeFault::Ended)
                    };
                }
            }
        }
        if self.has_ended && self.incoming_bytes == 0 && !self.is_over() {
            Err(PipeFault::Ended)
        } else {
            Ok(false)
        }
    }

    /// Tells if the pipe that is read from has ended, whether or not all streams had before.
    pub(super) fn has_input_ended(&self) -> bool {
        self.has_ended
    }

    /// Tells if nothing more is to come.
    fn is_over(&self) -> bool {
        self.streams.iter().all(|stream| stream.has_ended)
    }

    /// Writes what is possible without waiting. Returns whether there is more room now.
    ///
    /// # Errors
    ///
    /// When nobody reads it any more.
    pub(super) fn flush(&mut self, pipes: &mut impl Pipes) -> Result<bool, PipeFault> {
        let before = self.outgoing.len();
        let mut budget = BYTES_PER_TURN;
        while !self.outgoing.is_empty() && budget > 0 {
            match pipes.write(&self.outgoing) {
                Ok(Transfer::Bytes(count)) if count > 0 => {
                    self.outgoing.advance(count.min(self.outgoing.len()));
                    budget = budget.saturating_sub(count);
                }
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => break,
                Ok(Transfer::Closed) | Err(_) => {
                    self.outgoing.clear();
                    return if self.is_over() {
                        Ok(false)
                    } else {
                        Err(PipeFault::Ended)
                    };
                }
            }
        }
        Ok(self.outgoing.len() < before)
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<(), PipeFault> {
        while !bytes.is_empty() {
            match self.frame {
                Some((stream, missing)) => {
                    let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                    bytes = rest;
                    self.incoming_bytes += now.len();
                    if let Some(stream) = self.streams.get_mut(stream) {
                        stream.bytes.extend_from_slice(now);
                    }
                    self.frame = Some((stream, missing - now.len())).filter(|(_, left)| *left > 0);
                }
                None => {
                    let missing = HEAD_BYTES - self.head.len();
                    let (now, rest) = bytes.split_at(missing.min(bytes.len()));
                    bytes = rest;
                    self.head.extend_from_slice(now);
                    self.take_head()?;
                }
            }
        }
        Ok(())
    }

    fn take_head(&mut self) -> Result<(), PipeFault> {
        let &[stream, high, middle, low] = self.head.as_slice() else {
            return Ok(());
        };
        self.head.clear();
        let length = u32::from_be_bytes([0, high, middle, low]);
        let length = usize::try_from(length).map_err(|_| PipeFault::NoFrame)?;
        let stream = usize::from(stream);
        let known = self.streams.get_mut(stream).ok_or(PipeFault::NoFrame)?;
        if known.has_ended {
            return Err(PipeFault::NoFrame);
        }
        match length {
            0 => known.has_ended = true,
            _ => self.frame = Some((stream, length)),
        }
        Ok(())
    }

    fn push_head(&mut self, stream: StreamId, length: usize) {
        let length = u32::try_from(length).unwrap_or(0).to_be_bytes();
        self.outgoing.extend_from_slice(&[stream.0]);
        self.outgoing
            .extend_from_slice(length.get(1..).unwrap_or_default());
    }
}

impl Streams for SshStreams {
    fn count(&self) -> usize {
        DATA_STREAMS
    }

    fn room(&mut self, stream: StreamId) -> usize {
        // Control has room where data have none, so that an end that waits for an answer gets it
        // (docs/copy-protocol.md §1).
        let limit = match stream {
            StreamId::CONTROL => OUTGOING_BYTES_MAX + CONTROL_BYTES_MAX,
            _ => OUTGOING_BYTES_MAX,
        };
        limit.saturating_sub(self.outgoing.len() + HEAD_BYTES)
    }

    fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        let mut taken = bytes.split_to(self.room(stream).min(bytes.len()));
        while !taken.is_empty() {
            let frame = taken.split_to(taken.len().min(FRAME_BYTES_MAX));
            self.push_head(stream, frame.len());
            self.outgoing.extend_from_slice(&frame);
        }
    }

    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived {
        let Some(stream) = self.streams.get_mut(usize::from(stream.0)) else {
            return Arrived::Nothing;
        };
        let bytes = stream.bytes.split_to(limit.min(stream.bytes.len()));
        self.incoming_bytes = self.incoming_bytes.saturating_sub(bytes.len());
        if !bytes.is_empty() {
            Arrived::Bytes(bytes.freeze())
        } else if stream.has_ended && stream.bytes.is_empty() {
            Arrived::Ended
        } else {
            Arrived::Nothing
        }
    }

    fn finish(&mut self, stream: StreamId) {
        self.push_head(stream, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// A pipe that moves so many bytes at once, and ends when it is told to.
    #[derive(Default)]
    struct Wire {
        to_read: VecDeque<u8>,
        written: Vec<u8>,
        at_once: usize,
        has_ended: bool,
    }

    impl Pipes for Wire {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer> {
            let count = self.to_read.len().min(buffer.len()).min(self.at_once);
            for (to, from) in buffer.iter_mut().zip(self.to_read.drain(..count)) {
                *to = from;
            }
            Ok(match (count, self.has_ended) {
                (0, true) => Transfer::Closed,
                (0, false) => Transfer::WouldBlock,
                _ => Transfer::Bytes(count),
            })
        }

        fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
            let count = bytes.len().min(self.at_once);
            self.written.extend_from_slice(&bytes[..count]);
            Ok(Transfer::Bytes(count))
        }
    }

    fn read_all(streams: &mut SshStreams, stream: StreamId) -> (Vec<u8>, bool) {
        let mut all = Vec::new();
        loop {
            match streams.read(stream, 1000) {
                Arrived::Bytes(bytes) => all.extend_from_slice(&bytes),
                Arrived::Nothing => return (all, false),
                Arrived::Ended => return (all, true),
            }
        }
    }

    #[test]
    fn what_goes_in_on_a_stream_comes_out_on_that_stream_however_it_is_cut() {
        for at_once in [1, 3, 7, 100_000] {
            let mut wire = Wire {
                at_once,
                ..Wire::default()
            };
            let mut near = SshStreams::default();
            let data: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
            near.write(StreamId::CONTROL, &mut Bytes::from_static(b"hello"));
            near.write(StreamId(1), &mut Bytes::from(data.clone()));
            near.finish(StreamId(1));
            while near.has_more() {
                near.turn(&mut wire).unwrap();
            }
            wire.to_read = wire.written.drain(..).collect();
            let mut far = SshStreams::default();
            let (mut control, mut arrived, mut has_ended) = (Vec::new(), Vec::new(), false);
            while !wire.to_read.is_empty() {
                far.turn(&mut wire).unwrap();
                control.extend(read_all(&mut far, StreamId::CONTROL).0);
                let (more, ended) = read_all(&mut far, StreamId(1));
                arrived.extend(more);
                has_ended |= ended;
            }
            assert_eq!((control.as_slice(), arrived == data), (&b"hello"[..], true));
            assert!(has_ended);
        }
    }

    #[test]
    fn memory_is_bounded_both_ways() {
        let mut streams = SshStreams::default();
        let mut bytes = Bytes::from(vec![0; 10 << 20]);
        streams.write(StreamId(1), &mut bytes);
        streams.write(StreamId(1), &mut bytes);
        assert_eq!(streams.room(StreamId(1)), 0);
        assert!(
            streams.room(StreamId::CONTROL) > 0,
            "control has its own room"
        );
        assert!(streams.outgoing.len() <= OUTGOING_BYTES_MAX + 64);
        let mut wire = Wire {
            at_once: 1 << 20,
            ..Wire::default()
        };
        for _ in 0..100 {
            wire.to_read.extend([1, 0x01, 0, 0]);
            wire.to_read.extend(std::iter::repeat_n(0, 0x10000));
        }
        let mut streams = SshStreams::default();
        while streams.turn(&mut wire).unwrap() {}
        assert!(!streams.wants_more() && !wire.to_read.is_empty());
        assert!(streams.incoming_bytes < INCOMING_BYTES_MAX + BYTES_AT_ONCE);
    }

    #[test]
    fn an_end_in_the_middle_is_told_and_a_proper_one_is_not() {
        let mut wire = Wire {
            at_once: 100,
            has_ended: true,
            ..Wire::default()
        };
        assert_eq!(SshStreams::default().turn(&mut wire), Err(PipeFault::Ended));
        let mut over = SshStreams::with(&[0, 0, 0, 0, 1, 0, 0, 0]).unwrap();
        assert!(!over.has_input_ended());
        assert_eq!(over.turn(&mut wire), Ok(false));
        assert!(over.has_input_ended());
        assert_eq!(over.read(StreamId::CONTROL, 9), Arrived::Ended);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(0..4_u8, 0..200), at in 0..200_usize) {
            let (one, other) = bytes.split_at(at.min(bytes.len()));
            let mut cut = SshStreams::default();
            let in_two = cut.take(one).and_then(|()| cut.take(other));
            let mut whole = SshStreams::default();
            prop_assert_eq!(in_two, whole.take(&bytes));
            let control = read_all(&mut cut, StreamId::CONTROL);
            prop_assert_eq!(control, read_all(&mut whole, StreamId::CONTROL));
        }
    }
}
