//! Sessions in which nothing happens, in virtual time: how rarely they send, and how soon they notice what goes wrong.

mod support;

use std::time::Duration;

use fulmar_core::{Agreement, Capabilities, Capability, ServerEvent};
use fulmar_sim::{
    CLIENT, Change, Delay, Failed, Failure, Impairment, LinkDirection, Loss, Nat, Network, SERVER,
    Seeds, address, hours, minutes, ms, secs,
};

use support::World;

/// The longest pause between two pings.
const PAUSE: Duration = secs(15);

fn network(seed: u64, impairments: impl IntoIterator<Item = Impairment>) -> Network {
    Network::seeded(seed)
        .both([Delay::ms(20)])
        .both(impairments)
}

fn agreement() -> Option<Agreement> {
    let capabilities = Capabilities::from_iter([Capability::Idle]);
    Some(Agreement::of(b"offer", b"answer", capabilities))
}

/// Returns a session of two ends that have agreed on pauses, after five minutes in which nothing happened.
fn idle(net: Network) -> Result<World, Failure> {
    let mut world = agreed(net);
    world.sim.net.timeline.keep(1_000_000);
    world.type_keys(b"$ ");
    world.run_for(minutes(5))?;
    Ok(world)
}

fn agreed(net: Network) -> World {
    World::with(
        net,
        |client| client.agreement = agreement(),
        |server| server.agreement = agreement(),
    )
}

/// Returns how many datagrams were sent so far.
fn sent(world: &World) -> u64 {
    let counts = [CLIENT, SERVER].map(|host| world.sim.net.timeline.counts(host).sent);
    counts.iter().sum()
}

/// Returns how often the program's user was said to be somewhere.
fn arrivals(world: &World) -> usize {
    let arrivals = |event: &&ServerEvent| matches!(event, ServerEvent::ClientAt { .. });
    world.far().events.iter().filter(arrivals).count()
}

#[test]
fn ten_minutes_take_80_datagrams_and_nobody_wakes_but_to_ping() -> Result<(), Failure> {
    let mut world = idle(network(7, []))?;
    let wakes = |world: &World| (world.near().wakes, world.far().wakes);
    let (before, woken, drawn) = (sent(&world), wakes(&world), world.near().frames);
    world.run_for(minutes(10))?;
    assert_eq!(sent(&world) - before, 80);
    assert_eq!(wakes(&world), (woken.0 + 40, woken.1));
    assert_eq!(world.near().frames, drawn);
    assert_eq!(arrivals(&world), 1);
    world.check_screens()
}

#[test]
fn keys_and_output_in_a_pause_take_no_longer_than_ever() -> Result<(), Failure> {
    let mut world = idle(network(7, []))?;
    for wait in [1, 7, 14, 31, 75] {
        world.run_for(secs(wait))?;
        let typed = format!("typed {wait}");
        world.type_keys(typed.as_bytes());
        let took = world.run_until_seen(secs(1), &typed)?;
        assert!(took <= ms(60), "{took:?}");
        world.run_for(secs(wait))?;
        let written = format!(" written {wait}\r\n");
        world.program_writes(written.as_bytes());
        let took = world.run_until_seen(secs(1), written.trim())?;
        assert!(took <= ms(40), "{took:?}");
    }
    Ok(())
}

#[test]
fn a_translator_that_forgets_is_asked_before_it_does() -> Result<(), Failure> {
    for (lifetime, datagrams) in [(5, 200..=420), (10, 100..=140), (20, 80..=90)] {
        let nat = Nat::at(address("198.51.100.9:1").ip()).expiring_after(secs(lifetime));
        let mut world = idle(network(7, []).client_behind(nat))?;
        let before = sent(&world);
        world.run_for(minutes(10))?;
        let count = sent(&world) - before;
        assert!(datagrams.contains(&count), "{lifetime} s: {count}");
        for line in 0..20 {
            world.run_for(secs(30) + ms(700))?;
            world.program_writes(format!("line {line}.\r\n").as_bytes());
            let took = world.run_until_seen(secs(20), &format!("line {line}."))?;
            assert!(took <= ms(50), "{lifetime} s: {took:?}");
        }
    }
    Ok(())
}

