//! Copies in virtual time over the paths of the table of `docs/copy.md`, and what each control makes
//! of them.
//!
//! `cargo run --release -p fulmar-quic --example table -- [delay|bbr|cubic] [paths|yields|share|busy|TRACE] [MBIT]`
//!
//! With a rate, only the rows of links of that rate.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Duration;

use fulmar_quic::{CongestionControl, ConnectionOptions};
use fulmar_sim::{Delay, Impairment, LinkTrace, Loss, Network, Queue, Rate, Traced, ms, secs};
use support::many::share;
use support::{End, ends};

/// The size of the copy.
const BYTES: u64 = 300_000_000;

/// The rate of the link in Mbit/s.
const RATE: u64 = 500;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let controls = match arguments.next().as_deref() {
        Some("bbr") => vec![CongestionControl::Bbr],
        Some("cubic") => vec![CongestionControl::Cubic],
        _ => vec![CongestionControl::DelayBased],
    };
    let what = arguments.next().unwrap_or_else(|| "paths".to_owned());
    let only = arguments.next().and_then(|rate| rate.parse().ok());
    for control in controls {
        match what.as_str() {
            "paths" => paths(control),
            "yields" => yields(control, only),
            "busy" => busy(control),
            "share" => shares(control, only),
            trace => traced(control, trace),
        }
    }
}

fn options(control: CongestionControl) -> ConnectionOptions {
    ConnectionOptions {
        control,
        ..ConnectionOptions::default()
    }
}

/// A link of that rate with a queue of so many BDP.
fn link(mbit: u64, rtt: Duration, queue_bdp: f64, loss: f64) -> Network {
    let bdp = mbit as f64 * 1e6 / 8.0 * rtt.as_secs_f64();
    let queue = Queue::bytes((bdp * queue_bdp) as usize);
    let half = Delay::ms(rtt.as_millis() as u64 / 2);
    Network::seeded(7)
        .up([
            Loss::percent(loss),
            Rate::kbit(mbit * 1000, queue),
            half.clone(),
        ])
        .down([Loss::percent(loss), Rate::kbit(mbit * 1000, queue), half])
}

fn paths(control: CongestionControl) {
    println!("{control:?}: {BYTES} bytes, {RATE} Mbit/s, a queue of one BDP");
    for (rtt, loss) in [
        (45, 0.0),
        (100, 0.0),
        (200, 0.0),
        (45, 0.1),
        (45, 1.0),
        (200, 0.1),
        (200, 1.0),
        (400, 0.0),
        (800, 0.0),
        (45, 29.0),
    ] {
        let net = link(RATE, ms(rtt), 1.0, loss);
        let bytes = if loss > 20.0 { BYTES / 3 } else { BYTES };
        let mut sim = share(net, vec![ends(3, &options(control), bytes, 0)]);
        let done = sim.run_until(secs(400), |(_, far)| far.ends[0].received == bytes);
        if let Err(failure) = done {
            println!(
                "  {rtt:3} ms, {loss:4} %: NOT DONE: {failure}; {} bytes, {:?}",
                sim.nodes.1.ends[0].received, sim.nodes.1.ends[0].events
            );
            continue;
        }
        let near = &sim.nodes.0.ends[0];
        let far = &sim.nodes.1.ends[0];
        let took = far.received_at.as_secs_f64();
        let stats = near.connection.statistics();
        let (mean, longest) = sim.nodes.0.ping_between(secs(2), far.received_at);
        let (_, first) = sim.nodes.0.ping_between(ms(0), secs(2));
        println!(
            "  {rtt:3} ms, {loss:4} %: {:4.0} Mbit/s in {took:5.2} s; by 1 s {:5.1} MB, 2 s {:5.1} MB; RTT {:3} ms, longest {:3}, in 2 s {:3}; lost {:.2} %, windows {} {} MB",
            bytes as f64 * 8e-6 / took,
            far.received_by(secs(1)) as f64 * 1e-6,
            far.received_by(secs(2)) as f64 * 1e-6,
            mean.as_millis(),
            longest.as_millis(),
            first.as_millis(),
            stats.lost as f64 * 100.0 / stats.sent.0 as f64,
            far.connection.statistics().receive_window >> 20,
            stats.send_window >> 20,
        );
    }
}

/// Shows the round trips of small datagrams beside a copy, with queues of several sizes.
fn yields(control: CongestionControl, only: Option<u64>) {
    for (mbit, rtt, queue_bdp) in [
        (20, 40, 1.0),
        (20, 40, 10.0),
        (100, 40, 1.0),
        (100, 100, 1.0),
        (500, 45, 1.0),
        (500, 45, 0.1),
        (5, 60, 20.0),
        (1, 80, 30.0),
    ] {
        if only.is_some_and(|only| only != mbit) {
            continue;
        }
        let net = link(mbit, ms(rtt), queue_bdp, 0.0);
        let mut sim = share(net, vec![ends(3, &options(control), u64::MAX, 0)]);
        sim.run_for(secs(30)).expect("no end spins");
        let (mean, longest) = sim.nodes.0.ping_between(secs(5), secs(30));
        let (_, first) = sim.nodes.0.ping_between(ms(0), secs(5));
        let far = &sim.nodes.1.ends[0];
        let bytes = far.received - far.received_by(secs(5));
        println!(
            "{control:?} {mbit:3} Mbit/s {rtt:3} ms, queue {queue_bdp}: {:5.1} Mbit/s, RTT {:3} ms, longest {:3}, in 5 s {:3}",
            bytes as f64 * 8e-6 / 25.0,
            mean.as_millis(),
            longest.as_millis(),
            first.as_millis(),
        );
    }
}

