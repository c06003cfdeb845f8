//! The same lines in a session that a peer carries.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::burst::WriteSpan;
use super::burst_writer::read_log;
use super::run::{BurstRun, LAST_KEY};
use super::screen_watcher::{ByteStream, ScreenWatcher};
use crate::experiment::Surroundings;
use crate::instrument::Kernel;
use crate::judge::ScreenObserver;
use crate::peer::Peer;
use crate::played::READY;
use crate::replay::{LEAVE, SessionHosts};
use crate::scenario::Scenario;

/// The time in which a session must be there. Chosen by eye: a thousand times the round trip.
const SET_UP: Duration = Duration::from_secs(100);

/// The result of a session.
pub(super) struct BurstSession {
    pub(super) written: Vec<WriteSpan>,
    pub(super) commands: Vec<String>,
}

/// Runs the bursts over a link with this peer.
pub(super) fn run(
    peer: &Peer,
    scenario: &Scenario,
    kernel: Kernel,
    run: &mut BurstRun,
    around: &Surroundings,
) -> Result<BurstSession> {
    // No recording is played.
    let hosts = SessionHosts::new(scenario, Path::new("/dev/null"))?;
    let kernel = kernel.set(&hosts.link)?;
    let mut values = hosts.files.values(&around.fulmar)?;
    values.command = command(&values.command, &hosts.files.log(), run)?;
    let line = peer.line(&values)?;
    let mut client = hosts.start(&line, run.shape.terminal())?;
    let mut watcher = ScreenWatcher {
        stream: &mut client,
        observer: ScreenObserver::new(run.shape.terminal()),
    };
    let is_ready = watcher.await_text(READY, SET_UP);
    let screen = watcher.screen();
    let is_ready = is_ready.with_context(|| format!("the screen shows “{screen}”"))?;
    ensure!(is_ready, "no session; the screen shows “{screen}”");
    run.run(&hosts.link, watcher)?;
    (&mut client).write(LAST_KEY)?;
    client.let_end(LEAVE)?;
    hosts.end_processes();
    Ok(BurstSession {
        written: read_log(&hosts.files.log())?,
        commands: vec![line, hosts.sshd.command.clone(), kernel],
    })
}

/// Returns what runs at the far end, by the program of the command that would play a recording.
fn command(play: &str, log: &Path, run: &BurstRun) -> Result<String> {
    let (lab, _) = play.split_once(' ').context("a command has a program")?;
    let shape = run.shape;
    Ok(format!(
        "{lab} tinygrams --log {} --lines {} --bytes {} --within {} --seed {}",
        log.display(),
        shape.lines,
        shape.bytes,
        shape.within.as_micros(),
        run.seed
    ))
}
