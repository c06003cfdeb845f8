//! Ends that have agreed on pauses, or of which one has.

use super::*;
use crate::{Digest, Terms};

const PLAIN: Terms = Terms::of(Digest::new([1; Digest::BYTES]));
const IDLE: Terms = Terms {
    idle: true,
    ..PLAIN
};

/// Returns two ends after a minute in which nothing happens.
fn idle_for_a_minute() -> Pair {
    let mut pair = Pair::with(ms(20), [Some(IDLE); 2]);
    pair.type_text(b"ls\r");
    pair.run_for(ms(60_000));
    pair
}

/// Returns how many transmissions there were since then, by both.
fn sent_since(pair: &Pair, since: Time) -> usize {
    pair.sent.iter().filter(|sent| sent.at > since).count()
}

#[test]
fn eight_datagrams_a_minute_are_enough() {
    let mut pair = idle_for_a_minute();
    let since = pair.now;
    pair.run_for(ms(600_000));
    assert!((78..=82).contains(&sent_since(&pair, since)));
    let pings = pair.sends_of(Role::Client, Cause::Heartbeat);
    let answers = pair.sends_of(Role::Server, Cause::Answer);
    let last = [pings, answers].map(|times| times.last().copied().unwrap());
    assert_eq!(last[1], last[0] + pair.delay, "answered at once");
}

#[test]
fn neither_end_wakes_but_to_ping() {
    let mut pair = idle_for_a_minute();
    // An answer is due as soon as it is asked for.
    let woken = |pair: &Pair| {
        let ends = [pair.client.counters(), pair.server.counters()];
        ends.map(|counters| counters.woken.total() - counters.woken.of(Cause::Answer))
    };
    let before = woken(&pair);
    pair.run_for(ms(600_000));
    let after = woken(&pair);
    assert_eq!([after[0] - before[0], after[1] - before[1]], [40, 0]);
    assert_eq!(pair.server.poll_timeout(), None);
}

#[test]
fn what_is_typed_or_drawn_in_a_pause_goes_at_once() {
    let mut pair = idle_for_a_minute();
    pair.run_for(ms(10_000));
    let typed = pair.now;
    pair.type_text(b"x");
    pair.run_for(ms(50));
    assert_eq!(pair.server.remote().since(0), b"ls\rx");
    pair.write(0, b"drawn");
    pair.run_for(ms(50));
    assert_eq!(pair.client.remote().text(), "drawn");
    pair.run_for(ms(4000));
    let pings = pair.sends_of(Role::Client, Cause::Heartbeat);
    let pause = pings.last().unwrap().since(typed);
    assert!(pause < ms(3500), "{pause:?}");
}

#[test]
fn what_is_sent_in_a_pause_is_not_taken_for_lost_when_the_peer_is_heard() {
    let mut pair = idle_for_a_minute();
    pair.run_for(ms(10_000));
    let samples = |pair: &Pair| pair.client.conversation.answers.samples();
    let before = samples(&pair);
    pair.type_text(b"x");
    pair.run_for(ms(1000));
    assert_eq!(
        samples(&pair),
        before + 1,
        "its acknowledgement was measured"
    );
}

/// Returns a session 14 s after a ping, and when that left.
fn late_in_a_pause() -> (Pair, Time) {
    let mut pair = idle_for_a_minute();
    let pings = pair.sends_of(Role::Client, Cause::Heartbeat);
    let last = *pings.last().unwrap();
    pair.run_until(last + ms(14_000));
    (pair, last)
}

#[test]
fn a_change_at_the_end_of_a_pause_is_retried_for_as_long_as_ever() {
    let (mut pair, _) = late_in_a_pause();
    pair.loses = Box::new(|_| true);
    pair.type_text(b"x");
    let typed = pair.now;
    pair.run_for(ms(6000));
    let last = pair.sends_of(Role::Client, Cause::Resend).pop().unwrap();
    assert!(last.since(typed) > ms(5500), "{last:?} after {typed:?}");
}

