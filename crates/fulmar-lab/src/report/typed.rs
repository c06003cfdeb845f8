//! Shows the fate of the keys in one setting.

use std::collections::BTreeMap;

use super::grouped::{CellRuns, Measure, PeerRuns};
use super::markup::{Element, element};
use super::number::{NONE, ms, percent, time, whole};
use super::peers::PeerStyles;
use super::table::{Table, head, maybe, number, row, row_head, words};
use crate::experiment::Published;
use crate::judge::RunVerdict;
use crate::stats::Summary;

/// The times of keys of each peer, with those that others published.
pub(super) fn waits(
    setting: &CellRuns,
    published: &[Published],
    peers: &PeerStyles,
) -> Option<Element> {
    let mut table = Table::new(format!("Times of keys: {}", setting.title))
        .words(["peer", "until"])
        .numbers("keys", ["n", "censored"])
        .numbers("ms", ["median", "mean", "sd", "p90", "p99"])
        .numbers("%", ["within 5 ms"]);
    for runs in setting.typed() {
        let fits = |one: &&Published| one.peer == runs.peer && setting.name.starts_with(one.cells);
        let others = published.iter().filter(fits).map(quoted);
        let measured = Measure::ALL.map(|measure| measured(runs, measure));
        let rows = measured.into_iter().chain(others).collect();
        table.rows_of([peers.sign(&runs.peer)], rows);
    }
    table.element()
}

fn measured(runs: &PeerRuns, measure: Measure) -> Element {
    let Summary {
        count,
        censored,
        median,
        p90,
        p99,
        mean,
        deviation,
    } = runs.summary(measure);
    let keys = [count, censored].map(|keys| number(whole(keys as f64)));
    let times = [median, mean, deviation, p90, p99].map(|time| maybe(time, ms));
    let cells = [head(measure.name())].into_iter().chain(keys).chain(times);
    let cells = cells.chain([maybe(runs.at_once(measure), percent)]);
    let class = if measure == Measure::Own { "first" } else { "" };
    row(cells).class(class)
}

/// A row of published figures: times of the first output.
fn quoted(other: &Published) -> Element {
    let name = head("first output, published: ").with(element("cite").text(other.by));
    let blank = || element("td");
    let figure = |said: &str| match said {
        "" | "-" => number(NONE),
        said => number(said),
    };
    let figures = [other.median, other.mean, other.deviation].map(figure);
    let cells = [name, blank(), blank()].into_iter().chain(figures);
    row(cells.chain([blank(), blank(), blank()])).class("published")
}

/// Returns the faults: keys that did not arrive, what was shown wrong, and how long nothing moved.
pub(super) fn faults(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let mut table = Table::new(format!("Faults: {}", setting.title))
        .words(["peer"])
        .numbers("", ["runs", "keys"])
        .numbers("% of keys", ["with wrong cells"])
        .numbers("keys", ["lost", "doubled", "reordered", "strange"])
        .numbers("", ["longest stall"])
        .words(["notes"]);
    for runs in setting.typed() {
        let verdicts = runs.verdicts();
        let sum = |count: fn(&RunVerdict) -> usize| {
            let sum: usize = verdicts.iter().map(|verdict| count(verdict)).sum();
            whole(sum as f64)
        };
        let keys: usize = verdicts.iter().map(|one| one.keys.len()).sum();
        let stall = verdicts.iter().map(|one| one.longest_stall).max();
        table.row(row([
            row_head(peers.sign(&runs.peer)),
            number(whole(verdicts.len() as f64)),
            number(whole(keys as f64)),
            maybe(wrong(&verdicts), percent),
            number(sum(|one| one.delivery.lost)),
            number(sum(|one| one.delivery.doubled)),
            number(sum(|one| one.delivery.reordered)),
            number(sum(|one| one.delivery.strange)),
            maybe(stall, |stall| time(stall.as_secs_f64())),
            words(notes(runs)),
        ]));
    }
    table.element()
}

/// Returns the share of all keys because of which something was wrong.
pub(super) fn wrong(verdicts: &[&RunVerdict]) -> Option<f64> {
    let keys = verdicts.iter().flat_map(|verdict| &verdict.keys);
    let count = keys.clone().count();
    let wrong = keys.filter(|key| key.wrong > 0).count();
    (count > 0).then(|| wrong as f64 / count as f64)
}

fn notes(runs: &PeerRuns) -> String {
    let verdicts = runs.verdicts();
    let mut notes: Vec<String> = endings(runs)
        .into_iter()
        .map(|(why, count)| format!("{count} × {why}"))
        .collect();
    let bare = verdicts.iter().filter(|one| !one.is_stamped).count();
    if bare > 0 {
        notes.push(format!("{bare} without stamps"));
    }
    let differing = verdicts.iter().filter(|one| one.differences_at_end > 0);
    let differing = differing.count();
    if differing > 0 {
        notes.push(format!("{differing} ended on another screen"));
    }
    let under_way: usize = verdicts.iter().map(|one| one.delivery.under_way).sum();
    if under_way > 0 {
        notes.push(format!("{under_way} keys under way at the end"));
    }
    notes.join(", ")
}

/// Returns how often sittings ended for which reason: the unit of the figure says it in words.
fn endings(runs: &PeerRuns) -> BTreeMap<&str, usize> {
    let mut endings = BTreeMap::new();
    for outcome in runs.complete() {
        if let Some(why) = outcome.figures.get("why_over") {
            *endings.entry(why.unit.as_str()).or_default() += 1;
        }
    }
    endings
}
