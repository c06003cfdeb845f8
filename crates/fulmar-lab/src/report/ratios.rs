//! The ratios of one peer's times of keys to another's.

use super::chart::{SpreadKind, SpreadRow, SpreadValue, spread};
use super::grouped::{CellRuns, Measure, PeerRuns};
use super::number::rounded;
use super::peers::PeerStyles;
use super::table::{Table, head, number, row, words};
use crate::markup::{self, Element, element, folded};
use crate::stats::{
    ConfidenceInterval, Observation, ResamplingPlan, Statistic, median, p90, ratio,
};

/// A figure of one peer divided by that of another.
pub(super) struct Ratio {
    pub(super) peer: String,
    pub(super) other: String,
    pub(super) measure: Measure,
    pub(super) statistic: &'static str,
    pub(super) value: f64,
    pub(super) interval: Option<ConfidenceInterval>,
}

/// The figures that are divided, and what they are called.
const STATISTICS: [(&str, Statistic); 2] = [("median", median), ("p90", p90)];

/// The peers that others are divided by.
const BASES: [&str; 2] = ["ssh", "mosh"];

/// Returns the ratios of the peers of a setting to ssh and to mosh; to the first one where neither took
/// part.
pub(super) fn of(setting: &CellRuns) -> Vec<Ratio> {
    let typed = setting.typed();
    let is_base = |runs: &&PeerRuns| BASES.contains(&runs.peer.as_str());
    let has_base = typed.iter().any(is_base);
    let mut ratios = Vec::new();
    for (place, other) in typed.iter().enumerate() {
        if has_base && !is_base(other) || !has_base && place > 0 {
            continue;
        }
        for runs in &typed[place + 1..] {
            for measure in [Measure::Own, Measure::Whole] {
                ratios.extend(between(runs, other, measure));
            }
        }
    }
    ratios
}

fn between(runs: &PeerRuns, other: &PeerRuns, measure: Measure) -> Vec<Ratio> {
    let (above, below) = (runs.waits(measure), other.waits(measure));
    let ratios = STATISTICS.iter().filter_map(|(name, statistic)| {
        let value = statistic(&above.concat())? / statistic(&below.concat())?;
        value.is_finite().then(|| Ratio {
            peer: runs.peer.clone(),
            other: other.peer.clone(),
            measure,
            statistic: name,
            value,
            interval: drawn(&above, &below, *statistic),
        })
    });
    ratios.collect()
}

/// The seed of all chance in the intervals: a page is the same whenever it is made.
const SEED: u64 = 1;

/// Returns the interval of the figure of some runs divided by that of others.
pub(super) fn drawn(
    above: &[Vec<Observation>],
    below: &[Vec<Observation>],
    statistic: Statistic,
) -> Option<ConfidenceInterval> {
    ratio(above, below, statistic, ResamplingPlan::runs_and_keys(SEED))
}

impl Ratio {
    /// Returns whether the two differ by more than chance.
    pub(super) fn is_sure(&self) -> bool {
        self.interval.is_some_and(|interval| !interval.holds(1.0))
    }

    fn name(&self) -> String {
        format!("{} {}", self.measure.name(), self.statistic)
    }

    fn words(&self) -> String {
        let value = rounded(self.value);
        match self.interval {
            Some(ConfidenceInterval { low, high }) => {
                format!(
                    "{value}, 90 % within {} and {}",
                    rounded(low),
                    rounded(high)
                )
            }
            None => value,
        }
    }
}

/// The ratios as a chart, and as a table folded away.
pub(super) fn figure(setting: &CellRuns, ratios: &[Ratio], peers: &PeerStyles) -> Option<Element> {
    let rows = ratios.iter().map(|ratio| SpreadRow {
        name: name(ratio, peers),
        values: vec![SpreadValue {
            peer: ratio.peer.clone(),
            value: ratio.value,
            interval: ratio.interval.map(|interval| (interval.low, interval.high)),
            words: format!(
                "{} to {}, {}: {}",
                ratio.peer,
                ratio.other,
                ratio.name(),
                ratio.words()
            ),
        }],
    });
    let chart = spread(rows.collect(), SpreadKind::Ratio, peers)?;
    let caption = format!(
        "Ratios: {}. Left of the line at 1 the first of the two is faster; bars hold 90 % of the draws.",
        setting.title
    );
    let table = table(setting, ratios)?;
    let summary = format!("Ratios as numbers: {}", setting.title);
    Some(markup::figure(caption, chart).with(folded(&summary, table)))
}

