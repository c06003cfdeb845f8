//! Shows which of the published relations between programs hold here, and why the others do not.

use std::time::Duration;

use super::behind;
use super::evidence;
use super::grouped::{ExperimentRuns, Measure};
use super::number::{ms, rounded};
use super::part::PageSection;
use super::ratios;
use super::table::{Table, head, maybe, number, ranged, row, words};
use crate::experiment::Published;
use crate::markup::{Element, element};
use crate::stats::{AT_ONCE, ConfidenceInterval, Observation, Statistic, mean, median};

/// The peer that the others are compared with.
const BASE: &str = "ssh";

/// The figures that were published.
const STATISTICS: [(&str, Statistic, Said); 2] = [
    ("median", median, |published| published.median),
    ("mean", mean, |published| published.mean),
];

/// A function that returns a source's words for a figure.
type Said = fn(&Published) -> &'static str;

/// A factor is the published one up to this: twice as much, or half.
const ALIKE: f64 = 2.0;

/// One figure of two programs, as it was published.
struct Relation<'a> {
    subject: &'a ExperimentRuns,
    base: &'a Published,
    other: &'a Published,
    statistic: (&'static str, Statistic, Said),
}

/// The measurements of a relation.
struct MeasuredRelation {
    base: Option<f64>,
    other: Option<f64>,
    ratio: Option<f64>,
    interval: Option<ConfidenceInterval>,
}

/// The verdict of the measurements on what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelationVerdict {
    Holds,
    OtherFactor,
    NotShown,
    Contrary,
    NotMeasured,
}

/// A published number; `is_bound` where the source only says that it is less.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PublishedNumber {
    value: f64,
    is_bound: bool,
}

impl PublishedNumber {
    fn parse(said: &str) -> Option<Self> {
        let bare = said.strip_prefix('<');
        let digits: String = bare.unwrap_or(said).split_whitespace().collect();
        Some(Self {
            value: digits.parse().ok()?,
            is_bound: bare.is_some(),
        })
    }
}

/// Returns the section; `None` where nothing was published of what was measured.
pub(super) fn part(subjects: &[ExperimentRuns]) -> Option<PageSection> {
    let mut table = table();
    let mut verdicts = Vec::new();
    for subject in subjects {
        let (of_subject, rows): (Vec<RelationVerdict>, Vec<_>) =
            relations(subject).map(|one| one.row()).unzip();
        verdicts.extend(of_subject);
        let link = element("a").set("href", format!("#{}", subject.name));
        table.rows_of([link.text(subject.title.as_str())], rows);
    }
    let mut inner = vec![
        element("p").text(ABOUT),
        element("p").text(summed_up(&verdicts)),
    ];
    inner.push(table.element()?);
    for subject in subjects {
        let why = why(subject, subjects);
        if !why.is_empty() {
            inner.push(element("h3").text(subject.title.as_str()));
            inner.extend(why);
        }
    }
    Some(PageSection::new(
        "relations",
        "What others found, and what of it holds",
        inner,
    ))
}

const ABOUT: &str = "Published times are those of other networks, machines and years. What can be compared is \
                     which program was faster, and how many times. The measure is that of the published \
                     scripts, the first output after a key, in closed loop, over all recordings. A relation \
                     holds where the same program wins, by up to twice or down to half the published factor, \
                     and the interval of 90 % does not hold 1; where a source says only that a time was below \
                     5 ms, a smaller factor is as good, and what came within 5 ms both there and here is alike.";

