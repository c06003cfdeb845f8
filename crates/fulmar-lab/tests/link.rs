//! Real sockets over emulated links: that each thing a scenario can say happens to real packets.
//!
//! How precisely is the matter of `fulmar-lab selfcheck`, and the stages have tests of their own.

mod support;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use fulmar_sim::{CLIENT, Change, EntryKind, LinkDirection, LossCause};
use fulmar_testbed::{Process, peers};
use support::{DEADLINE, SERVER, link, seen_by, udp};

#[test]
fn an_exchange_takes_the_delay_of_both_ways() {
    let Some(link) = link("up delay 30ms\ndown delay 50ms") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    let start = Instant::now();
    let source = seen_by(&server, &client, "hello");
    assert!(start.elapsed() >= Duration::from_millis(30));
    server.send_to(b"and back", source).unwrap();
    let mut answer = [0; 10];
    assert_eq!(client.recv(&mut answer).unwrap(), 8);
    assert!(start.elapsed() >= Duration::from_millis(80));
    assert_eq!(source.ip(), IpAddr::from([192, 0, 2, 1]));
}

#[test]
fn both_families_are_carried() {
    let Some(link) = link("both delay 1ms") else {
        return;
    };
    if !std::path::Path::new("/proc/sys/net/ipv6").exists() {
        return peers::leave_out("this kernel has no IPv6");
    }
    let client = udp(&link.client, "[::]:0");
    let server = udp(&link.server, "[2001:db8:5::1]:7000");
    client.send_to(b"six", "[2001:db8:5::1]:7000").unwrap();
    let received = server.recv_from(&mut [0; 10]);
    let Ok((_, source)) = received else {
        panic!("{received:?}\n{}", link.report().unwrap().events);
    };
    assert_eq!(source.ip(), "2001:db8:c::1".parse::<IpAddr>().unwrap());
}

#[test]
fn a_stream_arrives_whole_over_a_bad_link_behind_a_translator() {
    let scenario = "nat 198.51.100.9\n\
        both loss 2%, duplicate 2%, mark 10%, rate 50mbit queue 100p, delay 1ms..5ms reordering";
    let Some(link) = link(scenario) else { return };
    let listener = link
        .server
        .within(|| TcpListener::bind(SERVER))
        .unwrap()
        .unwrap();
    let sent: Vec<u8> = (0..200_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let connected = link.client.within(|| TcpStream::connect(SERVER));
            connected.unwrap().unwrap().write_all(&sent).unwrap();
        });
        let (mut stream, source) = listener.accept().unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        client.join().unwrap();
        assert!(
            received == sent,
            "{} of {} bytes",
            received.len(),
            sent.len()
        );
        assert_eq!(source.ip(), IpAddr::from([198, 51, 100, 9]));
    });
    let report = link.report().unwrap();
    assert!(report.client.lost[&LossCause::Random] > 0 && report.client.doubled > 0);
}

#[test]
fn a_client_that_moves_is_seen_at_its_new_address() {
    let Some(link) = link("both delay 1ms") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    let before = seen_by(&server, &client, "before");
    link.apply(Change::MoveOn(CLIENT)).unwrap();
    // What is sent until the kernel has its new address is lost.
    server
        .set_read_timeout(Some(Duration::from_millis(10)))
        .unwrap();
    let after = until_seen_elsewhere(before, || {
        client.send_to(b"after", SERVER).ok()?;
        Some(server.recv_from(&mut [0; 10]).ok()?.1)
    });
    assert_eq!(
        (after.port(), after.ip()),
        (before.port(), IpAddr::from([198, 51, 100, 2]))
    );

    // It is answered there, and not where it was.
    server.send_to(b"lost", before).unwrap();
    server.send_to(b"found", after).unwrap();
    let mut answer = [0; 10];
    let length = client.recv(&mut answer).unwrap();
    assert_eq!(&answer[..length], b"found");
}

/// Repeats until the source is another: the kernel takes a moment to have its new address.
fn until_seen_elsewhere(
    before: SocketAddr,
    mut attempt: impl FnMut() -> Option<SocketAddr>,
) -> SocketAddr {
    let start = Instant::now();
    loop {
        match attempt() {
            Some(source) if source != before => return source,
            _ => assert!(start.elapsed() < DEADLINE, "the client has not moved"),
        }
    }
}

