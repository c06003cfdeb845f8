//! The charts of a setting, made of its runs.

use super::chart::{CdfCurve, TimeAxis, Timeline, TimelineKey, cdf, ladder, timeline};
use super::grouped::{CellRuns, Measure, PeerRuns};
use super::number::time;
use super::peers::PeerStyles;
use super::table::scrolling;
use crate::judge::RunVerdict;
use crate::markup::{Element, element, figure, folded};
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

/// Returns the curve of each peer for which somebody typed.
pub(super) fn curves<'a>(
    setting: &'a CellRuns,
    measure: Measure,
    peers: &PeerStyles,
) -> Vec<CdfCurve<'a>> {
    let curve = |runs: &'a PeerRuns| CdfCurve {
        peer: &runs.peer,
        style: peers.style(&runs.peer),
        waits: runs.waits(measure).concat(),
    };
    let curves = setting.typed().into_iter().map(curve);
    curves.filter(|curve| !curve.waits.is_empty()).collect()
}

fn distribution(setting: &CellRuns, measure: Measure, peers: &PeerStyles) -> Option<Element> {
    let curves = curves(setting, measure, peers);
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
    Some(figure(caption, charts))
}

/// One run of each peer from start to end, and a part of it up close.
pub(super) fn timelines(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let first = setting.peers.iter().filter_map(|runs| {
        let mut complete = runs.complete();
        complete.find_map(|outcome| Some((outcome, outcome.verdict.as_ref()?)))
    });
    let mut shown: Vec<(&Outcome, Timeline<'_>)> = first
        .map(|(outcome, verdict)| (outcome, run(outcome, verdict, peers)))
        .collect();
    // Runs stand under each other, over the same time and with the same heights.
    let all = || shown.iter().map(|(_, run)| run);
    let until = all().map(|run| run.until).fold(1.0, f64::max);
    let longest = all().map(|run| run.longest).fold(10.0, f64::max);
    let mut figure = element("figure").with(element("figcaption").text(TIMELINE));
    for (outcome, run) in &mut shown {
        (run.until, run.longest) = (until, longest);
        figure = figure.all(strip(setting, outcome, run, peers));
    }
    (!shown.is_empty()).then_some(figure)
}

fn run<'a>(outcome: &'a Outcome, verdict: &RunVerdict, peers: &PeerStyles) -> Timeline<'a> {
    let keys = verdict.keys.iter().filter_map(|key| {
        let own = key.own?;
        Some(TimelineKey {
            typed: key.typed.as_secs_f64(),
            waited: own.waited().as_secs_f64(),
            is_censored: own.is_censored(),
            is_wrong: key.wrong > 0,
        })
    });
    let keys: Vec<TimelineKey> = keys.collect();
    let waits = keys.iter().map(|key| key.waited * 1e3);
    Timeline {
        style: peers.style(&outcome.run.peer),
        longest: waits.fold(0.0, f64::max),
        keys,
        lost: ["lost_up", "lost_down"].map(|name| moments(outcome, name)),
        queue: ["queue_up", "queue_down"].map(|name| series(outcome, name)),
        until: verdict.length.as_secs_f64(),
    }
}

/// Returns the two drawings of a run, with the name of its peer above them.
fn strip(
    setting: &CellRuns,
    outcome: &Outcome,
    run: &Timeline<'_>,
    peers: &PeerStyles,
) -> [Element; 3] {
    let (peer, seed) = (&outcome.run.peer, outcome.run.seed);
    let head = element("p").class("strip").with(peers.sign(peer));
    let title = format!("Timeline of {peer}, seed {seed}: {}", setting.title);
    let start = densest(&run.keys, CLOSE);
    let close_title = format!(
        "Keys of {peer} and their effects from {} on: {}",
        time(start),
        setting.title
    );
    let close = ladder(&close_title, run, (start, start + CLOSE));
    [
        head.text(format!(" seed {seed}")),
        scrolling(&title, timeline(&title, run)),
        scrolling(&close_title, close),
    ]
}