fn summed_up(verdicts: &[RelationVerdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
    format!(
        "Of {} relations {} hold; in {} the same program wins by another factor, in {} no difference is \
         shown, {} are contrary, and {} were not measured.",
        verdicts.len(),
        count(RelationVerdict::Holds),
        count(RelationVerdict::OtherFactor),
        count(RelationVerdict::NotShown),
        count(RelationVerdict::Contrary),
        count(RelationVerdict::NotMeasured),
    )
}

fn table() -> Table {
    Table::new("Published relations: times of the first output in ms")
        .words(["experiment", "published", "verdict"])
        .numbers("ms", ["ssh", "other"])
        .numbers("", ["factor"])
        .numbers("ms", ["ssh here", "other here"])
        .numbers("90 %", ["factor here"])
}

/// The relations of an experiment: each figure of a program beside ssh's of the same source and cells.
fn relations(subject: &ExperimentRuns) -> impl Iterator<Item = Relation<'_>> {
    let published = subject.experiment.published.iter();
    let pairs = published.filter_map(|other| {
        let is_base =
            |one: &&Published| one.peer == BASE && (one.by, one.cells) == (other.by, other.cells);
        let base = subject.experiment.published.iter().find(is_base)?;
        (other.peer != BASE).then_some((base, other))
    });
    pairs.flat_map(move |(base, other)| {
        STATISTICS.map(|statistic| Relation {
            subject,
            base,
            other,
            statistic,
        })
    })
}

impl Relation<'_> {
    /// Returns the published factor: the other program's figure divided by ssh's.
    fn factor(&self) -> Option<PublishedNumber> {
        let (_, _, said) = self.statistic;
        let [base, other] = [self.base, self.other].map(|one| PublishedNumber::parse(said(one)));
        let (base, other) = (base?, other?);
        Some(PublishedNumber {
            value: other.value / base.value,
            is_bound: other.is_bound,
        })
    }

    fn found(&self) -> MeasuredRelation {
        let (_, statistic, _) = self.statistic;
        let waits = |peer: &str| waits(self.subject, self.other.cells, peer);
        let (base, other) = (waits(self.base.peer), waits(self.other.peer));
        let [below, above] = [&base, &other].map(|waits| statistic(&waits.concat()));
        let both = below.zip(above);
        MeasuredRelation {
            base: below,
            other: above,
            ratio: both.map(|(below, above)| above / below),
            interval: both.and_then(|_| ratios::drawn(&other, &base, statistic)),
        }
    }

    fn row(&self) -> (RelationVerdict, Element) {
        let (name, _, said) = self.statistic;
        let (found, factor) = (self.found(), self.factor());
        let at_once = AT_ONCE.as_secs_f64();
        let is_said =
            PublishedNumber::parse(said(self.other)).is_some_and(|one| one.value <= at_once * 1e3);
        let both_at_once = is_said && found.other.is_some_and(|other| other <= at_once);
        let verdict = verdict(factor, &found, both_at_once);
        let ms = |seconds: Option<f64>| maybe(seconds, |one| ms(Duration::from_secs_f64(one)));
        let factor = maybe(factor, |one| {
            let sign = if one.is_bound { "< " } else { "" };
            format!("{sign}{}", rounded(one.value))
        });
        let here = maybe(found.ratio, rounded);
        let here = match found.interval {
            Some(ConfidenceInterval { low, high }) => ranged(here, &rounded(low), &rounded(high)),
            None => here,
        };
        let row = row([
            head(format!("{}, {name}, {}", self.other.by, self.other.peer)),
            words(verdict.words()).class(verdict.class()),
            number(said(self.base)),
            number(said(self.other)),
            factor,
            ms(found.base),
            ms(found.other),
            here,
        ]);
        (verdict, row)
    }
}

/// The first outputs of a peer in all cells of that name that were measured, a list for each run.
fn waits(subject: &ExperimentRuns, cells: &str, peer: &str) -> Vec<Vec<Observation>> {
    let runs = subject.runs(cells, peer).into_iter();
    runs.flat_map(|runs| runs.waits(Measure::FirstOutput))
        .collect()
}

