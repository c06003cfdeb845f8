//! All runs of a selection, in their order.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::selection::SelectedCell;
use crate::outcome::{Outcome, OutcomeFolder, RunEnd, RunId};

/// The runs to make. See [`run`](super) for the order.
pub struct RunPlan {
    /// The cells that runs are of.
    pub cells: Vec<SelectedCell>,
    /// The runs.
    pub runs: Vec<PlannedRun>,
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The name of its outcome.
    pub id: RunId,
    /// The number of its cell in the plan.
    pub cell: usize,
    /// Its peer, as [`Peer::parse`](crate::peer::Peer::parse) reads it, or the name of a tool.
    pub peer: String,
    /// The time that it takes, about.
    pub takes: Duration,
    /// True if nothing else may run meanwhile.
    pub is_alone: bool,
}

impl RunPlan {
    /// Plans the runs of these cells, with the seeds from 1 on.
    pub fn new(cells: Vec<SelectedCell>, seeds: u64) -> Self {
        let mut runs = Vec::new();
        for seed in 1..=seeds {
            let mut order: Vec<usize> = (0..cells.len()).collect();
            order.sort_by_key(|cell| Reverse(longest(&cells[*cell])));
            for cell in order {
                let count = cells[cell].peers.len();
                // Another peer comes first for each seed.
                let first = usize::try_from(seed).unwrap_or_default() + cell;
                for turn in 0..count {
                    let peer = &cells[cell].peers[(first + turn) % count];
                    runs.push(PlannedRun::new(&cells, cell, peer, seed));
                }
            }
        }
        runs.sort_by_key(|run| run.is_alone);
        Self { cells, runs }
    }

    /// Returns what is to be done in a table, a line for each experiment, with the time that all of it
    /// takes.
    pub fn table(&self, jobs: usize) -> String {
        let mut experiments: Vec<&str> = Vec::new();
        for chosen in &self.cells {
            if !experiments.contains(&chosen.experiment) {
                experiments.push(chosen.experiment);
            }
        }
        let mut text = format!(
            "{:<13} {:>5} {:>5}  one by one\n",
            "experiment", "cells", "runs"
        );
        for experiment in experiments {
            let is_of = |run: &&PlannedRun| self.cells[run.cell].experiment == experiment;
            let cells = self.cells.iter().filter(|one| one.experiment == experiment);
            let runs = self.runs.iter().filter(is_of);
            let time = runs.clone().map(|run| run.takes).sum();
            text += &format!(
                "{experiment:<13} {:>5} {:>5}  {}\n",
                cells.count(),
                runs.count(),
                minutes(time)
            );
        }
        text + &format!(
            "{} runs, {jobs} side by side: about {}\n",
            self.runs.len(),
            minutes(forecast(&self.runs, &[], jobs))
        )
    }

    /// Returns the numbers of the runs that have no outcome in this folder, or have failed there.
    pub fn left(&self, folder: &OutcomeFolder) -> Vec<usize> {
        let is_left = |number: &usize| {
            let outcome = folder.get(&self.runs[*number].id);
            outcome.is_none_or(|outcome| outcome.end != RunEnd::Complete)
        };
        (0..self.runs.len()).filter(is_left).collect()
    }

    /// Takes the times of runs that were made already for those of the same cell and peer.
    pub fn learn<'a>(&mut self, outcomes: impl IntoIterator<Item = &'a Outcome>) {
        let complete = outcomes
            .into_iter()
            .filter(|one| one.end == RunEnd::Complete);
        let mut known: BTreeMap<RunId, Vec<f64>> = BTreeMap::new();
        for one in complete {
            let times = known.entry(one.run.without_seed()).or_default();
            times.push(one.facts.took);
        }
        for run in &mut self.runs {
            if let Some(times) = known.get(&run.id.without_seed()) {
                let mean = times.iter().sum::<f64>() / times.len() as f64;
                run.takes = Duration::try_from_secs_f64(mean).unwrap_or(run.takes);
            }
        }
    }
}

impl PlannedRun {
    /// The run of a cell, with a peer and a seed.
    pub(super) fn new(cells: &[SelectedCell], cell: usize, peer: &str, seed: u64) -> Self {
        let chosen = &cells[cell];
        Self {
            id: RunId {
                experiment: chosen.experiment.to_owned(),
                cell: chosen.cell.name.clone(),
                peer: name(peer).to_owned(),
                seed,
            },
            cell,
            peer: peer.to_owned(),
            takes: takes(chosen, peer),
            is_alone: chosen.cell.is_alone,
        }
    }
}

/// The name of a peer that may be given with its template.
pub(super) fn name(peer: &str) -> &str {
    peer.split_once('=').map_or(peer, |(name, _)| name)
}

fn takes(chosen: &SelectedCell, peer: &str) -> Duration {
    chosen.cell.work.takes(peer).unwrap_or(chosen.cell.takes)
}

fn longest(chosen: &SelectedCell) -> Duration {
    let times = chosen.peers.iter().map(|peer| takes(chosen, peer));
    times.max().unwrap_or_default()
}

