use super::*;
use crate::test_support::{DEADLINE, is_readable, wait_readable};
use crate::{Interest, wait_for};
use std::net::{Ipv4Addr, Ipv6Addr};

const PAYLOAD: usize = 2048;
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;

fn socket_on(ip: impl Into<IpAddr>) -> UdpSocket {
    UdpSocket::bind(SocketAddr::new(ip.into(), 0), UdpOptions::default()).unwrap()
}

fn reporting_socket() -> UdpSocket {
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        ..UdpOptions::default()
    };
    UdpSocket::bind(SocketAddr::new(LOOPBACK.into(), 0), options).unwrap()
}

fn to(socket: &UdpSocket, bytes: &'static [u8]) -> Transmit<'static> {
    let destination = socket.local_address().unwrap();
    Transmit {
        destination,
        source: None,
        ecn: Ecn::NotCapable,
        bytes,
        segment: None,
    }
}

/// A datagram that owns its bytes.
type Owned = (SocketAddr, Option<IpAddr>, Ecn, Vec<u8>);

fn receive(socket: &UdpSocket, count: usize) -> Vec<Owned> {
    let mut inbox = Inbox::new(PAYLOAD);
    let mut all = Vec::new();
    while all.len() < count {
        wait_readable(socket);
        let _ = socket.receive(&mut inbox, 64).unwrap();
        let own = |d: Datagram<'_>| (d.source, d.local, d.ecn, d.bytes.to_vec());
        all.extend(inbox.datagrams().map(own));
    }
    all
}

#[test]
fn a_datagram_arrives_with_both_its_addresses() {
    let server = socket_on(Ipv4Addr::UNSPECIFIED);
    let port = server.local_address().unwrap().port();
    let mut client = socket_on(LOOPBACK);
    let destination = SocketAddr::from(([127, 0, 0, 9], port));
    client
        .send(&Transmit {
            destination,
            ..to(&server, b"hello")
        })
        .unwrap();
    let expected = (
        client.local_address().unwrap(),
        Some(IpAddr::from([127, 0, 0, 9])),
        Ecn::NotCapable,
        b"hello".to_vec(),
    );
    assert_eq!(receive(&server, 1), [expected]);
}

#[test]
fn an_answer_comes_from_the_address_that_was_asked() {
    let mut server = socket_on(Ipv4Addr::UNSPECIFIED);
    let client = socket_on(LOOPBACK);
    let source = Some(IpAddr::from([127, 0, 0, 9]));
    server
        .send(&Transmit {
            source,
            ..to(&client, b"hello")
        })
        .unwrap();
    let port = server.local_address().unwrap().port();
    assert_eq!(
        receive(&client, 1)[0].0,
        SocketAddr::from(([127, 0, 0, 9], port))
    );
}

#[test]
fn a_source_that_is_gone_costs_neither_the_datagram_nor_later_marks() {
    let mut server = socket_on(Ipv4Addr::UNSPECIFIED);
    let client = socket_on(LOOPBACK);
    // A documentation address is nobody's, which Linux calls unreachable; a group's address can be
    // nobody's source, which it calls an invalid argument.
    for gone in [[192, 0, 2, 1], [224, 0, 0, 1]] {
        let source = Some(IpAddr::from(gone));
        server
            .send(&Transmit {
                source,
                ..to(&client, b"first")
            })
            .unwrap();
        server
            .send(&Transmit {
                ecn: Ecn::Capable0,
                ..to(&client, b"second")
            })
            .unwrap();
        let received = receive(&client, 2);
        assert_eq!(received[0].3, b"first");
        assert_eq!(received[1].2, Ecn::Capable0);
    }
}

#[test]
fn congestion_marks_go_out_and_come_in() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    let marks = [
        Ecn::NotCapable,
        Ecn::Capable0,
        Ecn::Capable1,
        Ecn::Congested,
    ];
    for ecn in marks {
        client
            .send(&Transmit {
                ecn,
                ..to(&server, b"x")
            })
            .unwrap();
    }
    let received: Vec<_> = receive(&server, marks.len())
        .into_iter()
        .map(|d| d.2)
        .collect();
    assert_eq!(received, marks);
}

