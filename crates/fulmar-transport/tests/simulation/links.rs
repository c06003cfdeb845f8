//! Links that lose, delay, reorder, double and shorten.

use std::time::Duration;

use fulmar_sim::{
    BurstLoss, Delay, Duplication, Failed, Failure, Impairment, Loss, Mtu, Network, Queue, Rate,
    Reordering, ms, secs,
};
use fulmar_transport::Cause;

use crate::ends::{keep_busy, run, seeds, settle};

/// Keeps both ends busy over such links for so long, and demands that they are equal a minute later.
fn equal_over<const N: usize>(
    busy: Duration,
    up: impl Fn() -> [Impairment; N],
    down: impl Fn() -> [Impairment; N],
) -> Result<(), Failed<Failure>> {
    equal_within(secs(60), busy, up, down)
}

/// Keeps both ends busy over such links for so long, and demands that they are equal within the time after that.
fn equal_within<const N: usize>(
    time: Duration,
    busy: Duration,
    up: impl Fn() -> [Impairment; N],
    down: impl Fn() -> [Impairment; N],
) -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = run(Network::seeded(seed).up(up()).down(down()));
        keep_busy(&mut run, busy);
        run.run_for(busy)?;
        settle(&mut run, time)?;
        Ok(())
    })
}

fn equal_over_both<const N: usize>(
    impairments: impl Fn() -> [Impairment; N],
) -> Result<(), Failed<Failure>> {
    equal_over(secs(20), &impairments, &impairments)
}

fn equal_over_round_trip(round_trip: Duration) -> Result<(), Failed<Failure>> {
    let way = || [Delay::fixed(round_trip / 2)];
    equal_over(secs(90), way, way)
}

#[test]
fn a_clear_link() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(40)])
}

#[test]
fn no_delay_at_all() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(0)])
}

#[test]
fn loss_of_10_percent() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(40), Loss::percent(10)])
}

#[test]
fn loss_of_29_percent() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(50), Loss::percent(29)])
}

#[test]
fn loss_of_50_percent() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(40), Loss::percent(50)])
}

#[test]
fn loss_of_60_percent_on_the_way_back() -> Result<(), Failed<Failure>> {
    // A screen of four datagrams arrives whole once in 39 tries, which are two or three seconds apart.
    equal_within(
        secs(1200),
        secs(20),
        || [Delay::ms(40), Loss::percent(0)],
        || [Delay::ms(40), Loss::percent(60)],
    )
}

#[test]
fn bursts_of_loss() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(50), BurstLoss::percent(30, 20)])
}

#[test]
fn datagrams_overtake_each_other() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(10), Reordering::percent(40, ms(300))])
}

#[test]
fn datagrams_come_twice() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Delay::ms(40), Duplication::percent(50)])
}

#[test]
fn everything_at_once() -> Result<(), Failed<Failure>> {
    let all = || {
        [
            Delay::reordering_jitter(ms(10), ms(200)),
            Loss::percent(20),
            Duplication::percent(20),
            Reordering::percent(20, ms(400)),
        ]
    };
    equal_over_both(all)
}

#[test]
fn a_slow_link_with_a_deep_queue() -> Result<(), Failed<Failure>> {
    equal_over_both(|| [Rate::kbit(200, Queue::bytes(100_000)), Delay::ms(100)])
}

#[test]
fn a_round_trip_of_10_s() -> Result<(), Failed<Failure>> {
    equal_over_round_trip(secs(10))
}

#[test]
fn a_round_trip_of_20_s() -> Result<(), Failed<Failure>> {
    equal_over_round_trip(secs(20))
}

#[test]
fn a_round_trip_of_5_s_is_learned() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(2500)]));
    keep_busy(&mut run, secs(60));
    run.run_for(secs(60))?;
    for round_trip in [
        run.nodes.0.link.endpoint.round_trip(),
        run.nodes.1.link.endpoint.round_trip(),
    ] {
        assert!(round_trip.smoothed().abs_diff(secs(5)) < ms(200));
        assert!(round_trip.timeout() >= secs(5));
    }
    Ok(())
}

#[test]
fn a_lost_first_datagram_is_answered_after_a_quarter_of_a_second() -> Result<(), Failure> {
    let net = Network::seeded(7).up([fulmar_sim::Picked::lost([0]), Delay::ms(40)]);
    let mut run = run(net.down([Delay::ms(40)]));
    run.nodes.0.type_keys(ms(0), 3);
    let took = run.run_until(secs(5), |(client, _)| {
        client.link.endpoint.heard_at().is_some()
    })?;
    assert_eq!(took, ms(250 + 80));
    Ok(())
}

#[test]
fn a_link_that_reports_its_mtu_costs_one_datagram() -> Result<(), Failure> {
    let net = Network::seeded(7).both([Mtu::reported(600), Delay::ms(40)]);
    let mut run = run(net);
    keep_busy(&mut run, secs(10));
    run.run_for(secs(10))?;
    settle(&mut run, secs(10))?;
    let counters = run.nodes.1.link.endpoint.counters();
    assert!(counters.send_errors > 0, "nothing was too long");
    assert!(counters.send_errors <= 7, "{counters:?}");
    Ok(())
}

#[test]
fn errors_from_sending_end_nothing_and_are_not_answered_by_haste() -> Result<(), Failure> {
    use fulmar_base::SendError;
    use fulmar_sim::Outage;
    let refused = fulmar_sim::Notice::Reported(SendError::Unreachable);
    let outage = Outage::windows([secs(5)..secs(65)], refused);
    let mut run = run(Network::seeded(7).up([outage, Delay::ms(40)]));
    run.run_for(secs(5))?;
    run.nodes.0.type_keys(secs(5), 10);
    let before = run.nodes.0.link.endpoint.counters().datagrams_sent;
    run.run_for(secs(60))?;
    let sent = run.nodes.0.link.endpoint.counters().datagrams_sent - before;
    // A try each second, after some in quicker succession.
    assert!((55..70).contains(&sent), "{sent} tries in a minute");
    let took = settle(&mut run, secs(5))?;
    assert!(took < ms(1000 + 80 + 200), "{took:?}");
    Ok(())
}

#[test]
fn a_quiet_conversation_beats_20_times_a_minute_each_way() -> Result<(), Failure> {
    let mut run = run(Network::seeded(7).both([Delay::ms(40)]));
    run.nodes.0.type_keys(ms(0), 3);
    run.run_for(secs(60))?;
    let counts = |run: &crate::ends::Run| {
        let ends = &run.nodes;
        let client = ends.0.link.endpoint.counters().datagrams_sent;
        let server = ends.1.link.endpoint.counters().datagrams_sent;
        [client, server]
    };
    let before = counts(&run);
    run.run_for(secs(600))?;
    let after = counts(&run);
    for (before, after) in before.into_iter().zip(after) {
        assert!((199..=201).contains(&(after - before)));
    }
    assert_eq!(run.nodes.0.link.sent(Cause::Retry), 0);
    Ok(())
}
