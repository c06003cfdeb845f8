//! Running `cargo test` while listening to it.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::tally::Tally;
use crate::workspace;

/// The interval at which a silent run is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The outcome of one call of `cargo test`.
#[derive(Debug)]
pub(crate) struct TestRun {
    pub(crate) tally: Tally,
    /// True if cargo reported success; a test program that was killed leaves no line to count.
    pub(crate) succeeded: bool,
}

impl TestRun {
    /// Adds another run: both together succeed if each has.
    pub(super) fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.succeeded &= other.succeeded;
    }
}

/// The consequence of a long silence.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Silence {
    /// Nothing: the tests may take their time, or the person who waits may end them.
    Waits,
    /// After this long a test hangs: all of them are ended, and the run has failed.
    EndsIt(Duration),
}

/// Runs `cargo test`, passing its output on to `out`, and counts the tests in it.
///
/// # Errors
///
/// When cargo cannot be started, or is silent for too long.
pub(crate) fn run_and_count(
    cargo_test: &mut Command,
    out: &mut impl Write,
    silence: Silence,
) -> Result<TestRun> {
    if let Silence::EndsIt(_) = silence {
        // A group of their own, so that all of the tests' processes can be ended together.
        cargo_test.process_group(0);
    }
    let mut child = cargo_test
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", workspace::shown(cargo_test)))?;
    let lines = lines_of(child.stdout.take().context("cargo test has no output")?);
    let mut tally = Tally::default();
    let mut heard = Instant::now();
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                let line = line.context("reading the output of cargo test")?;
                tally.count(&String::from_utf8_lossy(&line));
                out.write_all(&line)?;
                heard = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => break,
            // A server that a test left behind may hold the output open for ever.
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => break,
            Err(RecvTimeoutError::Timeout) => end_if_silent(&mut child, heard, silence)?,
        }
    }
    let succeeded = child.wait()?.success();
    Ok(TestRun { tally, succeeded })
}

/// Reads lines in a thread, so that they can be waited for with a limit. Each ends with a line
/// feed, and is bytes and not text: a failing test may print anything.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map(|line| [line.as_slice(), b"\n"].concat());
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn end_if_silent(child: &mut Child, heard: Instant, silence: Silence) -> Result<()> {
    let Silence::EndsIt(limit) = silence else {
        return Ok(());
    };
    if heard.elapsed() < limit {
        return Ok(());
    }
    let group = format!("-{}", child.id());
    kill(&group)?;
    child.wait()?;
    bail!(
        "a test hangs: nothing was printed for {} s",
        limit.as_secs()
    );
}

/// Kills a process, or a group of them by a number below zero. The shell does it: the program `kill` is not part of
/// every system.
fn kill(target: &str) -> Result<()> {
    let script = "kill -s KILL -- \"$0\"";
    workspace::run(Command::new("sh").args(["-c", script, target]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script in the place of cargo.
    fn script(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn a_run_that_fails_is_told_from_one_that_passes() {
        let line = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured";
        let mut out = Vec::new();
        let mut command = script(&format!("echo '{line}'; exit 1"));
        let run = run_and_count(&mut command, &mut out, Silence::Waits).unwrap();
        let expected = Tally {
            passed: 3,
            failed: 1,
        };
        assert_eq!(run.tally, expected);
        assert!(!run.succeeded);
        assert_eq!(out, format!("{line}\n").into_bytes());
    }

    #[test]
    fn a_run_that_hangs_is_ended_with_all_its_processes() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut command = script("sleep 1000 & sleep 1000; wait");
        command.stderr(writer);
        let silence = Silence::EndsIt(Duration::ZERO);
        let error = run_and_count(&mut command, &mut io::sink(), silence).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a test hangs: nothing was printed for 0 s"
        );
        // Each of the processes has the writing end; the reading one ends with the last of them.
        drop(command);
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn a_process_left_behind_does_not_keep_the_run() {
        let mut out = Vec::new();
        let mut command = script("sleep 1000 & echo $!; exit 0");
        let run = run_and_count(&mut command, &mut out, Silence::Waits).unwrap();
        assert!(run.succeeded);
        let sleep = String::from_utf8(out).unwrap();
        kill(sleep.trim()).unwrap();
    }
}
