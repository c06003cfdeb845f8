//! The facts of the measurements: machine, programs, commands, and what failed.

use std::collections::BTreeSet;

use super::grouped::{CellRuns, ExperimentRuns, ShortfallKind, failure};
use super::number;
use super::origin::Origin;
use super::part::PageSection;
use super::peers::PeerStyles;
use super::table::{Table, head, number as numeral, row, row_head, words};
use crate::markup::{Element, described, element};
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
        let without: Vec<_> = runs.outcomes.iter().filter_map(failure).collect();
        let (count, all) = (without.len(), runs.outcomes.len());
        let (kind, why) = without.first()?;
        let text = format!(" {count} of {all} runs {}: {why}", kind.words());
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

/// Every run that has no figures, and why: those that failed, and those that this machine cannot make.
pub(super) fn failures(subjects: &[ExperimentRuns]) -> Vec<PageSection> {
    let failed = without_figures(subjects, ShortfallKind::Failed, "Runs that failed");
    let missing = ShortfallKind::NotMeasured;
    let missing = without_figures(subjects, missing, "What was not measured here");
    [("failures", failed), ("not-measured", missing)]
        .into_iter()
        .filter_map(|(id, found)| {
            found.map(|(title, table)| PageSection::new(id, title, vec![table]))
        })
        .collect()
}

