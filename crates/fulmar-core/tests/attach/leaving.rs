//! A client leaves, in calm and in outages.

use fulmar_core::ExitCause;

use super::*;

#[test]
fn whoever_leaves_waits_until_what_was_typed_has_arrived() {
    let mut world = World::new(11, 0);
    world.network.delay = 20;
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    let pasted = vec![b'x'; 211_000];
    seats[0].client.handle_keys(world.time(), &pasted);
    assert!(seats[0].client.detach(world.time()));
    seats[0].client.handle_keys(world.time(), b"too late");
    world.run(Duration::from_secs(20), &mut seats);
    assert_eq!(seats[0].ending, Some(ClientEnding::Detached));
    assert_eq!(seats[0].client.unacknowledged_keys(), 0);
    assert_eq!(world.read.len(), pasted.len());
}

#[test]
fn whoever_leaves_in_an_outage_is_told_first_that_nothing_arrives() {
    let mut world = World::new(12, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    world.network.dead_until = world.now + Duration::from_secs(20);
    seats[0].client.handle_keys(world.time(), b"ls\r");
    world.run(Duration::from_secs(8), &mut seats);
    assert!(seats[0].client.detach(world.time()));
    let mut drawn = Vec::new();
    seats[0].client.draw(world.time(), &mut drawn);
    let drawn = String::from_utf8_lossy(&drawn).into_owned();
    assert!(drawn.contains("what you typed has not arrived"), "{drawn}");
    world.run(Duration::from_secs(30), &mut seats);
    assert_eq!(
        (seats[0].ending, world.read.as_slice()),
        (None, &b"ls\r"[..])
    );

    world.network.dead_until = world.now + Duration::from_secs(99);
    seats[0].client.handle_keys(world.time(), b"ls\r");
    world.run(Duration::from_secs(8), &mut seats);
    for _ in 0..2 {
        assert!(seats[0].client.detach(world.time()));
    }
    world.run(Duration::from_secs(15), &mut seats);
    assert_eq!(seats[0].ending, Some(ClientEnding::LeftUnheard));
    assert_eq!(seats[0].client.unacknowledged_keys(), 3);
}

#[test]
fn what_does_not_arrive_is_not_waited_for_without_end() {
    let mut world = World::new(13, 0);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(1), &mut seats);
    world.network.dead_until = world.now + Duration::from_secs(99);
    seats[0].client.handle_keys(world.time(), b"ls\r");
    assert!(seats[0].client.detach(world.time()));
    world.run(Duration::from_secs(9), &mut seats);
    assert_eq!(seats[0].ending, None);
    world.run(Duration::from_secs(15), &mut seats);
    assert_eq!(seats[0].ending, Some(ClientEnding::LeftUnheard));
    assert_eq!(seats[0].client.unacknowledged_keys(), 3);
}

#[test]
fn a_session_that_a_signal_leaves_is_known_to_go_on_only_if_its_server_answers() {
    for is_dead in [false, true] {
        let mut world = World::new(14, 0);
        let mut seats = vec![world.seat(0)];
        world.run(Duration::from_secs(1), &mut seats);
        if is_dead {
            world.network.dead_until = world.now + Duration::from_secs(99);
        }
        let now = world.time();
        seats[0].client.request_exit(now, ExitCause::Signal);
        world.run(Duration::from_secs(15), &mut seats);
        let told = if is_dead {
            ClientEnding::LeftUnheard
        } else {
            ClientEnding::Asked(ExitCause::Signal)
        };
        assert_eq!(seats[0].ending, Some(told));
    }
}
