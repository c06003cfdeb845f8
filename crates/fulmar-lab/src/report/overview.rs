//! All settings in which somebody typed, at a glance.

use std::fmt::Write as _;

use super::chart::{SpreadKind, SpreadRow, SpreadValue, spread_over};
use super::grouped::{CellRuns, ExperimentRuns, Measure, PeerRuns};
use super::number::{NONE, ms, or_none, percent, time};
use super::part::PageSection;
use super::peers::{PeerStyles, meaning};
use super::table::{Table, maybe, row, row_head};
use crate::markup::{Element, element, figure};

/// The section that stands first.
pub(super) fn part(subjects: &[ExperimentRuns], peers: &PeerStyles) -> Option<PageSection> {
    let settings: Vec<(&ExperimentRuns, &CellRuns)> = subjects
        .iter()
        .flat_map(|subject| subject.settings.iter().map(move |one| (subject, one)))
        .filter(|(_, setting)| !setting.typed().is_empty())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for runs in settings.iter().flat_map(|(_, setting)| setting.typed()) {
        if !names.contains(&runs.peer.as_str()) {
            names.push(&runs.peer);
        }
    }
    let mut inner = vec![element("p").text(ABOUT)];
    inner.push(legend(&names, peers));
    let measures = [Measure::Own, Measure::Whole];
    for measure in measures {
        inner.extend(chart(&settings, measure, &measures, peers));
    }
    inner.extend(table(&settings, &names));
    (!settings.is_empty()).then(|| PageSection::new("overview", "At a glance", inner))
}

const ABOUT: &str = "Medians over all runs of a setting. The own effect of a key is what a person looks for, and \
                     may be predicted; the whole screen needs the host's answer.";

/// The peers with their signs, and what each is.
fn legend(names: &[&str], peers: &PeerStyles) -> Element {
    let items = names.iter().map(|name| {
        let sign = element("li").with(peers.sign(name));
        match meaning(name) {
            Some(meaning) => sign.text(format!(" {meaning}")),
            None => sign,
        }
    });
    element("ul").class("legend").all(items)
}

fn chart(
    settings: &[(&ExperimentRuns, &CellRuns)],
    measure: Measure,
    compared: &[Measure],
    peers: &PeerStyles,
) -> Option<Element> {
    let runs = settings.iter().flat_map(|(_, setting)| setting.typed());
    let values = runs.flat_map(|runs| compared.iter().filter_map(|other| value(runs, *other)));
    let values = values.map(|value| value.value).collect();
    let rows = settings.iter().map(|(subject, setting)| SpreadRow {
        name: link(subject, setting),
        values: setting
            .typed()
            .into_iter()
            .filter_map(|runs| value(runs, measure))
            .collect(),
    });
    let chart = spread_over(rows.collect(), SpreadKind::Seconds, values, peers)?;
    let caption = format!(
        "Median time until the {} is right, logarithmic, on one scale for both drawings.",
        measure.name()
    );
    Some(figure(caption, chart))
}

/// Times below this are drawn at it: nobody can tell them from it.
const LEAST: f64 = 1e-4;

fn value(runs: &PeerRuns, measure: Measure) -> Option<SpreadValue> {
    let median = runs.summary(measure).median?.as_secs_f64();
    Some(SpreadValue {
        peer: runs.peer.clone(),
        value: median.max(LEAST),
        interval: None,
        words: format!("{} {}", runs.peer, time(median)),
    })
}

fn link(subject: &ExperimentRuns, setting: &CellRuns) -> Element {
    let target = format!("#{}--{}", subject.name, setting.name);
    element("a")
        .set("href", target)
        .text(setting.title.as_str())
}

fn table(settings: &[(&ExperimentRuns, &CellRuns)], names: &[&str]) -> Option<Element> {
    let caption = "Own effect of keys: median in ms, and share within 5 ms";
    let mut table = Table::new(caption).words(["setting"]);
    for name in names {
        table = table.numbers("ms", [name]).numbers("%", ["at once"]);
    }
    for (subject, setting) in settings {
        let mut cells = vec![row_head(link(subject, setting))];
        for name in names {
            let runs = setting.peers.iter().find(|runs| runs.peer == *name);
            let median = runs.and_then(|runs| runs.summary(Measure::Own).median);
            let at_once = runs.and_then(|runs| runs.at_once(Measure::Own));
            cells.extend([maybe(median, ms), maybe(at_once, percent)]);
        }
        table.row(row(cells));
    }
    table.element()
}

