//! Lists where ours is not the best, by more than chance.

use super::grouped::{CellRuns, ExperimentRuns, Measure, PeerRuns};
use super::number::{Unit, percent, rounded, time, whole};
use super::part::PageSection;
use super::ratios;
use super::scalar;
use super::table::{Table, head, number, row, words};
use super::typed;
use crate::markup::{Element, element, folded};
use crate::stats::{Statistic, mean, median, p99};

/// The names that we go by, and those that each is compared with: predicting with predicting, and not with not.
const COMPARED: [(&str, [&str; 2]); 2] =
    [("fulmar", ["ssh", "mosh"]), ("fulmar-n", ["ssh", "mosh-n"])];

/// A function that writes a figure with its unit.
type Shown = fn(f64) -> String;

/// A figure of which less is better.
struct ComparedFigure {
    name: String,
    source: FigureSource,
    show: Shown,
}

/// The origin of a figure.
enum FigureSource {
    /// The waits of keys.
    Waits(Measure, Statistic),
    /// A single figure of each run, by its name.
    Named(&'static str),
    /// Another value of each run.
    Values(fn(&PeerRuns) -> Vec<f64>),
}

/// The name of the section, for links to it.
pub(super) const ID: &str = "not-best";

/// Names of single figures of which less is better, and how they are shown.
const LESS_IS_BETTER: &[(&str, Shown)] = &[
    ("all_lines", millis),
    ("all_lines_worst", millis),
    ("bytes_down", bytes),
    ("bytes_down_a_minute", bytes),
    ("bytes_up", bytes),
    ("bytes_up_a_minute", bytes),
    ("client_cpu", time),
    ("client_cpu_an_hour", time),
    ("client_memory", bytes),
    ("first_line", millis),
    ("interrupt_to_answer", millis),
    ("interrupt_to_prompt", millis),
    ("lost_down", whole),
    ("packets_down", whole),
    ("packets_up", whole),
    ("server_cpu", time),
    ("server_cpu_an_hour", time),
    ("server_memory", bytes),
    ("to_arrive", millis),
    ("to_catch_up", millis),
    ("to_prompt", millis),
    ("to_prompt_100ms", millis),
    ("to_prompt_20ms", millis),
    ("to_prompt_300ms", millis),
];

/// The times that are compared.
const QUANTILES: [(&str, Statistic); 3] = [("median", median), ("mean", mean), ("p99", p99)];

fn bytes(value: f64) -> String {
    let unit = Unit::for_numbers("B", value);
    format!("{} {}", unit.show(value), unit.name)
}

fn millis(value: f64) -> String {
    time(value / 1e3)
}

/// A rate, of which more is better, is kept as the time that a byte takes.
fn rate(value: f64) -> String {
    format!("{}/s", bytes(1.0 / value))
}

/// The share of keys in each run because of which something was wrong.
fn wrong(runs: &PeerRuns) -> Vec<f64> {
    let verdicts = runs.verdicts().into_iter();
    verdicts.filter_map(|one| typed::wrong(&[one])).collect()
}

fn seconds_a_byte(runs: &PeerRuns) -> Vec<f64> {
    runs.figure("rate").iter().map(|one| 1.0 / one).collect()
}

fn figures() -> Vec<ComparedFigure> {
    let figure = |name: String, source, show| ComparedFigure { name, source, show };
    let waits = Measure::ALL.into_iter().flat_map(|measure| {
        QUANTILES.map(|(name, statistic)| {
            let name = format!("{}, {name}", measure.name());
            figure(name, FigureSource::Waits(measure, statistic), time)
        })
    });
    let (wrong, rates) = (
        FigureSource::Values(wrong),
        FigureSource::Values(seconds_a_byte),
    );
    let values = [
        figure("keys with wrong cells, %".to_owned(), wrong, percent),
        figure("rate".to_owned(), rates, rate),
    ];
    let named = LESS_IS_BETTER
        .iter()
        .map(|(name, show)| figure(scalar::called(name), FigureSource::Named(name), *show));
    waits.chain(values).chain(named).collect()
}

impl ComparedFigure {
    fn of(&self, runs: &PeerRuns) -> Option<f64> {
        match self.source {
            FigureSource::Waits(measure, statistic) => statistic(&runs.waits(measure).concat()),
            _ => fulmar_testbed::median(self.values(runs)),
        }
    }

