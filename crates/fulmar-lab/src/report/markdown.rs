//! Everybody who typed, as a table in Markdown.

use std::fmt::Write as _;

use super::grouped::{CellRuns, ExperimentRuns, Measure};
use super::number::{NONE, ms, or_none, percent};

/// The peers that have columns; without prediction it is a row of its own.
const PEERS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// The ending of a name where nothing is predicted.
const BARE: &str = "-n";

/// Returns the table: a row for each setting in which peers are compared; empty where nobody typed.
pub(super) fn of(subjects: &[ExperimentRuns]) -> String {
    let settings = subjects.iter().flat_map(|subject| &subject.settings);
    let compared = settings.filter(|setting| setting.typed().len() > 1);
    let rows: String = compared.map(rows).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("| median, ms; at once, % | ssh | mosh | fulmar |\n|---|---|---|---|\n{rows}")
}

/// The row of a setting, and another one without predictions where that was measured.
fn rows(setting: &CellRuns) -> String {
    let mut text = String::new();
    for (suffix, said) in [("", ""), (BARE, ", nothing predicted")] {
        let has_row = setting.typed().iter().any(|runs| match suffix {
            "" => PEERS.contains(&runs.peer.as_str()),
            _ => runs.peer.ends_with(BARE),
        });
        if has_row {
            let cells = PEERS.map(|peer| cell(setting, peer, suffix));
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {}{said} | {} |", setting.title, cells.join(" | "));
        }
    }
    text
}

fn cell(setting: &CellRuns, peer: &str, suffix: &str) -> String {
    let named = format!("{peer}{suffix}");
    let typed = setting.typed();
    // ssh never predicts.
    let is_it = |name: &str| name == named || (name == peer && peer == PEERS[0]);
    let Some(runs) = typed.iter().find(|runs| is_it(&runs.peer)) else {
        return NONE.to_owned();
    };
    let median = or_none(runs.summary(Measure::Own).median, ms);
    let at_once = or_none(runs.at_once(Measure::Own), percent);
    format!("{median}; {at_once}")
}