/// The peers that have columns; without prediction it is a row of its own.
const PEERS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// The ending of a name where nothing is predicted.
const BARE: &str = "-n";

/// Returns everybody who typed, as a table in Markdown: a row for each setting in which peers are compared; empty where nobody typed.
pub(super) fn markdown(subjects: &[ExperimentRuns]) -> String {
    let settings = subjects.iter().flat_map(|subject| &subject.settings);
    let compared = settings.filter(|setting| setting.typed().len() > 1);
    let rows: String = compared.map(markdown_rows).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("| median, ms; at once, % | ssh | mosh | fulmar |\n|---|---|---|---|\n{rows}")
}

/// The row of a setting, and another one without predictions where that was measured.
fn markdown_rows(setting: &CellRuns) -> String {
    let mut text = String::new();
    for (suffix, said) in [("", ""), (BARE, ", nothing predicted")] {
        let has_row = setting.typed().iter().any(|runs| match suffix {
            "" => PEERS.contains(&runs.peer.as_str()),
            _ => runs.peer.ends_with(BARE),
        });
        if has_row {
            let cells = PEERS.map(|peer| markdown_cell(setting, peer, suffix));
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {}{said} | {} |", setting.title, cells.join(" | "));
        }
    }
    text
}

fn markdown_cell(setting: &CellRuns, peer: &str, suffix: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, measured, subject, text, typed};
    use super::*;

    #[test]
    fn every_setting_in_which_somebody_typed_has_a_row_and_every_peer_its_columns() {
        let subjects = [
            subject(vec![
                typed("ssh", &[&[400; 4]]),
                typed("fulmar", &[&[2; 4]]),
            ]),
            subject(vec![typed("mosh", &[&[10, 20, 3, 4]])]),
            subject(vec![measured("ssh", ("rate", "B/s"), &[1.0])]),
        ];
        let part = part(&subjects, &PeerStyles::of(&subjects)).unwrap();
        let text = text(&part.inner);
        let parts = [
            "<ul class=legend>",
            "ssh</span> OpenSSH",
            "fulmar</span> our program",
            "mosh</span> stock Mosh",
            "</ul>",
            "Median time until the own effect is right",
            "<title>ssh 400 ms; fulmar 2.00 ms</title>",
            "<title>mosh 7.00 ms</title>",
            "Median time until the whole screen is right",
            "<th>ssh <small>ms</small><th>at once <small>%</small><th>fulmar",
            "A slow link</a><td>400<td>0<td>2.00<td>100.0<td class=none>–<td class=none>–",
            "A slow link</a><td class=none>–<td class=none>–<td class=none>–<td class=none>–<td>7.00<td>50.0",
        ];
        assert_in_order(&text, &parts);
        assert_eq!(text.matches("<tr><th scope=row>").count(), 2);
        assert!(text.contains("<a href=#typing--slow>A slow link</a>"));
        assert!(super::part(&subjects[2..], &PeerStyles::default()).is_none());
    }

    #[test]
    fn no_time_is_drawn_below_the_least() {
        let value = |wait| value(&typed("ssh", &[&[wait; 3]]), Measure::Own).unwrap();
        let (none, some) = (value(0), value(2));
        assert_eq!((none.value, none.words.as_str()), (LEAST, "ssh 0 ms"));
        assert_eq!((some.value, some.words.as_str()), (0.002, "ssh 2.00 ms"));
    }

    #[test]
    fn in_markdown_who_predicts_nothing_has_a_row_and_ssh_stands_in_both() {
        let setting = subject(vec![
            typed("ssh", &[&[400; 4]]),
            typed("mosh", &[&[3, 3, 3, 900]]),
            typed("mosh-n", &[&[450; 4]]),
        ]);
        assert_eq!(
            markdown(&[setting]),
            "| median, ms; at once, % | ssh | mosh | fulmar |\n|---|---|---|---|\n\
             | A slow link | 400; 0 | 3.00; 75.0 | – |\n\
             | A slow link, nothing predicted | 400; 0 | 450; 0 | – |\n"
        );
        let alone = subject(vec![typed("ssh", &[&[400; 4]])]);
        assert_eq!(markdown(&[alone]), "");
        let others = subject(vec![typed("a", &[&[1; 4]]), typed("b-n", &[&[1; 4]])]);
        let rows = markdown(&[others]);
        assert!(
            rows.ends_with("|\n| A slow link, nothing predicted | – | – | – |\n"),
            "{rows}"
        );
        assert_eq!(rows.lines().count(), 3);
    }
}
