//! Runs in pairs with equal settings: whether intervals are as wide as they have to be, and whether
//! runs side by side disturb each other.

use serde::{Deserialize, Serialize};

use super::plan::{PlannedRun, RunPlan, name};
use super::selection::SelectedCell;
use crate::outcome::{Outcome, OutcomeFolder, RunEnd, RunId};
use crate::stats::{ResamplingPlan, difference, median};

/// So many pairs.
pub const PAIRS: usize = 20;

/// Of a hundred pairs, in so many the interval is to hold zero. An interval of 90 % holds it in 90 where
/// all is right; of 20 pairs fewer than 16 happens in one case of 23 then (binomial).
const HOLDING_PERCENT: usize = 80;

/// One of the runs of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSeries {
    /// One, beside others.
    First,
    /// Its equal, beside others.
    Second,
    /// Another equal, with the machine for itself.
    Alone,
}

impl PairSeries {
    fn folder(self) -> &'static str {
        match self {
            Self::First => "pairs-first",
            Self::Second => "pairs-second",
            Self::Alone => "pairs-alone",
        }
    }
}

/// Plans so many pairs of runs of these cells and all of their peers, and a third run of each
/// alone where that is wanted: first all with one seed, then with the next.
pub fn pairs(cells: Vec<SelectedCell>, count: usize, has_alone: bool) -> RunPlan {
    let equal = equals(&cells, count);
    let mut runs = Vec::new();
    for run in &equal {
        for series in [PairSeries::First, PairSeries::Second] {
            runs.push(of(run, series));
        }
    }
    if has_alone {
        runs.extend(equal.iter().map(|run| of(run, PairSeries::Alone)));
    }
    RunPlan { cells, runs }
}

fn equals(cells: &[SelectedCell], count: usize) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    let is_empty = cells.iter().all(|cell| cell.peers.is_empty());
    for seed in 1.. {
        for (number, chosen) in cells.iter().enumerate() {
            for peer in &chosen.peers {
                runs.push(PlannedRun::new(cells, number, peer, seed));
            }
        }
        if runs.len() >= count || is_empty {
            break;
        }
    }
    runs.truncate(count);
    runs
}

fn of(run: &PlannedRun, series: PairSeries) -> PlannedRun {
    PlannedRun {
        id: RunId {
            experiment: series.folder().to_owned(),
            cell: format!("{}-{}", run.id.experiment, run.id.cell),
            ..run.id.clone()
        },
        is_alone: series == PairSeries::Alone,
        ..run.clone()
    }
}

/// Two equal runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPair {
    /// Cell, peer and seed.
    pub name: String,
    /// The medians of the times until the whole screen was right.
    pub medians_ms: [Option<f64>; 2],
    /// The interval in which their difference lies, with 90 %. An end that is infinite is `null` as JSON.
    pub difference_ms: Option<[Option<f64>; 2]>,
    /// True if the difference may be none.
    pub holds_zero: bool,
}

/// The comparison of pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// All of which both runs are there.
    pub pairs: Vec<RunPair>,
    /// The number of intervals that hold zero.
    pub holding: usize,
    /// The number of those that are to.
    pub wanted: usize,
    /// True if enough of them do.
    #[serde(rename = "good")]
    pub is_good: bool,
}

/// The findings of `fulmar-lab pairs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Both runs beside others.
    pub equal: PairComparison,
    /// One of them alone, if that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<PairComparison>,
}

/// Compares the runs of one series with those of another, as far as both are in the folder.
pub fn compare_pairs(
    plan: &RunPlan,
    folder: &OutcomeFolder,
    one: PairSeries,
    other: PairSeries,
) -> PairComparison {
    let runs = plan.runs.iter();
    let pairs = runs
        .filter(|run| run.id.experiment == one.folder())
        .filter_map(|run| {
            let id = RunId {
                experiment: other.folder().to_owned(),
                ..run.id.clone()
            };
            let outcomes = [folder.get(&run.id)?, folder.get(&id)?];
            pair(run, &outcomes)
        });
    PairComparison::of(pairs.collect())
}

/// `None` where one of the two has failed.
fn pair(run: &PlannedRun, outcomes: &[Outcome; 2]) -> Option<RunPair> {
    let complete = outcomes.iter().all(|one| one.end == RunEnd::Complete);
    let [one, other] = outcomes
        .each_ref()
        .map(|outcome| outcome.verdict.as_ref().map(|verdict| verdict.whole()));
    let (one, other) = (one.filter(|_| complete)?, other?);
    let medians = [median(&one), median(&other)];
    let difference = difference(&[one], &[other], median, ResamplingPlan::keys(run.id.seed));
    let ms = |seconds: f64| seconds * 1e3;
    Some(RunPair {
        name: format!("{} {} {}", run.id.cell, name(&run.peer), run.id.seed),
        medians_ms: medians.map(|median| median.map(ms)),
        difference_ms: difference.map(|one| [one.low, one.high].map(|end| Some(ms(end)))),
        holds_zero: difference.is_some_and(|interval| interval.holds(0.0)),
    })
}

impl PairComparison {
    fn of(pairs: Vec<RunPair>) -> Self {
        let holding = pairs.iter().filter(|pair| pair.holds_zero).count();
        let wanted = (pairs.len() * HOLDING_PERCENT).div_ceil(100);
        Self {
            holding,
            wanted,
            is_good: !pairs.is_empty() && holding >= wanted,
            pairs,
        }
    }

