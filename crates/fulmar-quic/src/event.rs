//! The things that go in and come out beside the bytes of the streams.

use std::time::Duration;

use fulmar_base::{Ecn, PathId};

use crate::{Rejected, RejectedCounts};

/// The verdict on a datagram. For counting; none of them wants an answer.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramVerdict {
    /// Made by the peer and not seen before: where it came from is where the peer is, or was a
    /// moment ago.
    Genuine,
    /// It bears one of our ids and told nothing: repeated, damaged, or forged by somebody who has
    /// seen datagrams of ours.
    Useless,
    /// Not from anybody who knows the secret.
    Rejected(Rejected),
}

/// Datagrams to send on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The path to send them on.
    pub path: PathId,
    /// The congestion mark to send them with.
    pub ecn: Ecn,
    /// The number of bytes in all.
    pub length: usize,
    /// The number of bytes in each datagram; only the last may be shorter. One system call with segmentation
    /// offload can take all of them.
    pub segment: usize,
}

impl Transmit {
    /// Returns how many datagrams there are.
    #[must_use]
    pub fn datagrams(&self) -> usize {
        self.length.div_ceil(self.segment.max(1))
    }

    /// Returns the datagrams, given the buffer that
    /// [`poll_transmit`](crate::Connection::poll_transmit) filled.
    pub fn split<'a>(&self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let used = buffer.get(..self.length).unwrap_or(buffer);
        used.chunks(self.segment.max(1))
    }
}

/// News for the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// Both ends have proven who they are.
    Connected,
    /// Nothing can be sent or received any more. The last event.
    Ended(ConnectionEnd),
}

/// The reason for which a connection has ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionEnd {
    /// This end closed it.
    #[error("closed")]
    Here,
    /// The other end closed it.
    #[error("closed by the other side")]
    There,
    /// No sign of the other end for as long as [`ConnectionOptions::idle_timeout`](crate::ConnectionOptions) says.
    #[error("the other side was silent for too long")]
    IdleTimeout,
    /// One end broke the protocol, or could not prove who it is.
    #[error("the connection broke: {0}")]
    Broken(String),
}

/// The statistics of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Smoothed round trip time.
    pub rtt: Duration,
    /// Shortest round trip time of this path.
    pub rtt_min: Duration,
    /// Datagrams and bytes sent.
    pub sent: (u64, u64),
    /// Datagrams and bytes received, without those that were rejected.
    pub received: (u64, u64),
    /// Datagrams that were lost on the way to the peer, as far as is known.
    pub lost: u64,
    /// The most bytes that the peer may have under way to us or waiting here.
    pub receive_window: u64,
    /// The most bytes that are kept here until the peer has them.
    pub send_window: u64,
    /// Bytes of datagrams that the peer has acknowledged so far.
    pub acknowledged: u64,
    /// Bytes of the largest datagram that is known to pass.
    pub mtu: u16,
    /// Datagrams that the initial filter rejected.
    pub rejected: RejectedCounts,
}
