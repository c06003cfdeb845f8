//! The things that go in and out beside the states: arrivals, transmissions, hints, events, verdicts.

use std::collections::VecDeque;

use fulmar_base::{Ecn, PathId};
use fulmar_datagram::{DatagramOrder, FragmentHeader, Sequence};

use crate::cause::{Cause, DropReason};
use crate::instruction::Numbers;
use crate::receiver::StateOutcome;
use crate::{Dialect, Ending, StateNumber};

/// Bytes that came in.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The path on which they came.
    pub path: PathId,
    /// The congestion mark with which they came.
    pub ecn: Ecn,
    /// The UDP payload.
    pub bytes: &'a [u8],
}

/// The result of an arrival, with the numbers that a trace wants.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The verdict.
    pub verdict: DatagramVerdict,
    /// The number of the datagram, unless it was dropped unopened.
    pub sequence: Option<Sequence>,
    /// Its order: newer than all before, overtaken or repeated; `None` if it was dropped unopened. Of what was
    /// overtaken or repeated the path says nothing, whatever the verdict.
    pub order: Option<DatagramOrder>,
    /// The place of its piece in the instruction, unless it was dropped unopened.
    pub fragment: Option<FragmentHeader>,
    /// The instruction that it completed, unless that could not be read.
    pub instruction: Option<InstructionReceived>,
    /// The work that it made beside being opened: bytes inflated, and what the object
    /// [spent](crate::WorkBudget). Who takes in many datagrams at a time adds it up.
    pub work: u64,
}

impl Received {
    /// Tells whether the datagram was genuine and newer than all before: then the peer was where it
    /// came from, even if its content was of no use.
    pub fn is_fresh(&self) -> bool {
        self.order == Some(DatagramOrder::InOrder)
    }

    /// Returns the verdict on a datagram that told nothing.
    pub(crate) const fn unopened(reason: DropReason) -> Received {
        Received {
            verdict: DatagramVerdict::Dropped(reason),
            sequence: None,
            order: None,
            fragment: None,
            instruction: None,
            work: 0,
        }
    }
}

/// An instruction that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionReceived {
    /// Its numbers.
    pub numbers: Numbers,
    /// The length of its difference.
    pub difference_bytes: usize,
    /// The outcome; `None` if it was dropped.
    pub outcome: Option<StateOutcome>,
}

/// The verdict on a datagram. None of them ends anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramVerdict {
    /// Newer than all before: it may have moved the peer's path.
    Fresh,
    /// Genuine but overtaken or repeated: its content counts and nothing else of it does.
    Late,
    /// It, or the instruction that it completed, was of no use. It may have been genuine, newer than
    /// all before or overtaken: [`Received::order`] tells.
    Dropped(DropReason),
}

/// Datagrams to send on one path, all of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The path to send them on.
    pub path: PathId,
    /// The congestion mark to send them with.
    pub ecn: Ecn,
    /// The number of bytes in all.
    pub length: usize,
    /// The number of bytes in each datagram; only the last may be shorter. One system call with segmentation offload
    /// can take all of them.
    pub segment: usize,
    /// The reason for sending them.
    pub cause: Cause,
    /// The numbers for a trace.
    pub numbers: TransmitNumbers,
}

impl Transmit {
    /// Returns how many datagrams there are.
    pub fn datagrams(&self) -> usize {
        self.length.div_ceil(self.segment.max(1))
    }

    /// Tells whether nobody on the way may cut it up: it is to show whether the path carries it.
    pub fn must_stay_whole(&self) -> bool {
        self.cause == Cause::SizeProbe
    }

    /// Returns the datagrams, given the buffer that [`poll_transmit`] filled.
    ///
    /// [`poll_transmit`]: crate::Endpoint::poll_transmit
    pub fn split<'a>(&self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let used = buffer.get(..self.length).unwrap_or(buffer);
        used.chunks(self.segment.max(1))
    }
}

/// The numbers of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransmitNumbers {
    /// The number of the first datagram; the others follow.
    pub sequence: Sequence,
    /// The first fragment.
    pub fragment: FragmentHeader,
    /// The number of fragments of the whole instruction.
    pub fragments: usize,
    /// The numbers of the instruction.
    pub instruction: Numbers,
    /// The length of its difference.
    pub difference_bytes: usize,
}

/// News for the edge and for the objects' owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointEvent {
    /// There is a newer state of the peer's object. Several in a row are told as one.
    RemoteAdvanced {
        /// The newest.
        number: StateNumber,
    },
    /// Server: the client is now at another path.
    PeerMoved {
        /// The new path.
        path: PathId,
    },
    /// Server: it has been proven that the client is at that path.
    PathValidated {
        /// The current path.
        path: PathId,
    },
    /// Client: please open a path from a new local port, and say so with [`handle_path_opened`].
    ///
    /// [`handle_path_opened`]: crate::Endpoint::handle_path_opened
    OpenPath,
    /// Client: this path is not needed any more.
    ClosePath {
        /// The path.
        path: PathId,
    },
    /// The first instruction of the peer has told what is spoken. If that is [`Dialect::Altered`],
    /// a shutdown has begun.
    DialectDecided {
        /// The dialect, from here on for ever.
        dialect: Dialect,
    },
    /// The peer wants to end, and has been told that we know. Its last state is in place.
    PeerShutdown,
    /// The conversation is over: nothing will be sent, nothing received, no timer is set.
    Ended(Ending),
}

/// Events that wait to be fetched. One that supersedes an earlier one takes its place, so that there
/// are never more than a few, however much the peer sends.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<EndpointEvent>,
}

impl Events {
    pub(crate) fn push(&mut self, event: EndpointEvent) {
        self.queue.retain(|earlier| !is_superseded(earlier, &event));
        self.queue.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<EndpointEvent> {
        self.queue.pop_front()
    }
}

/// Tells whether the later event makes the earlier one pointless. Paths to close are each their own
/// matter; there are at most as many as were open.
fn is_superseded(earlier: &EndpointEvent, later: &EndpointEvent) -> bool {
    !matches!(later, EndpointEvent::ClosePath { .. })
        && std::mem::discriminant(earlier) == std::mem::discriminant(later)
}
