//! Whole sessions in virtual time: what is typed arrives once and in order, what is drawn is seen,
//! whatever the network does.

mod support;

use std::time::Duration;

use fulmar_base::Hint;
use fulmar_core::{ClientEnding, ServerEnding, ServerEvent};
use fulmar_sim::{
    CLIENT, Change, Delay, Duplication, Failure, Impairment, Jump, Loss, Mtu, Network, Queue, Rate,
    Reordering, SERVER, days, minutes, ms, secs,
};

use support::World;

fn network(impairments: impl IntoIterator<Item = Impairment>) -> Network {
    Network::seeded(7).both(impairments)
}

/// Types a text key by key, a key every 80 ms.
fn type_slowly(world: &mut World, text: &[u8]) -> Result<(), Failure> {
    for key in text.chunks(1) {
        world.type_keys(key);
        world.run_for(ms(80))?;
    }
    Ok(())
}

const POEM: &[u8] = b"The fulmar, grey and white,\rglides over any sea.\r0123456789 !\"#$%&'()*+\r";

#[test]
fn what_is_typed_is_seen_after_a_round_trip() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(50)]));
    world.run_for(secs(2))?;
    world.type_keys(b"hello");
    let took = world.run_until_seen(secs(1), "hello")?;
    assert!(took >= ms(100), "{took:?}");
    assert!(took <= ms(200), "{took:?}");
    world.check_typed(b"hello")?;
    world.check_screens()
}

#[test]
fn what_the_users_terminal_answers_is_not_typed() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(50)]));
    world.type_keys(b"\x1b");
    world.run_for(secs(2))?;
    world.type_keys(b"hello\x1b");
    world.run_until_seen(secs(1), "hello")?;
    assert_eq!(world.near().client.answers_due(), None, "all is answered");
    world.check_typed(b"\x1bhello\x1b")
}

/// One that was asked and says nothing.
#[test]
fn a_terminal_that_does_not_answer_has_all_its_keys() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(50)]));
    world.near_mut().is_mute = true;
    world.run_for(secs(1))?;
    assert!(world.near().client.answers_due().is_some());
    for key in [&b"\x1b"[..], b"\x1b[", b"A\x1b", b"\x1b]11;rgb:", b"x"] {
        world.type_keys(key);
        world.run_for(secs(3))?;
    }
    world.check_typed(b"\x1b\x1b[A\x1b\x1b]11;rgb:x")
}

#[test]
fn the_program_starts_with_the_window_of_the_client() -> Result<(), Failure> {
    let mut world = World::with(
        network([Delay::ms(10)]),
        |client| client.size = fulmar_terminal::Size::new(41, 133).unwrap(),
        |_| (),
    );
    world.run_for(secs(1))?;
    let size = fulmar_terminal::Size::new(41, 133).unwrap();
    assert!(
        world
            .far()
            .events
            .contains(&ServerEvent::StartShell { size })
    );
    let resizes = |event: &&ServerEvent| matches!(event, ServerEvent::ResizePty { .. });
    assert_eq!(world.far().events.iter().filter(resizes).count(), 0);
    world.resize(100, 30);
    world.run_for(secs(1))?;
    let size = fulmar_terminal::Size::new(30, 100).unwrap();
    assert!(
        world
            .far()
            .events
            .contains(&ServerEvent::ResizePty { size })
    );
    world.check_screens()
}

/// Types through a network and checks that all arrives and is seen.
fn survives(net: Network, within: Duration) -> Result<(), Failure> {
    let mut world = World::new(net);
    type_slowly(&mut world, POEM)?;
    world.run_until_settled(within)?;
    world.check_typed(POEM)?;
    // Until the notice of heartbeats that were lost, if there is one, is gone.
    world.run_for(secs(30))?;
    for _ in 0..10 {
        if world.wrong_screen().is_none() {
            break;
        }
        world.run_for(secs(3))?;
    }
    world.check_screens()
}

#[test]
fn a_clear_network_carries_a_session() -> Result<(), Failure> {
    survives(network([]), secs(2))
}

#[test]
fn a_session_survives_loss_of_a_half() -> Result<(), Failure> {
    survives(network([Delay::ms(40), Loss::percent(50)]), secs(60))
}

#[test]
fn a_session_survives_reordering() -> Result<(), Failure> {
    survives(
        network([Delay::ms(20), Reordering::percent(40, ms(300))]),
        secs(10),
    )
}

#[test]
fn a_session_survives_duplication() -> Result<(), Failure> {
    survives(
        network([
            Delay::reordering_jitter(ms(1), ms(200)),
            Duplication::percent(60),
        ]),
        secs(10),
    )
}

