//! Single figures of runs, whatever they are, as a table.

use std::collections::{BTreeMap, BTreeSet};

use fulmar_testbed::median;

use super::grouped::{CellRuns, PeerRuns};
use super::markup::{Element, element};
use super::number::{NONE, Unit};
use super::peers::PeerStyles;
use super::table::{Table, number, row_head};

/// The names of figures that many runs have; others go by their own.
const NAMES: &[(&str, &str)] = &[
    ("acks_on_data", "acks on data"),
    ("bytes_down", "bytes down"),
    ("bytes_up", "bytes up"),
    ("client_cpu", "client, processor"),
    ("client_memory", "client, memory"),
    ("lost_down", "lost down"),
    ("lost_up", "lost up"),
    ("packets_down", "packets down"),
    ("packets_up", "packets up"),
    ("server_cpu", "server, processor"),
    ("server_memory", "server, memory"),
    ("to_prompt", "time to prompt"),
];

/// Figures that are no measure of a peer: how a sitting ended is told with its faults.
const UNSHOWN: &[&str] = &["given_up", "is_settled", "why_over"];

/// Returns what a figure is called.
pub(super) fn called(name: &str) -> String {
    let known = NAMES.iter().find(|(own, _)| *own == name);
    known.map_or_else(
        || name.replace('_', " "),
        |(_, called)| (*called).to_owned(),
    )
}

/// Names of figures, with their units.
type Names<'a> = BTreeSet<(&'a str, &'a str)>;

/// The figures of settings: a table for those that have the same ones.
pub(super) fn tables(title: &str, settings: &[&CellRuns], peers: &PeerStyles) -> Vec<Element> {
    let mut alike: Vec<(Names<'_>, Vec<&CellRuns>)> = Vec::new();
    for setting in settings {
        let names: Names<'_> = shown(setting).collect();
        match alike.iter_mut().find(|(known, _)| *known == names) {
            Some((_, settings)) => settings.push(setting),
            None => alike.push((names, vec![setting])),
        }
    }
    let tables = alike.iter().filter_map(|(_, settings)| {
        let caption = match settings.as_slice() {
            [setting] => setting.title.as_str(),
            _ => title,
        };
        figures(caption, settings, peers)
    });
    tables.collect()
}

/// The figures of some settings: the median over the runs of a peer, and their range.
pub(super) fn figures(
    caption: &str,
    settings: &[&CellRuns],
    peers: &PeerStyles,
) -> Option<Element> {
    let units = units(settings);
    let mut table = Table::new(caption);
    let names_settings = settings.len() > 1;
    if names_settings {
        table = table.words("setting");
    }
    table = table.words("peer").numbers("runs", "");
    for (name, unit) in &units {
        table = table.numbers(&called(name), &unit.name);
    }
    for setting in settings {
        let rows: Vec<Vec<Element>> = setting
            .peers
            .iter()
            .filter_map(|runs| row(runs, &units, peers))
            .collect();
        if names_settings {
            table.rows_of(element("span").text(setting.title.as_str()), rows);
        } else {
            rows.into_iter().for_each(|row| table.row(row));
        }
    }
    (!units.is_empty()).then(|| table.element()).flatten()
}

fn row(runs: &PeerRuns, units: &BTreeMap<&str, Unit>, peers: &PeerStyles) -> Option<Vec<Element>> {
    let count = runs.complete().count();
    let sign = row_head(peers.sign(&runs.peer));
    let mut cells = vec![sign, number(count.to_string())];
    cells.extend(
        units
            .iter()
            .map(|(name, unit)| cell(runs.figure(name), unit)),
    );
    (count > 0).then_some(cells)
}

/// Returns the figures of a setting that are shown, with the units they were noted in.
fn shown(setting: &CellRuns) -> impl Iterator<Item = (&str, &str)> {
    let figures = setting.figures().into_iter();
    figures.filter(|(name, _)| !UNSHOWN.contains(name))
}

/// Returns the unit of each figure that any of the settings has.
fn units<'a>(settings: &[&'a CellRuns]) -> BTreeMap<&'a str, Unit> {
    let mut noted: BTreeMap<&str, (&str, f64)> = BTreeMap::new();
    for setting in settings {
        for (name, unit) in shown(setting) {
            let values = setting.peers.iter().map(|runs| median(runs.figure(name)));
            let most = values.flatten().map(f64::abs).fold(0.0, f64::max);
            let entry = noted.entry(name).or_insert((unit, 0.0));
            entry.1 = entry.1.max(most);
        }
    }
    noted
        .into_iter()
        .map(|(name, (unit, most))| (name, Unit::for_numbers(unit, most)))
        .collect()
}

/// The median of some runs, and from where to where they reach.
fn cell(mut values: Vec<f64>, unit: &Unit) -> Element {
    values.sort_by(f64::total_cmp);
    let (Some(median), Some(low), Some(high)) = (
        median(values.iter().copied()),
        values.first(),
        values.last(),
    ) else {
        return number(NONE);
    };
    let (low, high) = (unit.show(*low), unit.show(*high));
    let cell = number(unit.show(median));
    if low == high {
        return cell;
    }
    cell.text(" ")
        .with(element("small").text(format!("{low}–{high}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_shown_where_runs_differ() {
        let unit = Unit::for_numbers("packets", 10.0);
        let shown = |values: &[f64]| cell(values.to_vec(), &unit).to_string();
        assert_eq!(shown(&[7.0, 7.0]), "<td>7</td>");
        assert_eq!(shown(&[9.0, 7.0, 8.0]), "<td>8 <small>7–9</small></td>");
        assert_eq!(shown(&[]), "<td class=\"none\">–</td>");
    }

    #[test]
    fn names_are_words() {
        assert_eq!(called("client_cpu"), "client, processor");
        assert_eq!(called("frames_sent"), "frames sent");
    }
}
