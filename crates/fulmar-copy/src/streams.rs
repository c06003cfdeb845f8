//! The streams, which carry the bytes.

use bytes::Bytes;

/// The number of a stream: 0 is the control stream, data streams count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u8);

impl StreamId {
    /// Both ways; the data streams lead from the sender to the receiver only.
    pub const CONTROL: StreamId = StreamId(0);
}

/// Ordered, reliable sequences of bytes to the other end, one for control and some for data (docs/copy-protocol.md §1).
///
/// An implementation holds what it has accepted until it is delivered. How much that may be is its own affair:
/// `room` says what it would take, and a sender reads no more of its files than that, but for one block to a stream.
pub trait Streams {
    /// Data streams, 1 to [`STREAMS_MAX`](crate::STREAMS_MAX). Both ends have to see the same number, and it does not change.
    fn count(&self) -> usize;

    /// Bytes that [`write`](Streams::write) would take now.
    fn room(&mut self, stream: StreamId) -> usize;

    /// Takes bytes off the front of `bytes`, as many as there is room for, maybe none.
    fn write(&mut self, stream: StreamId, bytes: &mut Bytes);

    /// The next bytes that came on a stream, in order: at most `limit`.
    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived;

    /// Nothing more will be written to the stream. The other end finds [`Arrived::Ended`] behind the last byte.
    fn finish(&mut self, stream: StreamId);
}

/// The result of [`Streams::read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrived {
    /// At least one byte.
    Bytes(Bytes),
    /// Nothing for now.
    Nothing,
    /// The peer has finished the stream and every byte of it has been read.
    Ended,
}