/// The runs of one kind as a table, with the title of their section.
fn without_figures(
    subjects: &[ExperimentRuns],
    wanted: ShortfallKind,
    title: &'static str,
) -> Option<(&'static str, Element)> {
    let mut table = Table::new("Runs without figures")
        .words(["experiment", "setting", "peer"])
        .numbers("", ["seed"])
        .words(["reason"]);
    for subject in subjects {
        for setting in &subject.settings {
            for outcome in setting.outcomes() {
                let Some((_, why)) = failure(outcome).filter(|(kind, _)| *kind == wanted) else {
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
    Some((title, table.element()?))
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
        "the screen was not put back",
        "Times that a full-screen program ended, and what it had covered did not come back: the display \
         is one without an alternate screen. Keys behind it count by what stands there, so each time \
         is counted once, here.",
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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{
        assert_in_order, failed, not_measured, outcome, setting, subject, text,
    };
    use super::*;
    use crate::report::grouped::PeerRuns;

    fn runs(peer: &str, outcomes: Vec<Outcome>) -> PeerRuns {
        PeerRuns {
            peer: peer.to_owned(),
            outcomes,
        }
    }

    /// A run by a typist with a recording, so many at once.
    fn typed(seed: u64, typing: &str, recording: &str, side_by_side: usize) -> Outcome {
        let mut outcome = outcome("ssh", seed);
        outcome.facts.typing = Some(typing.to_owned());
        outcome.facts.recording = Some(recording.to_owned());
        outcome.facts.side_by_side = side_by_side;
        outcome
    }

    #[test]
    fn the_line_of_facts_has_each_fact_once() {
        let line = |outcomes| typing(&setting(vec![runs("ssh", outcomes)])).html();
        let both = vec![typed(2, "open", "b", 3), typed(1, "open", "a", 1)];
        assert_eq!(
            line(both),
            "<p class=facts-line>open loop · recordings a, b · seeds 1, 2 · up to 3 runs at once</p>"
        );
        let alone = vec![typed(7, "closed", "a", 1)];
        let expected = "<p class=facts-line>closed loop · recordings a · seed 7</p>";
        assert_eq!(line(alone), expected);
        let bare = vec![outcome("ssh", 7)];
        assert_eq!(line(bare), "<p class=facts-line>seed 7</p>");
    }

    #[test]
    fn who_failed_is_told_with_the_first_reason_and_how_often() {
        let styles = PeerStyles::default();
        let some = vec![
            outcome("ssh", 1),
            failed("ssh", 2, "no prompt"),
            failed("ssh", 3, "no answer"),
        ];
        let all = setting(vec![
            runs("ssh", some),
            runs("mosh", vec![outcome("mosh", 1)]),
        ]);
        let said = shortfall(&all, &styles).unwrap().html();
        assert!(
            said.contains("</span> 2 of 3 runs failed: no prompt</ul>"),
            "{said}"
        );
        assert_eq!(said.matches("<li>").count(), 1);
        let lacking = runs(
            "rsync",
            vec![not_measured("rsync", 1, "rsync is not installed")],
        );
        let said = shortfall(&setting(vec![lacking]), &styles).unwrap().html();
        assert!(
            said.contains("</span> 1 of 1 runs not measured: rsync is not installed</ul>"),
            "{said}"
        );
        let well = setting(vec![runs("mosh", vec![outcome("mosh", 1)])]);
        assert!(shortfall(&well, &styles).is_none());
    }

    #[test]
    fn the_first_run_of_each_peer_can_be_done_again_by_hand() {
        let mut first = outcome("ssh", 1);
        first.facts.scenario = "up delay 10ms\ndown loss 1%".to_owned();
        first.facts.commands = vec!["ssh host".to_owned(), "sshd -D".to_owned()];
        (first.facts.began, first.facts.took) = (1_790_000_000, 90.0);
        let bare = outcome("mosh", 5);
        let peers = vec![
            runs("ssh", vec![first, outcome("ssh", 2)]),
            runs("mosh", vec![bare]),
        ];
        let mut setting = setting(peers);
        let said = commands(&setting).html();
        let parts = [
            "<summary>Link and commands: A slow link</summary>",
            "<p>ssh, seed 1, 2026-09-21 14:13 UTC, took 90.0 s</p>",
            "<pre tabindex=0>up delay 10ms\ndown loss 1%\n$ ssh host\n$ sshd -D</pre>",
            "<p>mosh, seed 5, 1970-01-01 00:00 UTC, took 0 ms</p></details>",
        ];
        assert_in_order(&said, &parts);
        assert!(!said.contains("<dl>") && !said.contains("seed 2"));
        setting.parameters = vec![("link", "delay 10ms".to_owned())];
        let said = commands(&setting).html();
        assert!(
            said.contains("</summary><dl><dt>link<dd>delay 10ms</dl><p>"),
            "{said}"
        );
    }

    #[test]
    fn every_run_without_figures_is_listed() {
        let outcomes = vec![
            outcome("ssh", 1),
            failed("ssh", 2, "no <prompt>"),
            not_measured("ssh", 3, "ssh is not installed"),
        ];
        let parts = failures(&[subject(vec![runs("ssh", outcomes)])]);
        let [part, missing] = &parts[..] else {
            panic!("two sections");
        };
        assert_eq!((&*part.id, &*missing.id), ("failures", "not-measured"));
        assert!(text(&missing.inner).contains("ssh is not installed"));
        let row = "<th scope=row>typing<td class=words>A slow link<td class=words>ssh<td>2\
                   <td class=\"words wide\">no &lt;prompt&gt;";
        assert!(text(&part.inner).contains(row), "{}", text(&part.inner));
        assert_eq!(text(&part.inner).matches("scope=row").count(), 1);
        let well = subject(vec![runs("ssh", vec![outcome("ssh", 1)])]);
        assert!(failures(&[well]).is_empty());
    }

    #[test]
    fn machine_and_programs_are_told_as_far_as_they_were_noted() {
        let mut started = outcome("ssh", 2);
        started.facts.commands = vec!["ssh -4 host".to_owned(), "sshd".to_owned()];
        let outcomes = vec![outcome("ssh", 1), started];
        let subjects = [subject(vec![
            runs("ssh", outcomes),
            runs("mosh", vec![outcome("mosh", 1)]),
        ])];
        let styles = PeerStyles::of(&subjects);
        let unknown = text(&making(None, &subjects, &styles).inner);
        assert!(
            unknown.starts_with("<p>Nothing was noted of the machine"),
            "{unknown}"
        );
        assert!(unknown.contains("<code>ssh -4 host</code>"), "{unknown}");
        assert_eq!(unknown.matches("<code>").count(), 1);
        let mut origin = Origin {
            kernel: "6.1".to_owned(),
            processor: "a processor".to_owned(),
            cores: 2,
            memory: 8_000_000_000,
            versions: [("mosh".to_owned(), "mosh 1.4.0".to_owned())].into(),
            ..Origin::default()
        };
        assert_eq!(machine_line(&origin), "2 cores of a processor");
        let known = text(&making(Some(&origin), &subjects, &styles).inner);
        let facts = [
            "<dt>cores<dd>2<dt>memory<dd>8.00 GB<dt>kernel<dd>Linux 6.1<dt>system<dd>",
            "<dt>mosh<dd>mosh 1.4.0</dl><div",
        ];
        assert_in_order(&known, &facts);
        origin.commands = vec!["run lan".to_owned(), "run loss".to_owned()];
        let known = text(&making(Some(&origin), &subjects, &styles).inner);
        let commands = "made by</p><pre tabindex=0>$ run lan\n$ run loss</pre>";
        assert!(known.contains(commands), "{known}");
    }

    #[test]
    fn every_figure_of_the_tables_is_explained_once() {
        let said = text(&reading().inner);
        for (word, _) in WORDS {
            assert_eq!(
                said.matches(&format!("<dt>{word}<dd>")).count(),
                1,
                "{word}"
            );
        }
    }
}
