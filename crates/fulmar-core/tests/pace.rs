//! Screens, keys and acknowledgements leave in time, over slow and jittery links, in virtual time.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_sim::{
    CLIENT, Delay, EntryKind, Failure, Marking, Network, Queue, Rate, SERVER, ms, secs,
};

use fulmar_transport::limits::INPUT_WINDOW_BYTES;
use support::World;

/// Bytes of the headers of a packet, which a link carries, too.
const HEADER_BYTES: usize = 28;

/// A link with a bottleneck and an endless queue towards the client, and a round trip of twice `way`.
fn slow(kilobits_per_second: u64, way: Duration) -> Network {
    let way = Delay::fixed(way);
    let rate = Rate::kbit(kilobits_per_second, Queue::Endless);
    Network::seeded(7).up([way.clone()]).down([rate, way])
}

/// A frame that left the server.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at: Duration,
    /// The bytes of its packets.
    bytes: usize,
    /// The bytes of earlier packets that had not yet gone through the bottleneck.
    ahead: usize,
}

/// Returns all that the server has sent so far, if the whole timeline was kept.
fn frames(world: &World, way: Duration) -> Vec<Frame> {
    let entries: Vec<_> = world.sim.net.timeline.entries().collect();
    let arrivals: BTreeMap<u64, Duration> = entries
        .iter()
        .filter(|entry| entry.what == EntryKind::Delivered && entry.host == Some(CLIENT))
        .filter_map(|entry| Some((entry.serial?, entry.at)))
        .collect();
    let sent: Vec<(Duration, Duration, usize)> = entries
        .iter()
        .filter(|entry| entry.what == EntryKind::Sent && entry.host == Some(SERVER))
        .map(|entry| {
            let arrival = entry
                .serial
                .and_then(|serial| arrivals.get(&serial).copied());
            let left = arrival.map_or(Duration::MAX, |at| at - way);
            (entry.at, left, entry.bytes + HEADER_BYTES)
        })
        .collect();
    let mut frames: Vec<Frame> = Vec::new();
    for &(at, _, bytes) in &sent {
        if let Some(frame) = frames.last_mut().filter(|frame| frame.at == at) {
            frame.bytes += bytes;
            continue;
        }
        let is_ahead = |other: &&(Duration, Duration, usize)| other.0 < at && other.1 > at;
        let ahead = sent.iter().filter(is_ahead).map(|other| other.2).sum();
        frames.push(Frame { at, bytes, ahead });
    }
    frames
}

/// Returns a session in which a program has begun to paint screens of that size.
fn painting(net: Network, columns: u16, rows: u16) -> Result<World, Failure> {
    let mut world = World::new(net);
    world.sim.net.timeline.keep(1_000_000);
    world.resize(columns, rows);
    world.sim.run_until(secs(60), |(_, far)| far.is_running)?;
    world.run_for(secs(1))?;
    let now = world.sim.clock(SERVER);
    world.far_mut().start_painting(now, 7);
    Ok(world)
}

/// Types keys with a pause after each is answered, and returns how long each took.
fn echoes(world: &mut World, count: usize, pause: Duration) -> Result<Vec<Duration>, Failure> {
    let before = world.far().program.typed.len();
    let keys = before + 1..=before + count;
    keys.map(|key| {
        world.type_keys(b"x");
        let took = world.run_until_seen(secs(60), &format!("keys: {key} "))?;
        world.run_for(pause)?;
        Ok(took)
    })
    .collect()
}

/// Returns the frames with a screen that left since then.
fn screens(world: &World, way: Duration, since: Duration) -> Vec<Frame> {
    let mut frames = frames(world, way);
    frames.retain(|frame| frame.bytes > 400 && frame.at >= since);
    frames
}

/// A slow link over which a program has painted and somebody typed.
struct Painted {
    /// The frames that left once the program had painted for 4 s.
    frames: Vec<Frame>,
    /// The longest time that a key took.
    slowest: Duration,
}

impl Painted {
    fn over(net: Network, way: Duration, columns: u16, rows: u16) -> Result<Painted, Failure> {
        let mut world = painting(net, columns, rows)?;
        world.run_for(secs(4))?;
        let started = world.sim.now();
        // A moment at which the first key finds the window open; at others it may take 100 ms longer.
        world.run_for(ms(6020))?;
        let slowest = echoes(&mut world, 8, ms(300))?.into_iter().max();
        let frames = screens(&world, way, started);
        assert!(frames.len() >= 4, "{frames:?}");
        Ok(Painted {
            frames,
            slowest: slowest.unwrap_or_default(),
        })
    }