    /// Returns the values of runs, each of which has one.
    fn values(&self, runs: &PeerRuns) -> Vec<f64> {
        match self.source {
            FigureSource::Waits(..) => Vec::new(),
            FigureSource::Named(name) => runs.figure(name),
            FigureSource::Values(values) => values(runs),
        }
    }

    /// Returns the bounds of the ratio of two peers. Of keys, 90 % of the draws; of single values, that of
    /// the nearest ones to that of the farthest ones, where there are at least three of each: three that are
    /// all above three others are so by chance in one case of twenty.
    fn between(&self, ours: &PeerRuns, other: &PeerRuns) -> Option<(f64, f64)> {
        match self.source {
            FigureSource::Waits(measure, statistic) => {
                let found = ratios::drawn(&ours.waits(measure), &other.waits(measure), statistic)?;
                Some((found.low, found.high))
            }
            _ => spread(&self.values(ours), &self.values(other)),
        }
    }
}

/// So many runs are needed to tell a difference from chance.
const RUNS_MIN: usize = 3;

fn spread(ours: &[f64], others: &[f64]) -> Option<(f64, f64)> {
    let least = |all: &[f64]| all.iter().copied().reduce(f64::min);
    let most = |all: &[f64]| all.iter().copied().reduce(f64::max);
    let low = least(ours)? / most(others)?;
    let high = most(ours)? / least(others)?;
    (ours.len() >= RUNS_MIN && others.len() >= RUNS_MIN).then_some((low, high))
}

/// Less than this much more is not listed: a twentieth.
const WORSE_BY: f64 = 1.05;

/// A figure by which another is better.
struct WorseFigure<'a> {
    figure: &'a ComparedFigure,
    own: f64,
    peer: &'a str,
    best: f64,
    between: Option<(f64, f64)>,
}

impl WorseFigure<'_> {
    /// Returns whether that is more than chance.
    fn is_sure(&self) -> bool {
        self.between.is_some_and(|(low, _)| low > 1.0)
    }

    fn row(&self, ours: &str) -> Element {
        let show = self.figure.show;
        let between = self
            .between
            .map_or("no interval".to_owned(), |(low, high)| {
                format!("{} to {}", rounded(low), rounded(high))
            });
        row([
            head(self.figure.name.as_str()),
            words(ours),
            number(show(self.own)),
            words(self.peer),
            number(show(self.best)),
            number(rounded(self.own / self.best)),
            number(between),
        ])
    }
}

/// Every figure by which another is better than ours.
pub(super) fn part(subjects: &[ExperimentRuns]) -> Option<PageSection> {
    let figures = figures();
    let mut tables = [table("Behind"), table("No difference shown")];
    let mut is_compared = false;
    for setting in subjects.iter().flat_map(|subject| &subject.settings) {
        let mut rows = [Vec::new(), Vec::new()];
        for (ours, others) in COMPARED {
            let Some((ours, others)) = present(setting, ours, others) else {
                continue;
            };
            is_compared = true;
            let behind = figures
                .iter()
                .filter_map(|figure| behind(figure, ours, &others));
            for behind in behind {
                rows[usize::from(!behind.is_sure())].push(behind.row(&ours.peer));
            }
        }
        for (table, rows) in tables.iter_mut().zip(rows) {
            table.rows_of([element("span").text(setting.title.as_str())], rows);
        }
    }
    let [behind, unsure] = tables.map(Table::element);
    let mut inner = vec![element("p").text(NOT_BEST)];
    inner.push(behind.unwrap_or_else(|| element("p").text("By no figure that was compared.")));
    inner.extend(unsure.map(|table| folded("Figures by which no difference is shown", table)));
    is_compared.then(|| PageSection::new(ID, "Where Fulmar is not the best", inner))
}

