//! Runs and verdicts for unit tests.

use std::time::Duration;

use crate::judge::{Delivery, KeyVerdict, RunVerdict};
use crate::outcome::{Outcome, RunEnd, RunFacts, RunId};

/// Returns a complete run in which nothing was measured.
pub(crate) fn outcome(peer: &str, seed: u64) -> Outcome {
    Outcome {
        run: RunId {
            experiment: "typing".to_owned(),
            cell: "slow".to_owned(),
            peer: peer.to_owned(),
            seed,
        },
        facts: RunFacts::default(),
        end: RunEnd::Complete,
        figures: [].into(),
        series: [].into(),
        verdict: None,
    }
}

/// Returns the verdict on these keys, of a run in which nothing went wrong.
pub(crate) fn verdict(keys: impl IntoIterator<Item = KeyVerdict>) -> RunVerdict {
    RunVerdict {
        keys: keys.into_iter().collect(),
        wrongs: Vec::new(),
        delivery: Delivery::default(),
        longest_stall: Duration::ZERO,
        length: Duration::ZERO,
        is_stamped: true,
        is_settled: true,
        differences_at_end: 0,
        screens_not_restored: 0,
    }
}
