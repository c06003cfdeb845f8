//! Offers and announcements are lost or altered on their way, over networks that lose, repeat and reorder.
//! The two ends speak as stock does, or natively, or end; always both the same.

mod support;

use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{
    Agreement, Capabilities, ClientEnding, ExitRequest, ExitStatus, ServerEnding, ServerEvent,
};
use fulmar_sim::{
    CLIENT, Change, Delay, Duplication, Failure, Impairment, Loss, Network, Reordering, SERVER,
    minutes, ms, secs,
};
use fulmar_transport::Dialect;

use support::{Far, World, time};

/// Two of the names are of a day to come.
const OFFER: &str = "FULMAR OFFER 1 exit,history,streams\nsize 80 24\nword vim\nFULMAR END\n";
const ANNOUNCEMENT: &str = "FULMAR CONNECT 1 exit 0.1.0\n";

/// The offer and the announcement at either end; `None` where there was none.
#[derive(Clone, Copy)]
struct Login {
    offer_sent: Option<&'static str>,
    offer_read: Option<&'static str>,
    announced: Option<&'static str>,
    announcement_read: Option<&'static str>,
}

const WHOLE: Login = Login {
    offer_sent: Some(OFFER),
    offer_read: Some(OFFER),
    announced: Some(ANNOUNCEMENT),
    announcement_read: Some(ANNOUNCEMENT),
};

impl Login {
    /// Returns the agreements that client and server believe in.
    fn agreements(self) -> [Option<Agreement>; 2] {
        [
            agreement(self.offer_sent, self.announcement_read),
            agreement(self.offer_read, self.announced),
        ]
    }
}

fn agreement(offer: Option<&str>, announcement: Option<&str>) -> Option<Agreement> {
    let (offer, announcement) = (offer?, announcement?);
    let named = |line: &str| Capabilities::parse(line.split(' ').nth(3).unwrap_or("-").trim());
    let agreed = named(offer).and(named(announcement));
    Some(Agreement::of(
        offer.as_bytes(),
        announcement.as_bytes(),
        agreed,
    ))
}

/// Every way in which a login can go, and what has to come of it.
fn logins() -> Vec<(&'static str, Login, Dialect)> {
    let altered_offer = |read| Login {
        offer_read: Some(read),
        ..WHOLE
    };
    let altered_announcement = |read| Login {
        announcement_read: Some(read),
        ..WHOLE
    };
    let stock_server = Login {
        offer_read: None,
        announced: None,
        announcement_read: None,
        ..WHOLE
    };
    vec![
        ("nothing happens", WHOLE, Dialect::Native),
        ("the offer is stripped", stock_server, Dialect::Legacy),
        (
            "the announcement is stripped",
            Login {
                announcement_read: None,
                ..WHOLE
            },
            Dialect::Legacy,
        ),
        (
            "the announcement is made up",
            Login {
                announced: None,
                ..WHOLE
            },
            Dialect::Legacy,
        ),
        (
            "the client is stock",
            Login {
                offer_sent: None,
                offer_read: None,
                announced: None,
                announcement_read: None,
            },
            Dialect::Legacy,
        ),
        (
            "a capability is added to the offer",
            altered_offer(
                "FULMAR OFFER 1 exit,history,idle,streams\nsize 80 24\nword vim\nFULMAR END\n",
            ),
            Dialect::Altered,
        ),
        (
            "a capability is taken out of the offer",
            altered_offer("FULMAR OFFER 1 exit,history\nsize 80 24\nword vim\nFULMAR END\n"),
            Dialect::Altered,
        ),
        (
            "all capabilities are taken out of the offer",
            Login {
                offer_read: Some("FULMAR OFFER 1 -\nsize 80 24\nword vim\nFULMAR END\n"),
                announced: Some("FULMAR CONNECT 1 - 0.1.0\n"),
                announcement_read: Some("FULMAR CONNECT 1 - 0.1.0\n"),
                ..WHOLE
            },
            Dialect::Altered,
        ),
        (
            "the capabilities of the offer are reordered",
            altered_offer("FULMAR OFFER 1 rich,history,exit\nsize 80 24\nword vim\nFULMAR END\n"),
            Dialect::Altered,
        ),
        (
            "a byte of the offer is altered",
            altered_offer(
                "FULMAR OFFER 1 exit,history,streams\nsize 80 25\nword vim\nFULMAR END\n",
            ),
            Dialect::Altered,
        ),
        (
            "a line of the offer is lost",
            altered_offer("FULMAR OFFER 1 exit,history,streams\nsize 80 24\nFULMAR END\n"),
            Dialect::Altered,
        ),
        (
            "a capability is added to the announcement",
            altered_announcement("FULMAR CONNECT 1 exit,rich 0.1.0\n"),
            Dialect::Altered,
        ),
        (
            "the capability is taken out of the announcement",
            altered_announcement("FULMAR CONNECT 1 - 0.1.0\n"),
            Dialect::Altered,
        ),
        (
            "a byte of the announcement is altered",
            altered_announcement("FULMAR CONNECT 1 exit 0.1.1\n"),
            Dialect::Altered,
        ),
        (
            "CR is put before the LF of the announcement",
            altered_announcement("FULMAR CONNECT 1 exit 0.1.0\r\n"),
            Dialect::Altered,
        ),
    ]
}