fn verdict(
    published: Option<PublishedNumber>,
    found: &MeasuredRelation,
    both_at_once: bool,
) -> RelationVerdict {
    let (Some(published), Some(ratio)) = (published, found.ratio) else {
        return RelationVerdict::NotMeasured;
    };
    let is_sure = found.interval.is_some_and(|interval| !interval.holds(1.0));
    let is_same = (ratio < 1.0) == (published.value < 1.0);
    let apart = ratio / published.value;
    let is_alike = both_at_once || apart <= ALIKE && (published.is_bound || apart >= 1.0 / ALIKE);
    if !is_sure {
        RelationVerdict::NotShown
    } else if !is_same {
        RelationVerdict::Contrary
    } else if is_alike {
        RelationVerdict::Holds
    } else {
        RelationVerdict::OtherFactor
    }
}

impl RelationVerdict {
    fn words(self) -> &'static str {
        match self {
            Self::Holds => "✓ holds",
            Self::OtherFactor => "same winner, other factor",
            Self::NotShown => "no difference shown",
            Self::Contrary => "✗ contrary",
            Self::NotMeasured => "not measured",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Holds => "good",
            Self::Contrary => "bad",
            _ => "",
        }
    }
}

/// The paragraphs that explain an experiment, with the evidence put into them; those whose evidence was measured.
fn why(subject: &ExperimentRuns, subjects: &[ExperimentRuns]) -> Vec<Element> {
    let paragraphs = subject.experiment.why.split("\n\n").map(str::trim);
    let paragraphs = paragraphs.filter(|paragraph| !paragraph.is_empty());
    let paragraphs = paragraphs.filter_map(|paragraph| match paragraph {
        "{behind}" => behind::table(subjects),
        text => Some(element("p").text(evidence::filled(text, subject, subjects)?)),
    });
    paragraphs.collect()
}

#[cfg(test)]
mod tests {
    use super::super::grouped::UNKNOWN;
    use super::*;
    use crate::experiment::Experiment;

    fn found(ratio: f64, low: f64, high: f64) -> MeasuredRelation {
        MeasuredRelation {
            base: Some(1.0),
            other: Some(ratio),
            ratio: Some(ratio),
            interval: Some(ConfidenceInterval { low, high }),
        }
    }

    fn of(value: f64, is_bound: bool) -> Option<PublishedNumber> {
        Some(PublishedNumber { value, is_bound })
    }

    #[test]
    fn published_numbers_are_read_with_their_gaps_and_bounds() {
        assert_eq!(PublishedNumber::parse("16 800"), of(16_800.0, false));
        assert_eq!(PublishedNumber::parse("< 5"), of(5.0, true));
        assert_eq!(PublishedNumber::parse("1.52"), of(1.52, false));
        assert_eq!(PublishedNumber::parse("-"), None);
    }

    #[test]
    fn a_relation_holds_where_the_winner_and_about_the_factor_are_the_same() {
        let half = of(0.5, false);
        assert_eq!(
            verdict(half, &found(0.6, 0.5, 0.7), false),
            RelationVerdict::Holds
        );
        assert_eq!(
            verdict(half, &found(0.2, 0.1, 0.3), false),
            RelationVerdict::OtherFactor
        );
        assert_eq!(
            verdict(half, &found(0.9, 0.7, 1.1), false),
            RelationVerdict::NotShown
        );
        assert_eq!(
            verdict(half, &found(1.5, 1.2, 1.9), false),
            RelationVerdict::Contrary
        );
        assert_eq!(
            verdict(None, &found(0.5, 0.4, 0.6), false),
            RelationVerdict::NotMeasured
        );
        assert_eq!(
            verdict(half, &found(0.2, 0.1, 0.3), true),
            RelationVerdict::Holds
        );
        // Below five is below five, however far.
        let little = of(0.01, true);
        assert_eq!(
            verdict(little, &found(0.0001, 0.0001, 0.001), false),
            RelationVerdict::Holds
        );
        assert_eq!(
            verdict(little, &found(0.1, 0.05, 0.2), false),
            RelationVerdict::OtherFactor
        );
    }

