//! One session, from start to verdict.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;

use super::Replay;
use super::session_hosts::{LEAVE, SessionHosts};
use super::watch::{Figures, Looks, Watch};
use crate::experiment::{LabSetup, Measured};
use crate::instrument::Kernel;
use crate::judge::{GroundTruth, ObservedRun, RunVerdict};
use crate::outcome::Figure;
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::typing::{LoginDied, SessionEnd, TypingSession, TypingUser, run_user};

/// So often a login is tried. Chosen by eye: over a link that loses 29 % each way, about one login of mosh in three dies.
const LOGINS_MAX: u64 = 5;

/// Plays a session over the link of this scenario. Where the login dies, another session is played from its start; the
/// chance of the link is another one then, and the figures say how many logins died.
pub(super) fn play(
    replay: &Replay,
    scenario: Scenario,
    peer: &Peer,
    setup: &LabSetup,
) -> Result<Measured> {
    let path = replay.find_recording(setup)?;
    let recording = Trace::read(&path)?;
    let play = PlannedReplay {
        replay,
        truth: &GroundTruth::of(&recording),
        recording: &recording,
        path: &path,
        peer,
        setup,
    };
    let (mut measured, died) = with_logins(|died| play.once(after_logins(&scenario, died)))?;
    if died > 0 {
        let figure = Figure::new(died as f64, "logins");
        measured.figures.insert("logins_died".to_owned(), figure);
    }
    Ok(measured)
}

/// Returns the scenario with a seed that no other run has, if so many logins have died: runs count theirs from 1.
fn after_logins(scenario: &Scenario, died: u64) -> Scenario {
    let mut again = scenario.clone();
    if died > 0 {
        again.seed = scenario.seed.wrapping_add(died << 32);
        // The last seed of a text counts.
        again.text.push_str(&format!("\nseed {}", again.seed));
    }
    again
}

/// Calls `play` with the number of logins that have died, until one does not, at most [`LOGINS_MAX`] times; returns
/// also how many died.
fn with_logins<T>(mut play: impl FnMut(u64) -> Result<T>) -> Result<(T, u64)> {
    let mut died = 0;
    loop {
        match play(died) {
            Err(error) if error.is::<LoginDied>() && died + 1 < LOGINS_MAX => died += 1,
            played => return Ok((played?, died)),
        }
    }
}

/// A replay with all that is the same in each try.
struct PlannedReplay<'a> {
    replay: &'a Replay,
    truth: &'a GroundTruth,
    recording: &'a Trace,
    path: &'a Path,
    peer: &'a Peer,
    setup: &'a LabSetup,
}

impl PlannedReplay<'_> {
    fn once(&self, mut scenario: Scenario) -> Result<Measured> {
        let replay = self.replay;
        // They count from the start of the typing.
        let changes = std::mem::take(&mut scenario.changes);
        let hosts = SessionHosts::new(&scenario, self.path)?;
        let kernel = Kernel::USUAL.set(&hosts.link)?;
        let line = self.peer.line(&hosts.files.values(&self.setup.fulmar)?)?;
        let looks = Looks::new(&hosts.link, hosts.costs()?);
        let mut watch = Watch::new(&looks, &changes, replay.download);
        let mut client = hosts.start(&line, self.recording.size())?;
        let (typing, limits) = (replay.typing, replay.limits);
        let user = TypingUser::new(self.recording, self.truth, typing, limits, boot_time());
        let session = run_watched(&mut client, user, &looks, &mut watch)?;
        client.let_end(LEAVE)?;
        hosts.end_processes();
        let log = hosts.files.log();
        let noted = Trace::read(&log);
        let host_side = noted.context("the played host has noted nothing to judge by")?;
        if let Some(folder) = &replay.keep {
            keep(folder, &session.user_side, &host_side)?;
        }
        let run = ObservedRun {
            truth: self.truth,
            user_side: &session.user_side,
            host_side: &host_side,
            one_way_delay: Duration::ZERO,
            may_predict: self.peer.may_predict(),
        };
        let verdict = run.judge().context("this run cannot be judged")?;
        let mut figures = watch.figures(self.peer)?;
        note(&mut figures, &session, &verdict);
        Ok(Measured {
            scenario: scenario.text.clone(),
            commands: vec![line, hosts.sshd.command.clone(), kernel],
            typing: Some(typing.name().to_owned()),
            recording: Some(replay.recording.clone()),
            figures,
            series: watch.series(host_side.began()),
            verdict: Some(verdict),
        })
    }
}

