//! Events that programs say once: each client's terminal is told of each event once, through losses, outages and changes of clients.

use fulmar_core::{EventWishes, NotificationForm};

use super::*;

fn seat(world: &World, part: u8) -> Seat {
    let mut config = ClientConfig::new(key(part), seed(world.number, part));
    config.agreement = Some(agreement(part));
    config.attaches = part > 0;
    config.session_label = "host".to_owned();
    config.outer.events = EventWishes {
        notifications: Some(NotificationForm::Osc777),
        progress: true,
        directory: true,
        commands: true,
        selections: true,
    };
    let mut seat = world.seat(part);
    seat.client = Client::new(world.time(), config);
    seat.client.handle_path_opened(world.time(), seat.path);
    seat
}

fn says(world: &mut World, bytes: &str) {
    let now = world.time();
    let taken = world
        .server
        .handle_pty_output(now, bytes.as_bytes(), TURN_WORK_MAX);
    assert_eq!(taken, bytes.len());
}

/// Lets so many seconds pass, and returns what the terminal of the only client is told.
fn told(world: &mut World, seats: &mut [Seat; 1], seconds: u64) -> String {
    let mut out = Vec::new();
    for _ in 0..seconds {
        world.run(Duration::from_secs(1), seats);
        seats[0].client.draw(world.time(), &mut out);
    }
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn each_event_is_told_once_and_in_order_through_losses_and_outages() {
    for number in 0..20 {
        let mut world = World::new(number, 200);
        world.network.delay = 80;
        world.network.jitter = 60;
        let mut seats = [seat(&world, 0)];
        let mut out = told(&mut world, &mut seats, 2);
        let mut wanted = String::new();
        for event in 0..10 {
            says(&mut world, &format!("x\x1b]777;notify;n{event};b\x07"));
            wanted.push_str(&format!("\x1b]777;notify;host: n{event};b\x1b\\"));
            if event == 5 {
                world.network.dead_until = world.now + Duration::from_secs(7);
            }
            out.push_str(&told(&mut world, &mut seats, 1));
        }
        out.push_str(&told(&mut world, &mut seats, 30));
        let said: String = out
            .split("\x1b]777;")
            .skip(1)
            .filter_map(|said| said.split_once("\x1b\\"))
            .map(|(said, _)| format!("\x1b]777;{said}\x1b\\"))
            .collect();
        assert_eq!(said, wanted, "seed {number}");
    }
}

#[test]
fn every_kind_arrives_as_it_was_said() {
    let mut world = World::new(1, 0);
    let mut seats = [seat(&world, 0)];
    told(&mut world, &mut seats, 2);
    for said in [
        "\x1b]9;4;1;42\x1b\\",
        "\x1b]7;file://h/a%20b\x1b\\",
        "\x1b]133;C\x1b\\",
        "\x1b]133;D;2\x1b\\",
        "\x1b]133;D\x1b\\",
        "\x1b]52;ps;aGk=\x1b\\",
    ] {
        says(&mut world, said);
        assert_eq!(told(&mut world, &mut seats, 2), said);
        assert_eq!(told(&mut world, &mut seats, 2), "");
    }
    let large = format!("\x1b]52;p;{}\x1b\\", "A".repeat(120_000));
    says(&mut world, &large);
    assert_eq!(told(&mut world, &mut seats, 20), large);
    let mut out = Vec::new();
    seats[0].client.leave(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("\x1b]9;4;0;0\x1b\\"), "{out:?}");
}

#[test]
fn the_next_client_is_told_what_nobody_has_had_and_how_far_programs_are() {
    let mut world = World::new(2, 0);
    let mut seats = [seat(&world, 0)];
    told(&mut world, &mut seats, 1);
    says(&mut world, "\x1b]9;one\x07\x1b]9;4;1;7\x07\x1b]133;C\x07");
    let first = told(&mut world, &mut seats, 2);
    assert!(first.contains("notify;host;one\x1b\\\x1b]9;4;1;7\x1b\\\x1b]133;C"));
    assert!(seats[0].client.detach(world.time()));
    world.run(Duration::from_secs(2), &mut seats);
    says(&mut world, "\x1b]9;two\x07\x1b]133;D\x07");
    for (part, wanted) in [(1, true), (2, false)] {
        assert!(world.attach(part));
        let mut seats = [seat(&world, part)];
        let out = told(&mut world, &mut seats, 3);
        assert_eq!(out.contains("notify;host;two\x1b\\"), wanted, "{out:?}");
        assert!(!out.contains("one") && !out.contains("133;"), "{out:?}");
        assert_eq!(out.matches("\x1b]9;4;1;7\x1b\\").count(), 1, "{out:?}");
        assert!(seats[0].client.detach(world.time()));
        world.run(Duration::from_secs(2), &mut seats);
    }
}