#[test]
fn a_session_survives_a_round_trip_of_ten_seconds() -> Result<(), Failure> {
    survives(network([Delay::fixed(secs(5))]), secs(60))
}

#[test]
fn a_session_survives_a_small_mtu() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(20), Mtu::reported(700)]));
    world.run_for(secs(1))?;
    let rows: Vec<String> = (0..23)
        .map(|row| format!("{:>70}", u64::pow(7 + row, 9) * 7919))
        .collect();
    world.program_writes(rows.join("\r\n").as_bytes());
    world.type_keys(b"ok");
    world.run_until_settled(secs(20))?;
    world.run_for(secs(5))?;
    world.check_screens()
}

#[test]
fn a_session_survives_days_without_a_network() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(30)]));
    type_slowly(&mut world, b"before ")?;
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(days(2))?;
    let seen = world.seen();
    assert!(seen.contains("fulmar: nothing heard for 48:00:"), "{seen}");
    world.type_keys(b"during ");
    world.run_for(minutes(1))?;
    world.sim.apply(Change::Restore(CLIENT));
    world.run_until_seen(secs(5), "before during")?;
    world.run_for(secs(10))?;
    world.check_typed(b"before during ")?;
    world.check_screens()
}

#[test]
fn what_is_typed_during_an_outage_of_a_minute_comes_at_once_afterwards() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(50)]));
    world.run_for(secs(2))?;
    world.sim.apply(Change::Cut(CLIENT));
    let mut typed = Vec::new();
    for index in 0..750_u32 {
        let keys = [b'a' + (index % 26) as u8, b'0', b'1', b'\r'];
        world.type_keys(&keys);
        typed.extend(keys);
        world.run_for(ms(80))?;
    }
    world.sim.apply(Change::Restore(CLIENT));
    world.sim.hint(CLIENT, Hint::LinkUp);
    let took = world.run_until_settled(secs(10))?;
    assert!(took <= ms(600), "{took:?}");
    world.check_typed(&typed)?;
    world.run_for(secs(12))?;
    world.check_screens()
}

#[test]
fn a_new_address_every_second_loses_nothing() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(40), Loss::percent(5)]));
    world.sim.plan_every(secs(1), Change::MoveOn(CLIENT));
    type_slowly(&mut world, POEM)?;
    world.run_until_settled(secs(20))?;
    world.check_typed(POEM)?;
    world.sim.cancel_plan();
    world.run_for(secs(12))?;
    world.check_screens()
}

#[test]
fn a_server_answers_at_the_new_address() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(40)]));
    type_slowly(&mut world, b"here ")?;
    world.sim.move_to(CLIENT, "198.51.100.7:4500");
    world.type_keys(b"there");
    world.run_until_seen(secs(1), "here there")?;
    let address = fulmar_sim::address("198.51.100.7:4500");
    assert_eq!(world.far().sends_to, Some(address));
    let moves = |event: &&ServerEvent| matches!(event, ServerEvent::ClientAt { .. });
    assert_eq!(world.far().events.iter().filter(moves).count(), 2);
    Ok(())
}

#[test]
fn clocks_that_jump_break_nothing() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(40), Loss::percent(10)]));
    for (at, host, jump) in [
        (2, CLIENT, Jump::Forward(days(3))),
        (3, SERVER, Jump::Forward(secs(1000))),
        (4, SERVER, Jump::Backward(secs(500))),
        (5, CLIENT, Jump::Backward(days(1))),
    ] {
        world.sim.plan(secs(at), Change::Jump(host, jump));
    }
    type_slowly(&mut world, POEM)?;
    world.run_until_settled(days(2))?;
    world.check_typed(POEM)?;
    world.run_for(secs(20))?;
    world.check_screens()
}

#[test]
fn both_machines_may_sleep() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(40)]));
    type_slowly(&mut world, b"one ")?;
    world.sim.suspend(CLIENT);
    world.run_for(days(1))?;
    world.sim.suspend(SERVER);
    world.run_for(days(1))?;
    world.sim.wake(CLIENT);
    world.type_keys(b"two");
    world.run_for(secs(30))?;
    world.sim.wake(SERVER);
    world.run_until_seen(secs(5), "one two")?;
    world.check_typed(b"one two")
}

#[test]
fn a_lost_first_datagram_costs_a_quarter_second() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(20)]));
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(ms(100))?;
    world.sim.apply(Change::Restore(CLIENT));
    let took = world
        .sim
        .run_until(secs(5), |(near, _)| near.client.is_connected())?;
    assert!(took <= ms(250), "{took:?}");
    Ok(())
}

