//! Somebody on the path withholds a datagram and sends it from elsewhere.
//!
//! Source: docs/threat-model.md §7, test T-U7.

use super::*;
use crate::limits::UNVALIDATED_BYTES_MAX;

const VICTIM: PathId = PathId::new(66);

/// Bytes that nothing can shorten.
fn noise(n: u64) -> Vec<u8> {
    let mix = |k: u64| ((n * 1_000_003 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
    (0..800).map(mix).collect()
}

/// Lets the program change what it shows every 10 ms.
fn flood(pair: &mut Pair, span: Duration) {
    let end = pair.now + span;
    while pair.now < end {
        let n = pair.now.as_millis();
        pair.write((n % 1000) as usize, &noise(n));
        pair.run_for(ms(10));
    }
}

/// A conversation under flood, whose client is silent, and a datagram of it that was withheld.
fn flooded() -> (Pair, Vec<u8>) {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"yes\r");
    flood(&mut pair, ms(3000));
    pair.type_text(b"x");
    pair.run_for(ms(40));
    let from_client = |flight: &Flight| flight.from == Role::Client;
    let place = pair.wire.iter().rposition(from_client).unwrap();
    let withheld = pair.wire.remove(place).bytes;
    pair.loses = Box::new(|flight| flight.from == Role::Client);
    pair.wire.retain(|flight| flight.from == Role::Server);
    (pair, withheld)
}

#[test]
fn a_victim_gets_16_kib_and_heartbeats() {
    let (mut pair, withheld) = flooded();
    let received = pair.reach_server(VICTIM, &withheld);
    assert_eq!(received.verdict, DatagramVerdict::Fresh);
    flood(&mut pair, ms(60_000));
    let to_victim = pair.sent.iter().filter(|sent| sent.path == VICTIM);
    let (beats, others): (Vec<&Sent>, Vec<&Sent>) =
        to_victim.partition(|sent| sent.cause == Cause::Heartbeat);
    let bytes: usize = others.iter().map(|sent| sent.bytes).sum();
    assert!(bytes <= UNVALIDATED_BYTES_MAX, "{bytes} bytes");
    assert!(bytes > UNVALIDATED_BYTES_MAX / 2, "{bytes} bytes");
    // And silence after 40 s.
    assert!(
        (10..=14).contains(&beats.len()),
        "{} heartbeats",
        beats.len()
    );
    assert!(beats.iter().all(|sent| sent.bytes < 150), "{beats:?}");
    assert_eq!(pair.server.path(), None);
}

#[test]
fn the_true_client_is_back_within_a_round_trip() {
    let (mut pair, withheld) = flooded();
    let _ = pair.reach_server(VICTIM, &withheld);
    flood(&mut pair, ms(5000));
    pair.loses = Box::new(|_| false);
    pair.type_text(b"x");
    let board = pair.board.clone();
    pair.run_for(ms(100 + 20));
    assert_eq!(pair.server.path(), Some(SERVER_PATH));
    assert_eq!(pair.client.remote(), &board);
}

#[test]
fn a_replayed_datagram_moves_nothing() {
    let (mut pair, withheld) = flooded();
    let _ = pair.reach_server(SERVER_PATH, &withheld);
    let received = pair.reach_server(VICTIM, &withheld);
    assert_eq!(received.verdict, DatagramVerdict::Late);
    assert_eq!(pair.server.path(), Some(SERVER_PATH));
}

#[test]
fn a_forgery_changes_nothing_but_a_count() {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"ls\r");
    pair.run_for(ms(300));
    let before = (pair.server.poll_timeout(), pair.server.path());
    for length in [0, 7, 38, 100, 2048, 2049, 65_507] {
        let received = pair.reach_server(VICTIM, &vec![0; length]);
        assert!(
            matches!(received.verdict, DatagramVerdict::Dropped(_)),
            "{length}"
        );
        assert_eq!(received.sequence, None);
    }
    assert_eq!((pair.server.poll_timeout(), pair.server.path()), before);
    assert_eq!(pair.server.counters().dropped.total(), 7);
}

#[test]
fn no_number_of_replays_and_forgeries_changes_how_any_path_stands() {
    let mut pair = Pair::new(ms(50));
    for n in 0..60 {
        pair.type_text(&noise(n).repeat(3));
        pair.write((n % 1000) as usize, &noise(n));
        pair.run_for(ms(200));
    }
    // One that was withheld has moved the server, which now knows two paths.
    pair.type_text(b"x");
    pair.run_for(ms(40));
    let from_client = |flight: &Flight| flight.from == Role::Client;
    let place = pair.wire.iter().rposition(from_client).unwrap();
    let withheld = pair.wire.remove(place).bytes;
    let _ = pair.reach_server(VICTIM, &withheld);
    pair.type_text(b"y");
    pair.run_for(ms(500));
    let before = format!("{:?}", pair.server.conversation.paths);
    let from_client = pair
        .flights
        .iter()
        .filter(|flight| flight.from == Role::Client);
    let tape: Vec<Vec<u8>> = from_client.map(|flight| flight.bytes.clone()).collect();
    for (nth, datagram) in tape.iter().enumerate() {
        let mut forged = datagram.clone();
        forged[nth % datagram.len()] ^= 1;
        for path in [PathId::new(100 + nth as u64), VICTIM, SERVER_PATH] {
            assert_ne!(
                pair.reach_server(path, datagram).verdict,
                DatagramVerdict::Fresh
            );
            assert!(!pair.reach_server(path, &forged).is_fresh());
        }
    }
    assert!(tape.len() > 100, "{} datagrams", tape.len());
    assert_eq!(format!("{:?}", pair.server.conversation.paths), before);
    assert!(pair.server.remembers(SERVER_PATH) && pair.server.remembers(VICTIM));
    assert!(!pair.server.remembers(PathId::new(100)));
}
