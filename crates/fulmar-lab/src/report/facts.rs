//! The facts of the measurements: machine, programs, commands, and what failed.

use std::collections::BTreeSet;

use super::grouped::{CellRuns, ExperimentRuns, failure};
use super::markup::{Element, described, element};
use super::number;
use super::origin::Origin;
use super::part::PageSection;
use super::peers::PeerStyles;
use super::table::{Table, head, number as numeral, row, row_head, words};
use crate::outcome::Outcome;

/// Returns a machine in a line.
pub(super) fn machine_line(origin: &Origin) -> String {
    format!("{} cores of {}", origin.cores, origin.processor)
}

/// Returns the typist, the recordings, the seeds and the number of runs at once, in a line.
pub(super) fn typing(setting: &CellRuns) -> Element {
    let mut facts = Vec::new();
    let typists = joined(setting, |one| one.facts.typing.clone());
    facts.extend(typists.map(|(_, typists)| format!("{typists} loop")));
    let recordings = joined(setting, |one| one.facts.recording.clone());
    facts.extend(recordings.map(|(_, recordings)| format!("recordings {recordings}")));
    let seeds = joined(setting, |one| Some(one.run.seed));
    facts.extend(seeds.map(|(count, seeds)| match count {
        1 => format!("seed {seeds}"),
        _ => format!("seeds {seeds}"),
    }));
    let at_once = setting.outcomes().map(|one| one.facts.side_by_side).max();
    let at_once = at_once.filter(|at_once| *at_once > 1);
    facts.extend(at_once.map(|at_once| format!("up to {at_once} runs at once")));
    element("p").class("facts-line").text(facts.join(" · "))
}

/// Returns how many different facts the runs of a setting have, and these in their order.
fn joined<T: Ord + ToString>(
    setting: &CellRuns,
    fact: impl Fn(&Outcome) -> Option<T>,
) -> Option<(usize, String)> {
    let all: BTreeSet<T> = setting.outcomes().filter_map(fact).collect();
    let words: Vec<String> = all.iter().map(T::to_string).collect();
    (!words.is_empty()).then(|| (words.len(), words.join(", ")))
}

/// Returns the runs of a setting that have no figures, with the reason of the first of each peer.
pub(super) fn shortfall(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let items = setting.peers.iter().filter_map(|runs| {
        let reasons: Vec<String> = runs.outcomes.iter().filter_map(failure).collect();
        let (failed, all) = (reasons.len(), runs.outcomes.len());
        let text = format!(" {failed} of {all} runs failed: {}", reasons.first()?);
        Some(element("li").with(peers.sign(&runs.peer)).text(text))
    });
    let items: Vec<Element> = items.collect();
    (!items.is_empty()).then(|| element("ul").class("shortfall").all(items))
}

/// Returns the commands that do the runs of a setting again by hand, folded away.
pub(super) fn commands(setting: &CellRuns) -> Element {
    let summary = format!("Link and commands: {}", setting.title);
    let parameters = setting.parameters.iter();
    let parameters = parameters.map(|(name, value)| (*name, value.as_str()));
    let described = (!setting.parameters.is_empty()).then(|| described(parameters));
    let first = setting.peers.iter();
    let first = first.filter_map(|runs| runs.outcomes.first());
    element("details")
        .with(element("summary").text(summary))
        .all(described)
        .all(first.flat_map(of_run))
}

/// Returns the name of a run, and what it was made of.
fn of_run(outcome: &Outcome) -> impl Iterator<Item = Element> {
    let (run, facts) = (&outcome.run, &outcome.facts);
    let began = number::moment(facts.began);
    let took = number::time(facts.took);
    let name = format!("{}, seed {}, {began}, took {took}", run.peer, run.seed);
    let scenario = facts.scenario.lines().map(str::to_owned);
    let lines = written(scenario.chain(prompted(&facts.commands)));
    [element("p").text(name)].into_iter().chain(lines)
}

/// Returns commands as they stand behind a prompt.
fn prompted(commands: &[String]) -> impl Iterator<Item = String> {
    commands.iter().map(|command| format!("$ {command}"))
}

/// Returns lines as they stand at a terminal, if there are any.
fn written(lines: impl Iterator<Item = String>) -> Option<Element> {
    let lines: Vec<String> = lines.collect();
    let text = lines.join("\n");
    (!lines.is_empty()).then(|| element("pre").set("tabindex", 0).text(text))
}

/// Every run that has no figures, and why.
pub(super) fn failures(subjects: &[ExperimentRuns]) -> Option<PageSection> {
    let mut table = Table::new("Runs without figures")
        .words(["experiment", "setting", "peer"])
        .numbers("", ["seed"])
        .words(["reason"]);
    for subject in subjects {
        for setting in &subject.settings {
            for outcome in setting.outcomes() {
                let Some(why) = failure(outcome) else {
                    continue;
                };
                table.row(row([
                    head(subject.name.as_str()),
                    words(setting.title.as_str()),
                    words(outcome.run.peer.as_str()),
                    numeral(outcome.run.seed.to_string()),
                    words(why).class("wide"),
                ]));
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
    if let Some(commands) = written(prompted(&origin.commands)) {
        parts.extend([element("p").text("The outcomes were made by"), commands]);
    }
    parts
}

/// Returns the commands that started the peers, each in its first run.
fn programs(subjects: &[ExperimentRuns], peers: &PeerStyles) -> Option<Element> {
    let mut table =
        Table::new("How each peer was started, in its first run").words(["peer", "command"]);
    for peer in peers.names() {
        let settings = subjects.iter().flat_map(|subject| &subject.settings);
        let mut outcomes = settings
            .flat_map(CellRuns::outcomes)
            .filter(|outcome| outcome.run.peer == peer);
        let first = outcomes.find_map(|outcome| outcome.facts.commands.first());
        if let Some(command) = first {
            let sign = row_head(peers.sign(peer));
            let code = element("code").text(command.as_str());
            table.row(row([sign, element("td").class("words").with(code)]));
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