#[test]
fn ipv6_carries_addresses_and_marks_too() {
    let bound = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0).into(), UdpOptions::default());
    let Ok(server) = bound else {
        crate::leave_out("this machine has no IPv6 loopback");
        return;
    };
    let mut client = socket_on(Ipv6Addr::LOCALHOST);
    client
        .send(&Transmit {
            ecn: Ecn::Congested,
            ..to(&server, b"six")
        })
        .unwrap();
    let source = Some(IpAddr::from(Ipv6Addr::LOCALHOST));
    client
        .send(&Transmit {
            source,
            ..to(&server, b"none")
        })
        .unwrap();
    let received = receive(&server, 2);
    assert_eq!(received[0].0, client.local_address().unwrap());
    assert_eq!(received[0].1, source);
    assert_eq!(received[0].2, Ecn::Congested);
    assert_eq!(received[1].2, Ecn::NotCapable);
}

#[test]
fn wildcards_of_both_families_share_a_port() {
    let Ok(six) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0).into(), UdpOptions::default()) else {
        crate::leave_out("this machine has no IPv6");
        return;
    };
    let port = six.local_address().unwrap().port();
    let four = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port).into(), UdpOptions::default());
    assert_eq!(four.unwrap().local_address().unwrap().port(), port);
}

#[test]
fn a_socket_of_both_families_hears_ipv4() {
    let options = UdpOptions {
        stack: IpStack::Dual,
        ..UdpOptions::default()
    };
    let Ok(server) = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0).into(), options) else {
        crate::leave_out("this machine has no IPv6");
        return;
    };
    let mut client = socket_on(LOOPBACK);
    let port = server.local_address().unwrap().port();
    let destination = SocketAddr::from((LOOPBACK, port));
    client
        .send(&Transmit {
            destination,
            ..to(&server, b"four")
        })
        .unwrap();
    let mapped = IpAddr::from(LOOPBACK.to_ipv6_mapped());
    assert_eq!(receive(&server, 1)[0].0.ip(), mapped);
}

#[test]
fn a_port_in_use_is_refused() {
    let first = socket_on(LOOPBACK);
    let again = UdpSocket::bind(first.local_address().unwrap(), UdpOptions::default());
    assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn a_call_takes_no_more_than_its_budget() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    for _ in 0..100 {
        client.send(&to(&server, b"x")).unwrap();
    }
    let mut inbox = Inbox::new(PAYLOAD);
    assert_eq!(server.receive(&mut inbox, 0).unwrap().datagrams, 0);
    let mut taken = 0;
    while taken < 100 {
        wait_readable(&server);
        let received = server.receive(&mut inbox, 7).unwrap();
        assert_eq!(received.has_more, received.datagrams == 7);
        let received = received.datagrams;
        assert!((1..=7).contains(&received));
        assert_eq!(inbox.datagrams().count(), received);
        taken += received;
    }
    assert_eq!(server.receive(&mut inbox, 64).unwrap(), Received::default());
    assert_eq!(inbox.datagrams().count(), 0);
}

#[test]
fn a_datagram_that_is_too_long_is_counted_and_dropped() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    for length in [PAYLOAD + 1, PAYLOAD, 0, 40_000, 1] {
        client
            .send(&Transmit {
                bytes: &vec![7; length],
                ..to(&server, b"")
            })
            .unwrap();
    }
    let mut inbox = Inbox::new(PAYLOAD);
    wait_readable(&server);
    assert_eq!(server.receive(&mut inbox, 64).unwrap().datagrams, 5);
    let lengths: Vec<usize> = inbox.datagrams().map(|d| d.bytes.len()).collect();
    assert_eq!(lengths, [PAYLOAD, 1]);
    assert_eq!(inbox.oversize(), 2);
}

#[test]
fn segments_arrive_as_datagrams_of_their_own() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    // More than the 64 that Linux cuts at once, and a shorter one at the end.
    let bytes: Vec<u8> = (0..70 * 100 + 40).map(|i| (i / 100) as u8).collect();
    let ecn = Ecn::Capable0;
    client
        .send(&Transmit {
            bytes: &bytes,
            segment: Some(100),
            ecn,
            ..to(&server, b"")
        })
        .unwrap();
    let received = receive(&server, 71);
    assert_eq!(
        received
            .iter()
            .flat_map(|d| d.3.clone())
            .collect::<Vec<u8>>(),
        bytes
    );
    assert!(
        received[..70]
            .iter()
            .all(|d| d.3.len() == 100 && d.2 == ecn)
    );
}

