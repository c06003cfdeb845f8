//! From IP packets to what the network of stages carries, and back.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context as _, Result};
use etherparse::{
    Icmpv4Type, Icmpv6Type, IpEcn, IpHeaders, LaxPacketHeaders, NetHeaders, TransportHeader,
};
use fulmar_base::Ecn;
use fulmar_sim::{Content, Datagram};

/// The two ends of a packet, as a translator sees them.
///
/// | packet | port of the source | port of the destination |
/// |---|---|---|
/// | UDP, TCP | its own | its own |
/// | ICMP echo request | the identifier | 0 |
/// | ICMP echo reply | 0 | the identifier |
/// | ICMP error | that of the destination of the packet inside | that of its source |
/// | others, and fragments but the first | 0 | 0 |
///
/// Source: RFC 5508 §3 and §4, for ICMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    source: SocketAddr,
    destination: SocketAddr,
}

/// Reads a packet that a host has sent; `None` for what stays on one link, such as multicast.
pub(crate) fn datagram_of(packet: &[u8]) -> Option<Datagram> {
    let headers = LaxPacketHeaders::from_ip(packet).ok()?;
    let ends = ends_of(&headers)?;
    if is_local(ends.source.ip()) || is_local(ends.destination.ip()) {
        return None;
    }
    let mut datagram = Datagram::new(ends.source, ends.destination, packet);
    datagram.ecn = ecn_of(&headers);
    datagram.content = match headers.transport {
        Some(TransportHeader::Udp(_)) => Content::UdpPacket,
        _ => Content::OtherPacket,
    };
    Some(datagram)
}

/// Returns the packet with the ends and the congestion mark that the network has given it.
///
/// # Errors
///
/// When it is not one that [`datagram_of`] has read.
pub(crate) fn packet_of(datagram: Datagram) -> Result<Vec<u8>> {
    let headers = LaxPacketHeaders::from_ip(&datagram.bytes)?;
    let ends = Ends {
        source: datagram.source,
        destination: datagram.destination,
    };
    if ends_of(&headers) == Some(ends) && ecn_of(&headers) == datagram.ecn {
        return Ok(datagram.bytes);
    }
    rewritten(headers, ends, datagram.ecn)
}

fn ends_of(headers: &LaxPacketHeaders<'_>) -> Option<Ends> {
    let (source, destination): (IpAddr, IpAddr) = match headers.net.as_ref()? {
        NetHeaders::Ipv4(ip, _) => (ip.source.into(), ip.destination.into()),
        NetHeaders::Ipv6(ip, _) => (ip.source.into(), ip.destination.into()),
        NetHeaders::Arp(_) => return None,
    };
    let (from, to) = ports_of(headers);
    Some(Ends {
        source: SocketAddr::new(source, from),
        destination: SocketAddr::new(destination, to),
    })
}

fn ports_of(headers: &LaxPacketHeaders<'_>) -> (u16, u16) {
    match &headers.transport {
        Some(TransportHeader::Udp(udp)) => (udp.source_port, udp.destination_port),
        Some(TransportHeader::Tcp(tcp)) => (tcp.source_port, tcp.destination_port),
        Some(TransportHeader::Icmpv4(icmp)) => match icmp.icmp_type {
            Icmpv4Type::EchoRequest(echo) => (echo.id, 0),
            Icmpv4Type::EchoReply(echo) => (0, echo.id),
            _ => ports_inside(headers),
        },
        Some(TransportHeader::Icmpv6(icmp)) => match icmp.icmp_type {
            Icmpv6Type::EchoRequest(echo) => (echo.id, 0),
            Icmpv6Type::EchoReply(echo) => (0, echo.id),
            _ => ports_inside(headers),
        },
        Some(TransportHeader::Igmp(_)) | None => (0, 0),
    }
}

/// The ports of the packet that an ICMP error is about, turned round.
fn ports_inside(headers: &LaxPacketHeaders<'_>) -> (u16, u16) {
    let inside = LaxPacketHeaders::from_ip(headers.payload.slice());
    let ends = inside.ok().as_ref().and_then(ends_of);
    ends.map_or((0, 0), |ends| (ends.destination.port(), ends.source.port()))
}

fn ecn_of(headers: &LaxPacketHeaders<'_>) -> Ecn {
    let bits = match &headers.net {
        Some(NetHeaders::Ipv4(ip, _)) => ip.ecn,
        Some(NetHeaders::Ipv6(ip, _)) => ip.ecn(),
        Some(NetHeaders::Arp(_)) | None => IpEcn::ZERO,
    };
    Ecn::from_traffic_class(bits.value())
}