#[test]
fn a_translator_that_forgets_gives_another_port() {
    let Some(link) = link("nat 198.51.100.9\nboth delay 1ms") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    let before = seen_by(&server, &client, "before");
    assert_eq!(before, "198.51.100.9:40000".parse().unwrap());
    link.apply(Change::RebindNat(CLIENT)).unwrap();
    assert_eq!(seen_by(&server, &client, "after").port(), 40_001);

    server.send_to(b"lost", before).unwrap();
    server.send_to(b"found", "198.51.100.9:40001").unwrap();
    let mut answer = [0; 10];
    let length = client.recv(&mut answer).unwrap();
    assert_eq!(&answer[..length], b"found");
    assert_eq!(link.report().unwrap().server.lost[&LossCause::Nat], 1);
}

#[test]
fn where_udp_is_blocked_tcp_goes_on() {
    let Some(link) = link("up blocked udp") else {
        return;
    };
    let client = udp(&link.client, "0.0.0.0:0");
    client.send_to(b"lost", SERVER).unwrap();
    let listener = link
        .server
        .within(|| TcpListener::bind(SERVER))
        .unwrap()
        .unwrap();
    let connected = link.client.within(|| TcpStream::connect(SERVER));
    assert!(connected.unwrap().is_ok());
    drop(listener);
    assert_eq!(link.report().unwrap().client.lost[&LossCause::Blocked], 1);
}

#[test]
fn a_firewall_that_says_so_is_heard() {
    let Some(link) = link("up blocked udp rejected") else {
        return;
    };
    let client = udp(&link.client, "0.0.0.0:0");
    client.connect(SERVER).unwrap();
    client.send(b"refused").unwrap();
    let error = client.recv(&mut [0; 10]).unwrap_err();
    // "Filtered" is a host that cannot be reached (Linux: EHOSTUNREACH or EACCES).
    let kinds = [ErrorKind::HostUnreachable, ErrorKind::PermissionDenied];
    assert!(kinds.contains(&error.kind()), "{error:?}");
}

#[test]
fn a_large_packet_is_lost_where_the_link_is_small() {
    let Some(link) = link("up mtu 1280") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    client.send_to(&[0; 1253], SERVER).unwrap();
    client.send_to(&[1; 1252], SERVER).unwrap();
    let mut received = [0; 2000];
    assert_eq!(server.recv(&mut received).unwrap(), 1252);
    assert_eq!(link.report().unwrap().client.lost[&LossCause::TooBig], 1);
}

#[test]
fn a_small_link_that_says_so_is_learned_by_the_kernel() {
    let Some(link) = link("up mtu 1280 reported\ndown delay 1ms") else {
        return;
    };
    // TCP sends segments of 1460 bytes at first, and smaller ones when it is told.
    let listener = link
        .server
        .within(|| TcpListener::bind(SERVER))
        .unwrap()
        .unwrap();
    let connected = link.client.within(|| TcpStream::connect(SERVER));
    connected.unwrap().unwrap().write_all(&[7; 20_000]).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received.len(), 20_000);
    assert!(
        link.report().unwrap().client.refused > 0,
        "or the test shows nothing"
    );
}

#[test]
fn settings_can_change_during_a_run() {
    let Some(link) = link("up loss 100%") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    client.send_to(b"lost", SERVER).unwrap();
    let change = |text| {
        let lossless = support::impairment(text);
        link.apply(Change::Set(CLIENT, LinkDirection::Up, lossless))
            .unwrap();
    };
    // What was sent before an order is not touched by it.
    change("loss 0%");
    seen_by(&server, &client, "found");
    change("duplicate 100%");
    client.send_to(b"twice", SERVER).unwrap();
    for _ in 0..2 {
        let mut text = [0; 5];
        server.recv(&mut text).unwrap();
        assert_eq!(&text, b"twice");
    }
    assert_eq!(link.report().unwrap().client.lost[&LossCause::Random], 1);
}

#[test]
fn a_mapping_that_was_not_used_expires() {
    let Some(link) = link("nat 198.51.100.9 expiring 1ms") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    let mut ports = Vec::new();
    // Each takes a wake-up of ours at least, so that sooner or later a millisecond lies between two.
    while ports.len() < 2 {
        ports.push(seen_by(&server, &client, "hello").port());
        ports.dedup();
    }
    assert_eq!(ports, [40_000, 40_001]);
}

