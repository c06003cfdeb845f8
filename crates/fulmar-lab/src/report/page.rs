//! The page as a whole.

use serde_json::Value;

use super::chart::{self, FRAME};
use super::checks;
use super::facts;
use super::grouped::ExperimentRuns;
use super::not_best;
use super::number;
use super::origin::Origin;
use super::overview;
use super::part::{DISTRIBUTIONS_FILE, PageSection, RUNS_FILE};
use super::peers::PeerStyles;
use super::predictions;
use super::relations;
use super::results;
use super::section;
use crate::markup::{Element, element};
use crate::predict::PredictionRows;
use crate::run::PairReport;

/// The parts of a page.
pub(super) struct Report {
    pub(super) subjects: Vec<ExperimentRuns>,
    pub(super) origin: Option<Origin>,
    pub(super) selfcheck: Option<Value>,
    pub(super) pairs: Option<PairReport>,
    pub(super) predictions: Option<PredictionRows>,
}

impl Report {
    /// Returns the pages with the names of their files, the one that leads to the others last.
    pub(super) fn pages(&self) -> Vec<(&'static str, String)> {
        let peers = PeerStyles::of(&self.subjects);
        let each = |of: fn(&ExperimentRuns, &PeerStyles) -> Option<PageSection>| {
            let parts = self.subjects.iter().filter_map(|one| of(one, &peers));
            parts.collect::<Vec<PageSection>>()
        };
        let predictions = self.predictions.as_ref().map(predictions::part);
        let mut pages = vec![
            (DISTRIBUTIONS, each(section::distributions)),
            (RUNS, each(section::runs)),
        ];
        pages.extend(predictions.map(|part| (PREDICTIONS, vec![part])));
        pages.push((INDEX, self.parts(&peers)));
        let kinds: Vec<PageKind> = pages.iter().map(|(kind, _)| *kind).collect();
        let written = pages.iter().map(|(kind, parts)| {
            let others = kinds.iter().filter(|other| other.file != kind.file);
            (kind.file, self.page(*kind, parts, others, &peers))
        });
        written.collect()
    }

    fn page<'a>(
        &self,
        kind: PageKind,
        parts: &[PageSection],
        others: impl Iterator<Item = &'a PageKind>,
        peers: &PeerStyles,
    ) -> String {
        let mut main = element("main")
            .set("id", "main")
            .all(parts.iter().map(PageSection::element));
        let mut definitions = main.take_repeated(FRAME);
        definitions.extend(peers.definitions());
        definitions.extend(chart::definitions());
        let body = element("body")
            .with(drawn_once(definitions))
            .with(skip())
            .with(self.header(kind, parts))
            .with(contents(parts, others))
            .with(main)
            .with(footer());
        let page = element("html")
            .set("lang", "en")
            .with(head(kind))
            .with(body);
        format!("<!doctype html>\n{}\n", page.html())
    }

    fn parts(&self, peers: &PeerStyles) -> Vec<PageSection> {
        let experiments = self.subjects.iter().map(|one| section::of(one, peers));
        let mut parts: Vec<PageSection> = Vec::new();
        parts.extend(overview::part(&self.subjects, peers));
        parts.extend(relations::part(&self.subjects));
        parts.extend(experiments);
        parts.extend(not_best::part(&self.subjects));
        parts.extend(self.selfcheck.as_ref().map(checks::precision));
        parts.extend(self.pairs.as_ref().map(checks::pairs));
        parts.extend(facts::failures(&self.subjects));
        parts.push(facts::making(self.origin.as_ref(), &self.subjects, peers));
        parts.push(facts::reading());
        parts
    }

    fn header(&self, kind: PageKind, parts: &[PageSection]) -> Element {
        let outcomes = self.subjects.iter().flat_map(|one| &one.settings);
        let outcomes: Vec<_> = outcomes.flat_map(|one| one.outcomes()).collect();
        let began = outcomes.iter().map(|one| one.facts.began);
        let first = began.clone().min().map(number::day).unwrap_or_default();
        let last = began.max().map(number::day).unwrap_or_default();
        let when = if first == last {
            first
        } else {
            format!("{first} to {last}")
        };
        let runs = number::whole(outcomes.len() as f64);
        let facts = [
            Some(when),
            Some(format!("{runs} runs")),
            self.origin.as_ref().map(facts::machine_line),
        ];
        let facts = facts.into_iter().flatten();
        let has_not_best = parts.iter().any(|part| part.id == not_best::ID);
        let is_index = kind.file == INDEX.file;
        let results = is_index.then(|| results::sentences(&self.subjects, has_not_best));
        element("header")
            .with(element("p").class("kicker").text("fulmar-lab"))
            .with(element("h1").text(kind.title))
            .with(element("p").class("lede").text(kind.about))
            .all(results.flatten())
            .with(
                element("ul")
                    .class("facts")
                    .all(facts.map(|fact| element("li").text(fact))),
            )
    }
}

/// One of the pages of a report.
#[derive(Clone, Copy)]
struct PageKind {
    file: &'static str,
    title: &'static str,
    about: &'static str,
}

const INDEX: PageKind = PageKind {
    file: "index.html",
    title: "Remote shells on bad networks",
    about: "Recorded users typed through real programs over emulated links. A judge that shares no code with any \
            of them saw every byte that reached the screen, and says when each key was right on it.",
};