fn ip_ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotCapable => IpEcn::ZERO,
        Ecn::Capable1 => IpEcn::ONE,
        Ecn::Capable0 => IpEcn::TWO,
        Ecn::Congested => IpEcn::THREE,
    }
}

/// Tells whether packets with this address are of no concern to any other link.
fn is_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_multicast() || ip.is_broadcast() || ip.is_unspecified() || ip.is_link_local()
        }
        IpAddr::V6(ip) => ip.is_multicast() || ip.is_unspecified() || ip.is_unicast_link_local(),
    }
}

/// Returns the packet with other ends and another mark, and with all checksums right.
fn rewritten(headers: LaxPacketHeaders<'_>, ends: Ends, ecn: Ecn) -> Result<Vec<u8>> {
    let mut ip = headers.net.context("a packet without an IP header")?;
    let mut transport = headers.transport;
    let mut payload = headers.payload.slice().to_vec();
    if let Some(transport) = &mut transport {
        set_ports(transport, &mut payload, ends)?;
    }
    match (&mut ip, ends.source.ip(), ends.destination.ip()) {
        (NetHeaders::Ipv4(ip, _), IpAddr::V4(source), IpAddr::V4(destination)) => {
            ip.source = source.octets();
            ip.destination = destination.octets();
            ip.ecn = ip_ecn(ecn);
            ip.header_checksum = ip.calc_header_checksum();
            if let Some(transport) = &mut transport {
                transport.update_checksum_ipv4(ip, &payload)?;
            }
        }
        (NetHeaders::Ipv6(ip, _), IpAddr::V6(source), IpAddr::V6(destination)) => {
            ip.source = source.octets();
            ip.destination = destination.octets();
            ip.set_ecn(ip_ecn(ecn));
            if let Some(transport) = &mut transport {
                transport.update_checksum_ipv6(ip, &payload)?;
            }
        }
        _ => anyhow::bail!("no packet becomes one of the other family"),
    }
    let mut packet = Vec::with_capacity(1500);
    match ip {
        NetHeaders::Ipv4(ip, extensions) => IpHeaders::Ipv4(ip, extensions).write(&mut packet)?,
        NetHeaders::Ipv6(ip, extensions) => IpHeaders::Ipv6(ip, extensions).write(&mut packet)?,
        NetHeaders::Arp(_) => {}
    }
    if let Some(transport) = &transport {
        transport.write(&mut packet)?;
    }
    packet.extend_from_slice(&payload);
    Ok(packet)
}

/// Writes the ports where this kind of packet has them, in an ICMP error into the packet inside.
fn set_ports(transport: &mut TransportHeader, payload: &mut Vec<u8>, ends: Ends) -> Result<()> {
    let (from, to) = (ends.source.port(), ends.destination.port());
    match transport {
        TransportHeader::Udp(udp) => (udp.source_port, udp.destination_port) = (from, to),
        TransportHeader::Tcp(tcp) => (tcp.source_port, tcp.destination_port) = (from, to),
        TransportHeader::Icmpv4(icmp) => match &mut icmp.icmp_type {
            Icmpv4Type::EchoRequest(echo) => echo.id = from,
            Icmpv4Type::EchoReply(echo) => echo.id = to,
            _ => turn_inside(payload, ends)?,
        },
        TransportHeader::Icmpv6(icmp) => match &mut icmp.icmp_type {
            Icmpv6Type::EchoRequest(echo) => echo.id = from,
            Icmpv6Type::EchoReply(echo) => echo.id = to,
            _ => turn_inside(payload, ends)?,
        },
        TransportHeader::Igmp(_) => {}
    }
    Ok(())
}

