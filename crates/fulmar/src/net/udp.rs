//! Between the sockets of the platform and the values of the core.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::{Ecn, PathId, SendError};
use fulmar_platform::UdpSocket;
use fulmar_platform::udp;
use fulmar_transport::Transmit;
use fulmar_transport::limits::TURN_WORK_MAX;

/// Datagrams that one turn of a loop takes from its sockets.
///
/// Source: docs/threat-model.md §6.
pub(crate) const DATAGRAMS_PER_TURN: usize = 64;

/// The most work that the program's output may make in a turn that has taken as many datagrams as it may, and
/// has more waiting.
///
/// Source: docs/threat-model.md §6. Under the flood T-U3 (§12) the kernel's room for datagrams fills in a tenth
/// of a second unless they are taken as fast as they come. Some 0.2 ms, about as long as the datagrams of a turn
/// take.
const OUTPUT_WORK_UNDER_FLOOD: u64 = 64 * 1024;

/// The budget that is left to one turn of a loop for its sockets.
#[derive(Debug)]
pub(crate) struct TurnBudget {
    /// The datagrams that may still be taken.
    pub(crate) datagrams: usize,
    datagrams_max: usize,
    work: u64,
}

impl TurnBudget {
    /// Returns the budget of turns that take so many datagrams at most.
    pub(crate) fn of(datagrams_max: usize) -> TurnBudget {
        TurnBudget {
            datagrams: datagrams_max,
            datagrams_max,
            work: TURN_WORK_MAX,
        }
    }

    /// Begins another turn.
    pub(crate) fn refill(&mut self) {
        *self = TurnBudget::of(self.datagrams_max);
    }

    /// Takes off what a datagram has cost.
    pub(crate) fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_sub(work);
    }

    /// Takes off a datagram and what it has cost.
    pub(crate) fn spend_datagram(&mut self, work: u64) {
        self.datagrams = self.datagrams.saturating_sub(1);
        self.spend(work);
    }

    /// Tells if no more datagrams may be taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.datagrams == 0
    }

    /// Returns how much work the program's output may make after the datagrams that were taken.
    pub(crate) fn output_work(&self) -> u64 {
        if self.is_spent() {
            OUTPUT_WORK_UNDER_FLOOD
        } else {
            TURN_WORK_MAX
        }
    }

    /// Tells if more may be worked on.
    pub(crate) fn has_work(&self) -> bool {
        self.work > 0
    }
}

/// Room that is asked for in the kernel for what was not received yet, by sessions and copies.
///
/// Source: docs/threat-model.md §6. Linux reckons with 768 bytes for each datagram that is shorter than
/// 500, and grants root twice what is asked for: 10 900 such datagrams, a tenth of a second of the flood
/// T-U3 (§12), in which a loaded machine gives this process its next turn. Other users get what
/// `net.core.rmem_max` allows: with the usual 208 KiB 554 datagrams, and 277 without asking.
const RECEIVE_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// Asks for a socket's room for what was not received yet. What is granted will do.
pub(crate) fn make_room(socket: &UdpSocket) {
    match socket.set_receive_buffer(RECEIVE_BUFFER_BYTES) {
        Ok(granted) => tracing::debug!(granted, "room for datagrams"),
        Err(error) => tracing::debug!(%error, "room for datagrams"),
    }
}

/// Datagrams for one path that differ in their bytes only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'a> {
    /// The path.
    pub(crate) path: PathId,
    /// The mark of congestion control.
    pub(crate) ecn: Ecn,
    /// The bytes of each datagram but the last, which may be shorter.
    pub(crate) segment: usize,
    /// The bytes of all.
    pub(crate) bytes: &'a [u8],
    /// True if it is one that nobody on the way may cut up.
    pub(crate) is_whole: bool,
}

impl<'a> Batch<'a> {
    /// Returns what the core of a session has put into `buffer`.
    pub(crate) fn of(transmit: &Transmit, buffer: &'a [u8]) -> Batch<'a> {
        Batch {
            path: transmit.path,
            ecn: transmit.ecn,
            segment: transmit.segment,
            bytes: buffer.get(..transmit.length).unwrap_or(buffer),
            is_whole: transmit.must_stay_whole(),
        }
    }

    /// Returns the number of datagrams.
    pub(crate) fn datagrams(&self) -> usize {
        self.bytes.len().div_ceil(self.segment.max(1))
    }
}

/// Sends datagrams to `destination`, from `source` if that is given.
///
/// # Errors
///
/// What the system said, in the words of the core.
pub(crate) fn send(
    socket: &mut UdpSocket,
    destination: SocketAddr,
    source: Option<IpAddr>,
    batch: &Batch<'_>,
) -> Result<(), SendError> {
    let Batch {
        ecn,
        segment,
        bytes,
        is_whole,
        path: _,
    } = *batch;
    let transmit = udp::Transmit {
        destination,
        source,
        ecn,
        bytes,
        segment: (bytes.len() > segment).then_some(segment),
    };
    if is_whole {
        socket.send_whole(&transmit)
    } else {
        socket.send(&transmit)
    }
}