fn table(caption: &str) -> Table {
    Table::new(format!("{caption}: fulmar beside ssh and mosh"))
        .words(["setting", "figure", "ours"])
        .numbers("", ["its figure"])
        .words(["best"])
        .numbers("", ["its figure", "ratio"])
        .numbers("90 %", ["within"])
}

/// Returns ours and the others of a setting, if ours took part.
fn present<'a>(
    setting: &'a CellRuns,
    ours: &str,
    others: [&str; 2],
) -> Option<(&'a PeerRuns, Vec<&'a PeerRuns>)> {
    let find = |name: &str| setting.peers.iter().find(|runs| runs.peer == name);
    let others: Vec<&PeerRuns> = others.iter().filter_map(|name| find(name)).collect();
    Some((find(ours)?, others)).filter(|(_, others)| !others.is_empty())
}

/// Returns by how much the best of the others is better, where it is.
fn behind<'a>(
    figure: &'a ComparedFigure,
    ours: &PeerRuns,
    others: &[&'a PeerRuns],
) -> Option<WorseFigure<'a>> {
    let others = others.iter();
    let others = others.filter_map(|runs| Some((*runs, figure.of(runs)?)));
    let (other, best) = others.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let own = figure.of(ours)?;
    (own > best * WORSE_BY).then(|| WorseFigure {
        figure,
        own,
        peer: &other.peer,
        best,
        between: figure.between(ours, other),
    })
}

