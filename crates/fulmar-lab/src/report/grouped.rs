//! Outcomes put together as they are read: by experiment, setting, and peer.

use std::collections::BTreeMap;

use crate::experiment::{Cell, Experiment, Published, Quoted, Surroundings};
use crate::judge::RunVerdict;
use crate::outcome::{Outcome, RunEnd};
use crate::stats::{AT_ONCE, Observation, Summary, share_within};

/// An experiment with what was measured in it.
pub(super) struct ExperimentRuns {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: &'static str,
    pub(super) about: &'static str,
    pub(super) published: &'static [Published],
    pub(super) quoted: &'static [Quoted],
    /// See [`Experiment::why`].
    pub(super) why: &'static str,
    pub(super) settings: Vec<CellRuns>,
}

/// A cell with its peers.
pub(super) struct CellRuns {
    pub(super) name: String,
    pub(super) title: String,
    /// The parameters: names and values.
    pub(super) parameters: Vec<(&'static str, String)>,
    pub(super) peers: Vec<PeerRuns>,
}

impl ExperimentRuns {
    /// Returns the runs of a peer in all cells whose names begin so.
    pub(super) fn runs(&self, cells: &str, peer: &str) -> Vec<&PeerRuns> {
        let settings = self.settings.iter();
        let settings = settings.filter(|setting| setting.name.starts_with(cells));
        let runs = settings.flat_map(|setting| &setting.peers);
        runs.filter(|runs| runs.peer == peer).collect()
    }
}

/// The runs of one peer in one cell, in the order of their seeds.
pub(super) struct PeerRuns {
    pub(super) peer: String,
    pub(super) outcomes: Vec<Outcome>,
}

/// The three times of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Own,
    Whole,
    FirstOutput,
}

impl Measure {
    pub(super) const ALL: [Self; 3] = [Self::Own, Self::Whole, Self::FirstOutput];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "own effect",
            Self::Whole => "whole screen",
            Self::FirstOutput => "first output",
        }
    }

    pub(super) fn of(self, verdict: &RunVerdict) -> Vec<Observation> {
        match self {
            Self::Own => verdict.own(),
            Self::Whole => verdict.whole(),
            Self::FirstOutput => verdict.first_output(),
        }
    }
}

impl PeerRuns {
    /// Returns the outcomes that have figures.
    pub(super) fn complete(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|one| failure(one).is_none())
    }

    /// Returns the verdicts of its runs.
    pub(super) fn verdicts(&self) -> Vec<&RunVerdict> {
        let complete = self.complete();
        complete
            .filter_map(|outcome| outcome.verdict.as_ref())
            .collect()
    }

    /// Returns the waits of its keys, a list for each run.
    pub(super) fn waits(&self, measure: Measure) -> Vec<Vec<Observation>> {
        let verdicts = self.verdicts();
        verdicts
            .into_iter()
            .map(|verdict| measure.of(verdict))
            .collect()
    }

    /// Returns the waits of all keys, summed up.
    pub(super) fn summary(&self, measure: Measure) -> Summary {
        Summary::of(&self.waits(measure).concat())
    }

    /// Returns the share of keys that came at once.
    pub(super) fn at_once(&self, measure: Measure) -> Option<f64> {
        share_within(&self.waits(measure).concat(), AT_ONCE)
    }

    /// Returns the values of a figure, in the order of its runs.
    pub(super) fn figure(&self, name: &str) -> Vec<f64> {
        let complete = self.complete();
        complete
            .filter_map(|outcome| outcome.figures.get(name).map(|figure| figure.value))
            .filter(|value| value.is_finite())
            .collect()
    }
}

impl CellRuns {
    /// Returns the peers for which somebody typed.
    pub(super) fn typed(&self) -> Vec<&PeerRuns> {
        let typed = |runs: &&PeerRuns| !runs.verdicts().is_empty();
        self.peers.iter().filter(typed).collect()
    }

    /// Returns all outcomes.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.peers.iter().flat_map(|runs| &runs.outcomes)
    }

    /// Returns the units of all figures that any of its runs has, by name.
    pub(super) fn figures(&self) -> BTreeMap<&str, &str> {
        let figures = self.outcomes().flat_map(|outcome| &outcome.figures);
        figures
            .map(|(name, figure)| (name.as_str(), figure.unit.as_str()))
            .collect()
    }
}