const RUNS: PageKind = PageKind {
    file: RUNS_FILE,
    title: "Single runs",
    about: "The timelines of single runs, the links, and the commands that do each run again by hand.",
};

const PREDICTIONS: PageKind = PageKind {
    file: "predictions.html",
    title: "Predictions in virtual time",
    about: "Recorded keys over simulated links, shown by each predictor.",
};

const DISTRIBUTIONS: PageKind = PageKind {
    file: DISTRIBUTIONS_FILE,
    title: "Distributions",
    about: "The share of keys within a time, until the whole screen was right and until the first output.",
};

/// The stylesheet.
const STYLE: &str = concat!(
    include_str!("colours.css"),
    include_str!("style.css"),
    include_str!("drawing.css")
);

fn head(kind: PageKind) -> Element {
    let meta = |name: &str, content: &str| {
        let meta = element("meta").set("name", name);
        meta.set("content", content)
    };
    element("head")
        .with(element("meta").set("charset", "utf-8"))
        .with(meta("viewport", "width=device-width, initial-scale=1"))
        .with(meta("color-scheme", "light dark"))
        .with(element("link").set("rel", "icon").set("href", "data:,"))
        .with(element("title").text(format!("{} · fulmar-lab", kind.title)))
        .with(element("style").own(STYLE))
}

/// Returns the definitions that the drawings of the page refer to.
fn drawn_once(definitions: Vec<Element>) -> Element {
    element("svg")
        .class("definitions")
        .set("aria-hidden", "true")
        .with(element("defs").all(definitions))
}

/// For those who read with keys: past the contents.
fn skip() -> Element {
    let link = element("a").class("skip").set("href", "#main");
    link.text("To the results")
}

fn contents<'a>(parts: &[PageSection], pages: impl Iterator<Item = &'a PageKind>) -> Element {
    let entry = |target: String, title: &str| {
        let link = element("a").set("href", target).text(title);
        element("li").with(link)
    };
    let parts = parts
        .iter()
        .map(|part| entry(format!("#{}", part.id), &part.title));
    let pages = pages.map(|page| entry(page.file.to_owned(), page.title));
    element("nav")
        .set("aria-label", "Contents")
        .with(element("ol").all(parts).all(pages))
}

fn footer() -> Element {
    let text = format!(
        "Made by fulmar-lab {}. A page can be read without the others, and without a network.",
        env!("CARGO_PKG_VERSION")
    );
    element("footer").with(element("p").text(text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, subject, typed};
    use super::*;

    fn report(began: [u64; 2]) -> Report {
        let mut runs = typed("ssh", &[&[400; 9], &[300; 9]]);
        for (outcome, began) in runs.outcomes.iter_mut().zip(began) {
            outcome.facts.began = began;
        }
        Report {
            subjects: vec![subject(vec![runs])],
            origin: None,
            selfcheck: None,
            pairs: None,
            predictions: None,
        }
    }

    /// The first day of 2026, UTC.
    const DAY: u64 = 1_767_225_600;

    #[test]
    fn pages_lead_to_each_other_and_that_of_the_results_comes_last() {
        let mut report = report([DAY, DAY]);
        let files = |report: &Report| report.pages().iter().map(|page| page.0).collect::<Vec<_>>();
        assert_eq!(
            files(&report),
            ["distributions.html", "runs.html", "index.html"]
        );
        report.predictions = Some(PredictionRows::default());
        let pages = report.pages();
        assert_eq!(files(&report)[2], "predictions.html");
        for (file, page) in &pages {
            for (other, _) in &pages {
                let link = format!("<li><a href={other}>");
                assert_eq!(
                    page.matches(&link).count(),
                    usize::from(file != other),
                    "{file} {other}"
                );
            }
        }
        let (_, index) = pages.last().unwrap();
        let parts = [
            "<!doctype html>\n<html lang=en><head><meta charset=utf-8>",
            "<title>Remote shells on bad networks · fulmar-lab</title>",
            "<nav aria-label=Contents><ol><li><a href=#overview>At a glance</a><li><a href=#typing>",
            "<li><a href=#reading>",
            "<main id=main><section id=overview aria-labelledby=overview-title>",
            "<footer>",
        ];
        assert_in_order(index, &parts);
    }

    #[test]
    fn the_head_tells_the_days_the_runs_and_the_machine() {
        let header = |report: &Report| report.header(INDEX, &[]).html();
        let same = header(&report([DAY + 9, DAY]));
        assert!(
            same.contains("<ul class=facts><li>2026-01-01<li>2 runs</ul>"),
            "{same}"
        );
        let mut later = report([DAY + 86_400, DAY]);
        later.origin = Some(Origin {
            cores: 2,
            processor: "a processor".to_owned(),
            ..Origin::default()
        });
        let later = header(&later);
        let facts = "<li>2026-01-01 to 2026-01-02<li>2 runs<li>2 cores of a processor</ul>";
        assert!(later.contains(facts), "{later}");
    }

    #[test]
    fn there_is_a_part_for_each_thing_that_was_found() {
        let mut report = report([DAY, DAY]);
        let ids = |report: &Report| {
            let parts = report.parts(&PeerStyles::of(&report.subjects)).into_iter();
            parts.map(|part| part.id).collect::<Vec<String>>()
        };
        assert_eq!(ids(&report), ["overview", "typing", "making", "reading"]);
        report.selfcheck = Some(Value::Null);
        let expected = ["overview", "typing", "precision", "making", "reading"];
        assert_eq!(ids(&report), expected);
    }
}