#[test]
fn a_mark_is_seen_by_the_server() {
    use fulmar_base::Ecn;
    use fulmar_platform::udp::{Inbox, Transmit, UdpOptions};
    use fulmar_platform::{Interest, UdpSocket, wait_for};
    let Some(link) = link("up mark 100%") else {
        return;
    };
    // Sockets that write and read marks.
    let [mut client, server] =
        [(&link.client, "0.0.0.0:0"), (&link.server, SERVER)].map(|(host, at)| {
            let bound = host.within(|| UdpSocket::bind(at.parse().unwrap(), UdpOptions::default()));
            bound.unwrap().unwrap()
        });
    let mut mark_of = |ecn| {
        let sent = client.send(&Transmit {
            destination: SERVER.parse().unwrap(),
            source: None,
            ecn,
            bytes: b"hello",
            segment: None,
        });
        sent.unwrap();
        let readiness = wait_for(&server, Interest::Read, Some(DEADLINE)).unwrap();
        assert!(readiness.is_ready());
        let mut inbox = Inbox::new(100);
        let _ = server.receive(&mut inbox, Inbox::BATCH).unwrap();
        inbox.datagrams().next().unwrap().ecn
    };
    assert_eq!(mark_of(Ecn::Capable0), Ecn::Congested);
    assert_eq!(mark_of(Ecn::NotCapable), Ecn::NotCapable);
}

#[test]
fn a_client_that_sleeps_does_nothing_and_hears_nothing() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    let Some(link) = link("") else { return };
    let (client, server) = (
        udp(&link.client, "192.0.2.1:7000"),
        udp(&link.server, "0.0.0.0:0"),
    );
    let mut cat = Command::new("cat");
    let mut cat = link
        .client
        .spawn(cat.stdin(Stdio::piped()).stdout(Stdio::piped()))
        .unwrap();
    let (mut input, output) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
    let mut output = BufReader::new(output);
    link.apply(Change::Suspend(CLIENT)).unwrap();
    let process = Process::of(cat.id()).expect("nobody has waited for it");
    process.wait_until_stopped();
    server.send_to(b"lost", "192.0.2.1:7000").unwrap();
    input.write_all(b"kept\n").unwrap();
    link.apply(Change::Wake(CLIENT)).unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "kept\n");
    server.send_to(b"found", "192.0.2.1:7000").unwrap();
    let mut text = [0; 5];
    client.recv(&mut text).unwrap();
    assert_eq!(&text, b"found");
    drop(input);
    cat.wait().unwrap();
    assert_eq!(link.report().unwrap().server.lost[&LossCause::Asleep], 1);
}

#[test]
fn the_log_tells_of_each_packet() {
    let Some(link) = link("up delay 5ms") else {
        return;
    };
    link.keep(1000).unwrap();
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    for number in 0..300 {
        seen_by(&server, &client, &number.to_string());
    }
    let log = link.log().unwrap();
    let times = |what: EntryKind| {
        let entries = log
            .iter()
            .filter(move |entry| entry.what == what && entry.serial == Some(300));
        entries
            .map(|entry| (entry.at, entry.bytes))
            .collect::<Vec<_>>()
    };
    let [(sent, bytes)] = times(EntryKind::Sent)[..] else {
        panic!("{log:?}");
    };
    let delivered = (sent + Duration::from_millis(5), bytes);
    assert_eq!(times(EntryKind::Delivered), [delivered]);
    assert_eq!(
        log.iter()
            .filter(|entry| entry.what == EntryKind::Sent)
            .count(),
        300
    );
}

#[test]
fn an_outage_that_was_planned_happens() {
    let Some(link) = link("both delay 1ms\nat 50ms link cut\nat 300ms link restored") else {
        return;
    };
    let (client, server) = (udp(&link.client, "0.0.0.0:0"), udp(&link.server, SERVER));
    server
        .set_read_timeout(Some(Duration::from_millis(5)))
        .unwrap();
    let start = Instant::now();
    let (mut lost, mut found) = (0, 0);
    // Until a time behind the outage, and until something has got through there.
    loop {
        client.send_to(b"x", SERVER).unwrap();
        let arrived = server.recv(&mut [0; 10]).is_ok();
        lost += u32::from(!arrived);
        found += u32::from(arrived && start.elapsed() > Duration::from_millis(300));
        if found > 0 {
            break;
        }
        assert!(start.elapsed() < DEADLINE, "the link was not restored");
    }
    assert!(lost > 0);
    assert!(link.report().unwrap().client.lost[&LossCause::Outage] > 0);
}
