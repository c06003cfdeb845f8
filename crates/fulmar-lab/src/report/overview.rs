//! All settings in which somebody typed, at a glance; and where ours is not the best.

use std::time::Duration;

use super::chart::{Kind, Row, Value, spread};
use super::grouped::{Measure, Runs, Setting, Subject};
use super::markup::{Element, element};
use super::number::{NONE, Unit, maybe_ms, percent, rounded, time, whole};
use super::page::Part;
use super::peers::Peers;
use super::scalar;
use super::table::{Table, group_head, head, number, words};
use super::typed;
use crate::stats::Summary;

/// The section that stands first.
pub(super) fn part(subjects: &[Subject], peers: &Peers) -> Option<Part> {
    let settings: Vec<(&Subject, &Setting)> = subjects
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
    for measure in [Measure::Own, Measure::Whole] {
        inner.extend(chart(&settings, measure, peers));
    }
    inner.extend(table(&settings, &names));
    (!settings.is_empty()).then(|| Part {
        id: "overview".to_owned(),
        title: "At a glance".to_owned(),
        inner,
    })
}

const ABOUT: &str = "Medians over all runs of a setting. The own effect of a key is what a person looks for, and \
                     may be predicted; the whole screen needs the host's answer.";

fn legend(names: &[&str], peers: &Peers) -> Element {
    element("p")
        .class("legend")
        .all(names.iter().map(|name| peers.sign(name)))
}

fn chart(settings: &[(&Subject, &Setting)], measure: Measure, peers: &Peers) -> Option<Element> {
    let rows = settings.iter().map(|(subject, setting)| Row {
        name: link(subject, setting),
        values: setting
            .typed()
            .into_iter()
            .filter_map(|runs| value(runs, measure))
            .collect(),
    });
    let chart = spread(rows.collect(), Kind::Seconds, peers)?;
    let caption = format!(
        "Median time until the {} is right, logarithmic.",
        measure.name()
    );
    let caption = element("figcaption").text(caption);
    Some(element("figure").with(caption).with(chart))
}

/// Times below this are drawn at it: nobody can tell them from it.
const LEAST: f64 = 1e-4;

fn value(runs: &Runs, measure: Measure) -> Option<Value> {
    let median = runs.summary(measure).median?.as_secs_f64();
    Some(Value {
        peer: runs.peer.clone(),
        value: median.max(LEAST),
        interval: None,
        words: format!("{} {}", runs.peer, time(median)),
    })
}

fn link(subject: &Subject, setting: &Setting) -> Element {
    let target = format!("#{}--{}", subject.name, setting.name);
    element("a")
        .set("href", target)
        .text(setting.title.as_str())
}

fn table(settings: &[(&Subject, &Setting)], names: &[&str]) -> Option<Element> {
    let caption = "Own effect of keys: median in ms, and share within 5 ms";
    let mut table = Table::new(caption).words("setting");
    for name in names {
        table = table.numbers(name, "ms").numbers("at once", "%");
    }
    for (subject, setting) in settings {
        let mut cells = vec![
            element("th")
                .set("scope", "row")
                .with(link(subject, setting)),
        ];
        for name in names {
            let runs = setting.peers.iter().find(|runs| runs.peer == *name);
            let median = runs.and_then(|runs| runs.summary(Measure::Own).median);
            let at_once = runs.and_then(|runs| runs.at_once(Measure::Own));
            cells.push(number(maybe_ms(median)));
            cells.push(number(at_once.map_or(NONE.to_owned(), percent)));
        }
        table.row(cells);
    }
    table.element()
}

/// What we are compared with, and by which name we go.
const OURS: &str = "fulmar";
const OTHERS: [&str; 2] = ["ssh", "mosh"];

/// How a figure is taken from runs, where they have it.
type Taken = Box<dyn Fn(&Runs) -> Option<f64>>;
/// How a figure is written, with its unit.
type Shown = fn(f64) -> String;

/// A figure of which less is better.
struct Figure {
    name: String,
    of: Taken,
    show: Shown,
}

