//! A run of the command: the folder of outcomes, the processes that make them, and the person who looks on.

use std::io::{IsTerminal as _, Stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::{Interest, Signal, SignalPipe, Tty, wait_for};
use fulmar_testbed::KilledChild;
use serde_json::json;

use super::{DataOptions, write_json};
use crate::experiment::LabSetup;
use crate::outcome::OutcomeFolder;
use crate::report::{Origin, SELFCHECK};
use crate::run::{
    ProcessRunner, ProgressDisplay, RunCounts, RunEvent, RunPlan, forecast, minutes, run_plan,
};

/// The file of a folder of outcomes that says with which settings all of them were made.
const SETTINGS: &str = "settings.json";

/// The message after an interruption.
const INTERRUPTED: &str = "interrupted; the same command goes on from here";

/// The interval at which it is looked whether the self-check is over. Chosen by eye.
const LOOK: Duration = Duration::from_millis(100);

/// The way in which runs are made.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RunOptions {
    /// The remote shells: ssh, mosh and fulmar stand for those of each experiment, mosh-a and such for one of
    /// them.
    #[arg(
        long,
        value_name = "PEERS",
        value_delimiter = ',',
        default_value = "ssh,mosh,fulmar"
    )]
    pub peers: Vec<String>,
    /// The folder for outcomes and report.
    #[arg(long, value_name = "DIR", default_value = "fulmar-lab-out")]
    pub out: PathBuf,
    /// A meaningful part of it, in a short time.
    #[arg(long)]
    pub quick: bool,
    /// The number of runs that are made side by side, of those that may; otherwise 3 for each core.
    #[arg(long, value_name = "NUMBER")]
    pub jobs: Option<usize>,
    /// Goes without the check of the emulation's own precision, which comes first.
    #[arg(long)]
    pub no_selfcheck: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it as the text of the command")]
    pub data: DataOptions,
}

/// Runs side by side, for each core: sessions wait most of the time. `fulmar-lab pairs` shows whether
/// it shifts medians.
const JOBS_PER_CORE: usize = 3;

impl RunOptions {
    /// Returns how many runs are made side by side.
    #[must_use]
    pub fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(|| JOBS_PER_CORE * cores()).max(1)
    }

    /// Returns what there is to measure with.
    ///
    /// # Errors
    ///
    /// As [`DataOptions::setup`].
    pub(super) fn setup(&self) -> Result<LabSetup> {
        Ok(LabSetup {
            is_quick: self.quick,
            ..self.data.setup()?
        })
    }
}

/// A folder of outcomes that grows.
pub(super) struct RunSession<'a> {
    /// The outcomes.
    pub(super) folder: OutcomeFolder,
    options: &'a RunOptions,
    setup: &'a LabSetup,
    program: PathBuf,
    events: (Sender<RunEvent>, Receiver<RunEvent>),
}

impl<'a> RunSession<'a> {
    /// Opens the folder. From here on an interrupt is an event.
    ///
    /// # Errors
    ///
    /// Where the folder has outcomes that were made with other settings.
    pub(super) fn open(options: &'a RunOptions, setup: &'a LabSetup) -> Result<Self> {
        let folder = OutcomeFolder::open(&options.out)?;
        let settings = json!({ "quick": setup.is_quick, "generated": setup.is_generated });
        let path = options.out.join(SETTINGS);
        if let Ok(text) = std::fs::read_to_string(&path) {
            ensure!(
                serde_json::from_str::<serde_json::Value>(&text).ok() == Some(settings),
                "{} has outcomes of runs with or without --quick or --generated, unlike these; \
                 name another folder with --out",
                options.out.display()
            );
        } else {
            write_json(&path, &settings)?;
        }
        let events = channel();
        hear_interrupts(events.0.clone())?;
        Ok(Self {
            folder,
            options,
            setup,
            program: std::env::current_exe().context("looking for this program's file")?,
            events,
        })
    }

    /// Makes all runs of a plan that are left.
    ///
    /// # Errors
    ///
    /// Where the disk takes nothing, or no process can be started.
    pub(super) fn run(&self, mut plan: RunPlan) -> Result<(RunCounts, RunPlan)> {
        self.note_origin()?;
        plan.learn(&self.folder.all()?);
        let left = plan.left(&self.folder);
        let jobs = self.options.jobs();
        let mut progress = self.progress(left.len());
        let runs = left.iter().map(|number| &plan.runs[*number]);
        progress.say(&format!(
            "{} runs, of which {} are there already; {} side by side, about {}",
            plan.runs.len(),
            plan.runs.len() - left.len(),
            jobs,
            minutes(forecast(runs, &[], jobs))
        ));
        if cfg!(debug_assertions) {
            progress.say(
                "this program is not optimised; for figures that count build it with --release",
            );
        }
        if !left.is_empty() && !self.options.no_selfcheck && !self.selfcheck(&mut progress)? {
            progress.say(INTERRUPTED);
            let ended = RunCounts {
                is_interrupted: true,
                ..RunCounts::default()
            };
            return Ok((ended, plan));
        }
        let runner = ProcessRunner::new(self.program.clone(), self.setup.options()?);
        let (folder, events) = (&self.folder, &self.events);
        let ended = run_plan(&plan, &left, folder, &runner, jobs, events, &mut progress);
        progress.end();
        let ended = ended?;
        if ended.is_interrupted {
            progress.say(INTERRUPTED);
        }
        Ok((ended, plan))
    }

