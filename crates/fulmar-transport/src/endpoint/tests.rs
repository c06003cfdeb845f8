//! The behaviour of an endpoint, seen from outside.

mod agreement;
mod attack;
mod goodbye;
mod hostile;
mod idle;
mod pace;
mod pair;
mod random;
mod reports;
mod sizes;

use std::time::Duration;

use fulmar_datagram::Direction;
use pair::*;

use super::*;
use crate::testing::{Board, Log};
use crate::{Cause, DropReason, Instruction, Role};

#[test]
fn both_objects_arrive() {
    let mut pair = Pair::new(ms(50));
    pair.type_text(b"ls\r");
    pair.run_for(ms(300));
    pair.write(0, b"one  two");
    pair.run_for(ms(1000));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.remote().text(), "one  two");
    assert_eq!(pair.client.acknowledged().end(), 3);
    assert_eq!(pair.server.acknowledged().text(), "one  two");
}

#[test]
fn a_lost_first_datagram_is_repeated_after_250_ms() {
    let mut pair = Pair::new(ms(20));
    pair.loses = Box::new(|flight| flight.from == Role::Client && flight.nth == 0);
    pair.type_text(b"ls\r");
    pair.run_until(at(269));
    assert_eq!(pair.server.remote().end(), 0);
    // 250 ms, there, and at once back.
    pair.run_until(at(290));
    assert_eq!(pair.server.remote().since(0), b"ls\r");
    assert_eq!(pair.client.acknowledged_number(), StateNumber::new(2));
    assert_eq!(pair.sends_of(Role::Client, Cause::FirstRepeat), [at(250)]);
}

#[test]
fn a_lost_first_answer_costs_no_more() {
    let mut pair = Pair::new(ms(20));
    pair.loses = Box::new(|flight| flight.from == Role::Server && flight.nth == 0);
    pair.type_text(b"ls\r");
    pair.run_until(at(250 + 40 + 100));
    assert_eq!(pair.client.acknowledged().end(), 3);
}

#[test]
fn acknowledged_input_is_forgotten_at_both_ends() {
    let mut pair = Pair::new(ms(20));
    pair.type_text(&[b'x'; 10_000]);
    pair.run_for(ms(1000));
    assert_eq!(pair.client.local().kept_bytes(), 0);
    assert_eq!(pair.server.remote().kept_bytes(), 10_000);
    pair.server.forget_consumed();
    assert_eq!(pair.server.remote().kept_bytes(), 0);
    assert_eq!(pair.server.receiver().held_bytes(), 0);
}

/// A server that has heard state 1 and sent state 1, a screen too large to be sent again for nothing.
fn busy_server(raw_peer: &mut RawPeer) -> Server {
    let mut server = server();
    tell(
        &mut server,
        at(0),
        SERVER_PATH,
        raw_peer.say(&instruction([0, 1, 0, 0], b"a")),
    );
    let mut board = Board::blank(BOARD_CELLS);
    board.write(0, &[b'x'; 500]);
    server.set_local(at(0), board);
    drain(&mut server, at(0));
    assert_eq!(server.sent_number(), StateNumber::new(1));
    server
}

fn tell(server: &mut Server, now: Time, path: PathId, datagrams: Vec<Vec<u8>>) {
    for bytes in datagrams {
        let received = server.handle_datagram(now, arrival(path, &bytes));
        assert_eq!(received.verdict, DatagramVerdict::Fresh);
    }
}

fn drain(server: &mut Server, now: Time) -> Vec<Transmit> {
    let mut out = Vec::new();
    std::iter::from_fn(|| server.poll_transmit(now, &mut out)).collect()
}

#[test]
fn a_repeated_instruction_is_acknowledged_again() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    // It has our state, and does not know that we have its own.
    let repeated = instruction([0, 1, 1, 0], b"a");
    tell(&mut server, at(1000), SERVER_PATH, raw_peer.say(&repeated));
    let due = server.poll_timeout();
    assert_eq!(due, Some((at(1100), Cause::Acknowledgement)));
}

