//! Makes runs, in a process each.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};
use fulmar_platform::Signal;

use super::plan::{PlannedRun, RunPlan};
use crate::experiment::Measured;
use crate::outcome::{Outcome, RunEnd, RunFacts, RunId};
use crate::peer::NotInstalled;

/// Makes runs, several at a time.
pub trait Runner: Sync {
    /// Makes a run.
    ///
    /// # Errors
    ///
    /// Where there is no outcome at all, as when it was stopped; [`Interrupted`] if the user's signal
    /// has ended it.
    fn make(&self, plan: &RunPlan, run: &PlannedRun) -> Result<Outcome>;

    /// Stops a run, whose [`make`](Self::make) returns soon then.
    fn stop(&self, run: &RunId);
}

/// The error of a run that a signal of the user has ended before its process had a group of its own.
#[derive(Debug, thiserror::Error)]
#[error("it was interrupted")]
pub struct Interrupted;

impl Interrupted {
    fn has_ended(status: ExitStatus) -> bool {
        let signals = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];
        signals
            .iter()
            .any(|signal| status.signal() == Some(signal.number()))
    }
}

/// Returns what is kept of a run; when it was made is added by who knows.
pub fn outcome(run: RunId, measured: Result<Measured>) -> Outcome {
    let end = match &measured {
        Ok(_) => RunEnd::Complete,
        Err(error) if error.is::<NotInstalled>() => RunEnd::NotMeasured(format!("{error:#}")),
        Err(error) => RunEnd::Failed(format!("{error:#}")),
    };
    let measured = measured.unwrap_or_default();
    Outcome {
        run,
        facts: RunFacts {
            scenario: measured.scenario,
            commands: measured.commands,
            typing: measured.typing,
            recording: measured.recording,
            ..RunFacts::default()
        },
        end,
        figures: measured.figures,
        series: measured.series,
        verdict: measured.verdict,
    }
}

/// Makes each run in a process of its own, which can be killed with all that it has started.
pub struct ProcessRunner {
    /// This program.
    pub program: PathBuf,
    /// The options that say what there is to measure with.
    pub options: Vec<String>,
    active: Mutex<ActiveProcesses>,
}

#[derive(Default)]
struct ActiveProcesses {
    children: BTreeMap<RunId, Child>,
    /// Those that are to stop, also where they have hardly begun.
    stopped: BTreeSet<RunId>,
}

/// So much is kept of what a run says of itself.
const WORDS_MAX: usize = 2000;

impl ProcessRunner {
    /// A runner that starts this program, with these options.
    pub fn new(program: PathBuf, options: Vec<String>) -> Self {
        Self {
            program,
            options,
            active: Mutex::default(),
        }
    }

