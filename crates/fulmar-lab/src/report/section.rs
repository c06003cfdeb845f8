//! The section of one experiment.

use super::facts;
use super::grouped::{Setting, Subject};
use super::markup::{Element, element};
use super::page::Part;
use super::peers::Peers;
use super::{plots, quoted, ratios, scalar, series, typed};

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
    inner.extend(quoted::table(subject));
    let (typed, bare): (Vec<&Setting>, Vec<&Setting>) = subject
        .settings
        .iter()
        .partition(|setting| !setting.typed().is_empty());
    inner.extend(scalar::tables(&subject.title, &bare, peers));
    inner.extend(
        bare.iter()
            .flat_map(|setting| of_bare(subject, setting, peers)),
    );
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
    let ratios = ratios::of(setting);
    let mut parts = vec![heading(subject, setting)];
    parts.extend(facts::typing(setting));
    parts.extend(facts::shortfall(setting, peers));
    parts.extend(typed::waits(setting, subject.published, peers));
    parts.extend(plots::distributions(setting, peers));
    parts.extend(ratios::figure(setting, &ratios, peers));
    parts.extend(typed::faults(setting, peers));
    parts.extend(scalar::figures(&costs, &[setting], peers));
    parts.extend(plots::timelines(setting, peers).map(|figure| {
        let summary = element("summary").text(format!("Timelines: {}", setting.title));
        element("details").with(summary).with(figure)
    }));
    parts.push(facts::commands(setting));
    parts
}

fn of_bare(subject: &Subject, setting: &Setting, peers: &Peers) -> Vec<Element> {
    let shortfall = facts::shortfall(setting, peers);
    let plots = series::plots(setting, peers);
    let mut parts = Vec::new();
    if plots.is_some() || shortfall.is_some() {
        parts.push(heading(subject, setting));
    }
    parts.extend(shortfall);
    parts.extend(plots);
    parts.push(facts::commands(setting));
    parts
}

fn heading(subject: &Subject, setting: &Setting) -> Element {
    element("h3")
        .set("id", format!("{}--{}", subject.name, setting.name))
        .text(setting.title.as_str())
}
