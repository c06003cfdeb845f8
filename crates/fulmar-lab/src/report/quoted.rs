//! Published figures that are no times of keys, beside what was measured.

use fulmar_testbed::median;

use super::grouped::ExperimentRuns;
use super::markup::{Element, element};
use super::number::{NONE, Unit};
use super::table::{Table, head, number, words};
use crate::experiment::Quoted;

/// Returns the table of an experiment; `None` where nothing such was published.
pub(super) fn table(subject: &ExperimentRuns) -> Option<Element> {
    let caption = format!("Published beside measured: {}", subject.title);
    let mut table = Table::new(caption)
        .words("published by")
        .words("what")
        .numbers("published", "")
        .words("measured with")
        .numbers("measured", "median, range")
        .numbers("runs", "");
    for quoted in subject.experiment.quoted {
        let (measured, runs) = measured(subject, quoted);
        table.row(vec![
            head(quoted.by),
            words(quoted.what).class("wide"),
            number(quoted.said),
            words(format!("{}, {}", quoted.peer, quoted.cells)),
            measured,
            number(runs.to_string()),
        ]);
    }
    table.element()
}

/// Returns what was measured, and how often.
fn measured(subject: &ExperimentRuns, quoted: &Quoted) -> (Element, usize) {
    let runs = subject.runs(quoted.cells, quoted.peer);
    let values: Vec<f64> = runs
        .iter()
        .flat_map(|runs| runs.figure(quoted.figure))
        .collect();
    let outcomes = runs.iter().flat_map(|runs| runs.complete());
    let mut noted = outcomes.filter_map(|outcome| outcome.figures.get(quoted.figure));
    let (Some(noted), Some(median)) = (noted.next(), median(values.iter().copied())) else {
        return (number(NONE), 0);
    };
    let unit = Unit::for_numbers(&noted.unit, median);
    let (low, high) = values.iter().fold((median, median), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    let cell = number(format!("{} {}", unit.show(median), unit.name));
    let (low, high) = (unit.show(low), unit.show(high));
    let cell = if low == high {
        cell
    } else {
        cell.text(" ")
            .with(element("small").text(format!("{low}–{high}")))
    };
    (cell, values.len())
}
