//! Figures of outcomes in the sentences that rest on them.
//!
//! `{CELL PEER FIGURE}` in a text becomes that figure with its unit: over all runs of the peer in the
//! cells of the experiment whose names begin with CELL, or of another with `EXPERIMENT/CELL`. What was
//! not measured says so.

use super::grouped::{ExperimentRuns, FigureValues, Measure, PeerRuns};
use super::number::{Unit, percent, time};
use crate::stats::{AT_ONCE, Observation, Summary, share_within};

/// The words where nothing was measured.
const MISSING: &str = "(not measured)";

/// Returns the text with its figures.
pub(super) fn filled(text: &str, subject: &ExperimentRuns, subjects: &[ExperimentRuns]) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((name, after)) = part.split_once('}') else {
            filled.extend(["{", part]);
            continue;
        };
        let words: Vec<&str> = name.split_whitespace().collect();
        let figure = match words.as_slice() {
            [cell, peer, figure] => figure_of(subject, subjects, cell, peer, figure),
            _ => None,
        };
        filled.extend([figure.as_deref().unwrap_or(MISSING), after]);
    }
    // Lines of the text are no lines of the page.
    filled.replace('\n', " ")
}

fn figure_of(
    subject: &ExperimentRuns,
    subjects: &[ExperimentRuns],
    cell: &str,
    peer: &str,
    name: &str,
) -> Option<String> {
    let (subject, cell) = match cell.split_once('/') {
        Some((other, cell)) => (subjects.iter().find(|one| one.name == other)?, cell),
        None => (subject, cell),
    };
    shown(&subject.runs(cell, peer), name)
}

fn shown(runs: &[&PeerRuns], name: &str) -> Option<String> {
    let waits = |measure| {
        let all = runs.iter().map(|runs| runs.waits(measure).concat());
        all.collect::<Vec<Vec<Observation>>>().concat()
    };
    let summary = |measure| Summary::of(&waits(measure));
    let wait = match name {
        "median" => summary(Measure::FirstOutput).median,
        "mean" => summary(Measure::FirstOutput).mean,
        "p99" => summary(Measure::FirstOutput).p99,
        "own_median" => summary(Measure::Own).median,
        "own_p99" => summary(Measure::Own).p99,
        "stall" => {
            let verdicts = runs.iter().flat_map(|runs| runs.verdicts());
            verdicts.map(|verdict| verdict.longest_stall).max()
        }
        "at_once" => return share(&waits(Measure::Own)),
        "first_at_once" => return share(&waits(Measure::FirstOutput)),
        _ => return figure(runs, name),
    };
    wait.map(|wait| time(wait.as_secs_f64()))
}

fn share(waits: &[Observation]) -> Option<String> {
    let share = share_within(waits, AT_ONCE).filter(|_| !waits.is_empty())?;
    Some(format!("{} %", percent(share)))
}

/// The median of a single figure over all runs, or the most of a series that is named `…_max`.
fn figure(runs: &[&PeerRuns], name: &str) -> Option<String> {
    if let Some(series) = name.strip_suffix("_max") {
        let outcomes = runs.iter().flat_map(|runs| runs.complete());
        let points = outcomes.filter_map(|outcome| outcome.series.get(series));
        let most = points.flatten().map(|point| point.1).reduce(f64::max)?;
        return Some(format!(
            "{} packets",
            Unit::for_numbers("packets", most).show(most)
        ));
    }
    let FigureValues { median, unit, .. } = FigureValues::of(runs, name)?;
    // Sentences have their own words for what packets do.
    Some(match unit.name.as_str() {
        "packets" => unit.show(median),
        name => format!("{} {name}", unit.show(median)),
    })
}
