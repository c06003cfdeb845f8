//! Repaints and pastes of many datagrams over links that lose some of them.

use std::time::Duration;

use fulmar_sim::{Delay, Failed, Failure, Impairment, Loss, Network, secs};

use crate::ends::{Run, is_settled, keep_busy, run, seeds, settle};

/// Returns a run at rest over a link that loses so many datagrams in a hundred each way, and has been busy for long enough to
/// show it.
fn after_loss_of(seed: u64, percent: u32) -> Result<Run, Failure> {
    let way = || -> [Impairment; 2] { [Delay::ms(50), Loss::percent(percent)] };
    let mut run = run(Network::seeded(seed).up(way()).down(way()));
    keep_busy(&mut run, secs(10));
    run.run_for(secs(10))?;
    settle(&mut run, secs(60))?;
    Ok(run)
}

fn bytes_sent(run: &Run) -> u64 {
    let (client, server) = &run.nodes;
    client.link.endpoint.counters().bytes_sent + server.link.endpoint.counters().bytes_sent
}

/// Runs a test with so many seeds, and prints the median of the times that it returns.
fn median_of(
    count: u64,
    what: &str,
    mut test: impl FnMut(u64) -> Result<Duration, Failure>,
) -> Result<(), Failed<Failure>> {
    let mut times = Vec::new();
    seeds(count).try_each(|seed| {
        times.push(test(seed)?);
        Ok(())
    })?;
    times.sort();
    println!("{what}: {:?}, median of {count}", times[times.len() / 2]);
    Ok(())
}

/// Types so many keys at once, and demands that all is there in time, for so many bytes. Returns how long it took.
fn paste(
    seed: u64,
    percent: u32,
    keys: usize,
    within: Duration,
    bytes_max: u64,
) -> Result<Duration, Failure> {
    let mut run = after_loss_of(seed, percent)?;
    let (now, before) = (run.now(), bytes_sent(&run));
    run.nodes.0.type_keys(now, keys);
    run.run_until(within, is_settled)?;
    let bytes = bytes_sent(&run) - before;
    assert!(bytes <= bytes_max, "{bytes} bytes for {keys} keys");
    Ok(run.now() - now)
}

#[test]
fn a_paste_gets_through_where_a_third_is_lost() -> Result<(), Failed<Failure>> {
    // Sent as a whole it would need fifty datagrams to arrive together.
    median_of(40, "60 kB of input", |seed| {
        paste(seed, 29, 60_000, secs(6), 700_000)
    })?;
    median_of(40, "20 kB of input", |seed| {
        paste(seed, 29, 20_000, secs(3), 150_000)
    })
}

#[test]
fn a_paste_is_hardly_slowed_by_a_little_loss() -> Result<(), Failed<Failure>> {
    median_of(5, "60 kB of input, little loss", |seed| {
        paste(seed, 5, 60_000, secs(2), 150_000)
    })
}

#[test]
fn a_screen_gets_through_where_a_third_is_lost() -> Result<(), Failed<Failure>> {
    median_of(40, "a screen of 4 kB", |seed| {
        let mut run = after_loss_of(seed, 29)?;
        let now = run.now();
        run.nodes.1.repaint();
        run.run_until(secs(4), is_settled)?;
        Ok(run.now() - now)
    })
}

#[test]
fn a_program_that_draws_all_the_time_is_seen_where_a_third_is_lost() -> Result<(), Failed<Failure>>
{
    seeds(5).try_each(|seed| {
        let mut run = after_loss_of(seed, 29)?;
        for _ in 0..100 {
            run.nodes.1.repaint();
            run.run_for(Duration::from_millis(100))?;
        }
        settle(&mut run, secs(4))?;
        Ok(())
    })
}
