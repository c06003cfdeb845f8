//! Single figures of runs, whatever they are, as a table.

use std::collections::{BTreeMap, BTreeSet};

use fulmar_testbed::median;

use super::grouped::{CellRuns, ExperimentRuns, FigureValues, PeerRuns};
use super::number::{NONE, Unit};
use super::peers::PeerStyles;
use super::table::{self, Table, head, maybe, number, row, row_head, words};
use crate::experiment::Quoted;
use crate::markup::{Element, element};

/// Figures that are no measure of a peer: how a sitting ended is told with its faults.
const UNSHOWN: &[&str] = &["given_up", "is_settled", "why_over"];

/// Returns what a figure is called.
pub(super) fn called(name: &str) -> String {
    match name {
        "client_cpu" => "client, processor".to_owned(),
        "client_memory" => "client, memory".to_owned(),
        "server_cpu" => "server, processor".to_owned(),
        "server_memory" => "server, memory".to_owned(),
        "to_prompt" => "time to prompt".to_owned(),
        own => own.replace('_', " "),
    }
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

/// The figures of some settings: the median over the runs of a peer, and their range. What there is more of has rows,
/// figures or peers, so that the table is as narrow as it can be.
pub(super) fn figures(
    caption: &str,
    settings: &[&CellRuns],
    peers: &PeerStyles,
) -> Option<Element> {
    let units = units(settings);
    let names = peer_names(settings);
    if units.len() > names.len() {
        return by_figure(caption, settings, &units, &names, peers);
    }
    let mut table = Table::new(caption);
    let names_settings = settings.len() > 1;
    if names_settings {
        table = table.words(["setting"]);
    }
    table = table.words(["peer"]).numbers("", ["runs"]);
    for (name, unit) in &units {
        table = table.numbers(&unit.name, [&called(name)]);
    }
    for setting in settings {
        let rows = setting.peers.iter();
        let rows: Vec<Element> = rows
            .filter_map(|runs| of_peer(runs, &units, peers))
            .collect();
        if names_settings {
            table.rows_of([element("span").text(setting.title.as_str())], rows);
        } else {
            rows.into_iter().for_each(|row| table.row(row));
        }
    }
    (!units.is_empty()).then(|| table.element()).flatten()
}

/// Returns the peers that have figures in any of the settings.
fn peer_names<'a>(settings: &[&'a CellRuns]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for runs in settings.iter().flat_map(|setting| &setting.peers) {
        if runs.complete().next().is_some() && !names.contains(&runs.peer.as_str()) {
            names.push(&runs.peer);
        }
    }
    names
}

/// The same with a row for each figure and a column for each peer.
fn by_figure(
    caption: &str,
    settings: &[&CellRuns],
    units: &BTreeMap<&str, Unit>,
    names: &[&str],
    peers: &PeerStyles,
) -> Option<Element> {
    let mut table = Table::new(caption);
    let names_settings = settings.len() > 1;
    if names_settings {
        table = table.words(["setting"]);
    }
    let signs = names.iter().map(|name| peers.sign(name));
    table = table.words(["figure"]).columns(signs);
    for setting in settings {
        let known: Names<'_> = shown(setting).collect();
        let units = units.iter();
        let units = units.filter(|(name, _)| known.iter().any(|(known, _)| known == *name));
        let of_peers = |show: &dyn Fn(&PeerRuns) -> Element| {
            let found = names.iter().map(|name| {
                let runs = setting.peers.iter().find(|runs| runs.peer == *name);
                runs.filter(|runs| runs.complete().next().is_some())
            });
            let cells = found.map(|runs| runs.map_or_else(|| number(NONE), show));
            cells.collect::<Vec<Element>>()
        };
        let count = of_peers(&|runs| number(runs.complete().count().to_string()));
        let mut rows = vec![row([head("runs")].into_iter().chain(count))];
        rows.extend(units.map(|(name, unit)| {
            let cells = of_peers(&|runs| cell(&runs.figure(name), unit));
            let head = table::head_of(&called(name), &unit.name);
            row([head].into_iter().chain(cells))
        }));
        if names_settings {
            table.rows_of([element("span").text(setting.title.as_str())], rows);
        } else {
            rows.into_iter().for_each(|row| table.row(row));
        }
    }
    (!names.is_empty()).then(|| table.element()).flatten()
}

