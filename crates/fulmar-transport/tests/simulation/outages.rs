//! Outages: how soon after one something arrives, and how much is sent into it in vain.

use std::time::Duration;

use fulmar_base::Hint;
use fulmar_sim::{
    CLIENT, Change, Delay, Failed, Failure, Impairment, Network, hours, minutes, ms, secs,
};

use crate::ends::{Run, run, seeds, settle};

/// The longest time from when the link is back until something arrives.
///
/// Source: docs/protocol.md §5.4: a pause of 250 ms, and the way there.
const FIRST_WITHIN: Duration = Duration::from_millis(500);

/// The most bytes that may be sent into an outage, each second: a small datagram for each probe.
const BYTES_A_SECOND: u64 = 2000;

/// The most bytes of repetitions while the peer was heard in the last 10 s: an instruction of one datagram for each key,
/// every 300 ms, and after pauses that double to 500 ms.
const ACTIVE_RETRY_BYTES: u64 = 10 * 6 * 1252;

/// A conversation that is going well, over a round trip of 100 ms.
fn going(seed: u64) -> Result<Run, Failure> {
    going_over(seed, Delay::ms(50))
}

fn going_over(seed: u64, way: Impairment) -> Result<Run, Failure> {
    let mut run = run(Network::seeded(seed).both([way]));
    let now = run.now();
    run.nodes.0.typing.keep(now, now + secs(4), ms(150));
    run.run_for(secs(5))?;
    Ok(run)
}

/// Returns the number of bytes that the client has sent.
fn sent(run: &Run) -> u64 {
    run.nodes.0.link.endpoint.counters().bytes_sent
}

/// Returns the number of fresh datagrams that the server has had from the client.
fn heard((_, server): &(crate::ends::Client, crate::ends::Server)) -> u64 {
    server.link.endpoint.counters().fresh
}

/// An outage during which somebody types `at_once` keys at its beginning, or into it, and then goes
/// on typing. Returns how long it took until something arrived.
fn outage(
    seed: u64,
    length: Duration,
    quiet: Duration,
    at_once: usize,
) -> Result<Duration, Failure> {
    let mut run = going(seed)?;
    run.apply(Change::Cut(CLIENT));
    // Most outages begin with news of the network, which come to nothing.
    run.hint(CLIENT, Hint::AddressChanged);
    run.run_for(quiet)?;
    let now = run.now();
    run.nodes.0.type_keys(now, at_once);
    run.nodes
        .0
        .typing
        .keep(now, now + length + secs(10), ms(300));
    let before = sent(&run);
    run.run_for(length)?;
    let in_vain = sent(&run) - before;
    let most = 12 * at_once as u64 + ACTIVE_RETRY_BYTES + BYTES_A_SECOND * length.as_secs();
    assert!(in_vain <= most, "{in_vain} bytes in {length:?}");
    let before = heard(&run.nodes);
    run.apply(Change::Restore(CLIENT));
    let took = run.run_until(secs(10), |nodes| heard(nodes) > before)?;
    let all = run.run_until(secs(60), |(client, server)| {
        server.consumed == client.typed.end()
    })?;
    // In pieces of 64 KiB, one in each round trip or two.
    let pieces = at_once / (64 * 1024) + 1;
    assert!(all <= secs(1) * pieces as u32, "{all:?} for {at_once} keys");
    run.nodes.0.typing.keep(run.now(), run.now(), ms(300));
    settle(&mut run, secs(5))?;
    Ok(took)
}

const PENDING: [usize; 5] = [1, 700, 3000, 60 * 1024, 300 * 1024];

fn expect_soon(lengths: &[Duration], quiet: Duration) -> Result<(), Failed<Failure>> {
    seeds(3).try_each(|seed| {
        for &length in lengths {
            for at_once in PENDING {
                let took = outage(seed, length, quiet, at_once)?;
                assert!(
                    took <= FIRST_WITHIN,
                    "{took:?} after {length:?}, {at_once} keys"
                );
            }
        }
        Ok(())
    })
}

