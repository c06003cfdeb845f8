//! The facts of the measurements: machine, programs, commands, and what failed.

use std::collections::BTreeSet;

use super::grouped::{CellRuns, ExperimentRuns, failure};
use super::markup::{Element, described, element};
use super::number;
use super::origin::Origin;
use super::part::PageSection;
use super::peers::PeerStyles;
use super::table::{Table, head, number as numeral, row_head, words};
use crate::outcome::Outcome;

/// Returns a machine in a line.
pub(super) fn machine_line(origin: &Origin) -> String {
    format!("{} cores of {}", origin.cores, origin.processor)
}

/// Returns the typist, the recordings, and the number of runs at once, in a line.
pub(super) fn typing(setting: &CellRuns) -> Option<Element> {
    let mut facts = Vec::new();
    let typists = all(setting, |one| one.facts.typing.clone());
    if !typists.is_empty() {
        facts.push(format!("{} loop", joined(&typists)));
    }
    let recordings = all(setting, |one| one.facts.recording.clone());
    if !recordings.is_empty() {
        facts.push(format!("recordings {}", joined(&recordings)));
    }
    let seeds = all(setting, |one| Some(one.run.seed));
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    facts.push(format!("{word} {}", joined(&seeds)));
    let at_once = setting.outcomes().map(|one| one.facts.side_by_side).max();
    if let Some(at_once) = at_once.filter(|at_once| *at_once > 1) {
        facts.push(format!("up to {at_once} runs at once"));
    }
    let line = element("p").class("facts-line").text(facts.join(" · "));
    (!facts.is_empty()).then_some(line)
}

fn all<T: Ord>(setting: &CellRuns, fact: impl Fn(&Outcome) -> Option<T>) -> BTreeSet<T> {
    setting.outcomes().filter_map(fact).collect()
}

fn joined<T: ToString>(all: &BTreeSet<T>) -> String {
    let words: Vec<String> = all.iter().map(T::to_string).collect();
    words.join(", ")
}

/// Returns the runs of a setting that have no figures, with the reason of the first of each peer.
pub(super) fn shortfall(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let mut list = element("ul").class("shortfall");
    let mut has_any = false;
    for runs in &setting.peers {
        let reasons: Vec<String> = runs.outcomes.iter().filter_map(failure).collect();
        let Some(first) = reasons.first() else {
            continue;
        };
        let (failed, all) = (reasons.len(), runs.outcomes.len());
        let text = format!(" {failed} of {all} runs failed: {first}");
        let item = element("li").with(peers.sign(&runs.peer)).text(text);
        list = list.with(item);
        has_any = true;
    }
    has_any.then_some(list)
}

/// Returns the commands that do the runs of a setting again by hand, folded away.
pub(super) fn commands(setting: &CellRuns) -> Element {
    let summary = format!("Link and commands: {}", setting.title);
    let mut details = element("details").with(element("summary").text(summary));
    if !setting.parameters.is_empty() {
        let parameters = setting.parameters.iter();
        details = details.with(described(
            parameters.map(|(name, value)| (*name, value.as_str())),
        ));
    }
    for runs in &setting.peers {
        let Some(outcome) = runs.outcomes.first() else {
            continue;
        };
        let facts = &outcome.facts;
        let mut lines = Vec::new();
        lines.extend(facts.scenario.lines().map(str::to_owned));
        lines.extend(facts.commands.iter().map(|command| format!("$ {command}")));
        let began = number::moment(facts.began);
        let name = format!(
            "{}, seed {}, {began}, took {}",
            runs.peer,
            outcome.run.seed,
            number::time(facts.took)
        );
        details = details.with(element("p").text(name));
        if !lines.is_empty() {
            details = details.with(element("pre").set("tabindex", 0).text(lines.join("\n")));
        }
    }
    details
}

/// Every run that has no figures, and why.
pub(super) fn failures(subjects: &[ExperimentRuns]) -> Option<PageSection> {
    let mut table = Table::new("Runs without figures")
        .words("experiment")
        .words("setting")
        .words("peer")
        .numbers("seed", "")
        .words("reason");
    for subject in subjects {
        for setting in &subject.settings {
            for outcome in setting.outcomes() {
                let Some(why) = failure(outcome) else {
                    continue;
                };
                table.row(vec![
                    head(subject.name.as_str()),
                    words(setting.title.as_str()),
                    words(outcome.run.peer.as_str()),
                    numeral(outcome.run.seed.to_string()),
                    words(why).class("wide"),
                ]);
            }
        }
    }
    table
        .element()
        .map(|table| PageSection::new("failures", "Runs that failed", vec![table]))
}