fn of_peer(runs: &PeerRuns, units: &BTreeMap<&str, Unit>, peers: &PeerStyles) -> Option<Element> {
    let count = runs.complete().count();
    let figures = units.iter();
    let figures = figures.map(|(name, unit)| cell(&runs.figure(name), unit));
    let heads = [row_head(peers.sign(&runs.peer)), number(count.to_string())];
    (count > 0).then(|| row(heads.into_iter().chain(figures)))
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
fn cell(values: &[f64], unit: &Unit) -> Element {
    let median = median(values.iter().copied());
    ranged(maybe(median, |median| unit.show(median)), values, unit)
}

/// Adds to a cell from where to where values reach, if they differ as they are shown.
fn ranged(cell: Element, values: &[f64], unit: &Unit) -> Element {
    let ends = [f64::min, f64::max].map(|end| values.iter().copied().reduce(end));
    match ends.map(|end| end.map(|end| unit.show(end))) {
        [Some(low), Some(high)] if low != high => table::ranged(cell, &low, &high),
        _ => cell,
    }
}

/// Returns the published figures that are no times of keys, beside what was measured; `None` where nothing such was published.
pub(super) fn quoted(subject: &ExperimentRuns) -> Option<Element> {
    let caption = format!("Published beside measured: {}", subject.title);
    let mut table = Table::new(caption)
        .words(["published by", "what"])
        .numbers("", ["published"])
        .words(["measured with"])
        .numbers("median, range", ["measured"])
        .numbers("", ["runs"]);
    for quoted in subject.experiment.quoted {
        let (measured, runs) = measured(subject, quoted);
        table.row(row([
            head(quoted.by),
            words(quoted.what).class("wide"),
            number(quoted.said),
            words(format!("{}, {}", quoted.peer, quoted.cells)),
            measured,
            number(runs.to_string()),
        ]));
    }
    table.element()
}

/// Returns what was measured, and how often.
fn measured(subject: &ExperimentRuns, quoted: &Quoted) -> (Element, usize) {
    let runs = subject.runs(quoted.cells, quoted.peer);
    let Some(figure) = FigureValues::of(&runs, quoted.figure) else {
        return (number(NONE), 0);
    };
    let FigureValues {
        values,
        median,
        unit,
    } = figure;
    let cell = number(format!("{} {}", unit.show(median), unit.name));
    (ranged(cell, &values, &unit), values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_shown_where_runs_differ() {
        let unit = Unit::for_numbers("packets", 10.0);
        let shown = |values: &[f64]| cell(values, &unit).to_string();
        assert_eq!(shown(&[7.0, 7.0]), "<td>7</td>");
        assert_eq!(shown(&[9.0, 7.0, 8.0]), "<td>8 <small>7–9</small></td>");
        assert_eq!(shown(&[]), "<td class=\"none\">–</td>");
    }

    #[test]
    fn names_are_words() {
        assert_eq!(called("client_cpu"), "client, processor");
        assert_eq!(called("frames_sent"), "frames sent");
    }

    use super::super::tests::fixture::{assert_in_order, measured, subject, text};
    use crate::experiment::Experiment;
    use crate::report::grouped::UNKNOWN;

    #[test]
    fn more_figures_than_peers_are_rows() {
        let mut ssh = measured("ssh", ("bytes_up", "B"), &[2e3, 3e3, 4e3]);
        for outcome in &mut ssh.outcomes {
            let packets = crate::outcome::Figure::new(7.0, "packets");
            outcome.figures.insert("packets_up".to_owned(), packets);
            let time = crate::outcome::Figure::new(20.0, "ms");
            outcome.figures.insert("client_cpu".to_owned(), time);
        }
        let mosh = measured("mosh", ("bytes_up", "B"), &[5e3]);
        let settings = subject(vec![ssh, mosh]).settings;
        let table = figures("Costs", &[&settings[0]], &PeerStyles::default());
        let parts = [
            "<th class=words>figure<th><span class=peer>",
            "ssh</span><th><span class=peer>",
            "mosh</span>",
            "<th scope=row>runs<td>3<td>1",
            "<th scope=row>bytes up <small>kB</small><td>3.00 <small>2.00–4.00</small><td>5.00",
            "<th scope=row>client, processor <small>ms</small><td>20.0<td class=none>–",
        ];
        assert_in_order(&table.unwrap().html(), &parts);
    }

    #[test]
    fn settings_with_the_same_figures_share_a_table_under_the_experiments_title() {
        let setting = |title: &str, name: &str, value: f64| CellRuns {
            title: title.to_owned(),
            ..subject(vec![measured("ssh", (name, "B"), &[value])])
                .settings
                .remove(0)
        };
        let settings = [
            setting("first", "bytes_up", 2e3),
            setting("odd", "bytes_down", 5.0),
            setting("second", "bytes_up", 3e6),
        ];
        let settings: Vec<&CellRuns> = settings.iter().collect();
        let tables = tables("All of it", &settings, &PeerStyles::default());
        assert_eq!(tables.len(), 2);
        let parts = [
            "<caption>All of it</caption>",
            "<th class=words>setting<th class=words>peer<th>runs<th>bytes up <small>MB</small>",
            "<span>first</span>",
            "<td>1<td>0.002",
            "<span>second</span>",
            "<td>1<td>3.00",
            "<caption>odd</caption><thead><tr><th class=words>peer<th>runs<th>bytes down",
        ];
        assert_in_order(&text(&tables), &parts);
    }

    #[test]
    fn who_has_no_complete_run_has_no_row_and_how_a_sitting_ended_no_column() {
        let mut runs = measured("ssh", ("why_over", "the time was up"), &[1.0]);
        let peers = PeerStyles::default();
        assert!(figures("x", &[&subject(vec![runs]).settings[0]], &peers).is_none());
        runs = measured("ssh", ("to_prompt", "ms"), &[20.0, 40.0, 30.0]);
        let mut failed = measured("mosh", ("to_prompt", "ms"), &[1.0]);
        failed.outcomes[0].end = crate::outcome::RunEnd::Failed("no answer".to_owned());
        let subject = subject(vec![runs, failed]);
        let table = figures("x", &[&subject.settings[0]], &peers)
            .unwrap()
            .html();
        assert!(
            table.contains("ssh</span><td>3<td>30.0 <small>20.0–40.0</small>"),
            "{table}"
        );
        assert!(!table.contains("mosh"), "{table}");
    }

    #[test]
    fn a_published_figure_stands_beside_the_median_of_its_peer_in_its_cells() {
        const fn quoted_of(cells: &'static str, peer: &'static str) -> Quoted {
            Quoted {
                by: "a paper",
                what: "bytes",
                said: "60 kB",
                cells,
                peer,
                figure: "bytes_up",
            }
        }
        static QUOTED: [Quoted; 3] = [
            quoted_of("sl", "ssh"),
            quoted_of("fast", "ssh"),
            quoted_of("", "mosh"),
        ];
        static EXPERIMENT: Experiment = Experiment {
            quoted: &QUOTED,
            ..UNKNOWN
        };
        let mut subject = subject(vec![
            measured("ssh", ("bytes_up", "B"), &[5e4, 7e4, 6e4]),
            measured("mosh", ("bytes_up", "B"), &[400.0]),
        ]);
        assert!(quoted(&subject).is_none());
        subject.experiment = &EXPERIMENT;
        let parts = [
            "<caption>Published beside measured: Typing</caption>",
            "<th scope=row>a paper<td class=\"words wide\">bytes<td>60 kB<td class=words>ssh, sl\
             <td>60.0 kB <small>50.0–70.0</small><td>3",
            "<td class=words>ssh, fast<td class=none>–<td>0",
            "<td class=words>mosh, <td>400 B<td>1",
        ];
        assert_in_order(&quoted(&subject).unwrap().html(), &parts);
    }
}
