//! The client turns up elsewhere.

use fulmar_sim::{
    CLIENT, Change, Delay, Failed, Failure, Loss, Nat, Network, address, minutes, ms, secs,
};
use fulmar_transport::EndpointEvent;

use crate::ends::{Run, keep_busy, plan_move, run, seeds, settle};

const RTT: std::time::Duration = ms(100);

fn over_rtt(seed: u64) -> Network {
    Network::seeded(seed).both([Delay::fixed(RTT / 2)])
}

/// Waits until the program has had all keys and says how long that took.
fn until_typed(run: &mut Run) -> Result<std::time::Duration, Failure> {
    run.run_until(secs(10), |(client, server)| {
        server.consumed == client.typed.end()
    })
}

#[test]
fn an_address_change_every_second_loses_nothing() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = run(over_rtt(seed).both([Loss::percent(5)]));
        for second in 1..60 {
            plan_move(&mut run, secs(second));
        }
        keep_busy(&mut run, secs(60));
        run.run_for(secs(60))?;
        settle(&mut run, secs(10))?;
        Ok(())
    })
}

#[test]
fn a_client_that_moved_and_knows_it_is_answered_within_a_round_trip() -> Result<(), Failure> {
    let mut run = run(over_rtt(7));
    run.nodes.0.type_keys(ms(0), 1);
    run.run_for(secs(5))?;
    // The program draws while the client is between two places.
    run.apply(Change::MoveOn(CLIENT));
    run.nodes.1.drawing.keep(secs(5), secs(5) + ms(1), ms(1));
    run.run_for(ms(30))?;
    run.hint(CLIENT, fulmar_base::Hint::AddressChanged);
    let heard = run.run_until(secs(5), |(client, server)| {
        client.link.endpoint.remote() == &server.board
    })?;
    assert!(heard <= RTT + ms(1), "{heard:?}");
    Ok(())
}

#[test]
fn a_client_that_moved_without_knowing_is_followed_with_its_next_datagram() -> Result<(), Failure> {
    let mut run = run(over_rtt(7));
    run.nodes.0.type_keys(ms(0), 1);
    run.run_for(secs(5))?;
    run.apply(Change::MoveOn(CLIENT));
    run.nodes.0.type_keys(secs(5), 1);
    let took = until_typed(&mut run)?;
    assert!(took <= RTT / 2 + ms(1), "{took:?}");
    let moved = run.nodes.1.link.events.iter();
    let moved = moved.filter(|event| matches!(event, EndpointEvent::PeerMoved { .. }));
    assert_eq!(moved.count(), 2, "found, and followed once");
    Ok(())
}

#[test]
fn each_new_path_is_validated_by_itself() -> Result<(), Failure> {
    let mut run = run(over_rtt(7));
    run.nodes.0.type_keys(ms(0), 1);
    for second in [5, 15, 25] {
        plan_move(&mut run, secs(second));
    }
    run.run_for(secs(35))?;
    let validated = run.nodes.1.link.events.iter();
    let validated = validated.filter(|event| matches!(event, EndpointEvent::PathValidated { .. }));
    assert_eq!(validated.count(), 4);
    Ok(())
}

#[test]
fn a_translator_that_forgets_its_mappings_costs_a_datagram() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let outside = address("198.51.100.9:1").ip();
        let net = over_rtt(seed).client_behind(Nat::at(outside));
        let mut run = run(net);
        run.plan_every(secs(7), Change::RebindNat(CLIENT));
        keep_busy(&mut run, secs(60));
        run.run_for(secs(60))?;
        run.cancel_plan();
        settle(&mut run, secs(10))?;
        Ok(())
    })
}

#[test]
fn mappings_that_expire_sooner_than_heartbeats_come_do_not_end_it() -> Result<(), Failure> {
    let outside = address("198.51.100.9:1").ip();
    let nat = Nat::at(outside).expiring_after(secs(2));
    let mut run = run(over_rtt(7).client_behind(nat));
    run.nodes.0.type_keys(ms(0), 1);
    run.run_for(minutes(10))?;
    let now = run.now();
    run.nodes.0.type_keys(now, 1);
    settle(&mut run, secs(5))?;
    Ok(())
}

#[test]
fn a_client_without_answers_opens_new_ports() -> Result<(), Failure> {
    let mut run = run(over_rtt(7));
    run.nodes.0.type_keys(ms(0), 1);
    run.run_for(secs(5))?;
    run.apply(Change::Cut(CLIENT));
    run.run_for(secs(60))?;
    let opened = run.nodes.0.link.events.iter();
    let opened = opened
        .filter(|event| **event == EndpointEvent::OpenPath)
        .count();
    assert!((4..=6).contains(&opened), "{opened} in a minute");
    Ok(())
}

#[test]
fn a_client_on_a_path_of_12_s_stays_at_its_port() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(6000)]));
    run.nodes.0.type_keys(ms(0), 1);
    run.run_for(secs(60))?;
    let opened = |run: &Run| {
        let events = run.nodes.0.link.events.iter();
        events
            .filter(|event| **event == EndpointEvent::OpenPath)
            .count()
    };
    let before = opened(&run);
    run.run_for(minutes(5))?;
    assert_eq!(opened(&run), before);
    Ok(())
}