    /// Returns the table for a person.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for pair in &self.pairs {
            let [one, other] = pair.medians_ms.map(|ms| shown(ms, "never"));
            let interval = pair.difference_ms.map_or("none".to_owned(), |ends| {
                ends.map(|end| shown(end, "∞")).join(" to ")
            });
            let mark = if pair.holds_zero {
                ""
            } else {
                "  without zero"
            };
            text += &format!(
                "{:<46} {one:>9} {other:>9}  difference {interval}{mark}\n",
                pair.name
            );
        }
        text + &format!(
            "{} of {} intervals hold zero, {} are to\n",
            self.holding,
            self.pairs.len(),
            self.wanted
        )
    }
}

fn shown(ms: Option<f64>, none: &str) -> String {
    ms.map_or(none.to_owned(), |ms| format!("{ms:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{LabSetup, catalogue};
    use crate::run::{Selection, outcome};
    use serde_json::{Value, json};

    fn plan(count: usize) -> RunPlan {
        let selection = Selection {
            names: vec!["loss".to_owned(), "transoceanic".to_owned()],
            peers: ["ssh", "mosh", "fulmar"].map(str::to_owned).to_vec(),
        };
        let chosen = selection.choose(&catalogue::ALL, &LabSetup::default());
        pairs(chosen.unwrap(), count, true)
    }

    /// A run in which the screen was right after about so many milliseconds, scattered over 40.
    fn run_of(id: &RunId, millis: u64, number: u64) -> Outcome {
        let keys: Vec<Value> = (0..40)
            .map(|key| {
                let wait = millis + (key * 17 + number * 5) % 41;
                json!({
                    "typed_ms": key * 300, "own": {"ms": 1}, "whole": {"ms": wait},
                    "first_output": {"ms": 1}, "wrong": 0,
                })
            })
            .collect();
        let verdict = json!({
            "keys": keys, "wrongs": [], "longest_stall_ms": 0, "length_ms": 30_000,
            "is_stamped": true, "is_settled": true, "differences_at_end": 0, "delivery": {
                "typed": 40, "received": 40, "lost": 0, "doubled": 0, "reordered": 0,
                "strange": 0, "under_way": 0,
            },
        });
        let mut outcome = outcome(id.clone(), Ok(crate::experiment::Measured::default()));
        outcome.verdict = Some(serde_json::from_value(verdict).unwrap());
        outcome
    }

    #[test]
    fn both_runs_of_a_pair_stand_side_by_side_and_what_is_alone_comes_last() {
        let plan = plan(20);
        assert_eq!(plan.runs.len(), 60);
        let (first, second) = (&plan.runs[6], &plan.runs[7]);
        assert_eq!(first.id.experiment, "pairs-first");
        assert_eq!(second.id.experiment, "pairs-second");
        assert_eq!(
            (&first.peer, first.cell, first.id.seed),
            (&second.peer, second.cell, second.id.seed)
        );
        assert!(plan.runs[..40].iter().all(|run| !run.is_alone));
        assert!(plan.runs[40..].iter().all(|run| run.is_alone));
        let mut ids: Vec<&RunId> = plan.runs.iter().map(|run| &run.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 60);
    }

    #[test]
    fn equal_runs_hold_zero_and_a_shift_does_not() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(place.path()).unwrap();
        let plan = plan(20);
        for (number, run) in (0_u64..).zip(&plan.runs) {
            // Alone everything is 30 ms faster.
            let millis = if run.is_alone { 100 } else { 130 };
            folder.put(&run_of(&run.id, millis, number)).unwrap();
        }
        let equal = compare_pairs(&plan, &folder, PairSeries::First, PairSeries::Second);
        assert_eq!((equal.pairs.len(), equal.wanted), (20, 16));
        assert!(equal.is_good, "{}", equal.table());
        let alone = compare_pairs(&plan, &folder, PairSeries::First, PairSeries::Alone);
        assert_eq!((alone.holding, alone.is_good), (0, false));
        assert!(alone.table().contains("without zero"));
    }

    #[test]
    fn pairs_that_are_not_there_are_not_counted() {
        let place = tempfile::tempdir().unwrap();
        let folder = OutcomeFolder::open(place.path()).unwrap();
        let plan = plan(2);
        let failed = outcome(plan.runs[0].id.clone(), Err(anyhow::anyhow!("no answer")));
        folder.put(&failed).unwrap();
        for run in &plan.runs[1..3] {
            folder.put(&run_of(&run.id, 100, 0)).unwrap();
        }
        let compared = compare_pairs(&plan, &folder, PairSeries::First, PairSeries::Second);
        assert_eq!((compared.pairs.len(), compared.is_good), (0, false));
    }

    #[test]
    fn of_a_hundred_intervals_eighty_are_to_hold_zero_and_of_few_no_fewer() {
        let compared = |holding: usize, others: usize| {
            let pair = |number| RunPair {
                name: String::new(),
                medians_ms: [None; 2],
                difference_ms: None,
                holds_zero: number < holding,
            };
            PairComparison::of((0..holding + others).map(pair).collect())
        };
        for (holding, others, wanted, is_good) in [
            (16, 4, 16, true),
            (15, 5, 16, false),
            (3, 1, 4, false),
            (5, 1, 5, true),
            (0, 0, 0, false),
        ] {
            let compared = compared(holding, others);
            let said = format!("{holding} and {others}");
            assert_eq!(
                (compared.wanted, compared.is_good),
                (wanted, is_good),
                "{said}"
            );
        }
    }
}
