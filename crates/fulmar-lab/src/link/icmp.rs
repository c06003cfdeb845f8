//! The report to a host of a packet that was not carried.

use anyhow::Result;
use etherparse::icmpv4::DestUnreachableHeader as V4;
use etherparse::icmpv6::DestUnreachableCode as V6;
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use fulmar_base::SendError;
use fulmar_sim::{Datagram, SendFailure};
use std::net::SocketAddr;

use super::packet::packet_of;

/// The most of a packet that a report on it holds.
///
/// Source: RFC 1812 §4.3.2.3: the report is at most 576 bytes long.
const QUOTED_BYTES_MAX: usize = 576 - 28;

const TTL: u8 = 64;

/// Returns the ICMP packet that reports a failure to the sender, in the name of the far end; `None`
/// where a host finds out by itself.
///
/// # Errors
///
/// When the datagram is no packet.
pub(crate) fn notice(
    failure: SendFailure,
    mut datagram: Datagram,
    mtu: u16,
) -> Result<Option<Vec<u8>>> {
    // A translator may have been on the way.
    datagram.source = failure.source;
    let about = packet_of(datagram)?;
    let quoted = about.get(..QUOTED_BYTES_MAX).unwrap_or(&about);
    let Some((v4, v6)) = kinds(failure.error, mtu) else {
        return Ok(None);
    };
    let mut packet = Vec::new();
    match (failure.destination, failure.source) {
        (SocketAddr::V4(from), SocketAddr::V4(to)) => {
            PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), TTL)
                .icmpv4(v4)
                .write(&mut packet, quoted)?;
        }
        (SocketAddr::V6(from), SocketAddr::V6(to)) => {
            PacketBuilder::ipv6(from.ip().octets(), to.ip().octets(), TTL)
                .icmpv6(v6)
                .write(&mut packet, quoted)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(packet))
}

/// Returns the reports on a failure in both families; `None` where a host finds out by itself.
fn kinds(error: SendError, mtu: u16) -> Option<(Icmpv4Type, Icmpv6Type)> {
    let (v4, v6) = match error {
        SendError::TooBig => (
            V4::FragmentationNeeded { next_hop_mtu: mtu },
            Icmpv6Type::PacketTooBig { mtu: mtu.into() },
        ),
        SendError::Unreachable => (V4::Network, Icmpv6Type::DestinationUnreachable(V6::NoRoute)),
        SendError::Refused => (V4::Port, Icmpv6Type::DestinationUnreachable(V6::Port)),
        SendError::Forbidden => (
            V4::FilterProhibited,
            Icmpv6Type::DestinationUnreachable(V6::Prohibited),
        ),
        SendError::SourceGone | SendError::NoRoom | SendError::Other => return None,
    };
    Some((Icmpv4Type::DestinationUnreachable(v4), v6))
}
