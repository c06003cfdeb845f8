//! Forecasts how long a plan takes.

use std::time::Duration;

use super::plan::PlannedRun;

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
