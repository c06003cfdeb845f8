//! The section of one experiment.

use super::facts;
use super::grouped::{Setting, Subject};
use super::markup::{Element, element};
use super::page::Part;
use super::peers::Peers;
use super::{scalar, typed};

/// Returns the section.
pub(super) fn of(subject: &Subject, peers: &Peers) -> Part {
    let mut inner = Vec::new();
    if !subject.source.is_empty() {
        let source = element("p").class("source").text("Source: ");
        inner.push(source.text(subject.source));
    }
    if !subject.about.is_empty() {
        inner.push(element("p").text(subject.about));
    }
    let (typed, bare): (Vec<&Setting>, Vec<&Setting>) = subject
        .settings
        .iter()
        .partition(|setting| !setting.typed().is_empty());
    inner.extend(scalar::figures(&subject.title, &bare, peers));
    inner.extend(bare.iter().flat_map(|setting| of_bare(setting)));
    inner.extend(
        typed
            .iter()
            .flat_map(|setting| of_typed(subject, setting, peers)),
    );
    Part {
        id: subject.name.clone(),
        title: subject.title.clone(),
        inner,
    }
}

fn of_typed(subject: &Subject, setting: &Setting, peers: &Peers) -> Vec<Element> {
    let costs = format!("Costs: {}", setting.title);
    let parts = [
        Some(heading(subject, setting)),
        facts::typing(setting),
        typed::waits(setting, subject.published, peers),
        typed::faults(setting, peers),
        scalar::figures(&costs, &[setting], peers),
        Some(facts::commands(setting)),
    ];
    parts.into_iter().flatten().collect()
}

fn of_bare(setting: &Setting) -> Vec<Element> {
    vec![facts::commands(setting)]
}

fn heading(subject: &Subject, setting: &Setting) -> Element {
    element("h3")
        .set("id", format!("{}--{}", subject.name, setting.name))
        .text(setting.title.as_str())
}