/// Returns how long it takes to make these runs in their order, so many side by side, with those under
/// way that are over after the times given.
pub fn forecast<'a>(
    runs: impl IntoIterator<Item = &'a PlannedRun>,
    under_way: &[Duration],
    jobs: usize,
) -> Duration {
    // When each of the places is free.
    let mut free = under_way.to_vec();
    free.resize(jobs.max(under_way.len()).max(1), Duration::ZERO);
    for run in runs {
        free.sort_unstable();
        if run.is_alone {
            let all = free[free.len() - 1] + run.takes;
            free.fill(all);
        } else {
            free[0] += run.takes;
        }
    }
    free.into_iter().max().unwrap_or_default()
}

/// Returns a time in words: `45 s`, `12 min`, `1 h 40 min`.
pub fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..5970 => format!("{} min", (seconds + 30) / 60),
        _ => {
            let minutes = (seconds + 30) / 60;
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{LabSetup, catalogue};
    use crate::run::Selection;

    /// Three for each of two cores.
    const JOBS: usize = 6;

    fn plan(name: &str, seeds: u64, is_quick: bool) -> RunPlan {
        let setup = LabSetup {
            data: Some("/data".into()),
            is_quick,
            ..LabSetup::default()
        };
        let selection = Selection {
            names: vec![name.to_owned()],
            peers: ["ssh", "mosh", "fulmar"].map(str::to_owned).to_vec(),
        };
        RunPlan::new(selection.choose(&catalogue::ALL, &setup).unwrap(), seeds)
    }

    #[test]
    fn the_paper_fits_in_100_minutes_and_all_in_ten_where_it_is_to_be_quick() {
        let minutes = |plan: RunPlan| forecast(&plan.runs, &[], JOBS).as_secs() / 60;
        assert!((40..90).contains(&minutes(plan("paper", 3, false))));
        assert!((5..10).contains(&minutes(plan("all", 1, true))));
    }

    #[test]
    fn all_names_of_a_plan_can_be_names_of_files_and_no_two_are_the_same() {
        for is_quick in [false, true] {
            let plan = plan("all", 2, is_quick);
            let paths = plan.runs.iter().map(|run| run.id.path());
            let mut paths: Vec<String> = paths
                .map(|path| path.to_string_lossy().into_owned())
                .collect();
            let is_plain = |sign: char| {
                sign.is_ascii_lowercase() || sign.is_ascii_digit() || "-./".contains(sign)
            };
            assert!(
                paths.iter().all(|path| path.chars().all(is_plain)),
                "{paths:?}"
            );
            paths.sort();
            paths.dedup();
            assert_eq!(paths.len(), plan.runs.len());
        }
    }

    #[test]
    fn times_are_told_roughly() {
        let told = [45, 130, 6000].map(|seconds| minutes(Duration::from_secs(seconds)));
        assert_eq!(told, ["45 s", "2 min", "1 h 40 min"]);
    }

    #[test]
    fn a_run_is_learned_to_take_the_mean_of_its_like_and_not_of_what_failed() {
        let mut plan = plan("loss", 3, false);
        let outcome = |seed: u64, took: f64, end: RunEnd, plan: &RunPlan| {
            let first = &plan.runs[0].id;
            let id = RunId {
                seed,
                ..first.clone()
            };
            let mut outcome = crate::run::outcome(id, Ok(crate::experiment::Measured::default()));
            (outcome.facts.took, outcome.end) = (took, end);
            outcome
        };
        let outcomes = [
            outcome(1, 10.0, RunEnd::Complete, &plan),
            outcome(2, 30.0, RunEnd::Complete, &plan),
            outcome(3, 500.0, RunEnd::Failed("no answer".to_owned()), &plan),
        ];
        let before: Vec<Duration> = plan.runs.iter().map(|run| run.takes).collect();
        let first = plan.runs[0].id.clone();
        plan.learn(&outcomes);
        for (run, before) in plan.runs.iter().zip(before) {
            let is_alike = (&run.id.cell, &run.id.peer) == (&first.cell, &first.peer);
            let expected = if is_alike {
                Duration::from_secs(20)
            } else {
                before
            };
            assert_eq!(run.takes, expected, "{:?}", run.id);
        }
    }

    #[test]
    fn what_is_alone_waits_for_all_and_lets_nothing_begin_beside_it() {
        let run = |seconds, is_alone| {
            let plan = plan("loss", 1, false);
            PlannedRun {
                takes: Duration::from_secs(seconds),
                is_alone,
                ..plan.runs[0].clone()
            }
        };
        let seconds = |runs: &[PlannedRun], jobs| forecast(runs, &[], jobs).as_secs();
        let mixed = [run(10, false), run(4, true), run(10, false)];
        assert_eq!(seconds(&mixed, 2), 24);
        let three = vec![run(10, false); 3];
        assert_eq!(seconds(&three, 3), 10);
        assert_eq!(seconds(&three, 0), 30, "one at least");
        assert_eq!(seconds(&[], 3), 0);
    }
}
