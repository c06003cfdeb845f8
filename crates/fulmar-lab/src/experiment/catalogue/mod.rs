//! All experiments.

mod instruments;
mod recording;
mod response;
mod route;
mod trouble;
mod typed;
mod typing;

use super::Experiment;

pub use recording::Recording;
pub use typed::Typed;

/// All experiments, in the order of the report.
pub static ALL: [Experiment; 14] = [
    typing::EVDO,
    typing::DOWNLOAD,
    typing::HIGH_DELAY,
    typing::TRANSOCEANIC,
    typing::LOSS,
    typing::ADVERSARIAL,
    instruments::COLLECTION,
    instruments::TINYGRAMS,
    instruments::BULK,
    instruments::COPY,
    trouble::TROUBLE,
    instruments::LAN,
    instruments::LOADS,
    instruments::WORLDS,
];

/// Returns the experiment of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|experiment| experiment.name == name)
}

/// Tells whether a cell is one of those that `paper` stands for: what the Mosh paper and its
/// reproduction measured, in closed loop as they did; and in open loop the three experiments in
/// which the network alone makes the difference.
#[must_use]
pub(crate) fn is_of_paper(experiment: &str, cell: &str) -> bool {
    const CLOSED: [&str; 5] = ["evdo", "download", "transoceanic", "loss", "adversarial"];
    const OPEN: [&str; 3] = ["evdo", "transoceanic", "loss"];
    let is_in = |part: &str| cell.split('-').any(|word| word == part);
    (CLOSED.contains(&experiment) && is_in("closed"))
        || (OPEN.contains(&experiment) && is_in("open"))
}

#[cfg(test)]
mod tests;
