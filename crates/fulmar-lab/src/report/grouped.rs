//! Outcomes put together as they are read: by experiment, setting, and peer.

use std::collections::BTreeMap;

use fulmar_testbed::median;

use super::number::Unit;
use crate::experiment::{Cell, Experiment, LabSetup};
use crate::judge::RunVerdict;
use crate::outcome::{Outcome, RunEnd, RunId};
use crate::stats::{AT_ONCE, Observation, Summary, share_within};

/// An experiment with what was measured in it.
pub(super) struct ExperimentRuns {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) experiment: &'static Experiment,
    pub(super) settings: Vec<CellRuns>,
}

/// The experiment that stands for one that the catalogue does not have.
pub(super) const UNKNOWN: Experiment = Experiment {
    name: "",
    title: "",
    source: "",
    about: "",
    published: &[],
    quoted: &[],
    why: "",
    cells: |_| Vec::new(),
};

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

/// The values of a figure in some runs, with their median and the unit that suits it.
pub(super) struct FigureValues {
    pub(super) values: Vec<f64>,
    pub(super) median: f64,
    pub(super) unit: Unit,
}

impl FigureValues {
    /// Returns the values of a figure; `None` where no run has it.
    pub(super) fn of(runs: &[&PeerRuns], name: &str) -> Option<Self> {
        let values: Vec<f64> = runs.iter().flat_map(|runs| runs.figure(name)).collect();
        let median = median(values.iter().copied())?;
        let mut outcomes = runs.iter().flat_map(|runs| runs.complete());
        let noted = outcomes.find_map(|outcome| outcome.figures.get(name))?;
        Some(Self {
            values,
            median,
            unit: Unit::for_numbers(&noted.unit, median),
        })
    }
}

/// The kinds of runs that have no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortfallKind {
    /// Something went wrong.
    Failed,
    /// The machine lacks what it needs.
    NotMeasured,
}

impl ShortfallKind {
    /// Returns the words behind a number of runs.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NotMeasured => "not measured",
        }
    }
}

/// Returns why a run has no figures, if it has none.
pub(super) fn failure(outcome: &Outcome) -> Option<(ShortfallKind, String)> {
    match &outcome.end {
        RunEnd::Complete => {}
        RunEnd::Failed(why) => return Some((ShortfallKind::Failed, why.clone())),
        RunEnd::NotMeasured(why) => return Some((ShortfallKind::NotMeasured, why.clone())),
    }
    let is_settled = outcome.verdict.as_ref().is_none_or(|one| one.is_settled);
    let why = "the display never showed a true screen, so nothing of it counts";
    (!is_settled).then(|| (ShortfallKind::Failed, why.to_owned()))
}

/// Puts outcomes into the order of the catalogue; what it does not know comes last, under its own
/// name.
pub(super) fn group(
    outcomes: Vec<Outcome>,
    experiments: &'static [Experiment],
    setup: &LabSetup,
) -> Vec<ExperimentRuns> {
    let place = |name: &str| experiments.iter().position(|one| one.name == name);
    let subject = |(name, outcomes): (String, Vec<Outcome>)| {
        let experiment = place(&name).map_or(&UNKNOWN, |place| &experiments[place]);
        let known = Some(experiment.title).filter(|title| !title.is_empty());
        ExperimentRuns {
            title: known.unwrap_or(&name).to_owned(),
            settings: settings(outcomes, &cells(experiment, setup)),
            experiment,
            name,
        }
    };
    let parts = parted(outcomes, |run| &run.experiment).into_iter();
    let mut subjects: Vec<ExperimentRuns> = parts.map(subject).collect();
    subjects.sort_by_key(|subject| place(&subject.name).unwrap_or(usize::MAX));
    subjects
}

/// Parts outcomes by a name of their runs.
fn parted(outcomes: Vec<Outcome>, name: fn(&RunId) -> &String) -> BTreeMap<String, Vec<Outcome>> {
    let mut parts: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        let part = parts.entry(name(&outcome.run).clone()).or_default();
        part.push(outcome);
    }
    parts
}

