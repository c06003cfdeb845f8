//! Rejected datagrams get no answer, and change nothing but a counter.

mod support;

use std::time::Duration;

use fulmar_base::{Ecn, PathId, Time};
use fulmar_quic::{Connection, ConnectionOptions, DatagramVerdict, Rejected, Secret};
use fulmar_sim::{Delay, Network, Node as _, Queue, Random, Rate, Simulation, ms, secs};
use proptest::prelude::*;
use support::{End, ends, origin, secret};

/// Somebody whom nobody knows.
const ELSEWHERE: PathId = PathId::new(77);

fn at(millis: u64) -> Time {
    Time::from_origin(ms(millis))
}

fn server() -> Connection {
    Connection::server(
        &secret(1),
        [2; 32],
        origin(),
        Time::ZERO,
        &ConnectionOptions::default(),
    )
}

/// The first datagrams of a client that has this secret.
fn first_flight(secret: &Secret, seed: u8) -> Vec<Vec<u8>> {
    let path = PathId::new(0);
    let options = ConnectionOptions::default();
    let mut client = Connection::client(secret, [seed; 32], origin(), Time::ZERO, path, &options);
    sent_by(&mut client, Time::ZERO)
}

fn sent_by(end: &mut Connection, now: Time) -> Vec<Vec<u8>> {
    let (mut buffer, mut sent) = (Vec::new(), Vec::new());
    while let Some(transmit) = end.poll_transmit(now, &mut buffer) {
        sent.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
    }
    sent
}

/// Returns a server's verdict on a datagram, and checks that it says nothing.
fn verdict_on(server: &mut Connection, datagram: &[u8]) -> DatagramVerdict {
    let verdict = server.handle_datagram(at(1), ELSEWHERE, Ecn::NotCapable, datagram);
    assert_eq!(
        sent_by(server, at(1)),
        [[0; 0]; 0],
        "an answer to {datagram:02X?}"
    );
    verdict
}

fn with(datagram: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut other = datagram.to_vec();
    other[at] = byte;
    other
}

#[test]
fn each_kind_of_foreign_datagram_is_rejected_for_its_reason() {
    let first = first_flight(&secret(1), 5).remove(0);
    let strange = first_flight(&secret(9), 5).remove(0);
    let mut long = first.clone();
    long.resize(9217, 0);
    let mut short_id = vec![0x40; 64];
    short_id[9..].fill(7);
    for (datagram, reason) in [
        (vec![], Rejected::Length),
        (vec![0x40; 28], Rejected::Length),
        (first[..5].to_vec(), Rejected::Length),
        (first[..12].to_vec(), Rejected::Length),
        (first[..1199].to_vec(), Rejected::Length),
        (long, Rejected::Length),
        (vec![0; 1200], Rejected::NotQuic),
        (vec![0x80; 1200], Rejected::NotQuic),
        // Negotiation, version 2, a version that invites an answer.
        (with(&first, 4, 0), Rejected::Version),
        (with(&first, 1, 0x6B), Rejected::Version),
        (with(&first, 1, 0x0A), Rejected::Version),
        // Early data and retry.
        (with(&first, 0, 0xD0), Rejected::Kind),
        (with(&first, 0, 0xF0), Rejected::Kind),
        (short_id, Rejected::Id),
        (strange, Rejected::Id),
        (with(&first, 6, !first[6]), Rejected::Id),
        (with(&first, 25, !first[25]), Rejected::Id),
        // A handshake packet for nobody.
        (with(&first, 0, 0xE0), Rejected::Id),
    ] {
        let mut server = server();
        let found = verdict_on(&mut server, &datagram);
        assert_eq!(
            found,
            DatagramVerdict::Rejected(reason),
            "{:02X?}",
            &datagram[..datagram.len().min(9)]
        );
        let counts = server.statistics().rejected;
        assert_eq!(counts.total(), 1);
        // Who knows the secret is still welcome.
        let welcome = server.handle_datagram(at(2), ELSEWHERE, Ecn::NotCapable, &first);
        assert_eq!(welcome, DatagramVerdict::Genuine);
        assert!(!sent_by(&mut server, at(2)).is_empty());
    }
}

#[test]
fn a_first_datagram_with_a_good_id_and_a_bad_seal_is_not_answered() {
    let first = first_flight(&secret(1), 5).remove(0);
    for at in [26, 40, 700, first.len() - 1] {
        let mut server = server();
        let verdict = verdict_on(&mut server, &with(&first, at, !first[at]));
        assert_eq!(verdict, DatagramVerdict::Useless, "byte {at}");
    }
}