fn name(ratio: &Ratio, peers: &PeerStyles) -> Element {
    element("span")
        .class("what")
        .with(peers.sign(&ratio.peer))
        .text(format!(" : {} ", ratio.other))
        .with(element("small").text(ratio.name()))
}

fn table(setting: &CellRuns, ratios: &[Ratio]) -> Option<Element> {
    let caption = format!(
        "Ratios; grey where 1 is within the interval: {}",
        setting.title
    );
    let mut table = Table::new(caption)
        .words(["peers", "until", "figure"])
        .numbers("", ["ratio"])
        .numbers("90 %", ["from", "to"]);
    for ratio in ratios {
        let ends = ratio.interval.map(|one| (one.low, one.high));
        let (low, high) = ends.unwrap_or((f64::NAN, f64::NAN));
        let class = if ratio.is_sure() { "" } else { "near" };
        let cells = [
            head(format!("{} : {}", ratio.peer, ratio.other)),
            words(ratio.measure.name()),
            words(ratio.statistic),
            number(rounded(ratio.value)),
            number(rounded(low)),
            number(rounded(high)),
        ];
        table.row(row(cells).class(class));
    }
    table.element()
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{setting, typed};
    use super::*;

    fn found(peers: &[(&str, &[&[u64]])]) -> Vec<Ratio> {
        let peers = peers.iter().map(|(peer, waits)| typed(peer, waits));
        of(&setting(peers.collect()))
    }

    /// The pairs that are compared, each once however many figures they have.
    fn pairs(ratios: &[Ratio]) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = ratios
            .iter()
            .map(|one| (one.peer.as_str(), one.other.as_str()))
            .collect();
        pairs.dedup();
        pairs
    }

    #[test]
    fn the_first_figure_is_divided_by_the_second() {
        let ratios = found(&[("ssh", &[&[400; 30]]), ("fulmar", &[&[100; 30]])]);
        assert_eq!(ratios.len(), 4);
        for ratio in &ratios {
            assert_eq!(
                (ratio.peer.as_str(), ratio.other.as_str()),
                ("fulmar", "ssh")
            );
            assert_eq!(ratio.value, 0.25);
            let interval = ratio.interval.unwrap();
            assert_eq!((interval.low, interval.high), (0.25, 0.25));
            assert!(ratio.is_sure());
        }
        assert_eq!(ratios[0].words(), "0.25, 90 % within 0.25 and 0.25");
        let names: Vec<String> = ratios.iter().map(Ratio::name).collect();
        let of = |measure| ["median", "p90"].map(|figure| format!("{measure} {figure}"));
        assert_eq!(names, [of("own effect"), of("whole screen")].concat());
    }

    #[test]
    fn everybody_is_compared_with_ssh_and_mosh_and_with_the_first_where_neither_is() {
        let waits: &[&[u64]] = &[&[100; 9]];
        let ratios = found(&[("ssh", waits), ("mosh", waits), ("fulmar", waits)]);
        let expected = [("mosh", "ssh"), ("fulmar", "ssh"), ("fulmar", "mosh")];
        assert_eq!(pairs(&ratios), expected);
        let ratios = found(&[("a", waits), ("b", waits), ("c", waits)]);
        assert_eq!(pairs(&ratios), [("b", "a"), ("c", "a")]);
        assert!(found(&[("ssh", waits)]).is_empty());
    }

    #[test]
    fn what_differs_by_chance_is_not_sure_and_what_divides_by_nothing_is_none() {
        let (one, other): (&[u64], &[u64]) = (&[90, 100, 110, 300], &[80, 105, 120, 310]);
        let ratios = found(&[("ssh", &[one, other, one]), ("mosh", &[other, one, other])]);
        assert!(!ratios.is_empty() && ratios.iter().all(|ratio| !ratio.is_sure()));
        assert!(found(&[("ssh", &[&[0; 9]]), ("mosh", &[&[5; 9]])]).is_empty());
    }

    #[test]
    fn the_ratios_of_a_setting_are_drawn_and_folded_numbers_stand_below() {
        let peers = vec![typed("ssh", &[&[400; 30]]), typed("mosh", &[&[200; 30]])];
        let setting = setting(peers);
        let figure = figure(&setting, &of(&setting), &PeerStyles::default()).unwrap();
        let text = figure.html();
        assert!(
            text.contains(
                "<title>mosh to ssh, own effect median: 0.50, 90 % within 0.50 and 0.50<"
            )
        );
        assert_eq!(
            text.matches("<tr><th scope=row>mosh : ssh").count(),
            4,
            "{text}"
        );
    }
}
