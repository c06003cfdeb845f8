//! Bytes cross simulated networks whole and in order.

mod support;

use fulmar_quic::{Event, Options};
use fulmar_sim::{
    Delay, Duplication, Loss, Network, Queue, Rate, Reordering, Simulation, ms, secs,
};
use support::{ends, upload};

const MB: u64 = 1_000_000;

#[test]
fn both_ends_prove_who_they_are_and_bytes_cross_both_ways() {
    let net = Network::seeded(1).both([Delay::ms(50)]);
    let options = Options::default();
    let mut sim = Simulation::new(net, ends(1, &options, 2 * MB, 3 * MB));
    let took = sim.run_until(secs(20), |(client, server)| {
        client.received == 3 * MB && server.received == 2 * MB
    });
    took.unwrap();
    let (client, server) = &sim.nodes;
    assert_eq!(client.events, [Event::Connected]);
    assert_eq!(server.events, [Event::Connected]);
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
        upload(net, seed as u8, &Options::default(), 3 * MB);
    }
}

#[test]
fn equal_seeds_give_equal_traces() {
    let trace = |seed| {
        let net = Network::seeded(seed).both([Delay::ms(30), Loss::percent(5)]);
        let sim = upload(net, seed as u8, &Options::default(), MB);
        let (client, server) = sim.nodes;
        (client.trace, server.trace)
    };
    // The keys of the handshake differ, so only times and sizes can be the same.
    assert!(trace(5) == trace(5));
    assert!(trace(5) != trace(6));
}