/// The machine, the programs and the commands.
pub(super) fn making(
    origin: Option<&Origin>,
    subjects: &[ExperimentRuns],
    peers: &PeerStyles,
) -> PageSection {
    let mut inner = Vec::new();
    match origin {
        Some(origin) => inner.extend(known_origin(origin)),
        None => {
            let text = "Nothing was noted of the machine that this was measured on.";
            inner.push(element("p").text(text));
        }
    }
    inner.extend(programs(subjects, peers));
    PageSection::new("making", "Machine, programs, commands", inner)
}

fn known_origin(origin: &Origin) -> Vec<Element> {
    let memory = number::Unit::for_numbers("B", origin.memory as f64);
    let memory = format!("{} {}", memory.show(origin.memory as f64), memory.name);
    let mut facts = vec![
        ("processor", origin.processor.clone()),
        ("cores", origin.cores.to_string()),
        ("memory", memory),
        ("kernel", format!("Linux {}", origin.kernel)),
        ("system", origin.system.clone()),
    ];
    let versions = origin.versions.iter();
    facts.extend(versions.map(|(name, said)| (name.as_str(), said.clone())));
    let mut parts = vec![described(facts)];
    if !origin.commands.is_empty() {
        let lines: Vec<String> = origin
            .commands
            .iter()
            .map(|one| format!("$ {one}"))
            .collect();
        parts.push(element("p").text("The outcomes were made by"));
        parts.push(element("pre").set("tabindex", 0).text(lines.join("\n")));
    }
    parts
}

/// Returns the commands that started the peers, each in its first run.
fn programs(subjects: &[ExperimentRuns], peers: &PeerStyles) -> Option<Element> {
    let mut table = Table::new("How each peer was started, in its first run")
        .words("peer")
        .words("command");
    for peer in peers.names() {
        let settings = subjects.iter().flat_map(|subject| &subject.settings);
        let mut outcomes = settings
            .flat_map(CellRuns::outcomes)
            .filter(|outcome| outcome.run.peer == peer);
        let first = outcomes.find_map(|outcome| outcome.facts.commands.first());
        if let Some(command) = first {
            let sign = row_head(peers.sign(peer));
            let code = element("code").text(command.as_str());
            table.row(vec![sign, element("td").class("words").with(code)]);
        }
    }
    table.element()
}

/// Returns the part that explains the figures.
pub(super) fn reading() -> PageSection {
    let list = described(WORDS.iter().copied()).class("long");
    PageSection::new("reading", "What the figures mean", vec![list])
}

const WORDS: &[(&str, &str)] = &[
    (
        "own effect",
        "From a key until what the key itself does to the screen is right there, predicted or confirmed.",
    ),
    (
        "whole screen",
        "From a key until the whole screen is right, with the host's answer to the key in it.",
    ),
    (
        "first output",
        "From a key to the first byte that the terminal gets, right or wrong. This is what the \
         published scripts measured, so published figures stand beside it.",
    ),
    (
        "censored",
        "Keys that were not answered while somebody looked. They are not left out: quantiles are \
         estimated after Kaplan and Meier, and there is no mean where more than 1 % are censored. A \
         dash stands where there is no figure.",
    ),
    (
        "closed loop, open loop",
        "A user who types a key, waits for an answer and then pauses as the recorded one did; and one \
         who keeps the recorded rhythm, and waits only where the recorded user had read a result.",
    ),
    (
        "with wrong cells",
        "Keys because of which a cell or the cursor was wrong for over 30 ms: shown, and never to be \
         there.",
    ),
    (
        "longest stall",
        "The longest time in which at least one key waited and none was answered.",
    ),
    (
        "ratios",
        "The interval holds 90 % of 1000 bootstrap draws: runs are drawn first, then blocks of 20 \
         keys of them. Where it does not hold 1 the two differ by more than chance.",
    ),
];