#[test]
fn a_server_that_is_gone_is_told_of_as_soon_as_it_does_not_answer() -> Result<(), Failure> {
    for after in [0, 4, 11, 14] {
        let mut world = idle(network(7, []))?;
        world.run_for(secs(after))?;
        world.sim.suspend(SERVER);
        let took = world.run_until_seen(secs(60), "nothing heard for")?;
        assert!(took <= PAUSE + ms(6500), "{after}: {took:?}");
        world.sim.wake(SERVER);
        world.run_for(secs(5))?;
        assert!(!world.seen().contains("nothing heard"), "{}", world.seen());
    }
    Ok(())
}

#[test]
fn whoever_types_at_a_server_that_is_gone_learns_it_as_soon_as_ever() -> Result<(), Failure> {
    let mut world = idle(network(7, []))?;
    world.sim.suspend(SERVER);
    world.type_keys(b"x");
    let took = world.run_until_seen(secs(60), "nothing heard for")?;
    assert!(took <= ms(6501), "{took:?}");
    Ok(())
}

#[test]
fn a_client_that_is_gone_is_detached_after_half_a_minute_of_silence() -> Result<(), Failure> {
    let mut world = idle(network(7, []))?;
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(secs(30))?;
    let is_detached = |world: &World| world.far().events.contains(&ServerEvent::ClientDetached);
    assert!(!is_detached(&world), "it may have been about to ping");
    world.run_for(secs(13))?;
    assert!(is_detached(&world));
    world.sim.apply(Change::Restore(CLIENT));
    world.run_for(secs(5))?;
    assert_eq!(arrivals(&world), 2);
    Ok(())
}

#[test]
fn pauses_are_no_absence_that_a_server_tires_of() -> Result<(), Failure> {
    let mut world = World::with(
        network(7, []),
        |client| client.agreement = agreement(),
        |server| {
            server.agreement = agreement();
            server.network_timeout = Some(secs(4));
        },
    );
    world.run_for(minutes(5))?;
    assert_eq!(world.far().ended, None);
    world.sim.set(CLIENT, LinkDirection::Up, Loss::percent(100));
    let ended = |world: &World| world.far().ended.is_some();
    world.run_for(PAUSE + secs(4))?;
    assert!(ended(&world));
    Ok(())
}

#[test]
fn a_machine_that_wakes_asks_at_once_and_shows_no_notice() -> Result<(), Failure> {
    let mut world = idle(network(7, []))?;
    world.sim.suspend(CLIENT);
    world.run_for(hours(9))?;
    let drawn = world.near().frames;
    world.sim.wake(CLIENT);
    world.type_keys(b"good morning");
    let took = world.run_until_seen(secs(1), "good morning")?;
    assert!(took <= ms(100), "{took:?}");
    assert_eq!(world.near().frames, drawn + 1);
    Ok(())
}

#[test]
fn loss_of_a_twentieth_is_not_taken_for_silence() -> Result<(), Failed<Failure>> {
    Seeds::many(5, 7).try_each(|seed| {
        let mut world = idle(network(seed, [Loss::percent(5)]))?;
        let (before, drawn) = (sent(&world), world.near().frames);
        world.run_for(minutes(30))?;
        assert_eq!(world.near().frames, drawn, "a notice");
        assert_eq!(arrivals(&world), 1, "a port was left");
        let count = sent(&world) - before;
        assert!(count <= 30 * 8 * 13 / 10, "{count}");
        Ok(())
    })
}

#[test]
fn a_round_trip_of_ten_seconds_is_no_silence_either() -> Result<(), Failure> {
    let mut world = idle(Network::seeded(7).both([Delay::fixed(secs(5))]))?;
    let drawn = world.near().frames;
    world.run_for(minutes(10))?;
    assert_eq!((world.near().frames, arrivals(&world)), (drawn, 1));
    Ok(())
}

#[test]
fn with_a_stock_peer_nothing_is_different() -> Result<(), Failure> {
    let datagrams = |of_client: bool, of_server: bool| -> Result<_, Failure> {
        let mut world = World::with(
            network(7, []),
            |client| client.agreement = agreement().filter(|_| of_client),
            |server| server.agreement = agreement().filter(|_| of_server),
        );
        world.run_for(secs(10))?;
        let before = sent(&world);
        world.run_for(minutes(10))?;
        Ok(sent(&world) - before)
    };
    let stock = datagrams(false, false)?;
    assert!((380..=420).contains(&stock), "{stock}");
    assert_eq!(datagrams(true, false)?, stock);
    assert_eq!(datagrams(false, true)?, stock);
    Ok(())
}