/// Names of single figures of which less is better, and how they are shown.
const LESS_IS_BETTER: &[(&str, Shown)] = &[
    ("all_lines", millis),
    ("all_lines_worst", millis),
    ("bytes_down", bytes),
    ("bytes_up", bytes),
    ("client_cpu", time),
    ("client_memory", bytes),
    ("first_line", millis),
    ("lost_down", whole),
    ("packets_down", whole),
    ("packets_up", whole),
    ("server_cpu", time),
    ("server_memory", bytes),
    ("to_prompt", millis),
];

/// A time of a summary.
type Quantile = fn(&Summary) -> Option<Duration>;

/// The times that are compared.
const QUANTILES: [(&str, Quantile); 3] = [
    ("median", |summary| summary.median),
    ("mean", |summary| summary.mean),
    ("p99", |summary| summary.p99),
];

fn bytes(value: f64) -> String {
    let unit = Unit::for_numbers("B", value);
    format!("{} {}", unit.show(value), unit.name)
}

fn millis(value: f64) -> String {
    time(value / 1e3)
}

fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for measure in Measure::ALL {
        for (name, of) in QUANTILES {
            figures.push(Figure {
                name: format!("{}, {name}", measure.name()),
                of: Box::new(move |runs| Some(of(&runs.summary(measure))?.as_secs_f64())),
                show: time,
            });
        }
    }
    figures.push(Figure {
        name: "keys with wrong cells, %".to_owned(),
        of: Box::new(|runs| typed::wrong(&runs.verdicts())),
        show: percent,
    });
    figures.extend(LESS_IS_BETTER.iter().map(|(name, show)| Figure {
        name: scalar::called(name),
        of: Box::new(move |runs| scalar::median(&runs.figure(name))),
        show: *show,
    }));
    figures
}

/// Less than this much more is not listed: a twentieth.
const WORSE_BY: f64 = 1.05;

/// Every figure by which another is better than ours.
pub(super) fn not_best(subjects: &[Subject]) -> Option<Part> {
    let mut table = Table::new("Where fulmar is not the best of ssh, mosh and fulmar")
        .words("setting")
        .words("figure")
        .numbers("fulmar", "")
        .words("best")
        .numbers("its figure", "")
        .numbers("ratio", "");
    let mut is_compared = false;
    for setting in subjects.iter().flat_map(|subject| &subject.settings) {
        let find = |name: &str| setting.peers.iter().find(|runs| runs.peer == name);
        let Some(ours) = find(OURS) else {
            continue;
        };
        let others: Vec<&Runs> = OTHERS.iter().filter_map(|name| find(name)).collect();
        let mut rows: Vec<Vec<Element>> = Vec::new();
        for figure in figures() {
            let Some((own, peer, best)) = best(&figure, ours, &others) else {
                continue;
            };
            is_compared = true;
            if own > best * WORSE_BY {
                rows.push(vec![
                    head(figure.name.as_str()),
                    number((figure.show)(own)),
                    words(peer),
                    number((figure.show)(best)),
                    number(rounded(own / best)),
                ]);
            }
        }
        add_group(&mut table, &setting.title, rows);
    }
    let inner = match table.element() {
        Some(table) => vec![element("p").text(NOT_BEST), table],
        None => vec![element("p").text("By no figure that was compared.")],
    };
    is_compared.then(|| Part {
        id: "not-best".to_owned(),
        title: "Where Fulmar is not the best".to_owned(),
        inner,
    })
}

/// Returns our figure, and whose is the best of the others, if both have one.
fn best<'a>(figure: &Figure, ours: &Runs, others: &[&'a Runs]) -> Option<(f64, &'a str, f64)> {
    let others = others.iter();
    let others = others.filter_map(|runs| Some((runs.peer.as_str(), (figure.of)(runs)?)));
    let (peer, best) = others.min_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(((figure.of)(ours)?, peer, best))
}

/// Adds rows under one name.
fn add_group(table: &mut Table, name: &str, rows: Vec<Vec<Element>>) {
    table.group();
    let count = rows.len();
    for (place, mut row) in rows.into_iter().enumerate() {
        if place == 0 {
            row.insert(0, group_head(element("span").text(name), count));
        }
        table.row(row);
    }
}

const NOT_BEST: &str = "Every figure of which less is better, and by which ssh or mosh is at least a twentieth \
                        below fulmar. What is chance and what is not, the intervals of the ratios say.";
