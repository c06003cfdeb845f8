//! Between the sockets of the platform and the values of the core.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::{Ecn, SendError};
use fulmar_platform::UdpSocket;
use fulmar_platform::udp;
use fulmar_transport::Transmit;

/// Datagrams that one turn of a loop takes from its sockets.
///
/// Source: docs/threat-model.md §6.
pub(crate) const DATAGRAMS_PER_TURN: usize = 64;

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
