//! Shows the fate of the keys in one setting.

use std::collections::BTreeMap;

use super::grouped::{CellRuns, Measure, PeerRuns};
use super::number::{NONE, ms, percent, time, whole};
use super::peers::PeerStyles;
use super::table::{Table, head, maybe, number, row, row_head, words};
use crate::experiment::Published;
use crate::judge::RunVerdict;
use crate::markup::{Element, element};
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
        .numbers("times", ["the screen was not put back"])
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
            number(sum(|one| one.screens_not_restored)),
            number(sum(|one| one.delivery.lost)),
            number(sum(|one| one.delivery.doubled)),
            number(sum(|one| one.delivery.reordered)),
            number(sum(|one| one.delivery.unexpected)),
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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, outcome, setting, typed, verdict};
    use super::*;
    use crate::judge::Delivery;
    use crate::outcome::{Figure, Outcome};
    use crate::stats::Observation::Censored;
    use std::time::Duration;

    const fn published(peer: &'static str, cells: &'static str) -> Published {
        Published {
            by: "a paper",
            peer,
            cells,
            median: "509",
            mean: "-",
            deviation: "",
        }
    }

    fn runs(verdicts: Vec<RunVerdict>) -> PeerRuns {
        let outcomes = (0..).zip(verdicts).map(|(seed, verdict)| Outcome {
            verdict: Some(verdict),
            ..outcome("mosh", seed)
        });
        PeerRuns {
            peer: "mosh".to_owned(),
            outcomes: outcomes.collect(),
        }
    }

    #[test]
    fn each_time_stands_in_its_column_and_all_measures_under_their_peer() {
        let mut slow = verdict(&[100, 200, 300, 400]);
        slow.keys.iter_mut().for_each(|key| key.whole = None);
        slow.keys[0].first_output = Censored(Duration::from_secs(9));
        let table = waits(
            &setting(vec![runs(vec![slow])]),
            &[],
            &PeerStyles::default(),
        );
        let table = table.unwrap().html();
        let parts = [
            "<th>n <small>keys</small><th>censored <small>keys</small><th>median <small>ms",
            "<tr class=first><th scope=rowgroup rowspan=3>",
            "<th scope=row>own effect<td>4<td>0<td>250<td>250<td>129<td>400<td>400<td>0",
            "<tr><th scope=row>whole screen<td>0<td>0<td class=none>–",
            "<tr><th scope=row>first output<td>4<td>1<td>350<td class=none>–<td class=none>–",
        ];
        assert_in_order(&table, &parts);
    }

    #[test]
    fn published_times_stand_under_their_peer_where_the_cell_begins_so() {
        let setting = setting(vec![typed("ssh", &[&[5; 4]]), typed("mosh", &[&[5; 4]])]);
        let of = |published: &[Published]| {
            let table = waits(&setting, published, &PeerStyles::default());
            table.unwrap().html()
        };
        let table = of(&[published("ssh", "slo"), published("mosh", "fast")]);
        let row = "<tr class=published><th scope=row>first output, published: <cite>a paper</cite>\
                   <td><td><td>509<td class=none>–<td class=none>–<td><td><td>";
        let second = "<tr class=first><th scope=rowgroup rowspan=3>";
        let parts = ["rowspan=4>", "first output<td>4", row, second];
        assert_in_order(&table, &parts);
        assert_eq!(table.matches("published:").count(), 1);
        assert!(
            table.contains("<td>5.00<td>100.0"),
            "within 5 ms is at most 5: {table}"
        );
    }

    #[test]
    fn faults_are_summed_over_all_runs_and_the_longest_stall_is_the_longest() {
        let fault = |lost, stall| RunVerdict {
            delivery: Delivery {
                lost,
                doubled: 2,
                reordered: 3,
                unexpected: 4,
                ..Delivery::default()
            },
            longest_stall: Duration::from_secs(stall),
            ..verdict(&[1, 1, 1, 1])
        };
        let mut worse = fault(5, 9);
        worse.keys[2].wrong = 7;
        worse.screens_not_restored = 3;
        let runs = runs(vec![worse, fault(1, 2)]);
        let table = faults(&setting(vec![runs]), &PeerStyles::default());
        let table = table.unwrap().html();
        let row = "<td>2<td>8<td>12.5<td>3<td>6<td>4<td>6<td>8<td>9.00 s<td>";
        assert!(table.contains(row), "{table}");
    }

    #[test]
    fn what_is_odd_of_runs_is_noted() {
        let mut outcome = outcome("mosh", 1);
        let odd = RunVerdict {
            is_stamped: false,
            differences_at_end: 1,
            delivery: Delivery {
                under_way: 3,
                ..Delivery::default()
            },
            ..verdict(&[1])
        };
        outcome.verdict = Some(odd);
        let why = Figure::new(1.0, "the time was up");
        outcome.figures.insert("why_over".to_owned(), why);
        let runs = |outcomes| PeerRuns {
            peer: "mosh".to_owned(),
            outcomes,
        };
        assert_eq!(
            notes(&runs(vec![outcome.clone(), outcome])),
            "2 × the time was up, 2 without stamps, 2 ended on another screen, \
             6 keys under way at the end"
        );
        assert_eq!(notes(&typed("mosh", &[&[1]])), "");
    }

    #[test]
    fn the_share_of_wrong_keys_is_of_all_keys() {
        let mut some = verdict(&[1, 1, 1, 1]);
        some.keys[0].wrong = 1;
        assert_eq!(wrong(&[&some]), Some(0.25));
        assert_eq!(wrong(&[&some, &verdict(&[1; 4])]), Some(0.125));
        assert_eq!(wrong(&[]), None);
        assert_eq!(wrong(&[&verdict(&[])]), None);
    }
}
