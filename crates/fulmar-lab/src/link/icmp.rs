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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::packet::datagram_of;
    use etherparse::{PacketHeaders, TransportHeader};
    use fulmar_sim::address;
    use std::net::IpAddr;

    const FAR: &str = "203.0.113.1:60001";
    const FAR6: &str = "[2001:db8:5::1]:60001";

    /// A packet of the client that has come through a translator.
    fn datagram(far: &str, payload: &[u8]) -> (Datagram, SendFailure) {
        let destination = address(far);
        let (near, outside) = match destination {
            SocketAddr::V4(_) => ("192.0.2.1:50000", "198.51.100.9:40000"),
            SocketAddr::V6(_) => ("[2001:db8:c::1]:50000", "[2001:db8:9::9]:40000"),
        };
        let mut packet = Vec::new();
        match (address(outside).ip(), destination.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let headers = PacketBuilder::ipv4(from.octets(), to.octets(), 64);
                headers
                    .udp(40_000, 60_001)
                    .write(&mut packet, payload)
                    .unwrap();
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let headers = PacketBuilder::ipv6(from.octets(), to.octets(), 64);
                headers
                    .udp(40_000, 60_001)
                    .write(&mut packet, payload)
                    .unwrap();
            }
            _ => panic!("both ends have one family"),
        }
        let failure = SendFailure {
            error: SendError::Refused,
            source: address(near),
            destination,
            len: payload.len(),
        };
        (datagram_of(&packet).unwrap(), failure)
    }

    /// Returns what a host is told of a failure, with the packet that it is told of.
    fn told(far: &str, error: SendError) -> Option<(TransportHeader, Vec<u8>)> {
        let (datagram, failure) = datagram(far, b"hello");
        let packet = notice(SendFailure { error, ..failure }, datagram, 1280).unwrap()?;
        let headers = PacketHeaders::from_ip_slice(&packet).unwrap();
        Some((headers.transport.unwrap(), headers.payload.slice().to_vec()))
    }

    #[test]
    fn each_failure_that_a_host_is_told_of_has_its_kind_in_both_families() {
        let expected = [
            (
                SendError::TooBig,
                V4::FragmentationNeeded { next_hop_mtu: 1280 },
                Icmpv6Type::PacketTooBig { mtu: 1280 },
            ),
            (
                SendError::Unreachable,
                V4::Network,
                Icmpv6Type::DestinationUnreachable(V6::NoRoute),
            ),
            (
                SendError::Refused,
                V4::Port,
                Icmpv6Type::DestinationUnreachable(V6::Port),
            ),
            (
                SendError::Forbidden,
                V4::FilterProhibited,
                Icmpv6Type::DestinationUnreachable(V6::Prohibited),
            ),
        ];
        for (error, v4, v6) in expected {
            let Some((TransportHeader::Icmpv4(header), _)) = told(FAR, error) else {
                panic!("{error:?}");
            };
            assert_eq!(header.icmp_type, Icmpv4Type::DestinationUnreachable(v4));
            let Some((TransportHeader::Icmpv6(header), _)) = told(FAR6, error) else {
                panic!("{error:?}");
            };
            assert_eq!(header.icmp_type, v6);
        }
        for error in [SendError::SourceGone, SendError::NoRoom, SendError::Other] {
            assert!(told(FAR, error).is_none() && told(FAR6, error).is_none());
        }
    }

    #[test]
    fn a_host_is_told_by_the_far_end_of_the_packet_that_it_sent_itself() {
        for far in [FAR, FAR6] {
            let (datagram, failure) = datagram(far, b"hello");
            let packet = notice(failure, datagram, 1500).unwrap().unwrap();
            let error = datagram_of(&packet).unwrap();
            assert_eq!(
                (error.source, error.destination),
                (failure.destination, failure.source)
            );
            let (_, about) = told(far, SendError::Refused).unwrap();
            assert_eq!(
                datagram_of(&about).unwrap().source,
                failure.source,
                "it knows no translator"
            );
        }
    }

    #[test]
    fn a_report_holds_no_more_of_a_packet_than_it_may() {
        let (datagram, failure) = datagram(FAR, &[7; 1200]);
        let packet = notice(failure, datagram, 1500).unwrap().unwrap();
        assert_eq!(packet.len(), 576);
    }
}
