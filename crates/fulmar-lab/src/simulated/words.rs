//! Translates between the protocol and the simulator.

use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::{Countable as _, Transmit};

/// Returns a time of the simulator as one of the protocol.
pub(crate) fn time(now: Duration) -> Time {
    Time::from_origin(now)
}

/// Returns what one end has to send, which it wrote to `buffer`, as datagrams of the simulator.
pub(super) fn datagrams(
    transmit: &Transmit,
    buffer: &[u8],
    to: SocketAddr,
) -> impl Iterator<Item = fulmar_sim::Transmit> {
    let (ecn, cause) = (transmit.ecn, transmit.cause.name());
    let datagrams = transmit.split(buffer);
    datagrams.map(move |bytes| fulmar_sim::Transmit::to(to, bytes).ecn(ecn).because(cause))
}