const TIMELINE: &str = "A run of each peer: every key at the time at which it was typed, at the height of its \
                        wait until its own effect was right; × where that never came, a ring where something \
                        was shown wrong. Below: packets lost, and packets waiting at the slow link (filled: \
                        down, line: up). Under each, a part up close: from the key to the moment it was right.";

/// The part of a run that is drawn up close, in seconds.
const CLOSE: f64 = 20.0;

/// Returns the whole second from which on most keys are typed within a span.
fn densest(keys: &[TimelineKey], span: f64) -> f64 {
    let within = |start: f64| {
        let is_within = |key: &&TimelineKey| key.typed >= start && key.typed < start + span;
        keys.iter().filter(is_within).count()
    };
    let starts = keys.iter().map(|key| key.typed.floor());
    let best = starts.fold((0, 0.0), |best, start| {
        let count = within(start);
        if count > best.0 { (count, start) } else { best }
    });
    best.1
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

#[cfg(test)]
mod tests {
    use super::super::tests::fixture::{assert_in_order, setting, typed};
    use super::*;

    fn key(typed: f64) -> TimelineKey {
        TimelineKey {
            typed,
            waited: 0.0,
            is_censored: false,
            is_wrong: false,
        }
    }

    #[test]
    fn a_part_up_close_begins_where_most_keys_are_typed() {
        let keys = [0.5, 1.5, 30.2, 31.0, 32.0, 50.3].map(key);
        assert_eq!(densest(&keys, 20.0), 30.0);
        // Of the first one the span ends before the third.
        let keys = [1.0, 5.0, 21.0, 24.0].map(key);
        assert_eq!(densest(&keys, 20.0), 5.0);
        let alike = [3.0, 40.0].map(key);
        assert_eq!(densest(&alike, 20.0), 3.0, "the first of several");
        assert_eq!(densest(&[], 20.0), 0.0);
    }

    #[test]
    fn what_was_lost_is_a_moment_only_where_something_was() {
        let mut outcome = typed("ssh", &[&[1]]).outcomes.remove(0);
        let lost = vec![(1.0, 1.0), (2.0, 0.0), (3.0, 2.0)];
        outcome.series = [("lost_up".to_owned(), lost)].into();
        assert_eq!(moments(&outcome, "lost_up"), [1.0, 3.0]);
        assert!(moments(&outcome, "lost_down").is_empty());
    }

    #[test]
    fn curves_are_of_those_for_whom_somebody_typed() {
        let peers = vec![typed("ssh", &[&[1, 2], &[3]]), typed("mosh", &[&[]])];
        let setting = setting(peers);
        let curves = curves(&setting, Measure::Own, &PeerStyles::default());
        let shown: Vec<(&str, usize)> = curves
            .iter()
            .map(|one| (one.peer, one.waits.len()))
            .collect();
        assert_eq!(shown, [("ssh", 3)]);
    }

    #[test]
    fn the_first_run_of_each_peer_is_drawn_over_the_time_of_the_longest() {
        let mut ssh = typed("ssh", &[&[100, 400], &[9]]);
        let mut mosh = typed("mosh", &[&[50]]);
        for (runs, seconds) in [(&mut ssh, 30), (&mut mosh, 60)] {
            let verdict = runs.outcomes[0].verdict.as_mut().unwrap();
            verdict.length = std::time::Duration::from_secs(seconds);
        }
        let drawn = timelines(&setting(vec![ssh, mosh]), &PeerStyles::default())
            .unwrap()
            .html();
        let parts = [
            "<p class=strip>",
            "ssh</span> seed 0</p>",
            "<title>Timeline of ssh, seed 0: A slow link</title>",
            ">60</text>",
            // The longest wait is the upper end.
            "class=keys d=\"M78 12h0m0 30h0\"",
            "<title>Keys of ssh and their effects from 0 ms on: A slow link</title>",
            "<title>Timeline of mosh, seed 0: A slow link</title>",
            ">60</text>",
            "class=keys d=\"M78 57h0\"",
        ];
        assert_in_order(&drawn, &parts);
        assert!(!drawn.contains("seed 1"));
        assert!(timelines(&setting(vec![]), &PeerStyles::default()).is_none());
    }
}
