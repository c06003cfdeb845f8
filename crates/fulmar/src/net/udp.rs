//! Between the sockets of the platform and the values of the core.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::{Ecn, SendError};
use fulmar_platform::UdpSocket;
use fulmar_platform::udp;
use fulmar_transport::limits::TURN_WORK_MAX;
use fulmar_transport::{Received, Transmit};

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
    pub(crate) datagrams: usize,
    work: u64,
}

impl TurnBudget {
    /// Returns the budget of a turn that begins.
    pub(crate) fn new() -> TurnBudget {
        TurnBudget {
            datagrams: DATAGRAMS_PER_TURN,
            work: TURN_WORK_MAX,
        }
    }

    /// Takes off what a datagram has cost.
    pub(crate) fn spend(&mut self, received: &Received) {
        self.work = self.work.saturating_sub(received.work);
    }

    /// Returns how much work the program's output may make after the datagrams that were taken.
    pub(crate) fn output_work(&self) -> u64 {
        if self.datagrams == 0 {
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

/// Sends what the core put into `buffer`.
///
/// # Errors
///
/// What the system said, in the words of the core.
pub(crate) fn send(
    socket: &mut UdpSocket,
    destination: SocketAddr,
    source: Option<IpAddr>,
    transmit: &Transmit,
    buffer: &[u8],
) -> Result<(), SendError> {
    let bytes = buffer.get(..transmit.length).unwrap_or(buffer);
    send_batch(
        socket,
        destination,
        source,
        transmit.ecn,
        bytes,
        transmit.segment,
    )
}

/// Sends `bytes` as datagrams of `segment` bytes each, of which the last may be shorter.
///
/// # Errors
///
/// What the system said, in the words of the core.
pub(crate) fn send_batch(
    socket: &mut UdpSocket,
    destination: SocketAddr,
    source: Option<IpAddr>,
    ecn: Ecn,
    bytes: &[u8],
    segment: usize,
) -> Result<(), SendError> {
    let order = udp::Transmit {
        destination,
        source,
        ecn,
        bytes,
        segment: (bytes.len() > segment).then_some(segment),
    };
    socket.send(&order)
}