/// Writes both sides of a run into a folder, which is made.
fn keep(folder: &Path, user_side: &Trace, host_side: &Trace) -> Result<()> {
    let writing = || format!("writing into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(writing)?;
    for (name, side) in [("user-side", user_side), ("host-side", host_side)] {
        std::fs::write(folder.join(name), side.to_bytes()).with_context(writing)?;
    }
    Ok(())
}

/// Lets a user type, with somebody who counts meanwhile.
fn run_watched(
    client: &mut PtyProgram,
    user: TypingUser<'_>,
    looks: &Looks<'_>,
    watch: &mut Watch<'_>,
) -> Result<TypingSession> {
    let (over, is_over) = channel();
    let mut failed = None;
    let session = std::thread::scope(|scope| {
        let _over = over;
        scope.spawn(move || looks.run(&is_over));
        run_user(client, user, &mut |stage| {
            let done = watch.at(stage);
            failed = failed.take().or(done.err());
        })
    });
    match failed {
        Some(error) => Err(error.context("the link failed while somebody typed")),
        None => session,
    }
}

/// Adds how the session went. Why it ended is a number for charts, and in words the unit.
fn note(figures: &mut Figures, session: &TypingSession, verdict: &RunVerdict) {
    let (number, why) = match session.why_over {
        SessionEnd::AllSeen => (0.0, "all seen"),
        SessionEnd::LimitReached => (1.0, "limit reached"),
        SessionEnd::AnswersMissing => (2.0, "answers missing"),
        SessionEnd::PeerLeft => (3.0, "peer left"),
    };
    let mut put = |name: &str, value: f64, unit: &str| {
        figures.insert(name.to_owned(), Figure::new(value, unit));
    };
    put("why_over", number, why);
    put("given_up", session.given_up as f64, "keys");
    put(
        "is_settled",
        f64::from(u8::from(verdict.is_settled)),
        "truth",
    );
    put(
        "differences_at_end",
        verdict.differences_at_end as f64,
        "cells",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Event, LinkTraces, Record, Size};

    #[test]
    fn a_run_after_logins_that_died_names_the_seed_that_it_has() {
        let scenario = Scenario::parse("seed 3\nboth delay 5ms", &LinkTraces::none()).unwrap();
        assert_eq!(after_logins(&scenario, 0).text, scenario.text);
        let again = after_logins(&scenario, 2);
        assert_ne!(again.seed, scenario.seed);
        let read = Scenario::parse(&again.text, &LinkTraces::none()).unwrap();
        assert_eq!(read.seed, again.seed);
    }

    fn session(why_over: SessionEnd) -> TypingSession {
        let size = Size {
            columns: 80,
            rows: 24,
        };
        let first = Record {
            at: Duration::ZERO,
            event: Event::Size(size),
        };
        TypingSession {
            user_side: Trace::new(vec![first]).unwrap(),
            why_over,
            given_up: 2,
        }
    }

    #[test]
    fn a_login_that_dies_is_tried_again_and_any_other_failure_is_none() {
        let died = || anyhow::Error::new(LoginDied::default()).context("logging in");
        let mut tries = Vec::new();
        let played = with_logins(|died_before| {
            tries.push(died_before);
            if died_before < 2 {
                Err(died())
            } else {
                Ok("played")
            }
        });
        assert_eq!((played.unwrap(), tries), (("played", 2), vec![0, 1, 2]));
        let mut tries = 0;
        let error = with_logins(|_| -> Result<()> {
            tries += 1;
            Err(died())
        });
        assert!(error.is_err_and(|error| error.is::<LoginDied>()));
        assert_eq!(tries, LOGINS_MAX);
        let mut tries = 0;
        let error = with_logins(|_| -> Result<()> {
            tries += 1;
            anyhow::bail!("the link failed")
        });
        assert_eq!((error.is_err(), tries), (true, 1));
    }

    fn verdict(is_settled: bool) -> RunVerdict {
        let verdict = serde_json::json!({
            "keys": [], "wrongs": [], "longest_stall_ms": 0, "length_ms": 0, "is_stamped": true,
            "is_settled": is_settled, "differences_at_end": 7, "delivery": {
                "typed": 0, "received": 0, "lost": 0, "doubled": 0, "reordered": 0, "strange": 0,
                "under_way": 0,
            },
        });
        serde_json::from_value(verdict).unwrap()
    }

    #[test]
    fn a_session_leaves_figures_of_how_it_went() {
        let mut figures = Figures::new();
        note(&mut figures, &session(SessionEnd::AllSeen), &verdict(true));
        let expected = [
            ("differences_at_end", 7.0, "cells"),
            ("given_up", 2.0, "keys"),
            ("is_settled", 1.0, "truth"),
            ("why_over", 0.0, "all seen"),
        ];
        let expected =
            expected.map(|(name, value, unit)| (name.to_owned(), Figure::new(value, unit)));
        assert_eq!(figures, expected.into());
        note(&mut figures, &session(SessionEnd::AllSeen), &verdict(false));
        assert_eq!(figures["is_settled"], Figure::new(0.0, "truth"));
    }

    #[test]
    fn each_end_has_its_number_and_its_words() {
        for (end, number, words) in [
            (SessionEnd::LimitReached, 1.0, "limit reached"),
            (SessionEnd::AnswersMissing, 2.0, "answers missing"),
            (SessionEnd::PeerLeft, 3.0, "peer left"),
        ] {
            let mut figures = Figures::new();
            note(&mut figures, &session(end), &verdict(true));
            assert_eq!(figures["why_over"], Figure::new(number, words));
        }
    }

    #[test]
    fn both_sides_are_kept_as_traces() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("new/sides");
        let (user, host) = (session(SessionEnd::AllSeen).user_side, {
            let record = Record {
                at: Duration::from_secs(5),
                event: Event::Size(Size {
                    columns: 9,
                    rows: 9,
                }),
            };
            Trace::new(vec![record]).unwrap()
        });
        keep(&inner, &user, &host).unwrap();
        assert_eq!(Trace::read(&inner.join("user-side")).unwrap(), user);
        assert_eq!(Trace::read(&inner.join("host-side")).unwrap(), host);
    }
}
