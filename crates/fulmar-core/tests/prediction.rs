//! Keys are shown before the server has answered, by the client that people use: with its numbered
//! states, its escape key, its notice, and a network in between.

mod support;

use std::time::Duration;

use fulmar_core::Wake;
use fulmar_predict::PredictionMode;
use fulmar_sim::{CLIENT, Change, Delay, Failure, Network, ms, secs};

use support::World;

/// A round trip of 300 ms.
fn slow() -> Network {
    Network::seeded(3)
        .up([Delay::fixed(ms(150))])
        .down([Delay::fixed(ms(150))])
}

fn fast() -> Network {
    Network::seeded(3)
        .up([Delay::fixed(ms(4))])
        .down([Delay::fixed(ms(4))])
}

/// A session at a prompt that has shown one key, so that it is known to echo.
fn at_a_prompt(net: Network, preference: PredictionMode) -> Result<World, Failure> {
    let mut world = World::with(net, |client| client.prediction.mode = preference, |_| ());
    world
        .sim
        .run_until(secs(10), |(near, _)| near.client.is_connected())?;
    // As a shell with its line editor.
    world.program_writes(b"\x1b[?2004h$ ");
    world.run_until_seen(secs(5), "$")?;
    world.type_keys(b"l");
    world.run_until_seen(secs(5), "$ l")?;
    world.run_for(secs(2))?;
    Ok(world)
}

/// Returns after how long `wanted` is seen, of something that is typed now.
fn seen_after(world: &mut World, keys: &[u8], wanted: &str) -> Result<Duration, Failure> {
    let began = world.sim.now();
    world.type_keys(keys);
    world.run_until_seen(secs(5), wanted)?;
    Ok(world.sim.now() - began)
}

#[test]
fn a_key_is_seen_before_the_server_has_answered() -> Result<(), Failure> {
    for preference in [
        PredictionMode::Adaptive,
        PredictionMode::Always,
        PredictionMode::Experimental,
    ] {
        let mut world = at_a_prompt(slow(), preference)?;
        let waited = seen_after(&mut world, b"s", "$ ls")?;
        assert!(waited < ms(5), "{preference:?}: {waited:?}");
        world.run_for(secs(3))?;
        world.check_screens()?;
        let score = world.near().client.link_info().prediction;
        let score = score.expect("it predicts");
        assert_eq!((score.shown, score.wrong), (1, 0), "{score:?}");
        assert!(score.mean_saved() > ms(250), "{score:?}");
    }
    Ok(())
}

#[test]
fn who_does_not_want_that_waits_for_the_server() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Never)?;
    assert!(seen_after(&mut world, b"s", "$ ls")? >= ms(300));
    assert_eq!(world.near().client.link_info().prediction, None);
    Ok(())
}

#[test]
fn on_a_fast_link_a_key_is_drawn_once() -> Result<(), Failure> {
    let mut world = at_a_prompt(fast(), PredictionMode::Adaptive)?;
    for (key, wanted) in [("s", "$ ls"), ("x", "$ lsx"), ("\x7f", "$ ls")] {
        let frames = world.near().frames;
        assert!(seen_after(&mut world, key.as_bytes(), wanted)? < ms(5));
        world.run_for(ms(100))?;
        assert_eq!(world.near().frames, frames + 1, "{key:?}");
    }
    Ok(())
}

fn prediction_is_due(world: &World) -> Option<Duration> {
    let due = world.near().client.poll_timeout();
    due.filter(|(_, wake)| *wake == Wake::Prediction)
        .map(|(at, _)| at.since_origin())
}

#[test]
fn what_is_typed_at_a_prompt_without_echo_is_never_seen() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    world.far_mut().program.is_silent = true;
    world.type_keys(b"\r");
    for key in "hunter7QZ".chars() {
        world.type_keys(key.to_string().as_bytes());
        for _ in 0..12 {
            world.run_for(ms(10))?;
            let seen = world.seen();
            let below: String = seen.lines().skip(1).collect();
            assert_eq!(below.replace(['$', ' '], ""), "", "{key} was typed");
        }
    }
    world.run_for(secs(5))?;
    assert!(!world.seen().contains("hunter"), "{}", world.seen());
    world.check_screens()
}

