//! Nothing passes for a while, addresses change, machines sleep: bytes go on by themselves.

mod support;

use std::time::Duration;

use fulmar_base::Hint;
use fulmar_quic::{ConnectionEvent, ConnectionOptions};
use fulmar_sim::{
    CLIENT, Change, Delay, Nat, Network, Outage, Queue, Rate, Simulation, hours, ms, secs,
};
use support::{End, ends};

const RTT: Duration = ms(100);

/// The beginning of the outage.
const CUT: Duration = secs(3);

/// A size that nobody finishes within a test.
const ENDLESS: u64 = 1 << 50;

fn network(end: Duration) -> Network {
    Network::seeded(2).both([
        Rate::kbit(20_000, Queue::bytes(250_000)),
        Delay::ms(50),
        Outage::between(CUT, end),
    ])
}

fn run(sim: &mut Simulation<(End, End)>, time: Duration) {
    if let Err(failure) = sim.run_for(time) {
        panic!("{failure}");
    }
}

/// Runs until this end has got more than it has now; how long that takes.
fn until_more(sim: &mut Simulation<(End, End)>, at_client: bool) -> Duration {
    let received = |nodes: &(End, End)| {
        if at_client {
            nodes.0.received
        } else {
            nodes.1.received
        }
    };
    let before = received(&sim.nodes);
    match sim.run_until(secs(30), |nodes| received(nodes) > before) {
        Ok(took) => took,
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn bytes_flow_a_trip_and_a_second_after_any_outage() {
    for length in [secs(5), secs(60), hours(1)] {
        for (up, down) in [(ENDLESS, 0), (0, ENDLESS)] {
            let end = CUT + length;
            let mut sim = Simulation::new(
                network(end),
                ends(2, &ConnectionOptions::default(), up, down),
            );
            run(&mut sim, end);
            let took = until_more(&mut sim, down > 0);
            // The question needs a trip, and so do bytes that fill the gap.
            assert!(took <= secs(1) + 2 * RTT, "{length:?}, up {up}: {took:?}");
            let (client, server) = &sim.nodes;
            for end in [client, server] {
                assert_eq!(end.events, [ConnectionEvent::Connected]);
            }
        }
    }
}

#[test]
fn the_full_rate_is_back_soon_after_an_outage() {
    let end = CUT + secs(60);
    let mut sim = Simulation::new(
        network(end),
        ends(2, &ConnectionOptions::default(), ENDLESS, 0),
    );
    run(&mut sim, end + secs(3));
    let before = sim.nodes.1.received;
    run(&mut sim, secs(5));
    let rate = (sim.nodes.1.received - before) as f64 * 8e-6 / 5.0;
    assert!(rate > 17.0, "{rate} of 20 Mbit/s");
}

#[test]
fn silence_costs_a_datagram_a_second() {
    let mut sim = Simulation::new(
        network(hours(2)),
        ends(2, &ConnectionOptions::default(), ENDLESS, 0),
    );
    run(&mut sim, secs(60));
    let before = sim.nodes.0.sent_datagrams;
    run(&mut sim, secs(600));
    let sent = sim.nodes.0.sent_datagrams - before;
    // Questions, and a few probes of QUIC's own.
    assert!((600..=640).contains(&sent), "{sent} datagrams");
}

#[test]
fn a_server_follows_its_client_through_a_new_address_and_a_new_mapping() {
    for (up, down) in [(ENDLESS, 0), (0, ENDLESS)] {
        for change in [
            Change::MoveOn(CLIENT),
            Change::RebindNat(CLIENT),
            Change::MoveNat(CLIENT, [198, 51, 100, 77].into()),
        ] {
            let net = network(CUT).client_behind(Nat::at([198, 51, 100, 9].into()));
            let mut sim = Simulation::new(net, ends(2, &ConnectionOptions::default(), up, down));
            run(&mut sim, CUT + ms(7));
            let is_noticed = matches!(change, Change::MoveOn(_));
            sim.apply(change.clone());
            if is_noticed {
                sim.apply(Change::Hint(CLIENT, Hint::AddressChanged));
            }
            let before = [sim.nodes.0.received, sim.nodes.1.received];
            run(&mut sim, secs(4));
            let after = [sim.nodes.0.received, sim.nodes.1.received];
            let rate = (after[0] + after[1] - before[0] - before[1]) as f64 * 8e-6 / 4.0;
            assert!(rate > 10.0, "{change:?}, up {up}: {rate} of 20 Mbit/s");
            // Where it was, where it is; nothing else was believed.
            assert!(sim.nodes.1.ways() <= 3, "{change:?}");
        }
    }
}

#[test]
fn a_client_that_has_slept_goes_on() {
    let mut sim = Simulation::new(
        network(CUT),
        ends(2, &ConnectionOptions::default(), ENDLESS, 0),
    );
    run(&mut sim, CUT);
    sim.suspend(CLIENT);
    run(&mut sim, hours(3));
    sim.wake(CLIENT);
    let took = until_more(&mut sim, false);
    assert!(took <= 2 * RTT, "{took:?}");
}

#[test]
fn hosts_that_are_late_do_not_make_it_slower_and_slower() {
    let late = || Delay::jitter(ms(0), ms(10));
    let link = || Rate::kbit(50_000, Queue::bytes(250_000));
    let net = Network::seeded(3)
        .up([link(), Delay::ms(20), late()])
        .down([link(), Delay::ms(20), late()]);
    let mut sim = Simulation::new(net, ends(3, &ConnectionOptions::default(), ENDLESS, 0));
    run(&mut sim, secs(10));
    let before = sim.nodes.1.received;
    run(&mut sim, secs(10));
    let rate = (sim.nodes.1.received - before) as f64 * 8e-6 / 10.0;
    assert!(rate > 40.0, "{rate} of 50 Mbit/s");
}
