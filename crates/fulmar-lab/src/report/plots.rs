//! The charts of a setting, made of its runs.

use super::chart::{CdfCurve, Rung, TimeAxis, Timeline, TimelineKey, cdf, ladder, timeline};
use super::grouped::{CellRuns, Measure, PeerRuns};
use super::markup::{Element, element, folded};
use super::number::time;
use super::peers::PeerStyles;
use super::table::scrolling;
use crate::judge::RunVerdict;
use crate::outcome::Outcome;

/// The distribution of the own effect, which stands with the results.
pub(super) fn own_distribution(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    distribution(setting, Measure::Own, peers)
}

/// The distributions of the whole screen and of the first output, folded away.
pub(super) fn other_distributions(setting: &CellRuns, peers: &PeerStyles) -> Vec<Element> {
    let measures = [Measure::Whole, Measure::FirstOutput].into_iter();
    let folded = measures.filter_map(|measure| {
        let summary = format!("Share within a time, {}: {}", measure.name(), setting.title);
        let figure = distribution(setting, measure, peers)?;
        Some(folded(&summary, figure))
    });
    folded.collect()
}

fn distribution(setting: &CellRuns, measure: Measure, peers: &PeerStyles) -> Option<Element> {
    let curves: Vec<CdfCurve<'_>> = setting
        .typed()
        .into_iter()
        .map(|runs| CdfCurve {
            peer: &runs.peer,
            style: peers.style(&runs.peer),
            waits: runs.waits(measure).concat(),
        })
        .filter(|curve| !curve.waits.is_empty())
        .collect();
    let title = format!(
        "Share of keys within a time, {}: {}",
        measure.name(),
        setting.title
    );
    let charts = [TimeAxis::Log, TimeAxis::Linear].map(|axis| cdf(&title, &curves, axis));
    let charts: Vec<Element> = charts.into_iter().flatten().collect();
    if charts.is_empty() {
        return None;
    }
    let caption = format!(
        "Share of keys within a time, {}. Marks at 25, 50 and 75 %; the linear plot ends behind 95 % of the keys.",
        measure.name()
    );
    let charts = element("div").class("pair").all(charts);
    Some(
        element("figure")
            .with(element("figcaption").text(caption))
            .with(charts),
    )
}

/// One run of each peer from start to end, and a part of it up close.
pub(super) fn timelines(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let shown: Vec<(&PeerRuns, &Outcome, &RunVerdict)> = setting
        .peers
        .iter()
        .filter_map(|runs| {
            let outcome = runs.complete().find(|outcome| outcome.verdict.is_some())?;
            Some((runs, outcome, outcome.verdict.as_ref()?))
        })
        .collect();
    let lengths = shown
        .iter()
        .map(|(.., verdict)| verdict.length.as_secs_f64());
    let until = lengths.fold(1.0, f64::max);
    let all: Vec<Vec<TimelineKey>> = shown.iter().map(|(.., verdict)| keys(verdict)).collect();
    let longest = all
        .iter()
        .flatten()
        .map(|key| key.waited)
        .fold(10.0, f64::max);
    let mut figure = element("figure").with(element("figcaption").text(TIMELINE));
    for ((runs, outcome, verdict), keys) in shown.iter().zip(all) {
        let run = Timeline {
            style: peers.style(&runs.peer),
            keys,
            lost: ["lost_up", "lost_down"].map(|name| moments(outcome, name)),
            queue: ["queue_up", "queue_down"].map(|name| series(outcome, name)),
            until,
            longest,
        };
        let seed = outcome.run.seed;
        let title = format!("Timeline of {}, seed {seed}: {}", runs.peer, setting.title);
        let head = element("p")
            .class("strip")
            .with(peers.sign(&runs.peer))
            .text(format!(" seed {seed}"));
        figure = figure
            .with(head)
            .with(scrolling(&title, timeline(&title, &run)))
            .with(close_up(setting, runs, verdict, peers));
    }
    (!shown.is_empty()).then_some(figure)
}

const TIMELINE: &str = "A run of each peer: every key at the time at which it was typed, at the height of its \
                        wait until its own effect was right; × where that never came, a ring where something \
                        was shown wrong. Below: packets lost, and packets waiting at the slow link (filled: \
                        down, line: up). Under each, a part up close: from the key to the moment it was right.";

/// The part of a run that is drawn up close, in seconds.
const CLOSE: f64 = 20.0;

fn close_up(
    setting: &CellRuns,
    runs: &PeerRuns,
    verdict: &RunVerdict,
    peers: &PeerStyles,
) -> Element {
    let rungs: Vec<Rung> = verdict
        .keys
        .iter()
        .filter_map(|key| {
            let typed = key.typed.as_secs_f64();
            let came = key.own?.came();
            Some(Rung {
                typed,
                seen: came.map(|wait| typed + wait.as_secs_f64()),
            })
        })
        .collect();
    let start = densest(&rungs, CLOSE);
    let span = (start, start + CLOSE);
    let title = format!(
        "Keys of {} and their effects from {} on: {}",
        runs.peer,
        time(start),
        setting.title
    );
    scrolling(
        &title,
        ladder(&title, peers.style(&runs.peer), &rungs, span),
    )
}

/// Returns the whole second from which on most keys are typed within a span.
fn densest(rungs: &[Rung], span: f64) -> f64 {
    let within = |start: f64| {
        let within = rungs
            .iter()
            .filter(|rung| rung.typed >= start && rung.typed < start + span);
        within.count()
    };
    let starts = rungs.iter().map(|rung| rung.typed.floor());
    let best = starts.fold((0, 0.0), |best, start| {
        let count = within(start);
        if count > best.0 { (count, start) } else { best }
    });
    best.1
}

fn keys(verdict: &RunVerdict) -> Vec<TimelineKey> {
    let keys = verdict.keys.iter().filter_map(|key| {
        let own = key.own?;
        Some(TimelineKey {
            typed: key.typed.as_secs_f64(),
            waited: own.waited().as_secs_f64() * 1e3,
            is_censored: own.is_censored(),
            is_wrong: key.wrong > 0,
        })
    });
    keys.collect()
}

fn series<'a>(outcome: &'a Outcome, name: &str) -> &'a [(f64, f64)] {
    outcome.series.get(name).map_or(&[], Vec::as_slice)
}

fn moments(outcome: &Outcome, name: &str) -> Vec<f64> {
    let all = series(outcome, name).iter();
    all.filter(|(_, lost)| *lost > 0.0)
        .map(|(at, _)| *at)
        .collect()
}