/// Returns the cells of an experiment, those of a quick run and those of generated links, too: what was
/// run is not known here, and a cell has one title however it is run.
fn cells(experiment: &Experiment, setup: &LabSetup) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for is_generated in [setup.is_generated, !setup.is_generated] {
        for is_quick in [setup.is_quick, !setup.is_quick] {
            let setup = LabSetup {
                is_generated,
                is_quick,
                ..setup.clone()
            };
            for cell in (experiment.cells)(&setup) {
                if cells.iter().all(|known| known.name != cell.name) {
                    cells.push(cell);
                }
            }
        }
    }
    cells
}

fn settings(outcomes: Vec<Outcome>, cells: &[Cell]) -> Vec<CellRuns> {
    let place = |name: &str| cells.iter().position(|cell| cell.name == name);
    let setting = |(name, outcomes): (String, Vec<Outcome>)| {
        let cell = place(&name).map(|place| &cells[place]);
        CellRuns {
            title: cell.map_or(&name, |cell| &cell.title).clone(),
            parameters: cell.map_or(Vec::new(), |cell| cell.work.parameters()),
            peers: runs(outcomes, cell.map_or(&[], |cell| &cell.peers)),
            name,
        }
    };
    let parts = parted(outcomes, |run| &run.cell).into_iter();
    let mut settings: Vec<CellRuns> = parts.map(setting).collect();
    settings.sort_by_key(|setting| place(&setting.name).unwrap_or(usize::MAX));
    settings
}

/// Peers as they are read where nobody planned another order: the oldest first.
const ORDER: &[&str] = &[
    "ssh", "mosh", "mosh-a", "mosh-n", "fulmar", "fulmar-a", "fulmar-n",
];