/// The networks in which each login is tried.
fn networks() -> Vec<(&'static str, Vec<Impairment>)> {
    vec![
        ("a clear one", vec![Delay::ms(30)]),
        ("loss of 30 %", vec![Delay::ms(30), Loss::percent(30)]),
        (
            "reordering",
            vec![Delay::ms(20), Reordering::percent(40, ms(700))],
        ),
        (
            "repetition, jitter and loss",
            vec![
                Delay::reordering_jitter(ms(1), ms(400)),
                Duplication::percent(60),
                Loss::percent(15),
            ],
        ),
    ]
}

const STATUS: ExitStatus = ExitStatus::Code(3);

/// A session after a login, in a network of that seed.
fn begin(login: Login, seed: u64, impairments: Vec<Impairment>) -> World {
    let [near, far] = login.agreements();
    World::with(
        Network::seeded(seed).both(impairments),
        |client| client.agreement = near,
        |server| server.agreement = far,
    )
}

/// Tells whether one end speaks natively and the other does not.
fn is_mixture(one: Dialect, other: Dialect) -> bool {
    (one == Dialect::Native || other == Dialect::Native)
        && one != other
        && ![one, other].contains(&Dialect::Undecided)
}

/// Tells if a server has ended, or waits for nothing but an answer to its goodbye: each may be lost of those that a client gives
/// before it is gone.
fn has_done_its_part(far: &Far) -> bool {
    far.ended.is_some() || far.server.expires_in(Time::ZERO).is_some()
}

/// Runs until both have ended, and fails as soon as one is native and the other is not.
fn run_until_ended(world: &mut World, within: Duration) -> Result<Duration, Failure> {
    let mut mixture = None;
    let took = world.sim.run_until(within, |(near, far)| {
        let dialects = (near.client.dialect(), far.server.dialect());
        if is_mixture(dialects.0, dialects.1) {
            mixture = Some(dialects);
        }
        mixture.is_some() || (near.ended.is_some() && has_done_its_part(far))
    })?;
    match mixture {
        Some(mixture) => Err(world.sim.found(format!("{mixture:?} at a time"))),
        None => Ok(took),
    }
}

/// Works in a session, ends its program, and checks what both ends make of it.
fn work(world: &mut World, expected: Dialect) -> Result<(), Failure> {
    world.sim.run_until(secs(60), |(_, far)| far.is_running)?;
    world.type_keys(b"typed");
    world.run_until_settled(secs(60))?;
    world.check_typed(b"typed")?;
    let dialects = [world.near().client.dialect(), world.far().server.dialect()];
    assert_eq!(dialects, [expected; 2]);
    world.program_exits_with(STATUS);
    run_until_ended(world, secs(60))?;
    let status = (expected == Dialect::Native).then_some(STATUS);
    assert_eq!(world.near().client.exit_status(), status);
    assert_eq!(world.near().ended, Some(ClientEnding::ServerEnded));
    let ended = world.far().ended.unwrap_or(ServerEnding::ProgramEnded);
    assert_eq!(ended, ServerEnding::ProgramEnded);
    Ok(())
}

/// Checks that a session ends before it has begun.
fn is_refused(world: &mut World) -> Result<(), Failure> {
    run_until_ended(world, secs(60))?;
    assert_eq!(world.near().ended, Some(ClientEnding::Altered));
    assert_eq!(world.far().ended, Some(ServerEnding::Altered));
    let events = &world.far().events;
    let has_started = |event: &ServerEvent| matches!(event, ServerEvent::StartShell { .. });
    assert!(!events.iter().any(has_started), "no program is started");
    assert_eq!(world.near().client.exit_status(), None);
    Ok(())
}

#[test]
fn every_login_ends_in_one_dialect_or_in_a_clear_end_at_both_ends() -> Result<(), Failure> {
    for (what, login, expected) in logins() {
        for (network, impairments) in networks() {
            for seed in 0..3 {
                println!("{what}, in {network}, seed {seed}");
                let mut world = begin(login, seed, impairments.clone());
                match expected {
                    Dialect::Altered => is_refused(&mut world)?,
                    _ => work(&mut world, expected)?,
                }
            }
        }
    }
    Ok(())
}

#[test]
fn the_status_of_a_program_arrives_through_loss_of_a_third() -> Result<(), Failure> {
    for seed in 0..40 {
        let impairments = vec![Delay::ms(40), Loss::percent(30)];
        let mut world = begin(WHOLE, seed, impairments);
        world.sim.run_until(secs(60), |(_, far)| far.is_running)?;
        let status = match seed % 2 {
            0 => ExitStatus::Code(seed as u8),
            _ => ExitStatus::Signal(seed as u8),
        };
        world.program_exits_with(status);
        run_until_ended(&mut world, secs(30))?;
        assert_eq!(world.near().client.exit_status(), Some(status), "{seed}");
    }
    Ok(())
}

