//! A server's knowledge of its program reaches the client in a session that has agreed on it, and in no other
//! (docs/protocol.md §13.7).

mod support;

use std::time::Duration;

use fulmar_core::{Agreement, Capabilities, Capability, ForegroundProgram, ServerConfig, TtyState};
use fulmar_predict::ProgramClass;
use fulmar_sim::{Delay, Failure, Loss, Network, ms, secs};

use support::{World, time};

/// A session that has agreed on these, if anything.
fn world(net: Network, agreed: Option<Capabilities>) -> World {
    let agreement = agreed.map(|capabilities| Agreement::of(b"offer", b"answer", capabilities));
    World::with(
        net,
        |client| client.agreement = agreement,
        |server: &mut ServerConfig| server.agreement = agreement,
    )
}

fn slow() -> Network {
    Network::seeded(1)
        .up([Delay::fixed(ms(50))])
        .down([Delay::fixed(ms(50))])
}

fn shell(has_echo: bool) -> TtyState<'static> {
    TtyState {
        is_canonical: false,
        has_echo,
        program: Some(ForegroundProgram {
            name: b"bash",
            words: b"-bash\0",
        }),
    }
}

/// Has the edge of the server see that.
fn see(world: &mut World, tty: TtyState<'_>) {
    let now = world.sim.clock(fulmar_sim::SERVER);
    world.far_mut().server.handle_tty(time(now), tty);
}

fn start(net: Network, agreed: Option<Capabilities>) -> Result<World, Failure> {
    let mut world = world(net, agreed);
    world
        .sim
        .run_until(secs(5), |(near, _)| near.client.is_connected())?;
    world.run_for(secs(1))?;
    Ok(world)
}

fn sent(world: &World) -> u64 {
    let info = world.far().server.link_info().expect("there is a link");
    info.counters.datagrams_sent
}

#[test]
fn a_change_reaches_the_client_though_the_screen_stays() -> Result<(), Failure> {
    let mut world = start(slow(), Some(Capabilities::ALL))?;
    assert!(world.far().server.wants_tty());
    assert_eq!(world.near().client.hints(), None);
    see(&mut world, shell(true));
    world.run_for(ms(200))?;
    let hints = world.near().client.hints().expect("they were told");
    assert!(hints.echo && !hints.canonical && !hints.alternate);
    assert_eq!(hints.class, ProgramClass::Shell);
    see(&mut world, shell(false));
    world.run_for(ms(200))?;
    let later = world.near().client.hints().expect("they were told");
    assert!(!later.echo);
    assert_eq!(later.program, hints.program);
    Ok(())
}

#[test]
fn what_has_not_changed_is_not_told_again() -> Result<(), Failure> {
    let mut world = start(slow(), Some(Capabilities::ALL))?;
    see(&mut world, shell(true));
    world.run_for(secs(1))?;
    let before = sent(&world);
    for _ in 0..10 {
        see(&mut world, shell(true));
        world.run_for(ms(20))?;
    }
    assert_eq!(sent(&world), before);
    Ok(())
}

#[test]
fn hints_travel_with_the_screen_that_they_belong_to() -> Result<(), Failure> {
    let mut world = start(slow(), Some(Capabilities::ALL))?;
    see(&mut world, shell(true));
    world.program_writes(b"$ ");
    world.run_until_seen(secs(1), "$")?;
    assert!(world.near().client.hints().expect("they came").echo);
    world.program_writes(b"\x1b[?1049h\x1b[5 qeditor");
    world.run_until_seen(secs(1), "editor")?;
    let hints = world.near().client.hints().expect("they came");
    assert!(hints.alternate);
    Ok(())
}

#[test]
fn without_an_agreement_nobody_is_told_and_nobody_is_woken() -> Result<(), Failure> {
    let without = Capabilities::from_iter([Capability::Exit]);
    for agreed in [None, Some(Capabilities::NONE), Some(without)] {
        let mut world = start(slow(), agreed)?;
        assert!(!world.far().server.wants_tty());
        let (before, due) = (sent(&world), world.far().server.poll_timeout());
        for has_echo in [true, false, true] {
            see(&mut world, shell(has_echo));
            assert_eq!(world.far().server.poll_timeout(), due);
            world.run_for(ms(10))?;
        }
        assert_eq!((sent(&world), world.near().client.hints()), (before, None));
    }
    Ok(())
}

#[test]
fn the_last_word_arrives_however_many_are_lost() -> Result<(), Failure> {
    let lossy = Network::seeded(7)
        .up([Loss::percent(29), Delay::fixed(ms(100))])
        .down([Loss::percent(29), Delay::fixed(ms(100))]);
    let mut world = world(lossy, Some(Capabilities::ALL));
    world
        .sim
        .run_until(secs(60), |(near, _)| near.client.is_connected())?;
    for turn in 0..50 {
        see(&mut world, shell(turn % 2 == 0));
        world.run_for(Duration::from_millis(turn * 7))?;
    }
    world.run_for(secs(10))?;
    assert!(!world.near().client.hints().expect("they came").echo);
    Ok(())
}