/// Returns why a run has no figures, if it has none.
pub(super) fn failure(outcome: &Outcome) -> Option<String> {
    if let RunEnd::Failed(why) = &outcome.end {
        return Some(why.clone());
    }
    let is_settled = outcome.verdict.as_ref().is_none_or(|one| one.is_settled);
    (!is_settled).then(|| "the display never showed a true screen, so nothing of it counts".into())
}

/// Puts outcomes into the order of the catalogue; what it does not know comes last, under its own
/// name.
pub(super) fn group(
    outcomes: Vec<Outcome>,
    experiments: &[Experiment],
    around: &Surroundings,
) -> Vec<ExperimentRuns> {
    let mut by_name: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let name = outcome.run.experiment.clone();
        by_name.entry(name).or_default().push(outcome);
    }
    let mut subjects = Vec::new();
    for experiment in experiments {
        if let Some(outcomes) = by_name.remove(experiment.name) {
            subjects.push(known(experiment, outcomes, around));
        }
    }
    let unknown = by_name.into_iter().map(|(name, outcomes)| ExperimentRuns {
        title: name.clone(),
        name,
        source: "",
        about: "",
        published: &[],
        quoted: &[],
        why: "",
        settings: settings(outcomes, &[]),
    });
    subjects.extend(unknown);
    subjects
}

fn known(experiment: &Experiment, outcomes: Vec<Outcome>, around: &Surroundings) -> ExperimentRuns {
    let cells = cells(experiment, around);
    let planned: Vec<Planned> = cells
        .iter()
        .map(|cell| Planned {
            name: &cell.name,
            title: &cell.title,
            peers: &cell.peers,
            parameters: cell.work.parameters(),
        })
        .collect();
    ExperimentRuns {
        name: experiment.name.to_owned(),
        title: experiment.title.to_owned(),
        source: experiment.source,
        about: experiment.about,
        published: experiment.published,
        quoted: experiment.quoted,
        why: experiment.why,
        settings: settings(outcomes, &planned),
    }
}

/// Returns the cells of an experiment, those of a quick run and those of generated links, too: what was
/// run is not known here, and a cell has one title however it is run.
fn cells(experiment: &Experiment, around: &Surroundings) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for is_generated in [around.is_generated, !around.is_generated] {
        for is_quick in [around.is_quick, !around.is_quick] {
            let around = Surroundings {
                is_generated,
                is_quick,
                ..around.clone()
            };
            for cell in (experiment.cells)(&around) {
                if cells.iter().all(|known| known.name != cell.name) {
                    cells.push(cell);
                }
            }
        }
    }
    cells
}

/// A cell, as the catalogue has it.
struct Planned<'a> {
    name: &'a str,
    title: &'a str,
    peers: &'a [String],
    parameters: Vec<(&'static str, String)>,
}

fn settings(outcomes: Vec<Outcome>, planned: &[Planned<'_>]) -> Vec<CellRuns> {
    let mut by_cell: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let cell = outcome.run.cell.clone();
        by_cell.entry(cell).or_default().push(outcome);
    }
    let mut settings = Vec::new();
    for cell in planned {
        if let Some(outcomes) = by_cell.remove(cell.name) {
            settings.push(CellRuns {
                name: cell.name.to_owned(),
                title: cell.title.to_owned(),
                parameters: cell.parameters.clone(),
                peers: runs(outcomes, cell.peers),
            });
        }
    }
    settings.extend(by_cell.into_iter().map(|(name, outcomes)| CellRuns {
        title: name.clone(),
        name,
        parameters: Vec::new(),
        peers: runs(outcomes, &[]),
    }));
    settings
}

/// Peers as they are read where nobody planned another order: the oldest first.
const ORDER: &[&str] = &[
    "ssh", "mosh", "mosh-a", "mosh-n", "fulmar", "fulmar-a", "fulmar-n",
];

fn runs(outcomes: Vec<Outcome>, planned: &[String]) -> Vec<PeerRuns> {
    let mut by_peer: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let peer = outcome.run.peer.clone();
        by_peer.entry(peer).or_default().push(outcome);
    }
    let place = |peer: &String| {
        let planned = planned.iter().position(|one| one == peer);
        let known = ORDER.iter().position(|one| one == peer);
        (planned.unwrap_or(usize::MAX), known.unwrap_or(usize::MAX))
    };
    let mut runs: Vec<PeerRuns> = by_peer
        .into_iter()
        .map(|(peer, outcomes)| PeerRuns { peer, outcomes })
        .collect();
    runs.sort_by_key(|runs| place(&runs.peer));
    runs
}
