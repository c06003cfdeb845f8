//! The checks: a link with one setting, probes over it, and what came of them.

use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::wall_time;
use fulmar_sim::{CLIENT, Change, LinkDirection, LinkTrace};
use serde_json::json;

use super::probe::{self, Answers, PacketTimes, ProbeSender};
use super::row::CheckRow;
use crate::link::Link;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// The thoroughness of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckExtent {
    /// A few seconds, to see that all of it works.
    Quick,
    /// A minute or two.
    Full,
}

impl CheckExtent {
    /// Returns what belongs to this extent.
    pub(super) fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// A packet without payload to speak of.
const SMALL: usize = 100;
/// The largest packet of the device.
const FULL: usize = 1500;

/// Starts a link that follows no trace.
fn link(text: &str) -> Result<Link> {
    Link::start(&Scenario::parse(text, &LinkTraces::none())?)
}

/// Gives a running link another way up.
fn set_up(link: &Link, stages: &str) -> Result<()> {
    let scenario = Scenario::parse(&format!("up {stages}"), &LinkTraces::none())?;
    let set = |stage| link.apply(Change::Set(CLIENT, LinkDirection::Up, stage));
    scenario.up.into_iter().try_for_each(set)
}

/// Sends probes that nobody answers, and returns the times of client and server.
fn measure(
    link: &Link,
    quiet: Duration,
    pace: impl FnOnce(&mut ProbeSender<'_>) -> Result<()>,
) -> Result<[PacketTimes; 2]> {
    probe::run(link, Answers::None, quiet, pace)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the value that this share of the sorted values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    let place = rank.clamp(1, sorted.len().max(1)) - 1;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Measures how much longer than set packets are under way. The errors of both ends are in it: that of the
/// engine's reading a packet late, and that of writing it late.
pub(super) fn delay(extent: CheckExtent, set: Duration, load: &'static str) -> Result<CheckRow> {
    let link = link(&format!("up delay {}us", set.as_micros()))?;
    let ms = Duration::from_millis;
    let (count, interval) = extent.choose((300, ms(2)), (5000, ms(1)));
    let [client, server] = measure(&link, set + ms(100), |pace| {
        pace.evenly(count, interval, SMALL)
    })?;
    let took = client.transit_times(&server).into_values().flatten();
    let mut errors: Vec<f64> = took.map(|took| (took - set.as_secs_f64()) * 1e3).collect();
    errors.sort_by(f64::total_cmp);
    let [least, median, p99, most] = [0.0, 0.5, 0.99, 1.0].map(|share| quantile(&errors, share));
    let late = link.report()?.lateness;
    Ok(CheckRow {
        what: "delay",
        setting: format!("{} ms, {load}", millis(set)),
        measured: format!("+{median:.3} ms median, +{p99:.3} ms 99 %, +{most:.3} ms most"),
        wanted: "under +0.2 ms median".to_owned(),
        is_good: median < 0.2 && least >= 0.0 && errors.len() == count as usize,
        numbers: json!({
            "set_ms": millis(set),
            "packets": errors.len(),
            "error_ms": { "least": least, "median": median, "p99": p99, "most": most },
            "of_it_handed_over_late_ms": {
                "median": millis(late.quantile(0.5)),
                "p99": millis(late.quantile(0.99)),
            },
        }),
    })
}

/// The share that does not arrive, against three standard errors of so many independent draws;
/// `spread` is how much larger than theirs the variance is.
fn lost_share(what: &'static str, setting: &str, share: f64, spread: f64) -> Result<CheckRow> {
    let link = link(&format!("seed 5\nup {what} {setting}"))?;
    let count = 100_000;
    let quiet = Duration::from_millis(200);
    let [_, server] = measure(&link, quiet, |pace| pace.quickly(count, SMALL))?;
    let missed = u64::from(count).saturating_sub(link.report()?.client.sent);
    let lost = f64::from(count) - server.arrived.len() as f64;
    let seen = lost / f64::from(count);
    let error = standard_error(share, spread, count);
    let errors = (seen - share) / error;
    Ok(CheckRow {
        what,
        setting: setting.to_owned(),
        measured: format!("{:.3} %, {errors:+.1} standard errors", seen * 100.0),
        wanted: "within 3 of 100 000".to_owned(),
        is_good: errors.abs() <= 3.0 && missed == 0,
        numbers: json!({
            "set": share, "seen": seen, "standard_error": error, "packets": count,
            "missed_by_the_engine": missed,
        }),
    })
}

/// The standard error of a share of so many draws, whose variance is `spread` times that of independent ones.
fn standard_error(share: f64, spread: f64, count: u32) -> f64 {
    (spread * share * (1.0 - share) / f64::from(count)).sqrt()
}

/// Losses of each packet for itself.
pub(super) fn loss(percent: f64) -> Result<CheckRow> {
    lost_share("loss", &format!("{percent}%"), percent / 100.0, 1.0)
}

/// Losses in runs.
pub(super) fn burst_loss(percent: f64, run: f64) -> Result<CheckRow> {
    let (share, setting) = (percent / 100.0, format!("{percent}% run {run}"));
    lost_share("burst-loss", &setting, share, burst_spread(share, run))
}

/// Returns the factor by which losses in runs of this mean length vary more than independent ones.
fn burst_spread(share: f64, run: f64) -> f64 {
    // A chain of two states: the variance is larger by (1 + c) / (1 - c), with c = 1 - p - r.
    let (to_good, to_bad) = (1.0 / run, share / run / (1.0 - share));
    let correlation = 1.0 - to_good - to_bad;
    (1.0 + correlation) / (1.0 - correlation)
}

/// Measures how many of a burst get through a queue: those that it holds, and the one that is being sent.
pub(super) fn queue(limit: &str, packet_bytes: usize, expected: usize) -> Result<CheckRow> {
    // One packet takes 2 ms for each of its bytes: longer than the burst, whatever happens to us.
    let link = link(&format!("up rate 4kbit queue {limit}"))?;
    let count = 2 * expected as u32 + 10;
    let quiet = Duration::from_millis(4 * packet_bytes as u64);
    let [_, server] = measure(&link, quiet, |pace| {
        (0..count).try_for_each(|_| pace.send(packet_bytes))?;
        // Those that wait need not do so for minutes.
        set_up(&link, &format!("rate 1gbit queue {limit}"))
    })?;
    let numbers: Vec<u32> = server.arrived.iter().map(|(number, _)| *number).collect();
    let arrived = numbers.len();
    Ok(CheckRow {
        what: "queue",
        setting: format!("{limit}, {count} packets of {packet_bytes} B at once"),
        measured: format!("{arrived} get through"),
        wanted: format!("{expected}, the first ones"),
        is_good: numbers.into_iter().eq(0..expected as u32),
        numbers: json!({ "sent": count, "expected": expected, "arrived": arrived }),
    })
}

/// Measures how fast full packets leave a link where many wait.
///
/// They are all there before the link is as fast as is to be measured, so that it never has to wait
/// for a prober that is not given the processor.
pub(super) fn rate(extent: CheckExtent, mbit: f64) -> Result<CheckRow> {
    // The first packet leaves at the rate at which it began; the others have come by then.
    let (first_ms, seconds) = extent.choose((500, 0.3), (2000, 2.0));
    let slow = FULL * 8 * 1000 / first_ms;
    let link = link(&format!("up rate {slow}bit"))?;
    let count = (mbit * 1e6 / 8.0 / FULL as f64 * seconds) as u32 + 20;
    let quiet = Duration::from_millis(first_ms as u64 + 300);
    let [_, server] = measure(&link, quiet, |pace| {
        pace.quickly(count.min(30_000), FULL)?;
        set_up(&link, &format!("rate {mbit}mbit"))
    })?;
    let (seen, took) = rate_of(&server).context("nothing arrived")?;
    let error = seen / mbit - 1.0;
    Ok(CheckRow {
        what: "rate",
        setting: format!("{mbit} Mbit/s"),
        measured: format!("{seen:.3} Mbit/s, {:+.3} %", error * 100.0),
        wanted: "within 1 %".to_owned(),
        is_good: error.abs() < 0.01,
        numbers: json!({
            "set_mbit": mbit, "seen_mbit": seen, "packets": server.arrived.len(), "seconds": took,
        }),
    })
}

/// Returns the rate at which full packets came, in Mbit/s, and for how long, in seconds: the first one only begins it.
fn rate_of(server: &PacketTimes) -> Option<(f64, f64)> {
    let ((_, first), (_, last)) = (server.arrived.first()?, server.arrived.last()?);
    let took = last.as_secs_f64() - first.as_secs_f64();
    let bits = (server.arrived.len() - 1) as f64 * FULL as f64 * 8.0;
    Some((bits / took / 1e6, took))
}

/// Sends half as much again as a link carries, a millisecond's share at a time.
fn overload(pace: &mut ProbeSender<'_>, per_second: f64, seconds: f64) -> Result<()> {
    let start = wall_time();
    let mut sent = 0.0;
    loop {
        let passed = wall_time().saturating_sub(start).as_secs_f64();
        if passed > seconds {
            return Ok(());
        }
        // So that the link is never idle, also where we are not given the processor for a while.
        while sent < passed * per_second * 1.5 + 100.0 {
            pace.send(FULL)?;
            sent += 1.0;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The largest share of a trace's opportunities that may be missing, or too many.
const TRACE_ERROR: f64 = 0.01;

/// Returns for how long a trace is followed: so long that an opportunity at either end, a little early or late, is
/// less than [`TRACE_ERROR`].
fn trace_seconds(extent: CheckExtent) -> f64 {
    extent.choose(6.0, 20.0)
}

/// Returns when the clock of a link showed zero: as read between two readings of ours that lie close together.
fn link_start(link: &Link) -> Result<Duration> {
    let mut readings = Vec::new();
    for _ in 0..20 {
        let before = wall_time();
        let at = link.report()?.at;
        let after = wall_time();
        readings.push((after.saturating_sub(before), (before + after) / 2 - at));
    }
    let closest = readings.into_iter().min().context("a clock was read")?;
    Ok(closest.1)
}

/// Measures how many opportunities of a trace are used where there is always something to send.
pub(super) fn trace(extent: CheckExtent, name: &str, traces: &LinkTraces) -> Result<CheckRow> {
    let trace = traces.get(name)?;
    let scenario = Scenario::parse(&format!("up trace {name} queue 1000p"), traces)?;
    let link = Link::start(&scenario)?;
    let seconds = trace_seconds(extent);
    let start = link_start(&link)?;
    let from = wall_time().saturating_sub(start) + Duration::from_millis(300);
    let to = from + Duration::from_secs_f64(seconds);
    let busiest = busiest(&trace, from, to);
    let [_, server] = measure(&link, Duration::from_millis(200), |pace| {
        overload(pace, busiest, seconds + 0.8)
    })?;
    let expected = trace.count_between(from, to);
    let is_within = |at: Duration| at > start + from && at <= start + to;
    let seen = server
        .arrived
        .iter()
        .filter(|(_, at)| is_within(*at))
        .count();
    let error = seen as f64 / expected as f64 - 1.0;
    Ok(CheckRow {
        what: "trace",
        setting: format!("{name}, {seconds} s"),
        measured: format!("{seen} packets, {:+.3} %", error * 100.0),
        wanted: format!("{expected} within 1 %"),
        is_good: error.abs() < TRACE_ERROR,
        numbers: json!({ "trace": name, "seconds": seconds, "expected": expected, "seen": seen }),
    })
}

/// Checks that a link and virtual time do the same to the same packets.
pub(super) fn worlds(extent: CheckExtent) -> Result<CheckRow> {
    // No packet waits for another: for how long would depend on the moment of its sending.
    let text = "seed 11\nup loss 5%, duplicate 5%, delay 20ms..25ms\n\
        down burst-loss 5% run 2, duplicate 5%, delay 30ms..34ms reordering";
    let count = extent.choose(100, 1000);
    let agreement = super::agreement(&Scenario::parse(text, &LinkTraces::none())?, count)?;
    let longer = |share| quantile(&agreement.longer, share) * 1e3;
    Ok(CheckRow {
        what: "virtual time",
        setting: format!("{count} requests and their answers"),
        measured: format!(
            "{} of another fate, +{:.3} ms median, +{:.3} ms 99 %",
            agreement.other_fate,
            longer(0.5),
            longer(0.99)
        ),
        wanted: "0, under +0.2 ms median".to_owned(),
        is_good: agreement.other_fate == 0 && longer(0.5) < 0.2,
        numbers: json!({
            "other_fate": agreement.other_fate,
            "arrived": agreement.longer.len(),
            "longer_ms": { "least": longer(0.0), "median": longer(0.5), "p99": longer(0.99) },
        }),
    })
}

/// The most opportunities that a second of the trace has.
fn busiest(trace: &LinkTrace, from: Duration, to: Duration) -> f64 {
    let second = Duration::from_secs(1);
    let mut at = from.saturating_sub(second);
    let mut most = 0;
    while at < to + second {
        most = most.max(trace.count_between(at, at + second));
        at += second / 4;
    }
    most as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_that_a_share_does_not_exceed() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let of = |share| quantile(&hundred, share);
        assert_eq!(
            (of(0.0), of(0.5), of(0.99), of(1.0)),
            (1.0, 50.0, 99.0, 100.0)
        );
        assert_eq!(quantile(&[3.0, 5.0, 9.0], 0.5), 5.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn an_error_is_that_of_the_binomial_distribution_and_larger_for_runs() {
        // The root of 0.01 * 0.99 / 100 000.
        assert!((standard_error(0.01, 1.0, 100_000) - 3.1464e-4).abs() < 1e-8);
        // Four times the variance is twice the error.
        let doubled = standard_error(0.01, 4.0, 100_000) / standard_error(0.01, 1.0, 100_000);
        assert!((doubled - 2.0).abs() < 1e-12);
        // Runs of 1 / (1 - share) are what independent losses make.
        assert!((burst_spread(0.05, 1.0 / 0.95) - 1.0).abs() < 1e-9);
        // 5 % in runs of 4: c = 1 - 0.25 - 0.05 / 4 / 0.95 = 0.73684.
        assert!((burst_spread(0.05, 4.0) - 6.6).abs() < 1e-9);
    }

    #[test]
    fn the_busiest_second_is_found_where_a_trace_is_uneven() {
        let times = (0..50)
            .map(|number| 2_000 + number * 20)
            .chain((0..10).map(|number| number * 100));
        let mut times: Vec<u64> = times.collect();
        times.sort_unstable();
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        let trace = LinkTrace::parse(&text).unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(busiest(&trace, second, second * 2), 50.0);
    }

    /// Two milliseconds are more than the errors of delays are (`fulmar-lab selfcheck`).
    #[test]
    fn what_a_trace_may_have_at_the_ends_of_the_window_is_within_its_limit() {
        let trace = LinkTraces::none().get("like-lte-down:1").unwrap();
        let ms = Duration::from_millis;
        for extent in [CheckExtent::Quick, CheckExtent::Full] {
            let window = Duration::from_secs_f64(trace_seconds(extent));
            for start in (0..20).map(Duration::from_secs) {
                let allowed = TRACE_ERROR * trace.count_between(start, start + window) as f64;
                let ends = [start, start + window].map(|end| {
                    let nearby = |by| trace.count_between(end + ms(by), end + ms(by + 2));
                    (0..3).map(nearby).max().unwrap()
                });
                let at_ends = ends.iter().sum::<u64>() as f64;
                assert!(
                    at_ends < allowed,
                    "{extent:?} {start:?}: {ends:?} of {allowed}"
                );
            }
        }
    }

    #[test]
    fn a_rate_counts_from_the_first_arrival_without_what_arrived_then() {
        let ms = Duration::from_millis;
        let arrived = (0..=10).map(|number| (number, ms(5000 + 12 * u64::from(number))));
        let server = PacketTimes {
            sent: Vec::new(),
            arrived: arrived.collect(),
        };
        // 12 000 bits each 12 ms.
        let (rate, took) = rate_of(&server).unwrap();
        assert!((rate - 1.0).abs() < 1e-9 && (took - 0.12).abs() < 1e-9);
        assert_eq!(rate_of(&PacketTimes::default()), None);
    }

    #[test]
    fn each_extent_has_its_own() {
        assert_eq!(CheckExtent::Quick.choose(1, 2), 1);
        assert_eq!(CheckExtent::Full.choose(1, 2), 2);
    }

    #[test]
    fn a_quantile_of_one_value_is_that_value() {
        for share in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(quantile(&[7.0], share), 7.0);
        }
        assert_eq!(quantile(&[3.0, 5.0, 9.0], 0.34), 5.0);
        assert_eq!(quantile(&[3.0, 5.0, 9.0], 0.33), 3.0);
    }
}