    fn active(&self) -> MutexGuard<'_, ActiveProcesses> {
        // It is whole between any two lines.
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, run: &RunId, mut child: Child) {
        let mut active = self.active();
        if active.stopped.contains(run) {
            let _ = child.kill();
        }
        active.children.insert(run.clone(), child);
    }

    fn command(&self, plan: &RunPlan, run: &PlannedRun) -> Command {
        let chosen = &plan.cells[run.cell];
        let mut command = Command::new(&self.program);
        command
            .arg("measure")
            .args(&self.options)
            .args([chosen.experiment, &chosen.cell.name, &run.peer])
            .arg(run.id.seed.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // The interrupt key is for us: we say then who is to stop.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

impl Runner for ProcessRunner {
    fn make(&self, plan: &RunPlan, run: &PlannedRun) -> Result<Outcome> {
        let started = self.command(plan, run).spawn();
        let mut child = started.context("starting a process for a run")?;
        let mut output = child.stdout.take().context("it has no output")?;
        let mut errors = child.stderr.take().context("it has no errors")?;
        self.enter(&run.id, child);
        let said = std::thread::spawn(move || {
            let mut said = Vec::new();
            // What was read before an error is as good.
            let _ = errors.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        });
        let mut text = String::new();
        // A process that was killed in the middle of it has no outcome.
        let is_read = output.read_to_string(&mut text).is_ok();
        let child = self.active().children.remove(&run.id);
        let mut child = child.context("another run has its name")?;
        let status = child.wait()?;
        let said = said.join().unwrap_or_default();
        if Interrupted::has_ended(status) {
            bail!(Interrupted);
        }
        if !status.success() || !is_read {
            bail!("its process ended with {status}: {}", end_of(&said));
        }
        let mut outcome: Outcome =
            serde_json::from_str(&text).context("what its process has written is no outcome")?;
        outcome.run = run.id.clone();
        Ok(outcome)
    }

    fn stop(&self, run: &RunId) {
        let mut active = self.active();
        active.stopped.insert(run.clone());
        if let Some(child) = active.children.get_mut(run) {
            // It may be over already.
            let _ = child.kill();
        }
    }
}

fn end_of(text: &str) -> &str {
    let text = text.trim();
    let start = text.len().saturating_sub(WORDS_MAX);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[start.unwrap_or_default()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_the_user_is_an_interrupt_and_an_error_is_none() {
        let ended = |raw| Interrupted::has_ended(ExitStatus::from_raw(raw));
        assert!(ended(Signal::Interrupt.number()) && ended(Signal::HangUp.number()));
        let exited_with_2 = 2 << 8;
        let killed = 9;
        assert!(!ended(0) && !ended(exited_with_2) && !ended(killed));
    }

    #[test]
    fn of_what_a_run_says_the_end_is_kept_and_no_letter_is_cut() {
        assert_eq!(end_of("  it failed\n"), "it failed");
        let long = format!("{}end", "ä".repeat(WORDS_MAX));
        let kept = end_of(&long);
        assert!(
            kept.ends_with("äend") && kept.len() <= WORDS_MAX,
            "{}",
            kept.len()
        );
        assert!(kept.len() > WORDS_MAX - 2);
    }

    #[test]
    fn an_outcome_has_what_was_measured_or_why_it_was_not() {
        let id = RunId {
            experiment: "lan".to_owned(),
            cell: "20ms".to_owned(),
            peer: "mosh".to_owned(),
            seed: 7,
        };
        let measured = Measured {
            scenario: "both delay 10ms".to_owned(),
            commands: vec!["mosh host".to_owned()],
            typing: Some("closed".to_owned()),
            recording: Some("own-vim".to_owned()),
            ..Measured::default()
        };
        let kept = outcome(id.clone(), Ok(measured));
        assert_eq!((&kept.run, &kept.end), (&id, &RunEnd::Complete));
        let facts = RunFacts {
            scenario: "both delay 10ms".to_owned(),
            commands: vec!["mosh host".to_owned()],
            typing: Some("closed".to_owned()),
            recording: Some("own-vim".to_owned()),
            ..RunFacts::default()
        };
        assert_eq!(kept.facts, facts);
        let error = anyhow::anyhow!("no answer").context("typing");
        let failed = outcome(id, Err(error));
        assert_eq!(failed.end, RunEnd::Failed("typing: no answer".to_owned()));
        assert_eq!(failed.facts, RunFacts::default());
    }

    #[test]
    fn what_needs_a_program_that_is_not_installed_is_not_measured_and_has_not_failed() {
        let id = RunId {
            experiment: "bulk".to_owned(),
            cell: "40ms".to_owned(),
            peer: "rsync".to_owned(),
            seed: 1,
        };
        let missing = anyhow::Error::new(NotInstalled("rsync".to_owned()));
        let end = outcome(id, Err(missing.context("copying"))).end;
        let expected = RunEnd::NotMeasured("copying: rsync is not installed".to_owned());
        assert_eq!(end, expected);
        let text = serde_json::to_string(&end).unwrap();
        assert_eq!(
            text,
            r#"{"not_measured":"copying: rsync is not installed"}"#
        );
    }
}