    #[test]
    fn a_factor_is_alike_up_to_twice_and_down_to_half_and_no_further() {
        let tenth = of(0.1, false);
        let alike = [0.05, 0.2].map(|ratio| verdict(tenth, &found(ratio, 0.01, 0.9), false));
        assert_eq!(alike, [RelationVerdict::Holds; 2]);
        let apart = [0.049, 0.201].map(|ratio| verdict(tenth, &found(ratio, 0.01, 0.9), false));
        assert_eq!(apart, [RelationVerdict::OtherFactor; 2]);
    }

    #[test]
    fn an_interval_that_holds_one_shows_nothing_even_of_the_contrary() {
        let half = of(0.5, false);
        for ratio in [0.5, 1.4] {
            assert_eq!(
                verdict(half, &found(ratio, 0.4, 1.5), false),
                RelationVerdict::NotShown
            );
        }
        let bare = MeasuredRelation {
            interval: None,
            ..found(0.5, 0.4, 0.6)
        };
        assert_eq!(verdict(half, &bare, false), RelationVerdict::NotShown);
    }

    #[test]
    fn published_figures_are_compared_with_the_first_outputs_of_their_cells() {
        use super::super::tests::fixture::{subject, typed};
        const fn published(
            peer: &'static str,
            cells: &'static str,
            median: &'static str,
        ) -> Published {
            Published {
                by: "a paper",
                peer,
                cells,
                median,
                mean: "-",
                deviation: "-",
            }
        }
        static PUBLISHED: [Published; 4] = [
            published("ssh", "slow", "500"),
            published("mosh", "slow", "250"),
            published("ssh", "fast", "50"),
            published("mosh", "fast", "25"),
        ];
        let peers = vec![typed("ssh", &[&[400; 30]]), typed("mosh", &[&[200; 30]])];
        static EXPERIMENT: Experiment = Experiment {
            published: &PUBLISHED,
            ..UNKNOWN
        };
        let subjects = [ExperimentRuns {
            experiment: &EXPERIMENT,
            ..subject(peers)
        }];
        let part = part(&subjects).unwrap();
        let text: Vec<String> = part.inner.iter().map(Element::html).collect();
        assert!(
            text[1].contains("Of 4 relations 1 hold; in 0 the same program wins"),
            "{}",
            text[1]
        );
        assert!(
            text[1].contains("0 are contrary, and 3 were not measured"),
            "{}",
            text[1]
        );
        assert!(
            text[2]
                .contains("<td>500<td>250<td>0.50<td>400<td>200<td>0.50 <small>0.50–0.50</small>"),
            "{}",
            text[2]
        );
    }

    #[test]
    fn what_was_published_and_found_within_five_milliseconds_is_alike_however_far_apart() {
        use super::super::tests::fixture::{subject, typed};
        const fn published(peer: &'static str, median: &'static str) -> Published {
            Published {
                by: "a paper",
                peer,
                cells: "slow",
                median,
                mean: "-",
                deviation: "-",
            }
        }
        static AT_ONCE: [Published; 2] = [published("ssh", "500"), published("mosh", "5")];
        static LATER: [Published; 2] = [published("ssh", "500"), published("mosh", "6")];
        let verdict = |published: &'static [Published; 2], wait: u64| {
            let peers = vec![typed("ssh", &[&[500; 30]]), typed("mosh", &[&[wait; 30]])];
            let experiment: &'static Experiment = Box::leak(Box::new(Experiment {
                published,
                ..UNKNOWN
            }));
            let subject = ExperimentRuns {
                experiment,
                ..subject(peers)
            };
            let (verdict, _) = relations(&subject).next().unwrap().row();
            verdict
        };
        assert_eq!(verdict(&AT_ONCE, 1), RelationVerdict::Holds);
        assert_eq!(verdict(&LATER, 1), RelationVerdict::OtherFactor);
        assert_eq!(verdict(&AT_ONCE, 5), RelationVerdict::Holds);
        assert_eq!(verdict(&AT_ONCE, 11), RelationVerdict::OtherFactor);
    }
}
