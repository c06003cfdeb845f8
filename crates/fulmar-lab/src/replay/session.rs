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
use crate::experiment::{Measured, Surroundings};
use crate::instrument::Kernel;
use crate::judge::{GroundTruth, ObservedRun, RunVerdict};
use crate::outcome::Figure;
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::typing::{SessionEnd, TypingSession, TypingUser, run_user};

/// Plays a session over the link of this scenario.
pub(super) fn play(
    replay: &Replay,
    mut scenario: Scenario,
    peer: &Peer,
    around: &Surroundings,
) -> Result<Measured> {
    let path = replay.find_recording(around)?;
    let recording = Trace::read(&path)?;
    let truth = GroundTruth::of(&recording);
    // They count from the start of the typing.
    let changes = std::mem::take(&mut scenario.changes);
    let hosts = SessionHosts::new(&scenario, &path)?;
    let kernel = Kernel::USUAL.set(&hosts.link)?;
    let line = peer.line(&hosts.files.values(&around.fulmar)?)?;
    let looks = Looks::new(&hosts.link, hosts.costs()?);
    let mut watch = Watch::new(&looks, &changes, replay.download);
    let mut client = hosts.start(&line, recording.size())?;
    let (typing, limits) = (replay.typing, replay.limits);
    let user = TypingUser::new(&recording, &truth, typing, limits, boot_time());
    let session = run_watched(&mut client, user, &looks, &mut watch)?;
    client.let_end(LEAVE)?;
    hosts.end_processes();
    let log = hosts.files.log();
    let host_side = Trace::read(&log).context("the played host has noted nothing to judge by")?;
    if let Some(folder) = &replay.keep {
        keep(folder, &session.user_side, &host_side)?;
    }
    let run = ObservedRun {
        truth: &truth,
        user_side: &session.user_side,
        host_side: &host_side,
        transit: Duration::ZERO,
    };
    let verdict = run.judge().context("this run cannot be judged")?;
    let mut figures = watch.figures(peer)?;
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