/// Gives the packet inside an ICMP error the ends of the packet around it, turned round.
fn turn_inside(payload: &mut Vec<u8>, ends: Ends) -> Result<()> {
    let inside = LaxPacketHeaders::from_ip(payload)?;
    let ecn = ecn_of(&inside);
    let turned = Ends {
        source: ends.destination,
        destination: ends.source,
    };
    *payload = rewritten(inside, turned, ecn)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{PacketBuilder, PacketHeaders, icmpv4};
    use fulmar_sim::address;

    const CLIENT: [u8; 4] = [192, 0, 2, 1];
    const SERVER: [u8; 4] = [203, 0, 113, 1];
    const CLIENT6: [u8; 16] = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    const SERVER6: [u8; 16] = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

    /// Packets of each kind that has ports, from port or identifier 50000.
    fn packets() -> Vec<Vec<u8>> {
        let v4 = || PacketBuilder::ipv4(CLIENT, SERVER, 64);
        let v6 = || PacketBuilder::ipv6(CLIENT6, SERVER6, 64);
        let mut packets = vec![Vec::new(); 6];
        let text = b"some text of an odd length.";
        v4().udp(50_000, 60_001)
            .write(&mut packets[0], text)
            .unwrap();
        v4().tcp(50_000, 22, 7, 1000)
            .write(&mut packets[1], text)
            .unwrap();
        v4().icmpv4_echo_request(50_000, 1)
            .write(&mut packets[2], text)
            .unwrap();
        v6().udp(50_000, 60_001)
            .write(&mut packets[3], text)
            .unwrap();
        v6().tcp(50_000, 22, 7, 1000)
            .write(&mut packets[4], text)
            .unwrap();
        v6().icmpv6_echo_request(50_000, 1)
            .write(&mut packets[5], text)
            .unwrap();
        packets
    }

    /// Fails unless every checksum of the packet is what etherparse computes for it anew.
    fn assert_checksums(packet: &[u8]) {
        let headers = PacketHeaders::from_ip_slice(packet).unwrap();
        let payload = headers.payload.slice();
        let mut again = headers.transport.clone().unwrap();
        match headers.net.unwrap() {
            NetHeaders::Ipv4(ip, _) => {
                assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                again.update_checksum_ipv4(&ip, payload).unwrap();
            }
            NetHeaders::Ipv6(ip, _) => again.update_checksum_ipv6(&ip, payload).unwrap(),
            NetHeaders::Arp(_) => panic!("no ARP here"),
        }
        assert_eq!(headers.transport, Some(again));
    }

    #[test]
    fn a_packet_goes_through_as_it_is() {
        for packet in packets() {
            let datagram = datagram_of(&packet).unwrap();
            assert_eq!(datagram.packet_len(), packet.len());
            assert_eq!(datagram.source.port(), 50_000);
            assert_eq!(packet_of(datagram).unwrap(), packet);
        }
    }

    #[test]
    fn a_translated_packet_has_right_checksums_and_the_rest_unchanged() {
        for packet in packets() {
            let mut datagram = datagram_of(&packet).unwrap();
            let outside = match datagram.source {
                SocketAddr::V4(_) => address("198.51.100.9:40000"),
                SocketAddr::V6(_) => address("[2001:db8:9::9]:40000"),
            };
            let inside = std::mem::replace(&mut datagram.source, outside);
            let translated = packet_of(datagram).unwrap();
            assert_checksums(&translated);
            let mut datagram = datagram_of(&translated).unwrap();
            assert_eq!(datagram.source, outside);
            datagram.source = inside;
            assert_eq!(packet_of(datagram).unwrap(), packet);
        }
    }

    #[test]
    fn the_mark_is_read_and_written() {
        for packet in packets() {
            for ecn in [Ecn::Capable0, Ecn::Capable1, Ecn::Congested] {
                let mut datagram = datagram_of(&packet).unwrap();
                assert_eq!(datagram.ecn, Ecn::NotCapable);
                datagram.ecn = ecn;
                let marked = packet_of(datagram).unwrap();
                assert_checksums(&marked);
                assert_eq!(datagram_of(&marked).unwrap().ecn, ecn);
            }
        }
    }

    #[test]
    fn udp_is_told_from_the_rest() {
        let is_udp = |packet: &Vec<u8>| datagram_of(packet).unwrap().content.is_udp();
        let kinds: Vec<bool> = packets().iter().map(is_udp).collect();
        assert_eq!(kinds, [true, false, false, true, false, false]);
    }

    #[test]
    fn an_error_is_translated_with_the_packet_inside() {
        // The server reports on a packet that came to it from outside the translator.
        let outside = [198, 51, 100, 9];
        let (mut about, mut error) = (Vec::new(), Vec::new());
        PacketBuilder::ipv4(outside, SERVER, 64)
            .udp(40_000, 60_001)
            .write(&mut about, b"hello")
            .unwrap();
        let unreachable = Icmpv4Type::DestinationUnreachable(icmpv4::DestUnreachableHeader::Port);
        PacketBuilder::ipv4(SERVER, outside, 64)
            .icmpv4(unreachable)
            .write(&mut error, &about)
            .unwrap();
        let mut datagram = datagram_of(&error).unwrap();
        assert_eq!(datagram.source, address("203.0.113.1:60001"));
        assert_eq!(datagram.destination, address("198.51.100.9:40000"));

        datagram.destination = address("192.0.2.1:50000");
        let translated = packet_of(datagram).unwrap();
        assert_checksums(&translated);
        let inside = PacketHeaders::from_ip_slice(&translated).unwrap();
        let inside = inside.payload.slice();
        assert_checksums(inside);
        assert_eq!(
            datagram_of(inside).unwrap().source,
            address("192.0.2.1:50000")
        );
    }

    #[test]
    fn what_stays_on_a_link_is_left_out() {
        let to = |destination| {
            let mut packet = Vec::new();
            PacketBuilder::ipv4(CLIENT, destination, 64)
                .udp(1, 2)
                .write(&mut packet, &[])
                .unwrap();
            datagram_of(&packet)
        };
        assert_eq!(to([224, 0, 0, 251]), None);
        assert_eq!(to([255; 4]), None);
        assert!(to(SERVER).is_some());
        assert_eq!(datagram_of(b"no packet"), None);
        assert_eq!(datagram_of(&[]), None);
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = packets().swap_remove(0);
        packet[7] = 1;
        let datagram = datagram_of(&packet).unwrap();
        assert_eq!(
            (datagram.source.port(), datagram.destination.port()),
            (0, 0)
        );
    }

    #[test]
    fn an_answer_to_an_echo_is_for_the_identifier() {
        let mut packets = [Vec::new(), Vec::new()];
        PacketBuilder::ipv4(SERVER, CLIENT, 64)
            .icmpv4_echo_reply(50_000, 1)
            .write(&mut packets[0], b"hello")
            .unwrap();
        PacketBuilder::ipv6(SERVER6, CLIENT6, 64)
            .icmpv6_echo_reply(50_000, 1)
            .write(&mut packets[1], b"hello")
            .unwrap();
        for packet in packets {
            let mut datagram = datagram_of(&packet).unwrap();
            let ports = (datagram.source.port(), datagram.destination.port());
            assert_eq!(ports, (0, 50_000));
            datagram.destination.set_port(40_000);
            let translated = packet_of(datagram).unwrap();
            assert_checksums(&translated);
            assert_eq!(datagram_of(&translated).unwrap().destination.port(), 40_000);
        }
    }

    #[test]
    fn an_error_of_the_newer_family_is_translated_with_the_packet_inside() {
        let (mut about, mut error) = (Vec::new(), Vec::new());
        PacketBuilder::ipv6(CLIENT6, SERVER6, 64)
            .udp(40_000, 60_001)
            .write(&mut about, b"hello")
            .unwrap();
        PacketBuilder::ipv6(SERVER6, CLIENT6, 64)
            .icmpv6(Icmpv6Type::PacketTooBig { mtu: 1280 })
            .write(&mut error, &about)
            .unwrap();
        let mut datagram = datagram_of(&error).unwrap();
        let ports = (datagram.source.port(), datagram.destination.port());
        assert_eq!(ports, (60_001, 40_000));
        datagram.destination.set_port(50_000);
        let translated = packet_of(datagram).unwrap();
        assert_checksums(&translated);
        let inside = PacketHeaders::from_ip_slice(&translated).unwrap();
        let inside = datagram_of(inside.payload.slice()).unwrap();
        assert_eq!(
            (inside.source.port(), inside.destination.port()),
            (50_000, 60_001)
        );
    }

    #[test]
    fn no_packet_becomes_one_of_the_other_family() {
        let mut datagram = datagram_of(&packets()[0]).unwrap();
        datagram.source = address("[2001:db8::1]:50000");
        assert!(packet_of(datagram).is_err());
    }

    #[test]
    fn addresses_of_one_link_only_are_left_out_in_both_families() {
        let local = [
            "224.0.0.1",
            "255.255.255.255",
            "0.0.0.0",
            "169.254.1.1",
            "ff02::1",
            "::",
            "fe80::1",
        ];
        for address in local {
            assert!(is_local(address.parse().unwrap()), "{address}");
        }
        for address in ["192.0.2.1", "10.0.0.1", "2001:db8::1", "fd00::1"] {
            assert!(!is_local(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_packet_that_was_cut_is_left_out_or_carried_as_it_is() {
        for packet in packets() {
            for length in 0..packet.len() {
                let cut = &packet[..length];
                if let Some(datagram) = datagram_of(cut) {
                    assert_eq!(packet_of(datagram).unwrap(), cut, "{length}");
                }
            }
        }
    }
}