#[test]
fn ctrl_c_gets_through_a_flood() -> Result<(), Failure> {
    let slow = [Rate::kbit(2000, Queue::bytes(1_000_000)), Delay::ms(50)];
    let mut world = World::new(network(slow));
    world.run_for(secs(1))?;
    world.far_mut().start_flood(u64::MAX);
    world.run_for(secs(5))?;
    let start = world.sim.now();
    world.type_keys(b"\x03");
    let took = world.run_until_seen(secs(2), "^C")?;
    assert!(took <= ms(250), "{took:?}");
    let interrupted = world.far().program.interrupted.unwrap();
    assert!(interrupted - start <= ms(100), "{interrupted:?}");
    world.run_for(secs(3))?;
    world.check_screens()
}

#[test]
fn a_slow_terminal_sees_the_newest_screen_and_skips_old_ones() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(5)]));
    world.run_for(secs(1))?;
    world.near_mut().limit_tty(2);
    world.far_mut().start_flood(400_000);
    world.run_until_seen(secs(60), "line 400000 of a flood")?;
    world.run_for(secs(3))?;
    world.check_screens()?;
    let drawn = world.near().drawn_bytes;
    assert!(drawn < 200_000, "{drawn} bytes drawn");
    Ok(())
}

#[test]
fn a_paste_of_megabytes_arrives_exactly_and_is_held_in_little_memory() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(5)]));
    world.far_mut().program.is_silent = true;
    world.run_for(secs(1))?;
    let paste: Vec<u8> = (0..8 << 20)
        .map(|index: u32| b"abcdefghijklmnopqrstuvwxyz\r"[(index * 7 % 27) as usize])
        .collect();
    world.near_mut().paste(&paste);
    world
        .sim
        .run_until(minutes(10), |(_, far)| far.program.typed.len() >= 8 << 20)?;
    world.check_typed(&paste)?;
    assert!(world.near().largest_log <= (16 << 20) + (16 << 10));
    Ok(())
}

#[test]
fn input_that_the_program_does_not_read_stops_at_the_caps_and_goes_on() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(1)]));
    world.far_mut().program.is_silent = true;
    world.far_mut().limit_pty(0);
    world.run_for(secs(1))?;
    let paste = vec![b'x'; 33 << 20];
    world.near_mut().paste(&paste);
    world.run_for(minutes(5))?;
    let (near, far) = (world.near(), world.far());
    assert!(!near.client.wants_keys());
    assert!(
        near.largest_log <= (16 << 20) + (16 << 10),
        "{}",
        near.largest_log
    );
    assert!(far.largest_backlog <= 16 << 20, "{}", far.largest_backlog);
    assert!(
        world.seen().contains("keys are not read"),
        "{}",
        world.seen()
    );
    world.far_mut().limit_pty(100_000);
    world
        .sim
        .run_until(minutes(10), |(_, far)| far.program.typed.len() >= 33 << 20)?;
    world.check_typed(&paste)
}

#[test]
fn the_user_leaves_a_paste_that_is_under_way_or_that_nobody_reads() -> Result<(), Failure> {
    for pty_bytes in [100_000, 0] {
        let mut world = World::new(network([Delay::ms(50)]));
        world.far_mut().program.is_silent = true;
        world.far_mut().limit_pty(pty_bytes);
        world.run_for(secs(1))?;
        let paste: Vec<u8> = (0..14 << 20)
            .map(|index: u32| b"abcdefghijklmnopqrstuvwxyz\r"[(index * 7 % 27) as usize])
            .collect();
        world.near_mut().paste(&paste);
        world.run_for(secs(1))?;
        world.type_keys(b"\x1e.");
        world.sim.run_until(secs(3), |(near, far)| {
            near.ended.is_some() && far.ended.is_some()
        })?;
        assert_eq!(world.near().ended, Some(ClientEnding::UserQuit));
        assert_eq!(world.far().ended, Some(ServerEnding::ClientLeft));
    }
    Ok(())
}

#[test]
fn the_end_of_the_program_ends_the_client_with_its_last_screen() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(60)]));
    world.run_for(secs(1))?;
    world.program_writes(b"last words");
    world.program_exits();
    world.sim.run_until(secs(3), |(near, far)| {
        near.ended.is_some() && far.ended.is_some()
    })?;
    assert_eq!(world.near().ended, Some(ClientEnding::ServerEnded));
    assert_eq!(world.far().ended, Some(ServerEnding::ProgramEnded));
    assert!(world.seen().contains("last words"));
    assert_eq!(world.near().client.poll_timeout(), None);
    assert_eq!(world.far().server.poll_timeout(), None);
    Ok(())
}