#[test]
fn a_lost_ping_is_repeated_within_half_a_second() {
    let (mut pair, last) = late_in_a_pause();
    let lost = last + ms(15_000) + pair.delay;
    pair.loses = Box::new(move |flight| flight.due == lost);
    pair.run_until(last + ms(15_500));
    let heard = pair.client.heard_at().unwrap();
    assert!(heard > last + ms(15_000), "{heard:?}");
    assert_eq!(
        pair.client.silent_since(),
        Some(heard + ms(12_000).saturating_sub(ms(40)))
    );
}

#[test]
fn a_server_that_takes_no_input_is_heard_all_the_same() {
    let mut pair = idle_for_a_minute();
    pair.server.set_intake(Intake::Held);
    pair.type_text(b"x");
    pair.run_for(ms(60_000));
    assert_eq!(pair.server.remote().end(), 3);
    let silence = pair.now.since(pair.client.silent_since().unwrap());
    assert!(silence < ms(4000), "{silence:?}");
}

#[test]
fn an_end_that_has_lost_the_capability_is_heard_every_3_s() {
    for terms in [[IDLE, PLAIN], [PLAIN, IDLE]] {
        let mut pair = Pair::with(ms(20), terms.map(Some));
        pair.type_text(b"ls\r");
        for _ in 0..60 {
            pair.run_for(ms(1000));
            for heard in [pair.client.silent_since(), pair.server.silent_since()] {
                let silence = pair.now.since(heard.unwrap());
                assert!(silence < ms(3500), "{terms:?} {silence:?}");
            }
        }
    }
}

#[test]
fn a_client_that_is_away_is_remembered_for_40_s_beyond_its_pause() {
    let mut pair = idle_for_a_minute();
    pair.loses = Box::new(|flight| flight.from == Role::Client);
    let heard = pair.server.heard_at().unwrap();
    for after in [45_000, 51_900] {
        pair.run_until(heard + ms(after));
        pair.write(0, format!("{after}").as_bytes());
        pair.run_for(ms(10));
        assert_eq!(pair.server.path(), Some(SERVER_PATH), "{after}");
    }
    pair.run_until(heard + ms(52_100));
    pair.write(0, b"drawn");
    assert_eq!(pair.server.path(), None);
}

#[test]
fn no_port_is_left_because_of_a_pause() {
    let mut pair = idle_for_a_minute();
    pair.run_for(ms(600_000));
    let mut events = std::iter::from_fn(|| pair.client.poll_event());
    assert!(!events.any(|event| event == EndpointEvent::OpenPath));
}

#[test]
fn a_report_is_not_believed_because_of_a_pause() {
    let (mut pair, last) = late_in_a_pause();
    let now = pair.now;
    let refused = SendError::Refused;
    assert!(!pair.client.handle_report(now, CLIENT_PATH, refused));
    assert!(!pair.server.handle_report(now, SERVER_PATH, refused));
    pair.loses = Box::new(|_| true);
    pair.run_until(last + ms(16_500));
    assert!(pair.client.handle_report(pair.now, CLIENT_PATH, refused));
}

#[test]
fn a_client_that_is_away_is_forgotten_without_a_datagram() {
    let mut pair = idle_for_a_minute();
    pair.loses = Box::new(|_| true);
    let since = pair.now;
    pair.run_for(ms(60_000));
    assert!(sent_since(&pair, since) > 0, "the client asks");
    pair.write(0, b"drawn");
    let of_server = pair.sent.iter().filter(|sent| sent.from == Role::Server);
    let before = of_server.count();
    pair.run_for(ms(60_000));
    let of_server = pair.sent.iter().filter(|sent| sent.from == Role::Server);
    assert_eq!(of_server.count(), before);
    assert_eq!(pair.server.path(), None);
}

#[test]
fn a_client_that_moves_is_told_with_the_answer_to_its_next_ping() {
    let mut pair = idle_for_a_minute();
    pair.client_at = PathId::new(9);
    pair.run_for(ms(16_000));
    let pings = pair.sends_of(Role::Client, Cause::Heartbeat);
    let next = pair.client.poll_timeout().unwrap().0;
    assert_eq!(next.since(*pings.last().unwrap()), ms(12_000));
}