/// Hosts that are late with what they do by up to so many milliseconds.
fn busy(control: CongestionControl) {
    for (mbit, rtt, late) in [(200, 45, 5), (200, 45, 20), (200, 45, 60), (200, 4, 20)] {
        let bdp = mbit as f64 * 1e6 / 8.0 * (rtt as f64 / 1000.0);
        let queue = Queue::bytes(bdp.max(256e3) as usize);
        let half = || Delay::ms(rtt / 2);
        let slow = || Delay::jitter(ms(0), ms(late / 2));
        let net = Network::seeded(7)
            .up([Rate::kbit(mbit * 1000, queue), half(), slow()])
            .down([Rate::kbit(mbit * 1000, queue), half(), slow()]);
        let mut sim = share(net, vec![ends(3, &options(control), u64::MAX, 0)]);
        sim.run_for(secs(20)).expect("no end spins");
        let far = &sim.nodes.1.ends[0];
        let by = |second| far.received_by(secs(second)) as f64 * 8e-6;
        println!(
            "{control:?} {mbit} Mbit/s {rtt} ms, up to {late} ms late: {:.0} Mbit/s in 2 s, then {:.0}, after 10 s {:.0}",
            by(2) / 2.0,
            (by(10) - by(2)) / 8.0,
            (by(20) - by(10)) / 10.0,
        );
    }
}

/// Two copies on one link: how they share.
fn shares(control: CongestionControl, only: Option<u64>) {
    for (mbit, rtt, queue_bdp, other) in [
        (20, 40, 0.5, CongestionControl::Cubic),
        (20, 40, 1.0, CongestionControl::Cubic),
        (20, 40, 2.0, CongestionControl::Cubic),
        (20, 40, 1.0, control),
        (100, 40, 0.5, CongestionControl::Cubic),
        (100, 40, 1.0, CongestionControl::Cubic),
        (100, 40, 2.0, CongestionControl::Cubic),
        (100, 40, 1.0, control),
        (101, 100, 1.0, CongestionControl::Cubic),
        (101, 100, 1.0, control),
        (500, 45, 1.0, CongestionControl::Cubic),
    ] {
        if only.is_some_and(|only| only != mbit) {
            continue;
        }
        for first in [0, 10] {
            let (seconds, late) = (60, 10 - first);
            let ours = ends(3, &options(control), u64::MAX, 0);
            let theirs = ends(4, &options(other), u64::MAX, 0);
            let ours = (ours.0.starting(secs(first)), ours.1);
            let theirs = (theirs.0.starting(secs(late)), theirs.1);
            let mut sim = share(link(mbit, ms(rtt), queue_bdp, 0.0), vec![ours, theirs]);
            sim.run_for(secs(seconds)).expect("no end spins");
            let rate = |end: &End| {
                (end.received - end.received_by(secs(20))) as f64 * 8e-6 / (seconds - 20) as f64
            };
            let (mean, longest) = sim.nodes.0.ping_between(secs(20), secs(seconds));
            println!(
                "{control:?} from {first:2} s beside {other:?} from {late:2} s, {mbit} Mbit/s, {rtt} ms, queue {queue_bdp}: {:5.1} and {:5.1} Mbit/s, RTT {} ms, longest {}",
                rate(&sim.nodes.1.ends[0]),
                rate(&sim.nodes.1.ends[1]),
                mean.as_millis(),
                longest.as_millis(),
            );
        }
    }
}

/// A link that follows a recorded one, in both directions where there is a recording of both, with 50 ms
/// each way as in the lab; from the third second on, as a login takes that long there.
fn traced(control: CongestionControl, file: &str) {
    let there = recorded(file).expect("a trace that can be read");
    let back = match file.strip_suffix("up") {
        Some(stem) => recorded(&format!("{stem}down")),
        None => recorded(&format!("{}up", file.trim_end_matches("down"))),
    };
    let (from, to) = (secs(3), secs(78));
    for queue in [Queue::Endless, Queue::bytes(100_000)] {
        let half = Delay::ms(50);
        let along = |trace: &Arc<LinkTrace>| Traced::from(trace.clone(), from, queue);
        let up: [Impairment; 2] = [along(&there), half.clone()];
        let down = back.iter().map(along).chain([half]);
        let net = Network::seeded(7).up(up).down(down);
        let mut sim = share(net, vec![ends(3, &options(control), u64::MAX, 0)]);
        // More often would be too much for the slowest link that answers.
        sim.nodes.0.between_pings = ms(500);
        sim.run_for(to - from).expect("no end spins");
        let could = there.count_between(from, to) as f64 * 1500.0;
        let far = &sim.nodes.1.ends[0];
        let (mean, longest) = sim.nodes.0.ping_between(secs(2), to - from);
        println!(
            "{control:?} {file} {queue:?}: {:.3} of {:.2} Mbit/s, RTT {} ms, longest {}",
            far.received as f64 / could,
            could * 8e-6 / (to - from).as_secs_f64(),
            mean.as_millis(),
            longest.as_millis(),
        );
    }
}

/// The recording in a file, if there is one.
fn recorded(file: &str) -> Option<Arc<LinkTrace>> {
    let text = std::fs::read_to_string(file).ok()?;
    LinkTrace::parse(&text).ok().map(Arc::new)
}
