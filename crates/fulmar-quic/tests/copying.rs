//! Bytes cross simulated networks whole and in order.

mod support;

use bytes::Bytes;
use fulmar_base::Time;
use fulmar_quic::{Connection, ConnectionEnd, ConnectionEvent, ConnectionOptions, StreamId};
use fulmar_sim::{
    Delay, Duplication, Loss, Network, Queue, Rate, Reordering, Simulation, ms, secs,
};
use support::{End, ends, upload};

const MB: u64 = 1_000_000;

#[test]
fn both_ends_prove_who_they_are_and_bytes_cross_both_ways() {
    let net = Network::seeded(1).both([Delay::ms(50)]);
    let options = ConnectionOptions::default();
    let mut sim = Simulation::new(net, ends(1, &options, 2 * MB, 3 * MB));
    let took = sim.run_until(secs(20), |(client, server)| {
        client.received == 3 * MB && server.received == 2 * MB
    });
    took.unwrap();
    let (client, server) = &sim.nodes;
    assert_eq!(client.events, [ConnectionEvent::Connected]);
    assert_eq!(server.events, [ConnectionEvent::Connected]);
}

#[test]
fn nothing_is_missing_after_loss_reordering_and_doubling() {
    for seed in 0..4 {
        let net = Network::seeded(seed).both([
            Rate::kbit(50_000, Queue::datagrams(200)),
            Delay::ms(30),
            Loss::percent(5),
            Reordering::percent(5, ms(20)),
            Duplication::percent(5),
        ]);
        upload(net, seed as u8, &ConnectionOptions::default(), 3 * MB);
    }
}

#[test]
fn on_a_slow_path_the_first_streams_go_before_the_others() {
    for loss in [0.0, 2.0] {
        let net = Network::seeded(5).both([
            Rate::kbit(8000, Queue::datagrams(100)),
            Delay::ms(30),
            Loss::percent(loss),
        ]);
        let mut sim = Simulation::new(net, ends(5, &ConnectionOptions::default(), 20 * MB, 0));
        let has_come = |(_, server): &(End, End)| server.received >= 4 * MB;
        sim.run_until(secs(100), has_come).unwrap();
        let heard = sim.nodes.1.streams_heard();
        assert!(heard <= 16, "{heard} streams with {loss} % lost");
    }
}

/// docs/decisions/025-congestion-control.md, on the start and on acknowledgements: those that wait behind
/// windows of the remote end stop everything for a round trip each time.
#[test]
fn a_long_fast_path_is_filled_within_nine_round_trips_and_remains_so() {
    // A queue of one product, and of a tenth of it.
    for (loss, queue) in [(0.0, 5_000_000), (1.0, 5_000_000), (0.0, 500_000)] {
        let net = Network::seeded(3).both([
            Rate::kbit(200_000, Queue::bytes(queue)),
            Delay::ms(100),
            Loss::percent(loss),
        ]);
        let sim = upload(net, 3, &ConnectionOptions::default(), 60 * MB);
        // The link takes 2.4 s for the bytes.
        let took = sim.nodes.1.received_at;
        assert!(
            took < ms(2400 + 9 * 200),
            "{took:?} with {loss} % lost and a queue of {queue}"
        );
    }
}

#[test]
fn equal_seeds_give_equal_traces() {
    let trace = |seed| {
        let net = Network::seeded(seed).both([Delay::ms(30), Loss::percent(5)]);
        let sim = upload(net, seed as u8, &ConnectionOptions::default(), MB);
        let (client, server) = sim.nodes;
        (client.trace, server.trace)
    };
    // The keys of the handshake differ, so only times and sizes can be the same.
    assert!(trace(5) == trace(5));
    assert!(trace(5) != trace(6));
}

fn read_all(end: &mut Connection, stream: StreamId) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(bytes) = end.read(stream, 7) {
        all.extend_from_slice(&bytes);
    }
    all
}

fn pass(sim: &mut Simulation<(End, End)>) {
    // An end looks for things to send when something has happened.
    for end in [&mut sim.nodes.0, &mut sim.nodes.1] {
        end.touch();
    }
    if let Err(failure) = sim.run_for(secs(1)) {
        panic!("{failure}");
    }
}

#[test]
fn streams_have_an_end_and_control_runs_both_ways() {
    let net = Network::seeded(8).both([Delay::ms(20)]);
    let (mut client, mut server) = ends(8, &ConnectionOptions::default(), 0, 0);
    (client.reads, server.reads) = (false, false);
    // Before there is a connection.
    let asks = &mut Bytes::from_static(b"what is there");
    client.connection.write(StreamId::CONTROL, asks);
    assert!(asks.is_empty() && !client.connection.is_delivered());
    let mut sim = Simulation::new(net, (client, server));
    pass(&mut sim);
    assert_eq!(
        read_all(&mut sim.nodes.1.connection, StreamId::CONTROL),
        b"what is there"
    );
    let (client, server) = (&mut sim.nodes.0.connection, &mut sim.nodes.1.connection);
    server.write(StreamId::CONTROL, &mut Bytes::from_static(b"nothing"));
    server.finish(StreamId::CONTROL);
    client.write(
        StreamId::new(32),
        &mut Bytes::from_static(b"the last stream"),
    );
    client.finish(StreamId::new(32));
    client.write(StreamId::new(33), &mut Bytes::from_static(b"is no stream"));
    pass(&mut sim);
    let (client, server) = (&mut sim.nodes.0.connection, &mut sim.nodes.1.connection);
    assert_eq!(read_all(client, StreamId::CONTROL), b"nothing");
    assert!(client.is_ended(StreamId::CONTROL) && !server.is_ended(StreamId::CONTROL));
    assert_eq!(read_all(server, StreamId::new(32)), b"the last stream");
    assert!(server.is_ended(StreamId::new(32)));
    assert_eq!(server.room(StreamId::new(33)), 0);
    client.finish(StreamId::CONTROL);
    pass(&mut sim);
    assert!(sim.nodes.0.connection.is_delivered() && sim.nodes.1.connection.is_delivered());
}

#[test]
fn closing_tells_the_other_end_and_both_are_done() {
    let net = Network::seeded(9).both([Delay::ms(20)]);
    let mut sim = Simulation::new(net, ends(9, &ConnectionOptions::default(), MB, 0));
    pass(&mut sim);
    let now = Time::from_origin(sim.now());
    sim.nodes.0.connection.close(now);
    pass(&mut sim);
    pass(&mut sim);
    let (client, server) = &sim.nodes;
    assert_eq!(
        client.events,
        [
            ConnectionEvent::Connected,
            ConnectionEvent::Ended(ConnectionEnd::Here)
        ]
    );
    assert_eq!(
        server.events,
        [
            ConnectionEvent::Connected,
            ConnectionEvent::Ended(ConnectionEnd::There)
        ]
    );
    assert!(client.connection.is_done() && server.connection.is_done());
    assert_eq!(client.connection.poll_timeout(), None);
}