    fn largest(&self) -> usize {
        let bytes = self.frames.iter().map(|frame| frame.bytes);
        bytes.max().unwrap_or_default()
    }

    /// Returns the most that stood in front of a frame.
    fn most_ahead(&self) -> usize {
        let ahead = self.frames.iter().map(|frame| frame.ahead);
        ahead.max().unwrap_or_default()
    }
}

fn time_on_link(bytes: usize, kilobits_per_second: u64) -> Duration {
    Duration::from_micros(bytes as u64 * 8000 / kilobits_per_second)
}

/// Before a screen of 2 kB no more than one stands, and a key takes a round trip and the time of both on the link.
fn stays_free(kilobits_per_second: u64) -> Result<(), Failure> {
    let net = slow(kilobits_per_second, ms(50));
    let painted = Painted::over(net, ms(50), 80, 24)?;
    let (largest, ahead) = (painted.largest(), painted.most_ahead());
    assert!(ahead <= largest, "{ahead} bytes before {largest}");
    let longest = ms(100) + time_on_link(ahead + largest, kilobits_per_second) + ms(10);
    assert!(painted.slowest <= longest, "{:?}", painted.slowest);
    Ok(())
}

#[test]
fn a_program_that_paints_leaves_64_kbit_free_for_the_next_key() -> Result<(), Failure> {
    stays_free(64)
}

#[test]
fn a_program_that_paints_leaves_256_kbit_free_for_the_next_key() -> Result<(), Failure> {
    stays_free(256)
}

#[test]
fn a_program_that_paints_leaves_a_megabit_free_for_the_next_key() -> Result<(), Failure> {
    stays_free(1000)
}

/// Of screens of 27 kB one is under way at a time. A key waits until it is acknowledged, and then for its own.
fn takes_turns(kilobits_per_second: u64, way: Duration) -> Result<(), Failure> {
    let net = slow(kilobits_per_second, way);
    let painted = Painted::over(net, way, 300, 100)?;
    let (largest, ahead) = (painted.largest(), painted.most_ahead());
    assert!(ahead * 8 <= largest, "{ahead} bytes before {largest}");
    let on_link = time_on_link(ahead + 2 * largest, kilobits_per_second);
    let longest = way * 4 + on_link + ms(100);
    assert!(painted.slowest <= longest, "{:?}", painted.slowest);
    Ok(())
}

#[test]
fn large_screens_take_turns_on_64_kbit() -> Result<(), Failure> {
    takes_turns(64, ms(50))
}

#[test]
fn large_screens_take_turns_on_a_long_path() -> Result<(), Failure> {
    takes_turns(256, ms(250))
}

#[test]
fn a_large_screen_on_64_kbit_is_right_once_two_have_gone_through() -> Result<(), Failure> {
    let mut world = painting(slow(64, ms(50)), 300, 100)?;
    world.run_for(secs(6))?;
    world.far_mut().stop_painting();
    let largest = screens(&world, ms(50), Duration::ZERO);
    let largest = largest.iter().map(|frame| frame.bytes).max();
    let two = time_on_link(2 * largest.unwrap_or_default(), 64);
    world.run_until_settled(two + secs(1))?;
    world.check_screens()
}

#[test]
fn a_paste_arrives_while_a_program_paints_and_the_screen_is_right_at_the_end() -> Result<(), Failure>
{
    let rate = || Rate::kbit(1000, Queue::Endless);
    let way = || Delay::fixed(ms(50));
    let net = Network::seeded(7).up([rate(), way()]).down([rate(), way()]);
    let mut world = painting(net, 80, 24)?;
    let letters = (0..512 << 10).map(|index: usize| b'a' + (index * index % 23) as u8);
    let paste: Vec<u8> = letters.collect();
    world.near_mut().paste(&paste);
    world
        .sim
        .run_until(secs(60), |(_, far)| far.program.typed.len() >= paste.len())?;
    world.check_typed(&paste)?;
    world.far_mut().stop_painting();
    world.run_until_settled(secs(2))?;
    world.check_screens()
}

