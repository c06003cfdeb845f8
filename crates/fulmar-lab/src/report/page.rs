//! The page as a whole.

use serde_json::Value;

use super::facts;
use super::grouped::Subject;
use super::markup::{Element, element};
use super::not_best;
use super::number;
use super::origin::Origin;
use super::overview;
use super::pairs;
use super::peers::Peers;
use super::precision;
use super::predicted;
use super::relations;
use super::section;
use crate::predict::PredictionRows;

/// The parts of a page.
pub(super) struct Report {
    pub(super) subjects: Vec<Subject>,
    pub(super) origin: Option<Origin>,
    pub(super) selfcheck: Option<Value>,
    pub(super) pairs: Option<Value>,
    pub(super) predictions: Option<PredictionRows>,
}

/// A part of the page with a heading that the contents lead to.
pub(super) struct Part {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) inner: Vec<Element>,
}

impl Report {
    /// Returns the page.
    pub(super) fn page(&self) -> String {
        let peers = Peers::of(&self.subjects);
        let parts = self.parts(&peers);
        let body = element("body")
            .with(skip())
            .with(self.header())
            .with(contents(&parts))
            .with(
                element("main")
                    .set("id", "main")
                    .all(parts.iter().map(Part::element)),
            )
            .with(footer());
        let page = element("html").set("lang", "en").with(head()).with(body);
        format!("<!doctype html>\n{}\n", page.html())
    }

    fn parts(&self, peers: &Peers) -> Vec<Part> {
        let experiments = self.subjects.iter().map(|one| section::of(one, peers));
        let mut parts: Vec<Part> = Vec::new();
        parts.extend(overview::part(&self.subjects, peers));
        parts.extend(relations::part(&self.subjects));
        parts.extend(experiments);
        parts.extend(self.predictions.as_ref().map(predicted::part));
        parts.extend(not_best::part(&self.subjects));
        parts.extend(self.selfcheck.as_ref().map(precision::part));
        parts.extend(self.pairs.as_ref().map(pairs::part));
        parts.extend(facts::failures(&self.subjects));
        parts.push(facts::making(self.origin.as_ref(), &self.subjects, peers));
        parts.push(facts::reading());
        parts
    }

    fn header(&self) -> Element {
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
        element("header")
            .with(element("p").class("kicker").text("fulmar-lab"))
            .with(element("h1").text("Remote shells on bad networks"))
            .with(element("p").class("lede").text(LEDE))
            .with(
                element("ul")
                    .class("facts")
                    .all(facts.map(|fact| element("li").text(fact))),
            )
    }
}

const LEDE: &str = "Recorded users typed through real programs over emulated links. A judge that shares no \
                    code with any of them saw every byte that reached the screen, and says when each key \
                    was right on it.";

impl Part {
    fn element(&self) -> Element {
        element("section")
            .set("id", &self.id)
            .set("aria-labelledby", format!("{}-title", self.id))
            .with(
                element("h2")
                    .set("id", format!("{}-title", self.id))
                    .text(self.title.as_str()),
            )
            .all(self.inner.iter().cloned())
    }
}

/// The stylesheet.
const STYLE: &str = concat!(
    include_str!("colours.css"),
    include_str!("style.css"),
    include_str!("drawing.css")
);

fn head() -> Element {
    element("head")
        .with(element("meta").set("charset", "utf-8"))
        .with(
            element("meta")
                .set("name", "viewport")
                .set("content", "width=device-width, initial-scale=1"),
        )
        .with(
            element("meta")
                .set("name", "color-scheme")
                .set("content", "light dark"),
        )
        .with(element("link").set("rel", "icon").set("href", "data:,"))
        .with(element("title").text("Remote shells on bad networks · fulmar-lab"))
        .with(element("style").own(STYLE))
}

/// For those who read with keys: past the contents.
fn skip() -> Element {
    let link = element("a").class("skip").set("href", "#main");
    link.text("To the results")
}

fn contents(parts: &[Part]) -> Element {
    let entries = parts.iter().map(|part| {
        let link = element("a").set("href", format!("#{}", part.id));
        element("li").with(link.text(part.title.as_str()))
    });
    element("nav")
        .set("aria-label", "Contents")
        .with(element("ol").all(entries))
}

fn footer() -> Element {
    let text = format!(
        "Made by fulmar-lab {}. This page needs nothing beside itself.",
        env!("CARGO_PKG_VERSION")
    );
    element("footer").with(element("p").text(text))
}
