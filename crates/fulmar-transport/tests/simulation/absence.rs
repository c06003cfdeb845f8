//! One end, or the way between, is gone for a while.

use fulmar_base::Hint;
use fulmar_sim::{
    CLIENT, Change, Delay, Failed, Failure, Jump, Network, SERVER, days, hours, minutes, ms, secs,
};

use crate::ends::{Run, keep_busy, run, seeds, settle};

fn over_100_ms(seed: u64) -> Network {
    Network::seeded(seed).both([Delay::ms(50)])
}

/// A conversation that is going well after five seconds.
fn going(seed: u64) -> Result<Run, Failure> {
    let mut run = run(over_100_ms(seed));
    keep_busy(&mut run, secs(4));
    run.run_for(secs(5))?;
    Ok(run)
}

#[test]
fn typing_through_an_outage_of_a_minute() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = going(seed)?;
        run.apply(Change::Cut(CLIENT));
        keep_busy(&mut run, secs(60));
        run.run_for(secs(60))?;
        run.apply(Change::Restore(CLIENT));
        run.hint(CLIENT, Hint::LinkUp);
        let took = settle(&mut run, secs(5))?;
        assert!(took <= ms(500), "{took:?}");
        Ok(())
    })
}

#[test]
fn the_end_of_an_outage_is_noticed_within_a_second_while_somebody_types() -> Result<(), Failure> {
    let mut run = going(7)?;
    run.apply(Change::Cut(CLIENT));
    run.run_for(secs(20))?;
    let now = run.now();
    run.nodes.0.type_keys(now, 10);
    run.run_for(ms(300))?;
    run.apply(Change::Restore(CLIENT));
    let took = run.run_until(secs(5), |(client, server)| {
        server.consumed == client.typed.end()
    })?;
    assert!(took <= ms(1000 + 50), "{took:?}");
    Ok(())
}

#[test]
fn days_offline_are_as_if_nothing_had_been() -> Result<(), Failure> {
    let mut run = going(7)?;
    run.apply(Change::Cut(CLIENT));
    let now = run.now();
    run.nodes.0.type_keys(now, 10);
    run.run_for(days(3))?;
    let typed = run.now();
    run.nodes.0.type_keys(typed, 10);
    run.apply(Change::MoveOn(CLIENT));
    run.apply(Change::Restore(CLIENT));
    let took = settle(&mut run, secs(10))?;
    assert!(took <= secs(4), "{took:?}");
    Ok(())
}

#[test]
fn after_40_s_the_server_is_silent() -> Result<(), Failure> {
    let mut run = going(7)?;
    run.apply(Change::Cut(CLIENT));
    run.run_for(secs(45))?;
    let sent = |run: &Run| run.nodes.1.link.endpoint.counters().datagrams_sent;
    let before = sent(&run);
    keep_busy(&mut run, secs(10));
    run.run_for(hours(1))?;
    assert_eq!(sent(&run), before);
    assert_eq!(run.nodes.1.link.next_due(), None);
    Ok(())
}

#[test]
fn both_asleep_for_hours() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = run(over_100_ms(seed));
        keep_busy(&mut run, secs(5));
        run.run_for(secs(3))?;
        run.suspend(CLIENT);
        run.run_for(ms(30))?;
        run.suspend(SERVER);
        run.run_for(hours(9))?;
        run.wake(SERVER);
        run.run_for(minutes(10))?;
        run.wake(CLIENT);
        let took = settle(&mut run, secs(5))?;
        assert!(took <= secs(1), "{took:?}");
        Ok(())
    })
}

#[test]
fn a_sleep_is_not_taken_for_a_round_trip() -> Result<(), Failure> {
    let mut run = run(over_100_ms(7));
    keep_busy(&mut run, secs(60));
    for _ in 0..5 {
        run.run_for(secs(3))?;
        run.suspend(CLIENT);
        run.run_for(secs(20))?;
        run.wake(CLIENT);
    }
    let round_trip = run.nodes.0.link.endpoint.round_trip();
    assert!(round_trip.smoothed() < ms(300), "{round_trip:?}");
    Ok(())
}

#[test]
fn a_nap_during_a_repeated_instruction_loses_nothing() -> Result<(), Failed<Failure>> {
    seeds(20).try_each(|seed| {
        let mut run = run(over_100_ms(seed));
        keep_busy(&mut run, secs(30));
        let mut random = fulmar_sim::Random::stream(seed, 200);
        while run.now() < secs(30) {
            let host = [CLIENT, SERVER][random.below(2) as usize];
            run.run_for(random.between(ms(10), ms(900)))?;
            run.suspend(host);
            run.run_for(random.between(ms(1), ms(900)))?;
            run.wake(host);
        }
        settle(&mut run, secs(5))?;
        Ok(())
    })
}

#[test]
fn clocks_that_jump_ahead_lose_nothing() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = run(over_100_ms(seed));
        let mut random = fulmar_sim::Random::stream(seed, 200);
        for _ in 0..20 {
            let now = run.now();
            keep_busy(&mut run, ms(900));
            run.run_for(ms(random.below(1000)))?;
            let host = [CLIENT, SERVER][random.below(2) as usize];
            let by = random.between(ms(1), hours(2));
            run.jump(host, Jump::Forward(by));
            run.run_for(now + secs(1) - run.now())?;
        }
        settle(&mut run, secs(10))?;
        Ok(())
    })
}

/// The clock is one that does not do so. If it does, time stands still for as long.
#[test]
fn clocks_that_jump_back_for_a_moment_lose_nothing() -> Result<(), Failed<Failure>> {
    seeds(5).try_each(|seed| {
        let mut run = run(over_100_ms(seed));
        let mut random = fulmar_sim::Random::stream(seed, 200);
        for _ in 0..20 {
            keep_busy(&mut run, ms(900));
            run.run_for(ms(random.below(1000)))?;
            let host = [CLIENT, SERVER][random.below(2) as usize];
            run.jump(host, Jump::Backward(random.between(ms(1), secs(2))));
        }
        settle(&mut run, secs(10))?;
        Ok(())
    })
}
