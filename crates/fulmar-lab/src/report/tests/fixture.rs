//! Runs and settings made of bare numbers, for tests of what is said of them.

use crate::judge::{KeyVerdict, RunVerdict};
use crate::markup::Element;
use crate::outcome::{Figure, Outcome, RunEnd};
use crate::report::grouped::{CellRuns, ExperimentRuns, PeerRuns, UNKNOWN};
use crate::stats::Observation::After;
use crate::testing;
pub(in crate::report) use crate::testing::outcome;
use std::time::Duration;

/// Returns the verdict on keys that waited so many milliseconds.
pub(in crate::report) fn verdict(waits: &[u64]) -> RunVerdict {
    let key = |wait: &u64| {
        let after = After(Duration::from_millis(*wait));
        KeyVerdict {
            typed: Duration::ZERO,
            own: Some(after),
            whole: Some(after),
            first_output: after,
            wrong: 0,
        }
    };
    testing::verdict(waits.iter().map(key))
}

/// Returns runs whose keys waited so many milliseconds, until whatever one looks at.
pub(in crate::report) fn typed(peer: &str, waits: &[&[u64]]) -> PeerRuns {
    let outcomes = (0..).zip(waits).map(|(seed, waits)| Outcome {
        verdict: Some(verdict(waits)),
        ..outcome(peer, seed)
    });
    PeerRuns {
        peer: peer.to_owned(),
        outcomes: outcomes.collect(),
    }
}

/// Returns runs with one figure each.
pub(in crate::report) fn measured(
    peer: &str,
    (name, unit): (&str, &str),
    values: &[f64],
) -> PeerRuns {
    let outcomes = (0..).zip(values).map(|(seed, value)| Outcome {
        figures: [(name.to_owned(), Figure::new(*value, unit))].into(),
        ..outcome(peer, seed)
    });
    PeerRuns {
        peer: peer.to_owned(),
        outcomes: outcomes.collect(),
    }
}

/// Returns a setting in which these took part.
pub(in crate::report) fn setting(peers: Vec<PeerRuns>) -> CellRuns {
    CellRuns {
        name: "slow".to_owned(),
        title: "A slow link".to_owned(),
        parameters: Vec::new(),
        peers,
    }
}

/// Returns an experiment with one setting.
pub(in crate::report) fn subject(peers: Vec<PeerRuns>) -> ExperimentRuns {
    ExperimentRuns {
        name: "typing".to_owned(),
        title: "Typing".to_owned(),
        experiment: &UNKNOWN,
        settings: vec![setting(peers)],
    }
}

/// Returns a run that failed for a reason.
pub(in crate::report) fn failed(peer: &str, seed: u64, why: &str) -> Outcome {
    Outcome {
        end: RunEnd::Failed(why.to_owned()),
        ..outcome(peer, seed)
    }
}

/// Returns a run that could not be made, because of what is missing.
pub(in crate::report) fn not_measured(peer: &str, seed: u64, why: &str) -> Outcome {
    Outcome {
        end: RunEnd::NotMeasured(why.to_owned()),
        ..outcome(peer, seed)
    }
}

/// Returns all of it as it is written.
pub(in crate::report) fn text<'a>(elements: impl IntoIterator<Item = &'a Element>) -> String {
    elements.into_iter().map(Element::html).collect()
}

/// Checks that all parts stand in a text, in this order.
#[track_caller]
pub(in crate::report) fn assert_in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let place = rest.find(part);
        let place = place.unwrap_or_else(|| panic!("{part} is not where it should be in {text}"));
        rest = &rest[place + part.len()..];
    }
}
