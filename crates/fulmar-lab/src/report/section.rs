//! The section of one experiment.

use super::facts;
use super::grouped::{CellRuns, ExperimentRuns};
use super::markup::{Element, element, folded};
use super::part::{DISTRIBUTIONS_FILE, PageSection, RUNS_FILE};
use super::peers::PeerStyles;
use super::{plots, ratios, scalar, series, typed};

/// Returns the section.
pub(super) fn of(subject: &ExperimentRuns, peers: &PeerStyles) -> PageSection {
    let mut inner = Vec::new();
    if !subject.experiment.source.is_empty() {
        let source = element("p").class("source").text("Source: ");
        inner.push(source.text(subject.experiment.source));
    }
    if !subject.experiment.about.is_empty() {
        inner.push(element("p").text(subject.experiment.about));
    }
    inner.extend(scalar::quoted(subject));
    let (typed, bare): (Vec<&CellRuns>, Vec<&CellRuns>) = subject
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
    PageSection::new(&subject.name, &subject.title, inner)
}

fn of_typed(subject: &ExperimentRuns, setting: &CellRuns, peers: &PeerStyles) -> Vec<Element> {
    let costs = format!("Costs: {}", setting.title);
    let ratios = ratios::of(setting);
    let mut parts = vec![heading(subject, setting)];
    parts.push(facts::typing(setting));
    parts.extend(facts::shortfall(setting, peers));
    parts.extend(typed::waits(setting, subject.experiment.published, peers));
    parts.extend(plots::own_distribution(setting, peers));
    let others = "Share within a time, whole screen and first output";
    parts.push(link(DISTRIBUTIONS_FILE, subject, setting, others));
    parts.extend(ratios::figure(setting, &ratios, peers));
    parts.extend(typed::faults(setting, peers));
    parts.extend(scalar::figures(&costs, &[setting], peers));
    parts.push(link(
        RUNS_FILE,
        subject,
        setting,
        "Timelines, link and commands",
    ));
    parts
}

/// Returns the section of the page of single runs: the timelines and commands of each setting.
pub(super) fn runs(subject: &ExperimentRuns, peers: &PeerStyles) -> Option<PageSection> {
    detail(subject, |setting| {
        let timelines = plots::timelines(setting, peers);
        let timelines = timelines.map(|figure| {
            let summary = format!("Timelines: {}", setting.title);
            folded(&summary, figure)
        });
        timelines
            .into_iter()
            .chain([facts::commands(setting)])
            .collect()
    })
}

/// Returns the section of the page of distributions, those beside that of the own effect.
pub(super) fn distributions(subject: &ExperimentRuns, peers: &PeerStyles) -> Option<PageSection> {
    detail(subject, |setting| {
        plots::other_distributions(setting, peers)
    })
}

/// Returns what there is of each setting under its name.
fn detail(subject: &ExperimentRuns, of: impl Fn(&CellRuns) -> Vec<Element>) -> Option<PageSection> {
    let mut inner = Vec::new();
    for setting in &subject.settings {
        let parts = of(setting);
        if !parts.is_empty() {
            inner.push(heading(subject, setting));
            inner.extend(parts);
        }
    }
    (!inner.is_empty()).then(|| PageSection::new(&subject.name, &subject.title, inner))
}

fn of_bare(subject: &ExperimentRuns, setting: &CellRuns, peers: &PeerStyles) -> Vec<Element> {
    let shortfall = facts::shortfall(setting, peers);
    let plots = series::plots(setting, peers);
    let mut parts = Vec::new();
    if plots.is_some() || shortfall.is_some() {
        parts.push(heading(subject, setting));
    }
    parts.extend(shortfall);
    parts.extend(plots);
    let words = format!("Link and commands: {}", setting.title);
    parts.push(link(RUNS_FILE, subject, setting, &words));
    parts
}

/// Returns a way to a setting on another page.
fn link(page: &str, subject: &ExperimentRuns, setting: &CellRuns, words: &str) -> Element {
    let target = format!("{page}#{}--{}", subject.name, setting.name);
    let link = element("a").set("href", target).text(words);
    element("p").class("note").with(link)
}

fn heading(subject: &ExperimentRuns, setting: &CellRuns) -> Element {
    element("h3")
        .set("id", format!("{}--{}", subject.name, setting.name))
        .text(setting.title.as_str())
}