#[test]
fn quitting_ends_both_and_restores_the_terminal() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(60)]));
    world.program_writes(b"\x1b[?2004h\x1b[?1003h\x1b[?1004h");
    world.run_for(secs(1))?;
    world.type_keys(b"bye\x1e.dropped");
    world.sim.run_until(secs(3), |(near, far)| {
        near.ended.is_some() && far.ended.is_some()
    })?;
    assert_eq!(world.near().ended, Some(ClientEnding::UserQuit));
    assert_eq!(world.far().ended, Some(ServerEnding::ClientLeft));
    world.check_typed(b"bye")?;
    world.near_mut().leave();
    let blank = fulmar_terminal::Screen::new(fulmar_terminal::Size::default());
    assert_eq!(world.near().terminal.screen().modes(), blank.modes());
    Ok(())
}

#[test]
fn quitting_without_a_server_fails_within_its_limit() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(60)]));
    world.run_for(secs(2))?;
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(secs(20))?;
    assert!(
        world.seen().contains("nothing heard for 2"),
        "{}",
        world.seen()
    );
    world.type_keys(b"\x1e.");
    world
        .sim
        .run_until(secs(15), |(near, _)| near.ended.is_some())?;
    assert_eq!(world.near().ended, Some(ClientEnding::Unanswered));
    Ok(())
}

#[test]
fn a_client_that_is_never_answered_says_where_and_gives_up() -> Result<(), Failure> {
    let mut world = World::with(
        network([]),
        |client| client.server_label = "203.0.113.1, UDP port 60001".to_owned(),
        |_| (),
    );
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(ms(200))?;
    assert_eq!(world.seen(), "");
    world.run_for(secs(3))?;
    let seen = world.seen();
    assert!(seen.contains("203.0.113.1, UDP port 60001"), "{seen}");
    world
        .sim
        .run_until(secs(30), |(near, _)| near.ended.is_some())?;
    assert_eq!(world.near().ended, Some(ClientEnding::NeverConnected));
    assert!(world.sim.now() >= secs(15) && world.sim.now() <= secs(26));
    Ok(())
}

#[test]
fn a_server_that_nobody_visits_leaves_after_a_minute() -> Result<(), Failure> {
    let mut world = World::new(network([]));
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(ms(59_999))?;
    assert_eq!(world.far().ended, None);
    world.run_for(ms(1))?;
    assert_eq!(world.far().ended, Some(ServerEnding::NobodyCame));
    Ok(())
}

#[test]
fn a_server_may_tire_of_waiting_and_says_goodbye_once() -> Result<(), Failure> {
    let mut world = World::with(
        network([Delay::ms(10)]),
        |_| (),
        |server| server.network_timeout = Some(secs(4)),
    );
    world.run_for(secs(2))?;
    world
        .sim
        .set(CLIENT, fulmar_sim::LinkDirection::Up, Loss::percent(100));
    world
        .sim
        .run_until(secs(9), |(_, far)| far.ended.is_some())?;
    assert_eq!(world.far().ended, Some(ServerEnding::ClientAway));
    world.run_for(secs(2))?;
    assert_eq!(world.near().ended, Some(ClientEnding::ServerEnded));
    Ok(())
}

#[test]
fn silence_of_half_a_minute_is_told_and_its_end_too() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(10)]));
    world.run_for(secs(2))?;
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(secs(40))?;
    world.sim.apply(Change::Restore(CLIENT));
    world.run_for(secs(10))?;
    let told: Vec<&ServerEvent> = world
        .far()
        .events
        .iter()
        .filter(|event| !matches!(event, ServerEvent::StartShell { .. }))
        .collect();
    assert!(
        matches!(
            told.as_slice(),
            [
                ServerEvent::ClientAt { .. },
                ServerEvent::ClientDetached,
                ServerEvent::ClientAt { .. }
            ]
        ),
        "{told:?}"
    );
    Ok(())
}

#[test]
fn an_idle_session_sends_twenty_datagrams_a_minute_each_way() -> Result<(), Failure> {
    let mut world = World::new(network([Delay::ms(20)]));
    world.run_for(secs(10))?;
    let sent = |world: &World, host| world.sim.net.timeline.counts(host).sent;
    let before = [CLIENT, SERVER].map(|host| sent(&world, host));
    world.run_for(minutes(10))?;
    for (host, before) in [CLIENT, SERVER].into_iter().zip(before) {
        let count = sent(&world, host) - before;
        assert!((190..=210).contains(&count), "{count} in ten minutes");
    }
    assert_eq!(world.sim.ledger().unwrap().repeats(), 0);
    Ok(())
}