/// At the pace of frames, as with stock, it would be 450 datagrams.
#[test]
fn a_few_keys_on_a_short_path_are_sent_into_an_outage_less_and_less_often() -> Result<(), Failure> {
    let mut run = going_over(7, Delay::fixed(Duration::from_micros(500)))?;
    run.apply(Change::Cut(CLIENT));
    let datagrams = |run: &Run| run.nodes.0.link.endpoint.counters().datagrams_sent;
    let before = datagrams(&run);
    for _ in 0..3 {
        let now = run.now();
        run.nodes.0.type_keys(now, 1);
        run.run_for(ms(300))?;
    }
    run.run_for(secs(8))?;
    let in_vain = datagrams(&run) - before;
    assert!((20..=40).contains(&in_vain), "{in_vain}");
    Ok(())
}

#[test]
fn whatever_is_pending_something_arrives_at_once_after_a_short_outage()
-> Result<(), Failed<Failure>> {
    expect_soon(&[ms(300), secs(1), ms(1700), secs(4)], Duration::ZERO)
}

#[test]
fn whatever_is_pending_something_arrives_at_once_after_a_long_outage() -> Result<(), Failed<Failure>>
{
    expect_soon(&[secs(11), secs(29), minutes(3)], Duration::ZERO)
}

#[test]
fn whatever_is_typed_into_an_outage_something_arrives_at_once() -> Result<(), Failed<Failure>> {
    expect_soon(&[ms(300), secs(3), secs(20)], secs(15))
}

#[test]
fn whatever_is_pending_something_arrives_at_once_after_hours() -> Result<(), Failed<Failure>> {
    seeds(1).try_each(|seed| {
        let took = outage(seed, hours(2), secs(1), 60 * 1024)?;
        assert!(took <= FIRST_WITHIN, "{took:?}");
        Ok(())
    })
}

/// The pause is a tenth of the time since the last key, and a heartbeat's at most.
#[test]
fn when_nobody_types_any_more_the_first_try_is_a_tenth_of_that_away() -> Result<(), Failed<Failure>>
{
    seeds(3).try_each(|seed| {
        for (idle, within) in [(5, 550), (12, 1250), (600, 3050)] {
            let mut run = going(seed)?;
            run.apply(Change::Cut(CLIENT));
            let now = run.now();
            run.nodes.0.type_keys(now, 60 * 1024);
            run.run_for(secs(idle))?;
            let before = heard(&run.nodes);
            run.apply(Change::Restore(CLIENT));
            let took = run.run_until(secs(10), |nodes| heard(nodes) > before)?;
            assert!(took <= ms(within), "{took:?} after {idle} s");
            settle(&mut run, secs(2))?;
        }
        Ok(())
    })
}

#[test]
fn a_big_screen_comes_at_once_when_somebody_types() -> Result<(), Failed<Failure>> {
    seeds(3).try_each(|seed| {
        for length in [secs(1), secs(5), secs(20), minutes(5)] {
            let mut run = going(seed)?;
            run.apply(Change::Cut(CLIENT));
            let now = run.now();
            run.nodes
                .0
                .typing
                .keep(now, now + length + ms(600), ms(300));
            run.nodes.1.drawing.keep(now, now + length, ms(30));
            let before = run.nodes.1.link.endpoint.counters().bytes_sent;
            run.run_for(length)?;
            let in_vain = run.nodes.1.link.endpoint.counters().bytes_sent - before;
            // A board is 8 kB at most, and is sent whole a dozen times; after 40 s nothing is.
            assert!(in_vain <= 200_000, "{in_vain} bytes in {length:?}");
            run.apply(Change::Restore(CLIENT));
            let took = settle(&mut run, secs(10))?;
            assert!(took <= secs(1), "{took:?} after {length:?}");
        }
        Ok(())
    })
}