#[test]
fn a_repeated_heartbeat_is_not() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    for _ in 0..2 {
        let heartbeat = instruction([1, 2, 1, 1], b"");
        tell(&mut server, at(1000), SERVER_PATH, raw_peer.say(&heartbeat));
    }
    assert_eq!(server.poll_timeout(), Some((at(3000), Cause::Heartbeat)));
}

#[test]
fn a_client_found_elsewhere_gets_at_once_what_may_have_gone_astray() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    let elsewhere = PathId::new(9);
    let heartbeat = instruction([1, 2, 0, 1], b"");
    tell(&mut server, at(300), elsewhere, raw_peer.say(&heartbeat));
    let sent = drain(&mut server, at(300));
    let sent: Vec<_> = sent.iter().map(|s| (s.path, s.cause)).collect();
    assert_eq!(sent, [(elsewhere, Cause::Resend)]);
}

#[test]
fn an_acknowledgement_in_a_repetition_is_not_taken_for_seen_with_the_state() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    // Our state 1 goes out again, and with it the acknowledgement of the peer's state 2 …
    tell(
        &mut server,
        at(500),
        SERVER_PATH,
        raw_peer.say(&instruction([1, 2, 0, 0], b"b")),
    );
    let again = drain(&mut server, at(2000)).remove(0).numbers.instruction;
    assert_eq!((again.target.get(), again.acknowledged.get()), (1, 2));
    assert_eq!(server.receiver().pledged_count(), 2);
    // … but it was the first sending of state 1 that the peer got. Only its state 1 is settled.
    let answer = raw_peer.say(&instruction([1, 3, 1, 0], b""));
    tell(&mut server, at(2010), SERVER_PATH, answer);
    assert_eq!(server.receiver().pledged_count(), 1);
}

#[test]
fn an_instruction_that_contradicts_itself_acknowledges_nothing() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    let bad = raw_peer.say(&instruction([1, 2, 1, 2], b"b")).remove(0);
    let received = server.handle_datagram(at(10), arrival(SERVER_PATH, &bad));
    assert_eq!(
        received.verdict,
        DatagramVerdict::Dropped(DropReason::BadNumbers)
    );
    assert_eq!(server.acknowledged_number(), StateNumber::ZERO);
}

#[test]
fn after_too_big_the_same_goes_out_in_small_pieces() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    server.handle_send_error(at(0), SERVER_PATH, SendError::TooBig);
    assert_eq!(server.poll_timeout(), Some((at(20), Cause::Probe)));
    let mut board = Board::blank(BOARD_CELLS);
    let text: Vec<u8> = (0..1500_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    board.write(0, &text);
    server.set_local(at(20), board);
    let sent = drain(&mut server, at(20));
    assert!(sent.iter().all(|s| s.segment == 500), "{sent:?}");
    assert!(sent.iter().map(Transmit::datagrams).sum::<usize>() > 3);
}

#[test]
fn an_error_from_a_path_that_was_left_does_not_matter() {
    let mut raw_peer = RawPeer::new(Direction::ToServer);
    let mut server = busy_server(&mut raw_peer);
    let before = server.poll_timeout();
    server.handle_send_error(at(0), PathId::new(9), SendError::Refused);
    assert_eq!(server.poll_timeout(), before);
    assert_eq!(server.counters().send_errors, 1);
}

#[test]
fn a_spent_key_ends_the_conversation() {
    let key = fulmar_datagram::Key::from_base64(KEY).unwrap();
    let sealer = Sealer::with_blocks_max(key, Direction::ToServer, 10);
    let mut client: Client = Endpoint::new(
        at(0),
        config(Role::Client),
        sealer,
        opener(Direction::ToClient),
        Log::default(),
        Board::blank(1),
        Box::new(Quiet::default()),
    );
    client.handle_path_opened(at(0), CLIENT_PATH);
    let mut out = Vec::new();
    let mut now = at(0);
    while client.ending().is_none() {
        while client.poll_transmit(now, &mut out).is_some() {}
        now += ms(10_000);
        client.handle_timeout(now);
    }
    assert_eq!(client.ending(), Some(Ending::KeySpent));
    assert_eq!(client.poll_timeout(), None);
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(events.last(), Some(&EndpointEvent::Ended(Ending::KeySpent)));
}
