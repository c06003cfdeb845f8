//! A session whose paths come and go at random moments: UDP is blocked either way and let through, the client's address
//! changes, the ssh breaks, falls silent, and comes back. What was typed reaches the program once and in order, and at rest
//! both ends have the same screen.

use std::time::Duration;

use fulmar_sim::Random;
use fulmar_terminal::Vocabulary;

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
