//! Lines that leave the top of the server's screen reach the client, each once and in order, but for those that are told as
//! skipped (docs/protocol.md §13.14).

mod support;

#[path = "history/model.rs"]
mod model;

use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{Agreement, Capabilities, Capability, HistoryItem, ServerConfig};
use fulmar_sim::{CLIENT, Delay, Failure, Loss, Network, Outage, Queue, Rate, ms, secs};
use fulmar_terminal::{ScrollbackLimits, SharedRow, Terminal, unpack_line};

use support::World;

fn world(net: Network, limits: ScrollbackLimits, agreed: Capabilities) -> World {
    let agreement = Some(Agreement::of(b"offer", b"answer", agreed));
    World::with(
        net,
        |client| client.agreement = agreement,
        |server: &mut ServerConfig| {
            server.agreement = agreement;
            server.history = limits;
        },
    )
}

fn start(net: Network, limits: ScrollbackLimits) -> Result<World, Failure> {
    let mut world = world(net, limits, Capabilities::ALL);
    world
        .sim
        .run_until(secs(60), |(near, _)| near.client.is_connected())?;
    world.far_mut().reference.keep_history(limits);
    Ok(world)
}

fn path(seed: u64, loss: u8, delay: u64) -> Network {
    let way = || [Loss::percent(loss), Delay::fixed(ms(delay))];
    Network::seeded(seed).up(way()).down(way())
}

/// Everything that the client has fetched.
#[derive(Default)]
struct Collected {
    /// The numbers and texts of the lines.
    lines: Vec<(u64, String)>,
    skips: Vec<u64>,
    clears: Vec<u64>,
    next: u64,
}

impl Collected {
    /// Fetches all that there is. Fails if the order is wrong.
    fn fetch(&mut self, world: &mut World) -> Result<(), Failure> {
        loop {
            let items = world.near().client.fetch_history();
            if items.is_empty() {
                return Ok(());
            }
            for item in items {
                let is_wrong = match item {
                    HistoryItem::Line { number, rows } => {
                        let mut text = String::new();
                        rows.iter().for_each(|row| row.push_text(&mut text));
                        let is_wrong = number != self.next;
                        self.lines.push((number, text));
                        self.next = number + 1;
                        is_wrong
                    }
                    HistoryItem::Skipped { next } | HistoryItem::Cleared { next } => {
                        let is_wrong = next < self.next;
                        if matches!(item, HistoryItem::Cleared { .. }) {
                            self.clears.push(next);
                        } else {
                            self.skips.push(next);
                        }
                        self.next = next;
                        is_wrong
                    }
                };
                if is_wrong {
                    return Err(world
                        .sim
                        .found(format!("out of order before {}", self.next)));
                }
            }
        }
    }

    fn run(&mut self, world: &mut World, duration: Duration) -> Result<(), Failure> {
        world.run_for(duration)?;
        self.fetch(world)
    }

    /// Runs until all lines above the server's screen are here.
    fn catch_up(&mut self, world: &mut World, within: Duration) -> Result<Duration, Failure> {
        let begun = world.sim.clock(CLIENT);
        let wanted = end(world);
        while self.next < wanted {
            if world.sim.clock(CLIENT) > begun + within {
                let what = format!("{} of {wanted} lines have come", self.next);
                return Err(world.sim.found(what));
            }
            self.run(world, ms(20))?;
        }
        Ok(world.sim.clock(CLIENT) - begun)
    }
}

/// A long line, which wraps, or a short one.
fn line(number: u64) -> String {
    format!("line {number} {}", "x".repeat(number as usize * 7 % 100))
}

/// Has the program write the lines of those numbers.
fn write(world: &mut World, numbers: std::ops::Range<u64>) {
    let text: String = numbers.map(|number| line(number) + "\r\n").collect();
    world.program_writes(text.as_bytes());
}

/// The number of lines above the screen that the program has drawn.
fn end(world: &World) -> u64 {
    let history = world.far().reference.history();
    history.expect("it is kept").end()
}