#[test]
fn segments_leave_one_by_one_where_the_system_cannot_cut() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    let bytes = [3; 250];
    let transmit = Transmit {
        bytes: &bytes,
        segment: Some(100),
        ..to(&server, b"")
    };
    client.send_singly(&transmit, 100).unwrap();
    let lengths: Vec<usize> = receive(&server, 3).iter().map(|d| d.3.len()).collect();
    assert_eq!(lengths, [100, 100, 50]);
}

#[test]
fn a_segment_beyond_the_end_is_one_datagram() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    client
        .send(&Transmit {
            segment: Some(100),
            ..to(&server, b"short")
        })
        .unwrap();
    assert_eq!(receive(&server, 1)[0].3, b"short");
}

#[test]
fn a_datagram_beyond_udp_is_too_big() {
    let server = socket_on(LOOPBACK);
    let mut client = socket_on(LOOPBACK);
    let bytes = vec![0; PAYLOAD_MAX + 1];
    let outcome = client.send(&Transmit {
        bytes: &bytes,
        ..to(&server, b"")
    });
    assert_eq!(outcome, Err(SendError::TooBig));
}

#[test]
fn a_broadcast_is_not_permitted() {
    let mut client = socket_on(Ipv4Addr::UNSPECIFIED);
    let destination = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
    let outcome = client.send(&Transmit {
        destination,
        ..to(&client, b"x")
    });
    // Unreachable where the machine has no route at all.
    assert!(
        matches!(outcome, Err(SendError::Forbidden | SendError::Unreachable)),
        "{outcome:?}"
    );
}

#[test]
fn a_family_that_is_not_the_sockets_is_unreachable() {
    let mut client = socket_on(LOOPBACK);
    let destination = SocketAddr::from((Ipv6Addr::LOCALHOST, 9));
    let outcome = client.send(&Transmit {
        destination,
        ..to(&client, b"x")
    });
    assert_eq!(outcome, Err(SendError::Unreachable));
}

