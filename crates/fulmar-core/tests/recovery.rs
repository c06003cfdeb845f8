//! Keys over links that lose and after outages, in virtual time: how soon their echo is seen.

mod support;

use std::time::Duration;

use fulmar_base::Hint;
use fulmar_sim::{
    BurstLoss, CLIENT, Change, Delay, Failure, Impairment, Loss, Network, Queue, Rate, ms, secs,
};
use fulmar_transport::Cause;

use support::World;

/// The round trip of all these links.
const ROUND_TRIP: Duration = ms(100);

fn network(seed: u64, loss: impl Fn() -> Impairment) -> Network {
    Network::seeded(seed).both([Delay::fixed(ROUND_TRIP / 2), loss()])
}

/// Types keys one after the other and returns how long each took to be echoed.
fn echoes(world: &mut World, keys: usize) -> Result<Vec<Duration>, Failure> {
    world.run_for(secs(2))?;
    (0..keys)
        .map(|index| {
            world.type_keys(&[b'a' + (index % 26) as u8]);
            let took = world.run_until_settled(secs(20))?;
            world.run_for(ms(200))?;
            Ok(took)
        })
        .collect()
}

fn mean_echo(loss: impl Fn() -> Impairment) -> Result<Duration, Failure> {
    let mut all = Vec::new();
    for seed in 1..=5 {
        let mut world = World::new(network(seed, &loss));
        all.extend(echoes(&mut world, 100)?);
    }
    Ok(all.iter().sum::<Duration>() / all.len() as u32)
}

#[test]
fn at_29_percent_of_loss_a_key_waits_little_longer_than_a_round_trip() -> Result<(), Failure> {
    let mean = mean_echo(|| Loss::percent(29))?;
    assert!(mean < ROUND_TRIP + ms(45), "{mean:?}");
    Ok(())
}

#[test]
fn at_5_percent_of_loss_hardly_at_all() -> Result<(), Failure> {
    let lossless = mean_echo(|| Loss::percent(0))?;
    let mean = mean_echo(|| Loss::percent(5))?;
    assert!(mean < lossless + ms(5), "{mean:?} and {lossless:?}");
    Ok(())
}

#[test]
fn bursts_of_loss_do_not_take_all_copies() -> Result<(), Failure> {
    let mean = mean_echo(|| BurstLoss::percent(15, 4))?;
    assert!(mean < ROUND_TRIP + ms(60), "{mean:?}");
    Ok(())
}

/// Types ten keys in an outage of `length` that ends `phase` later, and returns how long after its end all
/// are echoed.
fn catch_up(length: Duration, phase: Duration, signal: Option<Hint>) -> Result<Duration, Failure> {
    let mut world = World::new(network(7, || Loss::percent(0)));
    world.run_for(secs(2))?;
    world.sim.apply(Change::Cut(CLIENT));
    for key in b"0123456789" {
        world.type_keys(&[*key]);
        world.run_for(ms(200))?;
    }
    world.run_for(length - secs(2) + phase)?;
    world.sim.apply(Change::Restore(CLIENT));
    if let Some(signal) = signal {
        world.sim.hint(CLIENT, signal);
    }
    let took = world.run_until_settled(secs(60))?;
    world.check_typed(b"0123456789")?;
    Ok(took)
}

#[test]
fn after_an_outage_with_a_signal_keys_are_echoed_at_once() -> Result<(), Failure> {
    for length in [secs(10), secs(60), secs(3600)] {
        let took = catch_up(length, ms(0), Some(Hint::LinkUp))?;
        assert!(took <= ROUND_TRIP + ms(100), "{length:?}: {took:?}");
    }
    Ok(())
}

#[test]
fn without_one_within_half_a_second() -> Result<(), Failure> {
    for length in [secs(10), secs(60)] {
        for phase in (0..600).step_by(70).map(ms) {
            let took = catch_up(length, phase, None)?;
            assert!(
                took <= ROUND_TRIP + ms(520),
                "{length:?}, {phase:?}: {took:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_server_that_roams_to_a_new_port_answers_within_two_round_trips() -> Result<(), Failure> {
    let mut world = World::new(network(7, || Loss::percent(0)));
    world.sim.plan_every(secs(5), Change::MoveOn(CLIENT));
    let all = echoes(&mut world, 200)?;
    let longest = all.iter().max().copied().unwrap_or_default();
    assert!(longest <= ROUND_TRIP * 2 + ms(50), "{longest:?}");
    Ok(())
}

/// Returns how many datagrams both ends have sent for these causes.
fn sent_for(world: &World, causes: &[Cause]) -> u64 {
    let server = world.far().server.link_info();
    let ends = [Some(world.near().client.link_info()), server];
    let ends = ends.iter().flatten();
    ends.flat_map(|end| causes.iter().map(|&cause| end.counters.sent.of(cause)))
        .sum()
}

/// Works for ten minutes: types, runs commands that print a page, and reads in between.
fn work(world: &mut World) -> Result<(), Failure> {
    world.run_for(secs(2))?;
    for round in 0..60 {
        for key in b"cargo test --all" {
            world.type_keys(&[*key]);
            world.run_for(ms(130 + u64::from(*key) % 90))?;
        }
        for line in 0..40 {
            world.program_writes(format!("{round}.{line} of a page of output\r\n").as_bytes());
            world.run_for(ms(if line % 8 == 0 { 35 } else { 1 }))?;
        }
        world.run_for(secs(6))?;
    }
    Ok(())
}

#[test]
fn on_a_clean_link_nothing_is_sent_twice_in_ten_minutes_of_work() -> Result<(), Failure> {
    for round_trip in [1, 20, 100, 300, 1000].map(ms) {
        let way = round_trip / 2;
        let clean = Network::seeded(7).both([Delay::fixed(way)]);
        let slow = Rate::kbit(1000, Queue::Endless);
        let slow = Network::seeded(7).both([Delay::fixed(way), slow]);
        let uneven = Network::seeded(7).both([Delay::jitter(way, way * 6 / 5)]);
        for (name, net) in [("clean", clean), ("slow", slow), ("uneven", uneven)] {
            let mut world = World::new(net);
            work(&mut world)?;
            assert!(sent_for(&world, &[Cause::Frame]) > 1000);
            for again in [Cause::Copy, Cause::Resend, Cause::Retry] {
                assert_eq!(
                    sent_for(&world, &[again]),
                    0,
                    "{name}, {round_trip:?}: {again}"
                );
            }
        }
    }
    Ok(())
}