const NOT_BEST: &str = "Every figure of which less is better (and rates, of which more), by which ssh or mosh is at \
                        least a twentieth better than fulmar. Where the interval of the ratio lies above 1 fulmar \
                        is behind; where it holds 1, or there were fewer than three runs, no difference is shown. \
                        Of times the interval holds 90 % of the bootstrap's draws, of single figures it goes from the \
                        nearest to the farthest runs. Programs that predict are compared with each other, and \
                        those that do not (-n).";

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{measured, subject, typed};
    use super::*;

    #[test]
    fn three_runs_above_three_others_are_behind_and_two_say_nothing() {
        assert_eq!(spread(&[4.0, 6.0, 5.0], &[2.0, 1.0, 2.0]), Some((2.0, 6.0)));
        assert_eq!(spread(&[4.0, 1.0, 5.0], &[2.0, 2.0, 2.0]), Some((0.5, 2.5)));
        assert_eq!(spread(&[4.0, 6.0], &[2.0, 1.0, 2.0]), None);
        assert_eq!(spread(&[], &[2.0]), None);
    }

    #[test]
    fn a_rate_is_the_better_the_higher() {
        assert_eq!(rate(1e-6), "1.00 MB/s");
    }

    /// Returns the two tables, as text: behind, and no difference shown.
    fn tables(peers: Vec<PeerRuns>) -> (String, String) {
        let part = part(&[subject(peers)]).unwrap();
        let text: Vec<String> = part.inner.iter().map(Element::html).collect();
        (text[1].clone(), text.get(2).cloned().unwrap_or_default())
    }

    fn rates(peer: &str, values: &[f64]) -> PeerRuns {
        measured(peer, ("rate", "B/s"), values)
    }

    #[test]
    fn less_than_a_twentieth_more_is_not_listed() {
        let packets =
            |peer: &str, count: f64| measured(peer, ("packets_up", "packets"), &[count; 3]);
        let of = |own| tables(vec![packets("ssh", 100.0), packets("fulmar", own)]);
        assert_eq!(of(105.0).0, "<p>By no figure that was compared.</p>");
        let (behind, unsure) = of(106.0);
        assert!(
            behind.contains(
                "packets up<td class=words>fulmar<td>106<td class=words>ssh<td>100<td>1.06"
            )
        );
        assert_eq!(unsure, "");
    }

    #[test]
    fn ours_is_compared_with_the_best_of_the_others() {
        let waits = |peer: &str, wait: u64| typed(peer, &[&[wait; 30]]);
        let (behind, _) = tables(vec![
            waits("ssh", 300),
            waits("mosh", 100),
            waits("fulmar", 200),
        ]);
        assert!(behind.contains("own effect, median<td class=words>fulmar<td>200 ms<td class=words>mosh<td>100 ms<td>2.00"), "{behind}");
        assert!(!behind.contains("ssh<td>"));
        let (behind, _) = tables(vec![
            waits("ssh", 300),
            waits("mosh", 100),
            waits("fulmar", 90),
        ]);
        assert_eq!(behind, "<p>By no figure that was compared.</p>");
    }

    #[test]
    fn what_may_be_chance_is_listed_apart() {
        let (ssh, own) = ([100.0, 110.0, 120.0], [115.0, 125.0, 135.0]);
        let bytes = |peer: &str, values: &[f64]| measured(peer, ("bytes_up", "B"), values);
        let (behind, unsure) = tables(vec![bytes("ssh", &ssh), bytes("fulmar", &own)]);
        assert_eq!(behind, "<p>By no figure that was compared.</p>");
        assert!(
            unsure.contains("bytes up") && unsure.contains("0.96 to 1.35"),
            "{unsure}"
        );
        let (behind, _) = tables(vec![
            bytes("ssh", &ssh),
            bytes("fulmar", &own.map(|one| one + 20.0)),
        ]);
        assert!(
            behind.contains("bytes up") && behind.contains("1.12 to 1.55"),
            "{behind}"
        );
        let (_, unsure) = tables(vec![bytes("ssh", &[1.0]), bytes("fulmar", &[9.0])]);
        assert!(unsure.contains("no interval"), "{unsure}");
    }

    #[test]
    fn of_rates_more_is_better() {
        let (behind, _) = tables(vec![rates("ssh", &[2e6; 3]), rates("fulmar", &[1e6; 3])]);
        assert!(
            behind.contains(
                "rate<td class=words>fulmar<td>1.00 MB/s<td class=words>ssh<td>2.00 MB/s<td>2.00"
            ),
            "{behind}"
        );
        let (behind, _) = tables(vec![rates("ssh", &[1e6; 3]), rates("fulmar", &[2e6; 3])]);
        assert!(!behind.contains("rate<td"));
    }

    #[test]
    fn who_does_not_predict_is_compared_with_those_who_do_not() {
        let runs = |peer: &str, rate: f64| rates(peer, &[rate; 3]);
        let peers = vec![
            runs("mosh", 9e6),
            runs("mosh-n", 2e6),
            runs("fulmar-n", 1e6),
        ];
        let (behind, _) = tables(peers);
        assert!(
            behind.contains("<td class=words>mosh-n<td>2.00 MB/s"),
            "{behind}"
        );
        assert!(part(&[subject(vec![runs("mosh", 9e6), runs("fulmar-n", 1e6)])]).is_none());
        assert!(part(&[subject(vec![runs("ssh", 9e6)])]).is_none());
    }

    #[test]
    fn a_ratio_that_may_be_one_is_not_sure() {
        // The nearest runs are alike, though the medians differ.
        let bytes = |peer: &str, values: &[f64]| measured(peer, ("bytes_up", "B"), values);
        let own = bytes("fulmar", &[100.0, 200.0, 200.0]);
        let (behind, unsure) = tables(vec![bytes("ssh", &[100.0; 3]), own]);
        assert_eq!(behind, "<p>By no figure that was compared.</p>");
        assert!(unsure.contains("1.00 to 2.00"), "{unsure}");
    }
}