    fn progress(&self, total: usize) -> ProgressDisplay<Stderr> {
        let errors = std::io::stderr();
        let columns = errors.is_terminal().then(|| {
            let size = Tty::open(std::io::stderr()).ok().and_then(|tty| tty.size());
            size.map_or(80, |size| size.columns.into())
        });
        ProgressDisplay::new(errors, columns, total, self.options.jobs())
    }

    fn note_origin(&self) -> Result<()> {
        let words: Vec<String> = std::env::args().collect();
        let origin = Origin {
            commands: vec![words.join(" ")],
            ..Origin::here(&self.setup.fulmar)
        };
        origin.put(&self.options.out)
    }

    /// Checks the emulation unless that was done for this folder; returns false where it was
    /// interrupted.
    fn selfcheck(&self, progress: &mut ProgressDisplay<Stderr>) -> Result<bool> {
        let file = self.options.out.join(SELFCHECK);
        if file.is_file() {
            return Ok(true);
        }
        progress.say("checking how precise the emulation is here");
        let mut check = KilledChild(self.selfcheck_command(&file).spawn()?);
        let status = loop {
            if let Some(status) = check.0.try_wait()? {
                break status;
            }
            if let Ok(RunEvent::Interrupted) = self.events.1.recv_timeout(LOOK) {
                return Ok(false);
            }
        };
        if !file.is_file() {
            progress.say("the check has failed: try `fulmar-lab selfcheck`");
        } else if !status.success() {
            progress.say("it is less precise than it is meant to be: see the report");
        }
        Ok(true)
    }

    fn selfcheck_command(&self, file: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("selfcheck").arg("--json").arg(file);
        if self.setup.is_quick {
            command.arg("--quick");
        }
        if let Some(data) = &self.setup.data {
            command.arg("--data").arg(data);
        }
        // The interrupt key is for us.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        command
    }
}

/// Makes events of interrupts, for as long as this process lives.
fn hear_interrupts(events: Sender<RunEvent>) -> Result<()> {
    let signals = [Signal::Interrupt, Signal::Terminate, Signal::HangUp];
    let mut pipe = SignalPipe::new(&signals).context("listening for interrupts")?;
    std::thread::spawn(move || {
        loop {
            // Where waiting fails there is nothing to hear.
            let is_over = wait_for(&pipe, Interest::Read, None).is_err();
            let has_come = pipe.drain().count() > 0;
            if is_over || (has_come && events.send(RunEvent::Interrupted).is_err()) {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_side_by_side_are_three_a_core_unless_they_are_counted() {
        let jobs = |jobs| {
            let options = RunOptions {
                jobs,
                ..RunOptions::default()
            };
            options.jobs()
        };
        assert_eq!((jobs(Some(5)), jobs(Some(1)), jobs(Some(0))), (5, 1, 1));
        assert!(jobs(None) >= 3 && jobs(None) % 3 == 0);
    }

    #[test]
    fn what_is_quick_is_said_to_whoever_measures() {
        let mut options = RunOptions::default();
        assert!(!options.setup().unwrap().is_quick);
        options.quick = true;
        options.data.generated = true;
        let setup = options.setup().unwrap();
        assert!(setup.is_quick && setup.is_generated);
    }

    #[test]
    fn a_folder_has_outcomes_of_one_kind() {
        let folder = tempfile::tempdir().unwrap();
        let options = RunOptions {
            out: folder.path().join("out"),
            ..RunOptions::default()
        };
        let open = |is_quick, is_generated| {
            let setup = LabSetup {
                is_quick,
                is_generated,
                ..LabSetup::default()
            };
            let opened = RunSession::open(&options, &setup).map(|_| ());
            opened.map_err(|error| error.to_string())
        };
        assert_eq!(open(true, false), Ok(()));
        let settings = std::fs::read_to_string(options.out.join(SETTINGS)).unwrap();
        assert_eq!(
            settings,
            "{\n  \"generated\": false,\n  \"quick\": true\n}\n"
        );
        assert_eq!(open(true, false), Ok(()));
        for (is_quick, is_generated) in [(false, false), (true, true), (false, true)] {
            let said = open(is_quick, is_generated).unwrap_err();
            assert!(
                said.contains("with or without --quick or --generated"),
                "{said}"
            );
        }
        std::fs::write(options.out.join(SETTINGS), "{").unwrap();
        assert!(open(true, false).is_err());
    }
}
