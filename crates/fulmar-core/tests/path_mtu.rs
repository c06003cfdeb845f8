//! Sessions over paths that drop long datagrams, in virtual time: what a user sees of it.

mod support;

use std::time::Duration;

use fulmar_core::{Agreement, Capabilities, Capability};
use fulmar_sim::{
    CLIENT, Delay, Failed, Failure, LinkDirection, Mtu, Network, Random, SERVER, Seeds, minutes,
    ms, secs,
};

use support::World;

/// Returns a session over a path that carries packets of so many bytes, whose ends have agreed on these capabilities.
fn session(packet_bytes_max: usize, capabilities: &[Capability]) -> World {
    let net = Network::seeded(7).both([Mtu::black_hole(packet_bytes_max), Delay::ms(20)]);
    let agreed = Capabilities::from_iter(capabilities.iter().copied());
    let agreement = (!agreed.is_empty()).then(|| Agreement::of(b"offer", b"answer", agreed));
    World::with(
        net,
        |client| client.agreement = agreement,
        |server| server.agreement = agreement,
    )
}

/// Has the path carry packets of at most so many bytes from now on.
fn shrink(world: &mut World, packet_bytes_max: usize) {
    for direction in [LinkDirection::Up, LinkDirection::Down] {
        let mtu = Mtu::black_hole(packet_bytes_max);
        world.sim.set(CLIENT, direction, mtu);
    }
}

/// Draws a screen of chance every second, and returns how long each takes to be seen whole.
fn pages(world: &mut World, count: u64) -> Result<Vec<Duration>, Failure> {
    let mut random = Random::stream(7, 300);
    let mut times = Vec::new();
    for _ in 0..count {
        let mut page = b"\x1b[H".to_vec();
        page.extend((0..23 * 80).map(|_| b'!' + random.below(94) as u8));
        world.program_writes(&page);
        times.push(world.run_until_settled(secs(10))?);
        world.run_for(secs(1))?;
    }
    Ok(times)
}

#[test]
fn the_first_screens_behind_a_tunnel_that_appears_take_a_second_and_a_half_more_at_most()
-> Result<(), Failure> {
    for capabilities in [&[][..], &[Capability::Sizes]] {
        for limit in [1480, 1420, 1400, 1248, 1000, 600] {
            let mut world = session(1500, capabilities);
            let before = pages(&mut world, 5)?;
            let usual = before[4];
            shrink(&mut world, limit);
            let times = pages(&mut world, 8)?;
            let lost: Duration = times.iter().map(|took| took.saturating_sub(usual)).sum();
            println!("{capabilities:?}, MTU {limit}: {lost:?} more");
            assert!(lost < ms(1500), "{capabilities:?}, MTU {limit}: {times:?}");
            assert!(times[7] < usual + ms(60), "MTU {limit}: {times:?}");
            world.check_screens()?;
        }
    }
    Ok(())
}

#[test]
fn what_is_pasted_into_a_tunnel_that_appears_arrives_once_and_in_order() -> Result<(), Failure> {
    for capabilities in [&[][..], &[Capability::Sizes]] {
        let mut world = session(1500, capabilities);
        pages(&mut world, 3)?;
        shrink(&mut world, 1240);
        let mut random = Random::stream(7, 301);
        let text: Vec<u8> = (0..200_000)
            .map(|_| b'a' + random.below(26) as u8)
            .collect();
        world.near_mut().paste(&text);
        world.run_for(secs(1))?;
        world.run_until_settled(secs(30))?;
        world.check_typed(&text)?;
    }
    Ok(())
}

#[test]
fn an_idle_session_is_as_quiet_as_ever_once_the_length_is_found() -> Result<(), Failure> {
    for packet_bytes_max in [1500, 1420] {
        let mut world = session(packet_bytes_max, &[Capability::Idle, Capability::Sizes]);
        pages(&mut world, 20)?;
        world.run_for(minutes(5))?;
        let sent = |world: &World| -> u64 {
            let counts = [CLIENT, SERVER].map(|host| world.sim.net.timeline.counts(host).sent);
            counts.iter().sum()
        };
        let before = sent(&world);
        // What did not pass is tried again after ten minutes, but only for something long.
        world.run_for(minutes(20))?;
        assert_eq!(sent(&world) - before, 160, "MTU {packet_bytes_max}");
    }
    Ok(())
}

#[test]
fn tunnels_that_come_and_go_at_any_time_stall_nobody() -> Result<(), Failed<Failure>> {
    Seeds::many(40, 7).try_each(|seed| {
        let mut random = Random::stream(seed, 302);
        let delay = Delay::fixed(ms(random.below(80)));
        let net = Network::seeded(seed).both([Mtu::black_hole(1500), delay]);
        let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
        let mut world = World::with(
            net,
            |client| client.agreement = agreement,
            |server| {
                server.agreement = agreement;
                server.datagram_bytes = 1216;
            },
        );
        for _ in 0..12 {
            let limits = [1500, 1500, 1420, 1300, 1280, 1000, 700];
            shrink(&mut world, limits[random.below(7) as usize]);
            for _ in 0..1 + random.below(4) {
                world.type_keys(b"clear; draw\r");
                let count = 1 + random.below(6);
                for part in 0..count {
                    let clear: &[u8] = if part == 0 { b"\x1b[H\x1b[J" } else { b"" };
                    let bytes = 2000 / count;
                    let text = (0..bytes).map(|_| b'!' + random.below(94) as u8);
                    let text: Vec<u8> = clear.iter().copied().chain(text).collect();
                    world.program_writes(&text);
                    world.run_for(ms(random.below(30)))?;
                }
                world.run_until_settled(secs(10))?;
                world.run_for(ms(random.below(4000)))?;
            }
        }
        world.check_screens()
    })
}
