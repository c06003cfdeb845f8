//! A goodbye to a peer that sleeps.

use super::*;
use crate::Ending;

/// A server that has said goodbye, persistently if `persists`, to a client that slept for a minute.
fn slept_through_goodbye(persists: bool) -> Pair {
    let mut pair = Pair::new(ms(20));
    for _ in 0..4 {
        pair.type_text(b"ls\r");
        pair.run_for(ms(250));
    }
    pair.loses = Box::new(|_| true);
    if persists {
        pair.server.persist_shutdown();
    }
    pair.server.start_shutdown(pair.now);
    pair.run_for(ms(60_000));
    assert_eq!(pair.server.ending(), Some(Ending::Unanswered));
    pair.loses = Box::new(|_| false);
    pair
}

#[test]
fn a_peer_that_slept_is_told_when_it_is_heard_if_the_goodbye_persists() {
    for persists in [false, true] {
        let mut pair = slept_through_goodbye(persists);
        pair.run_for(ms(10_000));
        let ended = persists.then_some(Ending::ByPeer);
        assert_eq!(pair.client.ending(), ended);
        let told = if persists {
            Ending::Acknowledged
        } else {
            Ending::Unanswered
        };
        assert_eq!(pair.server.ending(), Some(told));
    }
}

#[test]
fn what_was_recorded_does_not_make_a_server_speak() {
    let mut pair = slept_through_goodbye(true);
    // Before it is said in vain, the goodbye leaves nothing unsaid.
    pair.drain();
    let sent = pair.sent.len();
    let recorded: Vec<Flight> = pair.flights.clone();
    let of_client = recorded
        .iter()
        .filter(|flight| flight.from == Role::Client && flight.due <= at(2000));
    let mut count = 0;
    for flight in of_client {
        let received = pair.reach_server(PathId::new(99), &flight.bytes);
        assert_eq!(received.sequence, None);
        count += 1;
    }
    assert!(count > 2, "{count} datagrams");
    let mut out = Vec::new();
    assert!(pair.server.poll_transmit(pair.now, &mut out).is_none());
    assert_eq!(
        (pair.sent.len(), pair.server.path()),
        (sent, Some(SERVER_PATH))
    );
}
