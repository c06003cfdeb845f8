//! Somebody on the path withholds a datagram and sends it from elsewhere.
//!
//! Source: docs/threat-model.md §7, test T-U7.

use super::*;
use crate::limits::UNVALIDATED_BYTES_MAX;
use crate::{Digest, Terms};

const VICTIM: PathId = PathId::new(66);

/// Paths are validated by challenges.
const CHALLENGES: Option<Terms> = Some(Terms {
    challenge: true,
    ..Terms::of(Digest::new([1; Digest::BYTES]))
});

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
    flooded_under(None)
}

/// Returns the same of two ends with that agreement.
fn flooded_under(agreement: Option<Terms>) -> (Pair, Vec<u8>) {
    let mut pair = Pair::with(ms(50), [agreement; 2]);
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

/// Returns how many bytes were sent to the victim since then, but for heartbeats.
fn sent_to_victim(pair: &Pair) -> usize {
    let others = pair.sent.iter();
    let others = others.filter(|sent| sent.path == VICTIM && sent.cause != Cause::Heartbeat);
    others.map(|sent| sent.bytes).sum()
}

#[test]
fn a_victim_does_not_return_a_challenge() {
    let (mut pair, withheld) = flooded_under(CHALLENGES);
    let _ = pair.reach_server(VICTIM, &withheld);
    flood(&mut pair, ms(20_000));
    let bytes = sent_to_victim(&pair);
    assert!(bytes <= UNVALIDATED_BYTES_MAX, "{bytes} bytes");
    assert!(bytes > UNVALIDATED_BYTES_MAX / 2, "{bytes} bytes");
}

#[test]
fn what_a_client_returns_validates_nobody_elses_address() {
    let (mut pair, withheld) = flooded_under(CHALLENGES);
    let _ = pair.reach_server(VICTIM, &withheld);
    // What went to the victim is passed on to the client, which answers the challenge from where it is.
    let before = pair.flights.len();
    flood(&mut pair, ms(100));
    let to_victim = pair.flights[before..].to_vec();
    for flight in to_victim.iter().filter(|flight| flight.path == VICTIM) {
        let _ = pair
            .client
            .handle_datagram(pair.now, arrival(CLIENT_PATH, &flight.bytes));
    }
    pair.loses = Box::new(|_| false);
    pair.run_for(ms(60));
    assert_eq!(pair.server.path(), Some(SERVER_PATH), "it is back");
    // All of the client's datagrams once more, from the victim's address.
    let tape: Vec<Flight> = pair.flights.clone();
    for flight in tape.iter().filter(|flight| flight.from == Role::Client) {
        let _ = pair.reach_server(VICTIM, &flight.bytes);
    }
    assert_eq!(pair.server.path(), Some(SERVER_PATH));
    let validated = std::iter::from_fn(|| pair.server.poll_event())
        .filter(|event| *event == EndpointEvent::PathValidated { path: VICTIM });
    assert_eq!(validated.count(), 0);
}

/// Returns the bytes that the server has sent to a path in the second after the client has come to it.
fn to_new_path(agreement: Option<Terms>, is_heard: bool) -> usize {
    let mut pair = Pair::with(ms(50), [agreement; 2]);
    pair.type_text(b"yes\r");
    flood(&mut pair, ms(3000));
    pair.client_at = VICTIM;
    pair.type_text(b"x");
    flood(&mut pair, ms(60));
    pair.loses = Box::new(move |flight| flight.from == Role::Client && !is_heard);
    flood(&mut pair, ms(1000));
    assert_eq!(pair.server.path(), Some(VICTIM));
    sent_to_victim(&pair)
}

#[test]
fn a_flood_goes_on_as_soon_as_the_challenge_has_come_back() {
    assert!(to_new_path(CHALLENGES, false) <= UNVALIDATED_BYTES_MAX);
    assert!(to_new_path(CHALLENGES, true) > 2 * UNVALIDATED_BYTES_MAX);
}

#[test]
fn a_client_that_moves_is_validated_after_a_round_trip() {
    let mut pair = Pair::with(ms(50), [CHALLENGES; 2]);
    pair.type_text(b"ls\r");
    pair.run_for(ms(3000));
    while pair.server.poll_event().is_some() {}
    pair.client_at = PathId::new(8);
    pair.type_text(b"x");
    // There, and the challenge with its acknowledgement 100 ms later, and back.
    pair.run_for(ms(50 + 100 + 100));
    let events: Vec<_> = std::iter::from_fn(|| pair.server.poll_event()).collect();
    let path = PathId::new(8);
    assert!(
        events.contains(&EndpointEvent::PathValidated { path }),
        "{events:?}"
    );
}

#[test]
fn a_client_that_moves_twice_within_a_round_trip_is_validated_where_it_is() {
    let mut pair = Pair::with(ms(50), [CHALLENGES; 2]);
    pair.type_text(b"ls\r");
    pair.run_for(ms(3000));
    while pair.server.poll_event().is_some() {}
    for (path, pause) in [(8, 30), (9, 500)] {
        pair.client_at = PathId::new(path);
        pair.type_text(b"x");
        pair.run_for(ms(pause));
    }
    let events: Vec<_> = std::iter::from_fn(|| pair.server.poll_event()).collect();
    let path = PathId::new(9);
    assert!(
        events.contains(&EndpointEvent::PathValidated { path }),
        "{events:?}"
    );
    assert_eq!(pair.server.path(), Some(path));
    assert_eq!(pair.server.remote().end(), 5);
}

#[test]
fn a_validated_path_is_not_challenged() {
    let mut pair = Pair::with(ms(50), [CHALLENGES; 2]);
    pair.type_text(b"yes\r");
    flood(&mut pair, ms(10_000));
    assert_eq!(
        pair.sends_of(Role::Client, Cause::Response).len(),
        1,
        "the first"
    );
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

/// Returns how often the server of a client with two interfaces has moved, whose datagrams take them in turns.
fn moves_in_turns(agreement: Option<Terms>) -> usize {
    let mut pair = Pair::with(ms(50), [agreement; 2]);
    pair.is_everywhere = true;
    pair.type_text(b"ls\r");
    pair.run_for(ms(3000));
    for n in 0..500 {
        pair.client_at = PathId::new(8 + n % 2);
        pair.type_text(b"x");
        pair.write((n % 1000) as usize, b"echo");
        pair.run_for(ms(70));
    }
    assert_eq!(pair.server.remote().end(), 503);
    pair.moves
}

#[test]
fn a_client_with_two_interfaces_makes_the_server_move_no_more_often_than_a_stock_one() {
    let (stock, native) = (moves_in_turns(None), moves_in_turns(CHALLENGES));
    assert!(native <= stock + stock / 100, "{native}, stock {stock}");
}