/// Fails if a line that was collected is not what the program has drawn.
fn check(world: &mut World, collected: &Collected) -> Result<(), Failure> {
    let mut packed = Vec::new();
    for (number, text) in &collected.lines {
        let history = world.far().reference.history().expect("it is kept");
        let is_kept = history.read(*number, &mut packed);
        let rows = unpack_line(&packed, 80).expect("what was packed");
        let mut drawn = String::new();
        rows.iter().for_each(|row| row.push_text(&mut drawn));
        if !is_kept || drawn != *text {
            return Err(world
                .sim
                .found(format!("line {number} is {text:?}, not {drawn:?}")));
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "how many seeds to run is said from outside"
)]
fn seeds() -> u64 {
    let wanted = std::env::var("FULMAR_SEEDS").ok();
    wanted.and_then(|seeds| seeds.parse().ok()).unwrap_or(10)
}

#[test]
fn all_lines_come_once_and_in_order_whatever_is_lost() -> Result<(), Failure> {
    for seed in 0..seeds() {
        let (loss, delay) = ((seed * 3 % 31) as u8, 5 + seed * 13 % 200);
        let mut world = start(path(seed, loss, delay), ScrollbackLimits::default())?;
        if world.near().ended.is_some() {
            // All that was said for 15 s was lost, and the client has given up: there is no session.
            continue;
        }
        let (mut collected, mut written) = (Collected::default(), 0);
        for turn in 0..30 {
            let count = (seed * 7 + turn * 11) % 60;
            write(&mut world, written..written + count);
            written += count;
            if turn % 4 == 1 {
                world.type_keys(b"x");
            }
            collected.run(&mut world, ms((seed * 31 + turn * 57) % 700))?;
        }
        collected.catch_up(&mut world, secs(120))?;
        check(&mut world, &collected)?;
        assert!(collected.skips.is_empty(), "seed {seed}");
        world.run_for(secs(5))?;
        world.check_screens()?;
    }
    Ok(())
}

#[test]
fn windows_that_change_lose_no_line_and_double_none() -> Result<(), Failure> {
    for seed in 0..5 {
        let mut world = start(path(seed, 5, 30), ScrollbackLimits::default())?;
        let (mut collected, mut written) = (Collected::default(), 0);
        for turn in 0..20 {
            write(&mut world, written..written + 13);
            written += 13;
            let rows = 5 + (seed * 5 + turn * 7) % 30;
            world.resize(80, rows as u16);
            collected.run(&mut world, ms(300))?;
        }
        world.resize(80, 3);
        collected.run(&mut world, secs(2))?;
        collected.catch_up(&mut world, secs(30))?;
        let wanted: Vec<String> = (0..collected.next).map(line).collect();
        let got: Vec<String> = collected.lines.into_iter().map(|(_, text)| text).collect();
        assert_eq!(got, wanted);
        assert!(
            written - collected.next <= 4,
            "{written} {}",
            collected.next
        );
    }
    Ok(())
}

#[test]
fn what_a_program_clears_is_cleared_at_the_client() -> Result<(), Failure> {
    let mut world = start(path(1, 0, 50), ScrollbackLimits::default())?;
    let mut collected = Collected::default();
    write(&mut world, 0..100);
    collected.run(&mut world, secs(5))?;
    let before = collected.next;
    assert!(before > 50);
    world.program_writes(b"\x1b[H\x1b[2J\x1b[3J");
    write(&mut world, 0..100);
    collected.catch_up(&mut world, secs(5))?;
    assert_eq!(collected.clears, [before]);
    let (number, text) = collected.lines.get(before as usize).expect("more has come");
    assert_eq!((*number, text.as_str()), (before, "line 0 "));
    Ok(())
}

#[test]
fn an_outage_delays_lines_and_loses_none() -> Result<(), Failure> {
    let out = || Outage::between(secs(10), secs(40));
    let net = Network::seeded(3)
        .up([out(), Delay::fixed(ms(50))])
        .down([out(), Delay::fixed(ms(50))]);
    let mut world = start(net, ScrollbackLimits::default())?;
    let mut collected = Collected::default();
    for turn in 0..100 {
        write(&mut world, turn * 20..turn * 20 + 20);
        collected.run(&mut world, ms(400))?;
    }
    collected.catch_up(&mut world, secs(30))?;
    check(&mut world, &collected)?;
    assert!(collected.skips.is_empty());
    Ok(())
}

#[test]
fn what_a_program_prints_last_arrives_before_the_session_ends() -> Result<(), Failure> {
    for seed in 0..seeds().min(50) {
        for last in ["", "\x1b[?1049h"] {
            let loss = (seed % 4) as u8;
            let mut world = start(path(seed, loss, 20), ScrollbackLimits::default())?;
            write(&mut world, 0..1000);
            world.program_writes(last.as_bytes());
            world.program_exits();
            world
                .sim
                .run_until(secs(15), |(near, _)| near.ended.is_some())?;
            let mut collected = Collected::default();
            collected.fetch(&mut world)?;
            check(&mut world, &collected)?;
            assert_eq!(collected.next, end(&world), "seed {seed} {last:?}");
            assert!(collected.skips.is_empty(), "seed {seed}");
        }
    }
    Ok(())
}

#[test]
fn lines_that_nobody_takes_delay_no_goodbye_for_long() -> Result<(), Failure> {
    let out = || Outage::between(secs(10), secs(400));
    let net = Network::seeded(3).up([out()]).down([out()]);
    let mut world = start(net, ScrollbackLimits::default())?;
    world.run_for(secs(10))?;
    write(&mut world, 0..1000);
    world.program_exits();
    // Then it waits for the client, for a day and not for ever.
    let took = world.sim.run_until(secs(60), |(_, far)| {
        far.server.expires_in(Time::ZERO).is_some()
    })?;
    assert!(took < secs(14), "{took:?}");
    Ok(())
}

/// A narrow link, and what it has carried to the client until Ctrl-C has ended a flood, and how long that has taken.
fn flood(agreed: Capabilities) -> Result<(World, u64, Duration), Failure> {
    let rate = || Rate::kbit(2000, Queue::Endless);
    let net = Network::seeded(1)
        .up([Delay::fixed(ms(50))])
        .down([rate(), Delay::fixed(ms(50))]);
    let limits = ScrollbackLimits {
        lines: 1000,
        ..ScrollbackLimits::default()
    };
    let mut world = world(net, limits, agreed);
    world
        .sim
        .run_until(secs(60), |(near, _)| near.client.is_connected())?;
    world.run_for(secs(1))?;
    world.far_mut().reference.keep_history(ScrollbackLimits {
        lines: usize::MAX,
        ..ScrollbackLimits::default()
    });
    let sent = |world: &World| {
        let info = world.far().server.link_info().expect("there is a link");
        info.counters.bytes_sent
    };
    let before = sent(&world);
    world.far_mut().start_flood(10_000_000);
    world.run_for(secs(5))?;
    world.type_keys(b"\x03");
    let begun = world.sim.clock(CLIENT);
    world
        .sim
        .run_until(secs(10), |(_, far)| far.program.flood == 0)?;
    world.run_until_settled(secs(10))?;
    let took = world.sim.clock(CLIENT) - begun;
    let bytes = sent(&world) - before;
    Ok((world, bytes, took))
}

#[test]
fn a_flood_costs_the_link_little_more_and_is_stopped_as_fast() -> Result<(), Failure> {
    let without = Capabilities::ALL
        .iter()
        .filter(|one| *one != Capability::History);
    let (_, plain, plain_took) = flood(without.collect())?;
    let (mut world, bytes, took) = flood(Capabilities::ALL)?;
    // A few lines per frame, and those of the last round trip.
    assert!(bytes < plain * 3 / 2 + 64 * 1024, "{bytes} and {plain}");
    assert!(took < plain_took + ms(100), "{took:?} and {plain_took:?}");
    let mut collected = Collected::default();
    collected.fetch(&mut world)?;
    collected.catch_up(&mut world, secs(60))?;
    check(&mut world, &collected)?;
    assert!(collected.lines.len() >= 1000);
    assert!(collected.skips.len() <= 2, "{:?}", collected.skips);
    Ok(())
}

#[test]
fn without_an_agreement_nothing_is_kept_or_told() -> Result<(), Failure> {
    let without = Capabilities::ALL
        .iter()
        .filter(|one| *one != Capability::History);
    let mut world = world(
        path(1, 0, 50),
        ScrollbackLimits::default(),
        without.collect(),
    );
    world
        .sim
        .run_until(secs(60), |(near, _)| near.client.is_connected())?;
    write(&mut world, 0..100);
    world.run_for(secs(2))?;
    assert_eq!(world.near().client.history(), None);
    assert_eq!(world.near().client.fetch_history(), []);
    Ok(())
}

/// The rows of all lines above a terminal's screen, and of the screen up to the last that is not empty.
fn all_rows(terminal: &Terminal) -> Vec<String> {
    let history = terminal.history().expect("it is kept");
    let mut rows = Vec::new();
    let mut packed = Vec::new();
    for number in history.first()..history.end() {
        assert!(history.read(number, &mut packed));
        rows.extend(unpack_line(&packed, 80).expect("what was packed"));
    }
    rows.extend(terminal.screen().rows().cloned());
    let text = |row: &SharedRow| {
        let mut text = String::new();
        row.push_text(&mut text);
        // A space at the end is drawn by drawing nothing.
        text.trim_end().to_owned()
    };
    let mut rows: Vec<String> = rows.iter().map(text).collect();
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

#[test]
fn what_is_acknowledged_late_is_no_fault_of_what_was_sent_before() -> Result<(), Failure> {
    for seed in 0..12 {
        let net = Network::seeded(seed)
            .up([Loss::percent(40), Delay::fixed(ms(50))])
            .down([Loss::percent(20), Delay::fixed(ms(50))]);
        let mut world = start(net, ScrollbackLimits::default())?;
        for turn in 0..20 {
            write(&mut world, turn * 60..(turn + 1) * 60);
            world.run_for(ms(200 + (seed * 37 + turn * 91) % 300))?;
            let chance = |row: u64| (seed * 7919 + turn * 104_729 + row).wrapping_mul(0x9E37_79B9);
            let rows = (1..20).map(|row| format!("\x1b[{row};1H{:0>64x}", chance(row)));
            world.program_writes(rows.collect::<String>().as_bytes());
            world.run_until_settled(secs(20))?;
        }
        let counters = format!("{:?}", world.near().client.link_info().counters);
        assert!(!counters.contains("bad difference"), "{counters}");
    }
    Ok(())
}

#[test]
fn the_users_terminal_has_above_it_what_the_program_has_printed() -> Result<(), Failure> {
    let limits = ScrollbackLimits::default();
    for seed in 0..seeds() {
        let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
        let mut world = World::with(
            path(seed, (seed * 5 % 25) as u8, 5 + seed * 13 % 150),
            |client| {
                client.agreement = agreement;
                client.keeps_history = true;
            },
            |server: &mut ServerConfig| server.agreement = agreement,
        );
        world.near_mut().terminal.keep_history(limits);
        world
            .sim
            .run_until(secs(60), |(near, _)| near.client.is_connected())?;
        world.far_mut().reference.keep_history(limits);
        let mut written = 0;
        for turn in 0..20 {
            let count = (seed * 7 + turn * 11) % 60;
            write(&mut world, written..written + count);
            written += count;
            match turn {
                3 | 11 => world.type_keys(b"x"),
                7 => world.program_writes(b"\x1b[?1049h\x1b[Hfull screen"),
                8 => world.program_writes(b"\r\n\n\n\n\x1b[?1049l"),
                _ => {}
            }
            world.run_for(ms((seed * 31 + turn * 57) % 700))?;
        }
        world.run_for(secs(60))?;
        world.check_screens()?;
        let [seen, printed] = [&world.near().terminal, &world.far().reference].map(all_rows);
        if seen != printed {
            let differs = seen
                .iter()
                .zip(&printed)
                .position(|(seen, printed)| seen != printed);
            let row = differs.map(|row| (row, seen.get(row), printed.get(row)));
            let what = format!("{row:?}; {} and {} rows", seen.len(), printed.len());
            return Err(world.sim.found(what));
        }
    }
    Ok(())
}

#[test]
fn lines_printed_below_a_full_screen_program_are_there_after_the_end() -> Result<(), Failure> {
    let agreement = Some(Agreement::of(b"offer", b"answer", Capabilities::ALL));
    let mut world = World::with(
        path(1, 0, 50),
        |client| {
            client.agreement = agreement;
            client.keeps_history = true;
        },
        |server: &mut ServerConfig| server.agreement = agreement,
    );
    let limits = ScrollbackLimits::default();
    world.near_mut().terminal.keep_history(limits);
    world
        .sim
        .run_until(secs(60), |(near, _)| near.client.is_connected())?;
    world.far_mut().reference.keep_history(limits);
    let lines = |numbers: std::ops::Range<u64>| {
        let lines = numbers.map(|number| format!("line {number}\r\n"));
        lines.collect::<String>()
    };
    world.program_writes(lines(0..100).as_bytes());
    world.run_for(secs(2))?;
    world.program_writes((lines(100..300) + "\x1b[?1049h\x1b[Hfull screen").as_bytes());
    world.program_exits();
    world
        .sim
        .run_until(secs(15), |(near, _)| near.ended.is_some())?;
    world.near_mut().leave();
    let seen = all_rows(&world.near().terminal);
    let wanted: Vec<String> = (0..end(&world)).map(|n| format!("line {n}")).collect();
    let begun = seen.iter().position(|row| row == "line 0").unwrap_or(0);
    assert_eq!(seen[begun..], wanted);
    Ok(())
}
