//! Runs a plan: starts runs, as many side by side as may be, and keeps their outcomes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use super::plan::{PlannedRun, RunPlan};
use super::runner::{Interrupted, Runner, outcome};
use crate::outcome::{Outcome, OutcomeFolder, RunEnd};

/// An event while runs are made.
pub enum RunEvent {
    /// The run of this number is over.
    Over(usize, Result<Box<Outcome>>),
    /// Somebody wants an end.
    Interrupted,
}

/// Somebody who looks on.
pub trait RunObserver {
    /// A run begins.
    fn begins(&mut self, run: &PlannedRun);
    /// A run is over, with its outcome on disk.
    fn is_over(&mut self, run: &PlannedRun, outcome: &Outcome);
    /// Time has passed: which runs are under way since when, and which are waiting.
    fn looks(&mut self, under_way: &[(&PlannedRun, Duration)], waiting: &[&PlannedRun]);
}

/// The end of the execution of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// The number of runs that have become complete.
    pub complete: usize,
    /// The number of runs that have failed.
    pub failed: usize,
    /// The number of runs that this machine cannot make.
    pub not_measured: usize,
    /// True if it was interrupted.
    pub is_interrupted: bool,
}

/// The interval at which somebody looks on.
const LOOK: Duration = Duration::from_secs(1);

/// A run that takes this much longer than twice what it should is stopped: something hangs.
const LATE: Duration = Duration::from_secs(600);

/// Makes the runs of these numbers, so many side by side, and writes each outcome as soon as it is there.
///
/// `events` is where the end of runs is told, and interruptions by whoever has its sender.
///
/// # Errors
///
/// Where an outcome cannot be written. What is under way is stopped then.
pub fn run_plan(
    plan: &RunPlan,
    numbers: &[usize],
    folder: &OutcomeFolder,
    runner: &dyn Runner,
    jobs: usize,
    events: &(Sender<RunEvent>, Receiver<RunEvent>),
    watch: &mut dyn RunObserver,
) -> Result<RunCounts> {
    std::thread::scope(|scope| {
        let start = |number: usize| {
            let sender = events.0.clone();
            scope.spawn(move || {
                let made = runner.make(plan, &plan.runs[number]).map(Box::new);
                // Nobody listens any more where writing has failed.
                let _ = sender.send(RunEvent::Over(number, made));
            });
        };
        let mut scheduler = Scheduler {
            plan,
            waiting: numbers.iter().copied().collect(),
            active: BTreeMap::new(),
            jobs: jobs.max(1),
            ended: RunCounts::default(),
        };
        let result = scheduler.run(&start, folder, runner, &events.1, watch);
        if result.is_err() {
            scheduler.stop_all(runner);
        }
        result.map(|()| scheduler.ended)
    })
}

/// A run that is being made.
struct ActiveRun {
    began: Instant,
    began_at: u64,
    /// The most runs that were under way at once while it was.
    side_by_side: usize,
    /// True if it was stopped because it hung.
    is_late: bool,
}

struct Scheduler<'a> {
    plan: &'a RunPlan,
    waiting: VecDeque<usize>,
    active: BTreeMap<usize, ActiveRun>,
    jobs: usize,
    ended: RunCounts,
}

impl Scheduler<'_> {
    fn run(
        &mut self,
        start: &dyn Fn(usize),
        folder: &OutcomeFolder,
        runner: &dyn Runner,
        events: &Receiver<RunEvent>,
        watch: &mut dyn RunObserver,
    ) -> Result<()> {
        loop {
            while let Some(number) = self.next() {
                watch.begins(&self.plan.runs[number]);
                self.begin(number);
                start(number);
            }
            if self.active.is_empty() {
                return Ok(());
            }
            match events.recv_timeout(LOOK) {
                Ok(RunEvent::Over(number, made)) => {
                    // It may hear of the signal before we do.
                    if made.as_ref().is_err_and(|error| error.is::<Interrupted>()) {
                        self.interrupt(runner);
                    }
                    if let Some(outcome) = self.over(number, made) {
                        folder.put(&outcome)?;
                        watch.is_over(&self.plan.runs[number], &outcome);
                    }
                }
                Ok(RunEvent::Interrupted) => self.interrupt(runner),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.stop_late(runner);
                }
            }
            self.look(watch);
        }
    }

    /// Takes the next run that may begin now.
    fn next(&mut self) -> Option<usize> {
        let number = *self.waiting.front()?;
        let is_alone = |number: &usize| self.plan.runs[*number].is_alone;
        let may = if is_alone(&number) {
            self.active.is_empty()
        } else {
            self.active.len() < self.jobs && !self.active.keys().any(is_alone)
        };
        may.then(|| self.waiting.pop_front()).flatten()
    }

    fn begin(&mut self, number: usize) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let run = ActiveRun {
            began: Instant::now(),
            began_at: now.map_or(0, |now| now.as_secs()),
            side_by_side: 1,
            is_late: false,
        };
        self.active.insert(number, run);
        let count = self.active.len();
        for run in self.active.values_mut() {
            run.side_by_side = run.side_by_side.max(count);
        }
    }

    /// Returns what is to be kept of a run that is over; of one that was stopped, nothing.
    fn over(&mut self, number: usize, made: Result<Box<Outcome>>) -> Option<Outcome> {
        let under_way = self.active.remove(&number)?;
        let run = &self.plan.runs[number];
        let mut kept = match made {
            Ok(kept) => *kept,
            Err(_) if self.ended.is_interrupted => return None,
            Err(error) if under_way.is_late => {
                let error = error.context("it did not end in time and was stopped");
                outcome(run.id.clone(), Err(error))
            }
            Err(error) => outcome(run.id.clone(), Err(error)),
        };
        match kept.end {
            RunEnd::Complete => self.ended.complete += 1,
            RunEnd::Failed(_) if self.ended.is_interrupted => return None,
            RunEnd::Failed(_) => self.ended.failed += 1,
            RunEnd::NotMeasured(_) => self.ended.not_measured += 1,
        }
        kept.facts.began = under_way.began_at;
        kept.facts.took = under_way.began.elapsed().as_secs_f64();
        kept.facts.side_by_side = under_way.side_by_side;
        Some(kept)
    }

    fn interrupt(&mut self, runner: &dyn Runner) {
        self.ended.is_interrupted = true;
        self.waiting.clear();
        self.stop_all(runner);
    }

    fn stop_all(&self, runner: &dyn Runner) {
        for number in self.active.keys() {
            runner.stop(&self.plan.runs[*number].id);
        }
    }

    fn stop_late(&mut self, runner: &dyn Runner) {
        for (number, under_way) in &mut self.active {
            let run = &self.plan.runs[*number];
            if under_way.began.elapsed() > run.takes * 2 + LATE {
                under_way.is_late = true;
                runner.stop(&run.id);
            }
        }
    }

    fn look(&self, watch: &mut dyn RunObserver) {
        let runs = &self.plan.runs;
        let under_way: Vec<(&PlannedRun, Duration)> = self
            .active
            .iter()
            .map(|(number, run)| (&runs[*number], run.began.elapsed()))
            .collect();
        let waiting: Vec<&PlannedRun> = self.waiting.iter().map(|number| &runs[*number]).collect();
        watch.looks(&under_way, &waiting);
    }
}

#[cfg(test)]
mod tests;
