//! Published figures that are no times of keys, beside what was measured.

use super::grouped::{ExperimentRuns, FigureValues};
use super::markup::Element;
use super::number::NONE;
use super::scalar::ranged;
use super::table::{Table, head, number, row, words};
use crate::experiment::Quoted;

/// Returns the table of an experiment; `None` where nothing such was published.
pub(super) fn table(subject: &ExperimentRuns) -> Option<Element> {
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
