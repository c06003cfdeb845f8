//! The effect of a copy on others on the same path.

mod support;

use std::time::Duration;

use fulmar_quic::{CongestionControl, ConnectionOptions};
use fulmar_sim::{Delay, Network, Queue, Rate, Simulation, ms, secs};
use support::many::{Many, share};
use support::{End, ends};

const ENDLESS: u64 = 1 << 50;

/// 20 Mbit/s and 40 ms with a queue of one BDP.
fn network() -> Network {
    Network::seeded(7).both([Rate::kbit(20_000, Queue::bytes(100_000)), Delay::ms(20)])
}

/// A copy of that control that begins then.
fn copy(seed: u8, control: CongestionControl, from: Duration) -> (End, End) {
    let options = ConnectionOptions {
        control,
        ..ConnectionOptions::default()
    };
    let (near, far) = ends(seed, &options, ENDLESS, 0);
    (near.starting(from), far)
}

fn run(pairs: Vec<(End, End)>, time: Duration) -> Simulation<(Many, Many)> {
    let mut sim = share(network(), pairs);
    match sim.run_for(time) {
        Ok(()) => sim,
        Err(failure) => panic!("{failure}"),
    }
}

/// The share of the first of two after 20 s.
fn first_share(first: (CongestionControl, u64), second: (CongestionControl, u64)) -> f64 {
    let (one, two) = (
        copy(3, first.0, secs(first.1)),
        copy(4, second.0, secs(second.1)),
    );
    let sim = run(vec![one, two], secs(60));
    let got = |end: &End| (end.received - end.received_by(secs(20))) as f64;
    let [one, two] = &sim.nodes.1.ends[..] else {
        panic!("two ends");
    };
    got(one) / (got(one) + got(two))
}

#[test]
fn small_datagrams_take_thirty_milliseconds_more_at_most_from_the_start_on() {
    let sim = run(
        vec![copy(3, CongestionControl::DelayBased, secs(0))],
        secs(10),
    );
    let (_, longest) = sim.nodes.0.ping_between(secs(0), secs(10));
    // A start that is noticed too late takes all of the queue, and 80.
    assert!(longest <= ms(70), "{longest:?} on a path of 40 ms");
}

#[test]
fn a_copy_beside_cubic_takes_about_half() {
    for (own, cubic) in [(0, 10), (10, 0)] {
        let (own, cubic) = (
            (CongestionControl::DelayBased, own),
            (CongestionControl::Cubic, cubic),
        );
        let share = first_share(own, cubic);
        assert!((0.3..=0.55).contains(&share), "{share}");
    }
}

#[test]
fn two_copies_share() {
    let share = first_share(
        (CongestionControl::DelayBased, 0),
        (CongestionControl::DelayBased, 10),
    );
    assert!((0.4..=0.6).contains(&share), "{share}");
}
