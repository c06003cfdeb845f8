//! A session whose paths come and go at random moments: UDP is blocked either way and let through, the client's address
//! changes, the ssh breaks, falls silent, and comes back. What was typed reaches the program once and in order, and at rest
//! both ends have the same screen.

use std::time::Duration;

use fulmar_core::Way;
use fulmar_sim::Random;
use fulmar_terminal::{Screen, Vocabulary};

use world::{Open, World};

#[path = "paths/edges.rs"]
mod edges;
#[path = "paths/world.rs"]
mod world;

const ALL: Open = Open {
    udp: [true; 2],
    tcp: true,
};

const NO_UDP: Open = Open {
    udp: [false; 2],
    tcp: true,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[expect(
    clippy::disallowed_methods,
    reason = "how many seeds to run is said from outside"
)]
fn seeds() -> u64 {
    let wanted = std::env::var("FULMAR_SEEDS").ok();
    wanted.and_then(|seeds| seeds.parse().ok()).unwrap_or(20)
}

fn text_of(screen: &Screen) -> String {
    let mut text = String::new();
    screen.rows().for_each(|row| row.push_text(&mut text));
    text
}

/// A session over ssh, which goes back to UDP: either way is there, and known to work.
fn world_with_both(number: u64) -> World {
    let mut random = Random::stream(number, 9);
    let udp = ms(2 + random.below(150));
    let ssh = udp + ms(random.below(20));
    let mut world = World::new(number, [udp, ssh], NO_UDP);
    world.run_until(|world| world.ways.in_use() == Way::Ssh);
    world.set_open(ALL);
    let climbed = world.run_until(|world| world.ways.in_use() == Way::Udp);
    assert!(climbed.is_some(), "seed {number}: UDP is not used");
    world
}

/// Types a key, and returns the time after which it is on the screen.
fn echo_time(world: &mut World, number: usize) -> Duration {
    let key = format!("k{number};");
    world.type_keys(key.as_bytes());
    let shown = world.run_until(|world| text_of(world.client.screen()).contains(&key));
    shown.unwrap_or_else(|| panic!("seed {}: {key} is not shown", world.number))
}

/// The ways in which UDP can stop to pass.
const BLOCKED: [[bool; 2]; 3] = [[false, true], [true, false], [false; 2]];

#[test]
fn a_change_costs_about_a_round_trip_of_echo_where_the_other_way_works() {
    let mut costs = Vec::new();
    for number in 0..seeds() {
        let mut world = world_with_both(number);
        let round_trip = world.delays[1] * 2;
        for key in 0..40 {
            echo_time(&mut world, key);
            let pause = ms(world.random.below(400));
            world.run(pause);
        }
        assert_eq!(world.ways.in_use(), Way::Udp, "seed {number}");
        assert_eq!(world.changes, 2, "seed {number}: to ssh and back");
        let udp = BLOCKED[world.random.below(3) as usize];
        world.set_open(Open { udp, tcp: true });
        let pause = ms(world.random.below(400));
        world.run(pause);
        // What is lost is noticed when its answer is overdue: not before a round trip, and not before 50 ms. An answer may be
        // held back for 100 ms.
        let cost = echo_time(&mut world, 40).saturating_sub(round_trip);
        let overdue = round_trip.max(ms(50));
        let limit = overdue * 5 / 2 + ms(100);
        assert!(
            cost <= limit,
            "seed {number}: {cost:?}, round trip {round_trip:?}"
        );
        costs.push(cost.as_secs_f64() / overdue.as_secs_f64());
        // And back: ssh is the way until UDP answers.
        world.run(ms(100));
        world.set_open(ALL);
        for key in 41..60 {
            let cost = echo_time(&mut world, key).saturating_sub(round_trip);
            assert!(cost <= round_trip / 2 + ms(20), "seed {number}: {cost:?}");
            world.run(ms(200));
        }
        let climbed = world.run_until(|world| world.ways.in_use() == Way::Udp);
        assert!(climbed.is_some(), "seed {number}");
        assert_eq!(world.changes, 4, "seed {number}");
    }
    costs.sort_by(f64::total_cmp);
    let at = |share: usize| costs[(costs.len() - 1) * share / 100];
    println!(
        "an echo is later by {:.2} round trips (median), {:.2} (90 of 100), {:.2} (at most)",
        at(50),
        at(90),
        at(100)
    );
}

/// Changes something about the paths.
fn change(world: &mut World) {
    let mut open = world.open;
    match world.random.below(12) {
        0..2 => open.udp = [false; 2],
        2 => open.udp[0] = !open.udp[0],
        3 => open.udp[1] = !open.udp[1],
        4..6 => open.udp = [true; 2],
        6 => open.tcp = !open.tcp,
        7 => world.kill_ssh(),
        8 => world.silence_ssh(),
        9 => world.loss = world.random.below(300),
        10 => world.move_on(true),
        _ => world.move_on(false),
    }
    world.set_open(open);
}

fn pause(random: &mut Random) -> Duration {
    match random.below(30) {
        0 => ms(random.below(60_000)),
        1..4 => ms(random.below(5000)),
        4..8 => Duration::ZERO,
        _ => ms(random.below(250)),
    }
}

#[test]
fn what_is_typed_arrives_once_and_in_order_whatever_becomes_of_the_paths() {
    let mut changes = 0;
    for number in 0..seeds() {
        let mut random = Random::stream(number, 9);
        let delays = [ms(1 + random.below(200)), ms(1 + random.below(200))];
        let mut world = World::new(number, delays, [ALL, NO_UDP][random.below(2) as usize]);
        world.run_until(|world| world.client.is_connected());
        let mut typed = String::new();
        for step in 0..60 {
            match random.below(10) {
                0..2 => change(&mut world),
                2 => world.write(format!("\r\nline {step}").as_bytes()),
                3 => world.write(&vec![b'x'; random.below(3000) as usize]),
                _ => {
                    let key = format!("k{step};");
                    world.type_keys(key.as_bytes());
                    typed.push_str(&key);
                }
            }
            world.run(pause(&mut random));
        }
        world.loss = 0;
        world.set_open(ALL);
        world.run(ms(90_000));
        assert_eq!(world.ending, None, "seed {number}");
        let read = String::from_utf8_lossy(&world.read);
        assert_eq!(read, typed, "seed {number}");
        let [shown, drawn] = [world.client.screen(), world.server.screen()]
            .map(|screen| screen.projected(&Vocabulary::STOCK));
        assert!(shown == drawn, "seed {number}");
        changes += world.changes;
    }
    assert!(changes > seeds(), "the way has changed {changes} times");
}
