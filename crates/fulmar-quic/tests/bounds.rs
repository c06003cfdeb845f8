//! A connection holds a bounded amount, and no order of arrival ends it.

mod support;

use fulmar_quic::{ConnectionEvent, ConnectionOptions, STREAMS_MAX};
use fulmar_sim::{Delay, Loss, Network, Queue, Rate, Reordering, Simulation, ms, secs};
use support::{End, ends, upload};

const MB: u64 = 1_000_000;

fn run(sim: &mut Simulation<(End, End)>, seconds: u64) {
    if let Err(failure) = sim.run_for(secs(seconds)) {
        panic!("{failure}");
    }
}

#[test]
fn a_connection_outlives_any_gaps() {
    for (loss, reordered, streams) in [(40.0, 0.0, 32), (20.0, 50.0, 1), (0.0, 50.0, STREAMS_MAX)] {
        let net = Network::seeded(4).both([
            Rate::kbit(100_000, Queue::bytes(2_500_000)),
            Delay::ms(50),
            Loss::percent(loss),
            Reordering::percent(reordered, ms(90)),
        ]);
        let options = ConnectionOptions {
            streams,
            ..ConnectionOptions::default()
        };
        let sim = upload(net, 4, &options, 4 * MB);
        assert_eq!(sim.nodes.1.events, [ConnectionEvent::Connected]);
        assert_eq!(sim.nodes.0.events, [ConnectionEvent::Connected]);
    }
}

#[test]
fn windows_follow_the_product_of_rate_and_round_trip() {
    // 800 Mbit/s and 200 ms: 20 MB. 20 Mbit/s and 40 ms: 0.1 MB.
    for (mbit, trip, product) in [(800, 200, 20 * MB), (20, 40, MB / 10)] {
        let net = Network::seeded(5).both([
            Rate::kbit(mbit * 1000, Queue::bytes(product as usize)),
            Delay::ms(trip / 2),
        ]);
        let mut sim = Simulation::new(net, ends(5, &ConnectionOptions::default(), 1 << 40, 0));
        run(&mut sim, 5);
        let least = 16 << 20;
        let near = sim.nodes.0.connection.statistics().send_window;
        let far = sim.nodes.1.connection.statistics().receive_window;
        for window in [near, far] {
            let (low, high) = (product.max(least), (product * 3).max(least));
            assert!((low..=high).contains(&window), "{mbit} Mbit/s: {window}");
        }
    }
}

#[test]
fn an_end_holds_three_products_at_most_from_the_first_byte_on() {
    // 400 Mbit/s and 200 ms: three products are more than the least window.
    let (product, to_send) = (10 * MB, 1 << 40);
    for loss in [0.0, 1.0] {
        let net = Network::seeded(5).both([
            Loss::percent(loss),
            Rate::kbit(400_000, Queue::bytes(product as usize)),
            Delay::ms(100),
        ]);
        let options = ConnectionOptions::default();
        let mut sim = Simulation::new(net, ends(5, &options, to_send, 0));
        let staged = u64::from(options.streams) * (64 << 10);
        for _ in 0..200 {
            sim.run_for(ms(30)).unwrap();
            let (near, far) = &sim.nodes;
            // Not yet acknowledged at one end or not yet read at the other.
            let held = to_send - near.to_send - far.received;
            assert!(held <= 3 * product + staged, "{held} at {:?}", sim.now());
            let kept = near.connection.statistics().send_window;
            let unread = far.connection.statistics().receive_window;
            assert!(kept.max(unread) <= 3 * product, "{kept} {unread}");
        }
        let received = sim.nodes.1.received;
        assert!(received > 40 * MB, "{received} with {loss} % lost");
    }
}

#[test]
fn a_reader_that_stops_holds_a_window_and_a_writer_no_more() {
    let cap = 2 << 20;
    let options = ConnectionOptions {
        window_max: cap,
        ..ConnectionOptions::default()
    };
    let net =
        Network::seeded(6).both([Rate::kbit(100_000, Queue::bytes(1_000_000)), Delay::ms(20)]);
    let (client, mut server) = ends(6, &options, 1 << 40, 0);
    server.reads = false;
    let mut sim = Simulation::new(net, (client, server));
    run(&mut sim, 10);
    let written = (1 << 40) - sim.nodes.0.to_send;
    // At the reader, at the writer, and staged: 64 KiB for each stream.
    let staged = u64::from(options.streams) * (64 << 10);
    assert!(written >= cap, "{written}");
    assert!(written <= 2 * cap + staged, "{written}");
    // It goes on when somebody reads.
    sim.nodes.1.reads = true;
    run(&mut sim, 3);
    assert!(sim.nodes.1.received > 10 * MB);
}

#[test]
fn a_small_window_is_kept_to() {
    let options = ConnectionOptions {
        window_max: 1 << 20,
        ..ConnectionOptions::default()
    };
    let net =
        Network::seeded(7).both([Rate::kbit(200_000, Queue::bytes(5_000_000)), Delay::ms(100)]);
    let mut sim = Simulation::new(net, ends(7, &options, 1 << 40, 0));
    run(&mut sim, 10);
    // A mebibyte in each round trip of 200 ms.
    assert!(sim.nodes.1.received <= 50 << 20);
    assert!(sim.nodes.1.received > 30 << 20);
}