#[test]
fn only_the_first_of_two_clients_is_heard() {
    let first = first_flight(&secret(1), 5).remove(0);
    let second = first_flight(&secret(1), 6).remove(0);
    let mut server = server();
    let path = PathId::new(0);
    let _ = server.handle_datagram(at(0), path, Ecn::NotCapable, &first);
    sent_by(&mut server, at(0));
    let verdict = verdict_on(&mut server, &second);
    assert_eq!(verdict, DatagramVerdict::Rejected(Rejected::Second));
    assert_eq!(
        verdict_on(&mut server, &first),
        DatagramVerdict::Useless,
        "repeated"
    );
}

/// Two ends in the middle of a copy.
fn copying() -> Simulation<(End, End)> {
    copying_bytes(1 << 40, secs(1))
}

fn copying_bytes(bytes: u64, time: Duration) -> Simulation<(End, End)> {
    let net = Network::seeded(1).both([Rate::kbit(20_000, Queue::bytes(100_000)), Delay::ms(20)]);
    let mut sim = Simulation::new(net, ends(1, &ConnectionOptions::default(), bytes, 0));
    if let Err(failure) = sim.run_for(time) {
        panic!("{failure}");
    }
    sim
}

/// Returns all that an end remembers of the world, but for what the filter counts.
fn remembered(end: &Connection, now: Duration) -> impl PartialEq + use<> {
    let mut statistics = end.statistics();
    statistics.rejected = Default::default();
    // Repeated datagrams with our ids are counted as received before they are opened.
    statistics.received = (0, 0);
    (
        statistics,
        end.silent_for(Time::from_origin(now)),
        end.poll_timeout(),
    )
}

/// T-U1: random, cut, altered and repeated datagrams, before, during and after a handshake.
#[test]
fn a_million_rejected_datagrams_get_no_answer_and_change_nothing() {
    let mut sim = copying();
    let now = sim.now();
    let samples = first_flight(&secret(1), 5);
    let other = first_flight(&secret(9), 5);
    let mut random = Random::stream(3, 0);
    let noise: Vec<u8> = (0..1 << 16).map(|_| random.below(256) as u8).collect();
    let mut fresh = server();
    let open = &mut sim.nodes.1.connection;
    sent_by(open, Time::from_origin(now));
    let before = (remembered(&fresh, now), remembered(open, now));
    for _ in 0..500_000_u32 {
        let datagram = strange(&mut random, &noise, &other[0], &samples[0]);
        let to_fresh = fresh.handle_datagram(
            Time::from_origin(now),
            ELSEWHERE,
            Ecn::NotCapable,
            &datagram,
        );
        assert!(matches!(to_fresh, DatagramVerdict::Rejected(_)));
        let to_open = open.handle_datagram(
            Time::from_origin(now),
            ELSEWHERE,
            Ecn::NotCapable,
            &datagram,
        );
        assert!(matches!(to_open, DatagramVerdict::Rejected(_)));
    }
    assert!(before == (remembered(&fresh, now), remembered(open, now)));
    assert_eq!(sent_by(&mut fresh, Time::from_origin(now)), [[0; 0]; 0]);
    assert_eq!(sent_by(open, Time::from_origin(now)), [[0; 0]; 0]);
    assert_eq!(fresh.statistics().rejected.total(), 500_000);
}

/// Noise, noise that looks like QUIC, a datagram made with another secret, or a cut or altered one of ours.
fn strange(random: &mut Random, noise: &[u8], other: &[u8], ours: &[u8]) -> Vec<u8> {
    let length = random.below(1500) as usize;
    let byte = random.below(256) as u8;
    match random.below(4) {
        0 => noise[random.below(1 << 15) as usize..][..length].to_vec(),
        1 => {
            let mut cut = with(other, 0, byte | 0x40);
            cut.truncate(length);
            cut
        }
        // Cut within its id, or too short to be a first one.
        2 => ours[..length.min(1199)].to_vec(),
        // One byte of what must be as it is: version, length of the id, id.
        _ => {
            let at = 1 + random.below(25) as usize;
            with(ours, at, ours[at] ^ byte.max(1))
        }
    }
}