#[test]
fn a_socket_gets_more_room_than_it_begins_with() {
    let socket = socket_on(LOOPBACK);
    let granted = |bytes| socket.set_receive_buffer(bytes).unwrap();
    let little = granted(16 * 1024);
    let wanted = 4 * 1024 * 1024;
    let much = granted(wanted);
    assert!(much > 8 * little, "{little}, {much}");
    if rustix::process::geteuid().is_root() {
        assert!(much >= wanted, "{much}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use rustix::net::sockopt::{Ipv4PathMtuDiscovery, ip_mtu_discover};

    #[test]
    fn path_mtu_discovery_is_off_unless_asked_for() {
        let discovery = |fragmentation| {
            let options = UdpOptions {
                fragmentation,
                ..UdpOptions::default()
            };
            let socket = UdpSocket::bind((LOOPBACK, 0).into(), options).unwrap();
            ip_mtu_discover(&socket).unwrap()
        };
        assert_eq!(
            discovery(Fragmentation::Allowed),
            Ipv4PathMtuDiscovery::OMIT
        );
        assert_eq!(
            discovery(Fragmentation::Forbidden),
            Ipv4PathMtuDiscovery::PROBE
        );
    }

    /// A port of this machine on which nobody listens.
    fn closed_port() -> SocketAddr {
        socket_on(LOOPBACK).local_address().unwrap()
    }

    #[test]
    fn a_refusal_is_reported_once_and_leaves_the_socket_quiet() {
        let mut client = reporting_socket();
        client
            .send(&Transmit {
                destination: closed_port(),
                ..to(&client, b"x")
            })
            .unwrap();
        wait_readable(&client);
        let mut inbox = Inbox::new(PAYLOAD);
        let received = client.receive(&mut inbox, 64).unwrap();
        let report = IcmpReport {
            error: SendError::Refused,
            reporter: Some(LOOPBACK.into()),
        };
        assert_eq!(
            received,
            Received {
                icmp: Some(report),
                ..Received::default()
            }
        );
        assert_eq!(inbox.datagrams().count(), 0);
        assert!(!is_readable(&client), "the loop would spin");
        assert_eq!(client.receive(&mut inbox, 64).unwrap(), Received::default());
    }

    #[test]
    fn a_refusal_by_one_peer_does_not_cost_another_its_datagram() {
        let server = socket_on(LOOPBACK);
        let mut client = reporting_socket();
        client
            .send(&Transmit {
                destination: closed_port(),
                ..to(&client, b"x")
            })
            .unwrap();
        wait_readable(&client);
        client.send(&to(&server, b"arrives")).unwrap();
        assert_eq!(receive(&server, 1)[0].3, b"arrives");
    }

    #[test]
    fn datagrams_are_received_past_refusals() {
        let mut server = socket_on(LOOPBACK);
        let mut client = reporting_socket();
        for _ in 0..5 {
            client
                .send(&Transmit {
                    destination: closed_port(),
                    ..to(&client, b"x")
                })
                .unwrap();
        }
        server.send(&to(&client, b"data")).unwrap();
        wait_readable(&client);
        let mut inbox = Inbox::new(PAYLOAD);
        let received = client.receive(&mut inbox, 64).unwrap();
        assert_eq!(
            received.icmp.map(|report| report.error),
            Some(SendError::Refused)
        );
        assert_eq!(
            inbox.datagrams().map(|d| d.bytes).collect::<Vec<_>>(),
            [b"data"]
        );
        assert!(!is_readable(&client));
    }

    #[test]
    fn what_the_system_itself_has_queued_leaves_the_socket_quiet_after_one_call() {
        let options = UdpOptions {
            fragmentation: Fragmentation::Forbidden,
            icmp_errors: IcmpErrors::Reported,
            ..UdpOptions::default()
        };
        let Ok(mut client) = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0).into(), options) else {
            crate::leave_out("this machine has no IPv6 loopback");
            return;
        };
        // Longer than loopback's MTU of 65 536, with 48 bytes of headers.
        let outcome = client.send(&to(&client, &[0; 65_500]));
        assert_eq!(outcome, Err(SendError::TooBig));
        assert!(is_readable(&client), "nothing is queued");
        let mut inbox = Inbox::new(PAYLOAD);
        let received = client.receive(&mut inbox, 64).unwrap();
        assert_eq!(
            received.icmp.map(|report| report.error),
            Some(SendError::TooBig)
        );
        assert!(!is_readable(&client), "the loop would spin");
    }

    #[test]
    fn one_datagram_may_be_sent_that_nobody_cuts_up() {
        let Ok(mut socket) =
            UdpSocket::bind((Ipv6Addr::LOCALHOST, 0).into(), UdpOptions::default())
        else {
            crate::leave_out("this machine has no IPv6 loopback");
            return;
        };
        // Longer than loopback's MTU of 65 536, with 48 bytes of headers.
        let (long, short) = (to(&socket, &[0; 65_500]), to(&socket, &[0; 1200]));
        assert_eq!(socket.send(&long), Ok(()));
        assert_eq!(socket.send_whole(&long), Err(SendError::TooBig));
        assert_eq!(socket.send_whole(&short), Ok(()));
        assert_eq!(
            socket.send(&long),
            Ok(()),
            "the others are cut up as before"
        );
        let discovery = ip_mtu_discover(&socket);
        assert_eq!(discovery.unwrap(), Ipv4PathMtuDiscovery::OMIT);
    }

    #[test]
    fn refusals_stay_unheard_by_default() {
        let mut client = socket_on(LOOPBACK);
        client
            .send(&Transmit {
                destination: closed_port(),
                ..to(&client, b"x")
            })
            .unwrap();
        let mut inbox = Inbox::new(PAYLOAD);
        assert_eq!(client.receive(&mut inbox, 64).unwrap(), Received::default());
        assert!(!is_readable(&client));
    }
}

#[test]
fn a_socket_is_writable_when_it_is_new() {
    let socket = socket_on(LOOPBACK);
    let readiness = wait_for(&socket, Interest::Write, Some(DEADLINE)).unwrap();
    assert!(readiness.is_writable());
}
