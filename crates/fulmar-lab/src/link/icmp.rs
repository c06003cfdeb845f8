//! The report to a host of a packet that was not carried.

use anyhow::Result;
use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::icmpv6::DestUnreachableCode;
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
    let (from, to) = (failure.destination, failure.source);
    let mut packet = Vec::new();
    match (from, to) {
        (SocketAddr::V4(from), SocketAddr::V4(to)) => {
            let Some(kind) = kind_v4(failure.error, mtu) else {
                return Ok(None);
            };
            PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), TTL)
                .icmpv4(kind)
                .write(&mut packet, quoted)?;
        }
        (SocketAddr::V6(from), SocketAddr::V6(to)) => {
            let Some(kind) = kind_v6(failure.error, mtu) else {
                return Ok(None);
            };
            PacketBuilder::ipv6(from.ip().octets(), to.ip().octets(), TTL)
                .icmpv6(kind)
                .write(&mut packet, quoted)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(packet))
}

fn kind_v4(error: SendError, mtu: u16) -> Option<Icmpv4Type> {
    let header = match error {
        SendError::TooBig => DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: mtu },
        SendError::Unreachable => DestUnreachableHeader::Network,
        SendError::Refused => DestUnreachableHeader::Port,
        SendError::Forbidden => DestUnreachableHeader::FilterProhibited,
        SendError::SourceGone | SendError::NoRoom | SendError::Other => return None,
    };
    Some(Icmpv4Type::DestinationUnreachable(header))
}

fn kind_v6(error: SendError, mtu: u16) -> Option<Icmpv6Type> {
    let code = match error {
        SendError::TooBig => {
            return Some(Icmpv6Type::PacketTooBig { mtu: mtu.into() });
        }
        SendError::Unreachable => DestUnreachableCode::NoRoute,
        SendError::Refused => DestUnreachableCode::Port,
        SendError::Forbidden => DestUnreachableCode::Prohibited,
        SendError::SourceGone | SendError::NoRoom | SendError::Other => return None,
    };
    Some(Icmpv6Type::DestinationUnreachable(code))
}
