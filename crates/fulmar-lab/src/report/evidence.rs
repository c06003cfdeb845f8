//! Figures of outcomes in the sentences that rest on them.
//!
//! `{CELL PEER FIGURE}` in a text becomes that figure with its unit: over all runs of the peer in the
//! cells of the experiment whose names begin with CELL, or of another with `EXPERIMENT/CELL`. A text
//! of which a figure was not measured is about runs that are not there, and is not shown.

use super::grouped::{ExperimentRuns, FigureValues, Measure, PeerRuns};
use super::number::{Unit, percent, time};
use crate::stats::{AT_ONCE, Observation, Summary, share_within};

/// Returns the text with its figures; `None` where one of them was not measured.
pub(super) fn filled(
    text: &str,
    subject: &ExperimentRuns,
    subjects: &[ExperimentRuns],
) -> Option<String> {
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
        filled.extend([figure?.as_str(), after]);
    }
    // Lines of the text are no lines of the page.
    Some(filled.replace('\n', " "))
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
        "not_restored" => return not_restored(runs),
        "at_once" => return share(&waits(Measure::Own)),
        "first_at_once" => return share(&waits(Measure::FirstOutput)),
        _ => return figure(runs, name),
    };
    wait.map(|wait| time(wait.as_secs_f64()))
}

/// The number of screens that were not put back, over all runs.
fn not_restored(runs: &[&PeerRuns]) -> Option<String> {
    let verdicts = runs.iter().flat_map(|runs| runs.verdicts());
    let counts: Vec<usize> = verdicts.map(|one| one.screens_not_restored).collect();
    let runs = counts.len();
    let sum: usize = counts.into_iter().sum();
    let plural = if runs == 1 { "" } else { "s" };
    (runs > 0).then(|| format!("{sum} times in {runs} run{plural}"))
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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{measured, outcome, subject, typed};
    use super::*;
    use crate::outcome::Outcome;
    use std::time::Duration;

    fn said(text: &str, peers: Vec<PeerRuns>) -> Option<String> {
        let subject = subject(peers);
        filled(text, &subject, &[])
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_name_in_braces_becomes_its_figure_and_the_rest_stays() {
        let mut runs = typed("ssh", &[&[1, 4, 100, 200], &[5, 6, 300, 400]]);
        for outcome in &mut runs.outcomes {
            if let Some(verdict) = &mut outcome.verdict {
                verdict.longest_stall = Duration::from_secs(2 + outcome.run.seed);
                verdict.screens_not_restored = 3;
                verdict.keys[0].own = verdict.keys[3].own;
            }
        }
        let text = |name: &str| {
            said(
                &format!("{{slow ssh {name}}}"),
                vec![PeerRuns {
                    peer: "ssh".to_owned(),
                    outcomes: runs.outcomes.clone(),
                }],
            )
        };
        let names = ["median", "mean", "p99", "own_median", "own_p99"];
        let expected = ["53.0 ms", "127 ms", "400 ms", "200 ms", "400 ms"];
        assert_eq!(names.map(text), expected.map(some));
        let names = ["stall", "at_once", "first_at_once", "not_restored", "none"];
        let expected = ["3.00 s", "12.5 %", "37.5 %", "6 times in 2 runs"].map(some);
        let expected: Vec<_> = expected.into_iter().chain([None]).collect();
        assert_eq!(names.map(text).to_vec(), expected);
    }

    #[test]
    fn single_figures_have_their_unit_and_packets_have_words_of_their_own() {
        let bytes = |text| {
            said(
                text,
                vec![measured("ssh", ("bytes_up", "B"), &[1e3, 3e3, 2e3])],
            )
        };
        assert_eq!(bytes("a {s ssh bytes_up} b"), some("a 2.00 kB b"));
        let packets = measured("ssh", ("packets_up", "packets"), &[7.0]);
        assert_eq!(said("{slow ssh packets_up}", vec![packets]), some("7"));
    }

    #[test]
    fn the_most_of_a_series_is_that_over_all_runs() {
        let run = |seed, points: &[(f64, f64)]| Outcome {
            series: [("queue_up".to_owned(), points.to_vec())].into(),
            ..outcome("ssh", seed)
        };
        let runs = PeerRuns {
            peer: "ssh".to_owned(),
            outcomes: vec![run(1, &[(9.0, 4.0), (0.0, 2.0)]), run(2, &[(0.0, 3.0)])],
        };
        assert_eq!(
            said("{slow ssh queue_up_max}.", vec![runs]),
            some("4 packets.")
        );
    }

    #[test]
    fn another_experiment_is_named_before_its_cell() {
        let mut other = subject(vec![measured("ssh", ("rate", "B/s"), &[2e6])]);
        other.name = "other".to_owned();
        let own = subject(vec![measured("ssh", ("rate", "B/s"), &[1e6])]);
        let text = |text| filled(text, &own, std::slice::from_ref(&other));
        assert_eq!(
            text("{slow ssh rate}, {other/slow ssh rate}"),
            some("1.00 MB/s, 2.00 MB/s")
        );
        assert_eq!(text("{slow ssh rate}, {third/slow ssh rate}"), None);
    }

    #[test]
    fn a_text_about_what_was_not_measured_is_left_out_and_a_brace_without_an_end_stays() {
        let ssh = || vec![measured("ssh", ("rate", "B/s"), &[1e6])];
        for name in [
            "slow mosh rate",
            "fast ssh rate",
            "slow ssh",
            "",
            "slow ssh at_once",
        ] {
            assert_eq!(said(&format!("{{{name}}}"), ssh()), None, "{name}");
        }
        assert_eq!(said("a {b\nc", ssh()), some("a {b c"));
        assert_eq!(
            said("a {b {slow ssh rate}.", ssh()),
            some("a {b 1.00 MB/s.")
        );
    }

    #[test]
    fn the_slowest_hundredth_is_not_the_slowest_tenth() {
        let waits: Vec<u64> = (1..=100).map(|wait| wait * 10).collect();
        let figures = ["p99", "own_p99"].map(|name| {
            let runs = typed("ssh", &[&waits]);
            said(&format!("{{slow ssh {name}}}"), vec![runs])
        });
        assert_eq!(figures, [some("995 ms"), some("995 ms")]);
    }
}