#[test]
fn a_long_paste_has_a_window_in_each_round_trip() -> Result<(), Failure> {
    let net = Network::seeded(7).up([Delay::ms(50)]).down([Delay::ms(50)]);
    let mut world = World::new(net);
    world.run_until_settled(secs(2))?;
    world.far_mut().program.is_silent = true;
    let windows = 16;
    let letters = (0..windows * INPUT_WINDOW_BYTES).map(|index| b'a' + (index % 23) as u8);
    let paste: Vec<u8> = letters.collect();
    let began = world.sim.now();
    world.near_mut().paste(&paste);
    world
        .sim
        .run_until(secs(60), |(_, far)| far.program.typed.len() >= paste.len())?;
    world.check_typed(&paste)?;
    let took = world.sim.now() - began;
    let most = ms(110) * u32::try_from(windows).unwrap();
    assert!(took <= most, "{took:?} for {windows} windows");
    Ok(())
}

#[test]
fn on_a_clean_path_frames_come_at_the_pace_of_stock() -> Result<(), Failure> {
    for (way, interval) in [(5, 20), (50, 50), (250, 250)] {
        let mut world = painting(slow(100_000, ms(way)), 80, 24)?;
        world.run_for(secs(1))?;
        let started = world.sim.now();
        world.run_for(secs(5))?;
        let count = screens(&world, ms(way), started).len() as u64;
        let stock = 5000 / interval;
        assert!(count >= stock - 1, "{count} of {stock} at {way} ms");
    }
    Ok(())
}

#[test]
fn at_a_round_trip_of_5_s_a_queue_stays_short() -> Result<(), Failure> {
    let mut world = painting(slow(64, ms(2500)), 80, 24)?;
    world.run_for(secs(60))?;
    let answers = echoes(&mut world, 10, ms(300))?;
    // A queue that may be, and what was under way before it was seen.
    assert!(answers.iter().all(|took| *took <= ms(6500)), "{answers:?}");
    Ok(())
}

#[test]
fn jitter_does_not_bring_a_program_that_paints_to_a_crawl() -> Result<(), Failure> {
    for seed in 1..=5 {
        let way = Delay::jitter(ms(50), ms(150));
        let net = Network::seeded(seed).both([way]);
        let mut world = painting(net, 80, 24)?;
        world.run_for(secs(2))?;
        let mut counts = Vec::new();
        for _ in 0..5 {
            let from = world.sim.now();
            world.run_for(secs(2))?;
            counts.push(screens(&world, ms(50), from).len());
        }
        assert!(counts.iter().all(|&count| count >= 8), "{counts:?} in 2 s");
    }
    Ok(())
}

#[test]
fn keys_typed_every_200_ms_on_a_long_path_are_each_confirmed_in_a_round_trip() -> Result<(), Failure>
{
    let mut world = World::new(slow(100_000, ms(250)));
    world.run_for(secs(3))?;
    let start = world.sim.now();
    let mut seen = Vec::new();
    let mut typed = 0;
    let mut next = start;
    while seen.len() < 20 {
        if world.sim.now() == next && typed < 20 {
            world.type_keys(b"k");
            typed += 1;
            next += ms(200);
        }
        world.run_for(ms(1))?;
        let count = world.seen().matches('k').count();
        seen.resize(count, world.sim.now());
    }
    let waits = seen
        .iter()
        .enumerate()
        .map(|(key, at)| *at - start - ms(200) * key as u32);
    let waits: Vec<_> = waits.collect();
    assert!(waits.iter().all(|wait| *wait <= ms(505)), "{waits:?}");
    Ok(())
}

#[test]
fn congestion_marks_slow_a_program_that_paints() -> Result<(), Failure> {
    let count = |marks: f64| -> Result<usize, Failure> {
        let down = [Delay::ms(20), Marking::percent(marks)];
        let net = Network::seeded(7).up([Delay::ms(20)]).down(down);
        let mut world = painting(net, 80, 24)?;
        world.run_for(secs(10))?;
        Ok(screens(&world, ms(20), secs(3)).len())
    };
    let (free, marked) = (count(0.0)?, count(20.0)?);
    assert!(marked * 2 < free, "{marked} of {free}");
    Ok(())
}