fn runs(outcomes: Vec<Outcome>, planned: &[String]) -> Vec<PeerRuns> {
    let place = |runs: &PeerRuns| {
        let planned = planned.iter().position(|one| *one == runs.peer);
        let known = ORDER.iter().position(|one| *one == runs.peer);
        (planned.unwrap_or(usize::MAX), known.unwrap_or(usize::MAX))
    };
    let parts = parted(outcomes, |run| &run.peer).into_iter();
    let mut runs: Vec<PeerRuns> = parts
        .map(|(peer, outcomes)| PeerRuns { peer, outcomes })
        .collect();
    runs.sort_by_key(place);
    runs
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{failed, measured, outcome, verdict};
    use super::*;
    use crate::experiment::{Measured, Work};
    use std::time::Duration;

    struct Nothing;

    impl Work for Nothing {
        fn measure(&self, _: &str, _: u64, _: &LabSetup) -> anyhow::Result<Measured> {
            Ok(Measured::default())
        }

        fn parameters(&self) -> Vec<(&'static str, String)> {
            vec![("link", "delay 10ms".to_owned())]
        }
    }

    fn two_cells(setup: &LabSetup) -> Vec<Cell> {
        let cell = |name: &str, title: &str| Cell {
            name: name.to_owned(),
            title: title.to_owned(),
            peers: ["fulmar", "tool"].map(str::to_owned).to_vec(),
            takes: Duration::from_secs(1),
            is_alone: false,
            work: Box::new(Nothing),
        };
        match (setup.is_quick, setup.is_generated) {
            (true, _) => vec![cell("quick", "In a short time")],
            (_, true) => vec![cell("like", "A generated link")],
            _ => vec![cell("slow", "A slow link"), cell("fast", "A fast link")],
        }
    }

    static CATALOGUE: [Experiment; 2] = [
        Experiment {
            name: "typing",
            title: "Typing",
            cells: two_cells,
            ..UNKNOWN
        },
        Experiment {
            name: "copies",
            title: "Copies",
            ..UNKNOWN
        },
    ];

    fn of(experiment: &str, cell: &str, peer: &str) -> Outcome {
        let mut outcome = outcome(peer, 1);
        outcome.run.experiment = experiment.to_owned();
        outcome.run.cell = cell.to_owned();
        outcome
    }

    #[test]
    fn experiments_and_cells_stand_as_in_the_catalogue_and_others_behind_them_by_name() {
        let outcomes = [
            ("copies", "x"),
            ("another", "x"),
            ("typing", "odd"),
            ("typing", "fast"),
            ("typing", "slow"),
            ("typing", "quick"),
            ("typing", "like"),
            ("about", "x"),
        ];
        let outcomes = outcomes.map(|(experiment, cell)| of(experiment, cell, "ssh"));
        let subjects = group(outcomes.to_vec(), &CATALOGUE, &LabSetup::default());
        let titles: Vec<&str> = subjects.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["Typing", "Copies", "about", "another"]);
        let cells = subjects[0].settings.iter().map(|one| one.title.as_str());
        let expected = [
            "A slow link",
            "A fast link",
            "In a short time",
            "A generated link",
            "odd",
        ];
        assert_eq!(cells.collect::<Vec<_>>(), expected);
        let known = &subjects[0].settings[0].parameters;
        assert_eq!(known, &[("link", "delay 10ms".to_owned())]);
        assert!(subjects[0].settings[4].parameters.is_empty());
    }

    #[test]
    fn peers_stand_as_planned_then_the_oldest_first_then_by_name() {
        let peers = ["x", "a", "mosh-n", "mosh", "ssh", "tool", "fulmar"];
        let outcomes = peers.map(|peer| of("typing", "slow", peer)).to_vec();
        let subjects = group(outcomes, &CATALOGUE, &LabSetup::default());
        let peers = subjects[0].settings[0].peers.iter();
        let peers: Vec<&str> = peers.map(|runs| runs.peer.as_str()).collect();
        assert_eq!(peers, ["fulmar", "tool", "ssh", "mosh", "mosh-n", "a", "x"]);
    }

    #[test]
    fn a_run_that_failed_or_never_settled_has_no_figures() {
        assert_eq!(failure(&outcome("ssh", 1)), None);
        let unsettled = Outcome {
            verdict: Some(RunVerdict {
                is_settled: false,
                ..verdict(&[1])
            }),
            ..outcome("ssh", 2)
        };
        assert!(failure(&unsettled).unwrap().1.contains("never showed"));
        let failed = failed("ssh", 3, "no answer");
        assert_eq!(
            failure(&failed),
            Some((ShortfallKind::Failed, "no answer".to_owned()))
        );
        let runs = PeerRuns {
            peer: "ssh".to_owned(),
            outcomes: vec![unsettled, outcome("ssh", 4), failed],
        };
        let complete: Vec<u64> = runs.complete().map(|one| one.run.seed).collect();
        assert_eq!(complete, [4]);
        assert!(runs.verdicts().is_empty());
    }

    #[test]
    fn each_measure_is_the_time_of_its_name() {
        let ms = |millis| Observation::After(Duration::from_millis(millis));
        let mut verdict = verdict(&[0]);
        verdict.keys[0].own = Some(ms(1));
        verdict.keys[0].whole = Some(ms(2));
        verdict.keys[0].first_output = ms(3);
        let waits = Measure::ALL.map(|measure| measure.of(&verdict));
        assert_eq!(waits, [vec![ms(1)], vec![ms(2)], vec![ms(3)]]);
        let names = Measure::ALL.map(Measure::name);
        assert_eq!(names, ["own effect", "whole screen", "first output"]);
    }

    #[test]
    fn a_figure_of_runs_is_finite_and_has_the_unit_of_its_median() {
        let values = [9e5, f64::INFINITY, 3e6, 5e6];
        let runs = measured("ssh", ("bytes_up", "B"), &values);
        assert_eq!(runs.figure("bytes_up"), [9e5, 3e6, 5e6]);
        assert!(runs.figure("bytes_down").is_empty());
        let figure = FigureValues::of(&[&runs, &runs], "bytes_up").unwrap();
        assert_eq!((figure.values.len(), figure.median), (6, 3e6));
        assert_eq!(figure.unit.name, "MB");
        assert!(FigureValues::of(&[&runs], "bytes_down").is_none());
        assert!(FigureValues::of(&[], "bytes_up").is_none());
    }

    #[test]
    fn runs_of_an_experiment_are_found_by_the_beginning_of_the_cell_and_the_whole_peer() {
        let outcomes = [
            ("slow", "mosh"),
            ("slower", "mosh"),
            ("slow", "mosh-n"),
            ("fast", "mosh"),
        ];
        let outcomes = outcomes.map(|(cell, peer)| of("x", cell, peer)).to_vec();
        let subjects = group(outcomes, &[], &LabSetup::default());
        assert_eq!(subjects[0].runs("slow", "mosh").len(), 2);
        assert_eq!(subjects[0].runs("", "mosh").len(), 3);
        assert!(subjects[0].runs("slow", "mos").is_empty());
    }
}
