//! The lanes, which carry the bytes.

use bytes::Bytes;

/// The number of a lane: 0 is the control lane, data lanes count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub u8);

impl Lane {
    /// Both ways; the data lanes lead from the sender to the receiver only.
    pub const CONTROL: Lane = Lane(0);
}

/// Ordered, reliable streams of bytes to the other end, one for control and some for data (docs/channel.md §1).
///
/// An implementation holds what it has accepted until it is delivered. How much that may be is its own affair:
/// `room` says what it would take, and a sender reads no more of its files than that, but for one block to a lane.
pub trait Lanes {
    /// Data lanes, 1 to [`LANES_MAX`](crate::LANES_MAX). Both ends have to see the same number, and it does not change.
    fn count(&self) -> usize;

    /// Bytes that [`write`](Lanes::write) would take now.
    fn room(&mut self, lane: Lane) -> usize;

    /// Takes bytes off the front of `bytes`, as many as there is room for, maybe none.
    fn write(&mut self, lane: Lane, bytes: &mut Bytes);

    /// The next bytes that came on a lane, in order: at most `limit`.
    fn read(&mut self, lane: Lane, limit: usize) -> Arrived;

    /// Nothing more will be written to the lane. The other end finds [`Arrived::Ended`] behind the last byte.
    fn finish(&mut self, lane: Lane);
}

/// The result of [`Lanes::read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrived {
    /// At least one byte.
    Bytes(Bytes),
    /// Nothing for now.
    Nothing,
    /// The peer has finished the lane and every byte of it has been read.
    Ended,
}
