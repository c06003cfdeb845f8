//! A client that turns up elsewhere while somebody types, in virtual time: how long its user waits.

mod support;

use std::time::Duration;

use fulmar_base::Hint;
use fulmar_core::{Agreement, Capabilities};
use fulmar_sim::{CLIENT, Change, Delay, Failure, Nat, Network, Random, address, ms, secs};

use support::World;

/// The round trip of all these links.
const ROUND_TRIP: Duration = ms(100);

/// The number of times that something happens to the client, every five seconds.
const EVENTS: u64 = 100;

fn network() -> Network {
    Network::seeded(7).both([Delay::fixed(ROUND_TRIP / 2)])
}

fn world(net: Network) -> World {
    let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
    World::with(
        net,
        |client| client.agreement = agreement,
        |server| server.agreement = agreement,
    )
}

/// Types keys, each a moment after the one before is echoed, while something happens every five seconds. Returns
/// how long each took, the longest last.
fn waits(net: Network, happens: impl Fn(&mut World, u64)) -> Result<Vec<Duration>, Failure> {
    let mut world = world(net);
    let mut random = Random::stream(7, 300);
    world.run_for(secs(2))?;
    let mut waits = Vec::new();
    for event in 0..EVENTS {
        let end = world.sim.now() + secs(5);
        for key in 0.. {
            if world.sim.now() >= end {
                break;
            }
            let typed = world.sim.now();
            world.type_keys(b"k");
            if key == 5 {
                // It may find the key, or the echo, anywhere.
                world.run_for(random.between(ms(0), ROUND_TRIP))?;
                happens(&mut world, event);
            }
            world.run_until_settled(secs(20))?;
            waits.push(world.sim.now() - typed);
            world.run_for(random.between(ms(20), ms(300)))?;
        }
    }
    waits.sort();
    Ok(waits)
}

/// Fails if a key took longer than is promised.
fn check(waits: &[Duration], what: &str) {
    let longest = waits.last().copied().unwrap_or_default();
    let p99 = waits[waits.len() * 99 / 100];
    println!(
        "{what}: {} keys, median {:?}, p99 {p99:?}, longest {longest:?}",
        waits.len(),
        waits[waits.len() / 2]
    );
    assert!(p99 <= ms(250), "{what}: p99 {p99:?}");
    assert!(longest <= ms(350), "{what}: {longest:?}");
}

fn hinted(world: &mut World) {
    world.sim.hint(CLIENT, Hint::AddressChanged);
}

#[test]
fn a_new_address_that_the_system_tells_of() -> Result<(), Failure> {
    let waits = waits(network(), |world, _| {
        world.sim.apply(Change::MoveOn(CLIENT));
        hinted(world);
    })?;
    check(&waits, "new address, told");
    Ok(())
}

#[test]
fn a_new_address_that_nobody_tells_of() -> Result<(), Failure> {
    let waits = waits(network(), |world, _| {
        world.sim.apply(Change::MoveOn(CLIENT));
    })?;
    check(&waits, "new address, not told");
    Ok(())
}

#[test]
fn a_new_port_of_a_translator() -> Result<(), Failure> {
    let nat = Nat::at(address("198.51.100.9:1").ip());
    let waits = waits(network().client_behind(nat), |world, _| {
        world.sim.apply(Change::RebindNat(CLIENT));
    })?;
    check(&waits, "new port");
    Ok(())
}

#[test]
fn from_ipv4_to_ipv6_and_back() -> Result<(), Failure> {
    let waits = waits(network(), |world, event| {
        let to = ["[2001:db8::7]:4500", "198.51.100.7:4500"][(event % 2) as usize];
        world.sim.move_to(CLIENT, to);
        hinted(world);
    })?;
    check(&waits, "between IPv4 and IPv6");
    Ok(())
}