#[test]
fn a_paste_is_not_predicted() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    let waited = seen_after(&mut world, &[b'x'; 101], "$ lxxxx")?;
    assert!(waited >= ms(300), "{waited:?}");
    Ok(())
}

#[test]
fn keys_typed_while_nothing_gets_through_are_seen_at_once() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Adaptive)?;
    world.sim.apply(Change::Cut(CLIENT));
    for (key, wanted) in [
        ("s", "$ ls"),
        (" ", "$ ls"),
        ("-", "$ ls -"),
        ("a", "$ ls -a"),
    ] {
        assert!(seen_after(&mut world, key.as_bytes(), wanted)? < ms(5));
        world.run_for(ms(300))?;
    }
    world.sim.apply(Change::Restore(CLIENT));
    world.run_for(secs(30))?;
    world.check_typed(b"ls -a")?;
    world.check_screens()
}

#[test]
fn hours_of_typing_at_a_dead_network_stay_bounded() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    world.sim.apply(Change::Cut(CLIENT));
    for _ in 0..3000 {
        world.type_keys(b"k\x7f");
        world.run_for(ms(100))?;
    }
    world.sim.apply(Change::Restore(CLIENT));
    world.run_for(secs(60))?;
    world.check_screens()
}

#[test]
fn what_the_escape_key_takes_is_not_predicted() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    world.type_keys(b"\x1ei");
    world.run_for(ms(1))?;
    let seen = world.seen();
    assert!(seen.contains("0 of 1 keys were shown"), "{seen}");
    world.type_keys(b"s");
    world.run_for(ms(1))?;
    assert!(world.seen().starts_with("$ ls"), "{}", world.seen());
    world.type_keys(b"\x1ei");
    world.run_for(secs(1))?;
    let seen = world.seen();
    assert!(
        seen.contains("1 of 2 keys were shown") && seen.contains("right: 1, 3"),
        "{seen}"
    );
    Ok(())
}

#[test]
fn a_window_of_another_size_shows_only_what_has_arrived() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    assert!(seen_after(&mut world, b"s", "$ ls")? < ms(5));
    world.resize(70, 20);
    world.run_for(ms(1))?;
    assert_eq!(world.seen(), "$ l");
    // The program has not heard of it when these are typed, nor for long after.
    world.sim.apply(Change::Cut(CLIENT));
    world.type_keys(b"xy");
    world.run_for(secs(10))?;
    world.sim.apply(Change::Restore(CLIENT));
    world.run_for(secs(30))?;
    world.check_typed(b"lsxy")?;
    world.check_screens()
}

#[test]
fn decisions_are_told_with_their_kind_and_without_the_key() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    world.near_mut().client.observe_prediction();
    world.type_keys(b"Q");
    world.run_for(secs(2))?;
    let decisions = world.near_mut().client.take_decisions();
    let mut lines = String::new();
    for (at, decision) in &decisions {
        fulmar_core::trace::decided(&mut lines, *at, decision);
    }
    let mut lines = lines.lines();
    let typed = lines.next().unwrap_or_default();
    assert!(typed.contains(" typed key=1 class=print "), "{typed}");
    assert!(typed.ends_with(" shown=true"), "{typed}");
    let settled = lines.find(|line| line.contains(" settled key=1 "));
    let settled = settled.expect("it was settled");
    assert!(settled.contains("verdict=right"), "{settled}");
    assert!(world.near_mut().client.take_decisions().is_empty());
    Ok(())
}

#[test]
fn a_session_at_rest_is_not_woken_for_predictions() -> Result<(), Failure> {
    let mut world = at_a_prompt(slow(), PredictionMode::Always)?;
    assert!(seen_after(&mut world, b"s", "$ ls")? < ms(5));
    world.run_for(secs(10))?;
    assert_eq!(prediction_is_due(&world), None);
    Ok(())
}