/// The ends are unmoved by somebody on the path who sends again, from elsewhere, what they have said.
#[test]
fn what_was_recorded_moves_nothing_when_it_is_sent_again() {
    let mut sim = copying();
    let now = Time::from_origin(sim.now());
    let mut buffer = Vec::new();
    let (client, server) = (&mut sim.nodes.0, &mut sim.nodes.1);
    let mut recorded = Vec::new();
    while let Some(transmit) = client.poll_transmit(now.since_origin()) {
        recorded.push(transmit.bytes);
    }
    client.connection.handle_path_change(now, PathId::new(0));
    while let Some(transmit) = client.connection.poll_transmit(now, &mut buffer) {
        recorded.extend(transmit.split(&buffer).map(<[u8]>::to_vec));
    }
    assert!(!recorded.is_empty());
    let server = &mut server.connection;
    let home = PathId::new(0);
    for datagram in &recorded {
        let verdict = server.handle_datagram(now, home, Ecn::NotCapable, datagram);
        assert_eq!(verdict, DatagramVerdict::Genuine);
    }
    for datagram in recorded.iter().cycle().take(10_000) {
        let verdict = server.handle_datagram(now, ELSEWHERE, Ecn::NotCapable, datagram);
        assert_eq!(verdict, DatagramVerdict::Useless);
    }
    while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
        assert_eq!(transmit.path, home);
    }
}

/// Somebody on the path holds datagrams of the client back and sends them from an address of their
/// choice (T-U7): that address gets 16 KiB and a datagram a second.
#[test]
fn a_place_that_never_answers_gets_little() {
    let mut sim = copying_bytes(1_000_000, secs(3));
    let mut now = Time::from_origin(sim.now());
    let (client, server) = (&mut sim.nodes.0, &mut sim.nodes.1.connection);
    let mut buffer = Vec::new();
    // Both have much to say.
    let block = bytes::Bytes::from(vec![7; 1 << 16]);
    for number in 1..=32 {
        client
            .connection
            .write(fulmar_quic::StreamId::new(number), &mut block.clone());
        server.write(fulmar_quic::StreamId::new(number), &mut block.clone());
    }
    let mut diverted = 0;
    for _ in 0..100 {
        client.handle_timeout(now.since_origin());
        while let Some(transmit) = client.connection.poll_transmit(now, &mut buffer) {
            for datagram in transmit.split(&buffer) {
                let _ = server.handle_datagram(now, ELSEWHERE, Ecn::NotCapable, datagram);
            }
        }
        server.handle_timeout(now);
        while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
            if transmit.path == ELSEWHERE {
                diverted += transmit.length;
            }
        }
        now += ms(50);
    }
    assert!(diverted > 0);
    // Five seconds of questions, one datagram each.
    assert!(diverted <= (16 << 10) + 6 * 1452, "{diverted} bytes");
}

proptest! {
    #[test]
    fn no_bytes_make_an_end_speak(datagram in proptest::collection::vec(any::<u8>(), 0..1600)) {
        let mut server = server();
        let verdict = verdict_on(&mut server, &datagram);
        prop_assert!(matches!(verdict, DatagramVerdict::Rejected(_)));
        let path = PathId::new(0);
        let options = ConnectionOptions::default();
        let mut client = Connection::client(&secret(1), [3; 32], origin(), Time::ZERO, path, &options);
        sent_by(&mut client, Time::ZERO);
        let verdict = client.handle_datagram(at(1), path, Ecn::NotCapable, &datagram);
        prop_assert!(matches!(verdict, DatagramVerdict::Rejected(_)));
        prop_assert!(sent_by(&mut client, at(1)).is_empty());
    }
}

#[test]
fn an_end_with_another_secret_is_never_connected() {
    // As if somebody could make ids but not keys: both ends with their own secret hear nothing.
    let path = PathId::new(0);
    let options = ConnectionOptions::default();
    let mut client = Connection::client(&secret(8), [3; 32], origin(), Time::ZERO, path, &options);
    let mut server = server();
    for round in 0..20_u64 {
        let now = at(round * 500);
        client.handle_timeout(now);
        for datagram in sent_by(&mut client, now) {
            let _ = server.handle_datagram(now, path, Ecn::NotCapable, &datagram);
        }
        server.handle_timeout(now);
        assert_eq!(sent_by(&mut server, now), [[0; 0]; 0]);
    }
    assert!(!client.is_open() && !server.is_open());
}
