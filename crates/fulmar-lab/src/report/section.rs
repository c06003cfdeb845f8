//! The section of one experiment.

use super::facts;
use super::grouped::{CellRuns, ExperimentRuns};
use super::part::{DISTRIBUTIONS_FILE, PageSection, RUNS_FILE};
use super::peers::PeerStyles;
use super::{plots, ratios, scalar, series, typed};
use crate::markup::{Element, element, folded};

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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, failed, measured, subject, text, typed};
    use super::*;
    use crate::experiment::Experiment;
    use crate::report::grouped::{PeerRuns, UNKNOWN};

    fn said(part: &PageSection) -> String {
        text(&part.inner)
    }

    #[test]
    fn an_experiment_says_where_it_is_from_and_what_it_is_about_if_that_is_known() {
        static KNOWN: Experiment = Experiment {
            source: "a paper",
            about: "Typing.",
            ..UNKNOWN
        };
        let mut known = subject(vec![]);
        known.experiment = &KNOWN;
        let part = of(&known, &PeerStyles::default());
        assert_eq!(
            (part.id.as_str(), part.title.as_str()),
            ("typing", "Typing")
        );
        assert!(said(&part).starts_with("<p class=source>Source: a paper</p><p>Typing.</p>"));
        let unknown = of(&subject(vec![]), &PeerStyles::default());
        assert!(
            said(&unknown).starts_with("<p class=note>"),
            "{}",
            said(&unknown)
        );
    }

    #[test]
    fn a_setting_in_which_somebody_typed_has_times_distribution_ratios_faults_and_costs() {
        let mut ssh = typed("ssh", &[&[400; 30]]);
        let rate = measured("ssh", ("rate", "B/s"), &[2e6]);
        ssh.outcomes[0].figures = rate.outcomes[0].figures.clone();
        let typed = subject(vec![ssh, typed("mosh", &[&[200; 30]])]);
        let parts = [
            "<h3 id=typing--slow>A slow link</h3>",
            "class=facts-line",
            "<caption>Times of keys: A slow link",
            "<figcaption>Share of keys within a time, own effect.",
            "<a href=distributions.html#typing--slow>",
            "<figcaption>Ratios: A slow link.",
            "<caption>Faults: A slow link",
            "<caption>Costs: A slow link",
            "<a href=runs.html#typing--slow>Timelines, link and commands</a>",
        ];
        assert_in_order(&said(&of(&typed, &PeerStyles::default())), &parts);
    }

    #[test]
    fn a_setting_without_keys_has_a_heading_only_where_something_stands_under_it() {
        let peers = PeerStyles::default();
        let bare = of(
            &subject(vec![measured("ssh", ("rate", "B/s"), &[1e6])]),
            &peers,
        );
        let link = "<a href=runs.html#typing--slow>Link and commands: A slow link</a>";
        assert!(said(&bare).contains(link) && !said(&bare).contains("<h3"));
        let failed = PeerRuns {
            peer: "ssh".to_owned(),
            outcomes: vec![failed("ssh", 1, "no answer")],
        };
        let failed = of(&subject(vec![failed]), &peers);
        let parts = ["<h3 id=typing--slow>", "<ul class=shortfall>", link];
        assert_in_order(&said(&failed), &parts);
        let mut series = measured("ssh", ("rate", "B/s"), &[1e6]);
        let points = vec![(0.0, 0.0), (1.0, 2e6)];
        series.outcomes[0].series = [("bytes".to_owned(), points)].into();
        let parts = ["<h3 id=typing--slow>", "<div class=pair><figure>", link];
        assert_in_order(&said(&of(&subject(vec![series]), &peers)), &parts);
    }

    #[test]
    fn the_pages_beside_it_have_what_was_left_out() {
        let peers = PeerStyles::default();
        let typed = subject(vec![typed("ssh", &[&[400; 30]])]);
        let bare = subject(vec![measured("ssh", ("rate", "B/s"), &[1e6])]);
        let parts = [
            "<h3 id=typing--slow>",
            "<summary>Share within a time, whole screen: A slow link</summary>",
            "<summary>Share within a time, first output: A slow link</summary>",
        ];
        assert_in_order(&said(&distributions(&typed, &peers).unwrap()), &parts);
        assert!(distributions(&bare, &peers).is_none());
        let parts = [
            "<summary>Timelines: A slow link",
            "<summary>Link and commands: A slow link",
        ];
        assert_in_order(&said(&runs(&typed, &peers).unwrap()), &parts);
        let bare = said(&runs(&bare, &peers).unwrap());
        assert!(
            bare.contains("Link and commands") && !bare.contains("Timelines"),
            "{bare}"
        );
    }
}
