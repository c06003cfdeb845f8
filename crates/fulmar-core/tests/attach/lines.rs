//! The lines above the screen, told to one client after another.

use fulmar_core::HistoryItem;

use super::*;

/// Has the program write the lines of those numbers, which are their text.
fn write_lines(world: &mut World, numbers: Range<u64>) {
    let lines = numbers.map(|number| format!("{number}\r\n"));
    let text = lines.collect::<String>().into_bytes();
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let now = world.time();
        let taken = world.server.handle_pty_output(now, rest, TURN_WORK_MAX);
        rest = &rest[taken..];
    }
}

/// The numbers of the lines that have come, each of which is its text as well.
fn lines_of(seat: &Seat) -> Vec<u64> {
    let number = |item| match item {
        HistoryItem::Line { number, rows } => {
            let mut text = String::new();
            rows.iter().for_each(|row| row.push_text(&mut text));
            assert_eq!(text, number.to_string());
            number
        }
        other => panic!("{other:?}"),
    };
    seat.client
        .fetch_history()
        .into_iter()
        .map(number)
        .collect()
}

#[test]
fn whoever_attaches_has_the_last_screens_of_lines_and_then_all_that_comes() {
    let mut world = World::new(3, 50);
    let mut seats = vec![world.seat(0)];
    world.run(Duration::from_secs(2), &mut seats);
    write_lines(&mut world, 0..1000);
    world.run(Duration::from_secs(20), &mut seats);
    let above = 1000 - 23;
    assert_eq!(lines_of(&seats[0]), (0..above).collect::<Vec<_>>());

    assert!(world.attach(1));
    seats.push(world.seat(1));
    world.run(Duration::from_secs(5), &mut seats);
    assert_eq!(
        lines_of(&seats[1]),
        (above - 3 * 24..above).collect::<Vec<_>>()
    );
    write_lines(&mut world, 1000..2000);
    world.run(Duration::from_secs(20), &mut seats);
    assert_eq!(
        lines_of(&seats[1]),
        (above..above + 1000).collect::<Vec<_>>()
    );
    assert_eq!(lines_of(&seats[0]), []);
}

#[test]
fn lines_come_to_whoever_has_the_session_each_once_and_in_order() {
    for number in seeds() {
        let mut world = World::new(number, number * 7 % 150);
        world.network.delay = world.random.below(120);
        world.network.jitter = world.random.below(60);
        let mut seats = vec![world.seat(0)];
        while !seats[0].client.is_connected() {
            world.turn(&mut seats);
        }
        let mut written = 0;
        let mut come: Vec<Vec<u64>> = vec![Vec::new()];
        for part in 0..CLIENTS {
            if part > 0 {
                assert!(world.attach(part), "seed {number}");
                seats.push(world.seat(part));
                come.push(Vec::new());
            }
            for _ in 0..world.random.below(12) {
                let count = world.random.below(80);
                write_lines(&mut world, written..written + count);
                written += count;
                world.run_up_to(500, &mut seats);
                if world.random.below(20) == 0 {
                    let dead = Duration::from_millis(world.random.below(9000));
                    world.network.dead_until = world.now + dead;
                }
            }
            world.run(Duration::from_secs(15), &mut seats);
            for (seat, come) in seats.iter().zip(&mut come) {
                come.extend(lines_of(seat));
            }
        }
        write_lines(&mut world, written..written + 30);
        world.run(Duration::from_secs(30), &mut seats);
        let last = come.last_mut().expect("there is one");
        last.extend(lines_of(seats.last().expect("there is one")));
        // One that heard nothing for 15 s has given up.
        if seats.last().is_some_and(|seat| seat.ending.is_none()) {
            assert_eq!(last.last(), Some(&(written + 30 - 24)), "seed {number}");
        }
        for come in &come {
            let is_run = come.windows(2).all(|pair| pair[1] == pair[0] + 1);
            assert!(is_run, "seed {number}: {come:?}");
        }
    }
}