/// A session whose program ends while nothing gets through, and stays away for that long.
fn ends_in_an_outage(login: Login, outage: Duration) -> Result<World, Failure> {
    let mut world = begin(login, 1, vec![Delay::ms(5)]);
    world.sim.run_until(secs(60), |(_, far)| far.is_running)?;
    world.run_for(secs(2))?;
    world.sim.apply(Change::Cut(CLIENT));
    world.run_for(secs(1))?;
    world.program_writes(b"last words");
    world.program_exits_with(STATUS);
    world.run_for(outage)?;
    Ok(world)
}

#[test]
fn a_client_learns_of_the_end_of_its_program_after_an_outage() -> Result<(), Failure> {
    for outage in [secs(3), secs(15), minutes(10), minutes(600)] {
        let mut world = ends_in_an_outage(WHOLE, outage)?;
        assert_eq!(world.far().ended, None, "{outage:?}");
        world.sim.apply(Change::Restore(CLIENT));
        run_until_ended(&mut world, secs(10))?;
        assert_eq!(world.near().ended, Some(ClientEnding::ServerEnded));
        assert_eq!(world.near().client.exit_status(), Some(STATUS));
        assert!(world.seen().contains("last words"));
        assert_eq!(world.far().ended, Some(ServerEnding::ProgramEnded));
    }
    Ok(())
}

#[test]
fn a_server_whose_program_has_ended_waits_for_its_client_for_a_day() -> Result<(), Failure> {
    let mut world = ends_in_an_outage(WHOLE, minutes(24 * 60))?;
    assert_eq!(world.far().ended, None);
    world.run_for(secs(15))?;
    assert_eq!(world.far().ended, Some(ServerEnding::ProgramEnded));

    let mut world = ends_in_an_outage(WHOLE, minutes(1))?;
    let now = time(world.sim.clock(SERVER));
    let left = world.far().server.expires_in(now);
    assert!(left.is_some_and(|left| left > minutes(23 * 60) && left < minutes(24 * 60)));
    world.far_mut().server.request_exit(now, ExitRequest::Now);
    world.run_for(ms(100))?;
    assert_eq!(world.far().ended, Some(ServerEnding::Asked));
    Ok(())
}

#[test]
fn a_server_waits_for_no_client_that_learns_nothing_of_the_end() -> Result<(), Failure> {
    let stock = Login {
        offer_sent: None,
        offer_read: None,
        announced: None,
        announcement_read: None,
    };
    let world = ends_in_an_outage(stock, secs(12))?;
    assert_eq!(world.far().ended, Some(ServerEnding::ProgramEnded));
    Ok(())
}

#[test]
fn a_status_that_is_known_late_travels_with_what_is_said_then() -> Result<(), Failure> {
    let mut world = begin(WHOLE, 1, vec![Delay::ms(200)]);
    world.run_for(secs(2))?;
    world.program_exits();
    // The first goodbye is on its way and says nothing; each repetition does.
    world.run_for(ms(10))?;
    world.program_ended(STATUS);
    run_until_ended(&mut world, secs(10))?;
    assert_eq!(world.near().ended, Some(ClientEnding::ServerEnded));
    assert_eq!(world.near().client.exit_status(), Some(STATUS));
    Ok(())
}

#[test]
fn a_status_is_not_said_if_that_was_not_agreed() -> Result<(), Failure> {
    let offer = "FULMAR OFFER 1 history\nFULMAR END\n";
    let announcement = "FULMAR CONNECT 1 - 0.1.0\n";
    let login = Login {
        offer_sent: Some(offer),
        offer_read: Some(offer),
        announced: Some(announcement),
        announcement_read: Some(announcement),
    };
    let mut world = begin(login, 1, vec![Delay::ms(20)]);
    world.run_for(secs(1))?;
    assert_eq!(world.near().client.dialect(), Dialect::Native);
    world.program_exits_with(STATUS);
    run_until_ended(&mut world, secs(10))?;
    assert_eq!(world.near().client.exit_status(), None);
    Ok(())
}

#[test]
fn a_user_who_has_had_enough_of_an_altered_session_leaves_at_once() -> Result<(), Failure> {
    let login = Login {
        announcement_read: Some("FULMAR CONNECT 1 exit 0.1.1\n"),
        ..WHOLE
    };
    let mut world = begin(login, 1, vec![Delay::ms(500)]);
    world.sim.run_until(secs(10), |(near, _)| {
        near.client.dialect() == Dialect::Altered
    })?;
    assert_eq!(world.near().ended, None);
    world.type_keys(b"\x1e.");
    world.run_for(ms(1))?;
    assert_eq!(world.near().ended, Some(ClientEnding::Altered));
    Ok(())
}
