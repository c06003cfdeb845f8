//! The series of a setting without keys, whatever they are: a plot for each name.

use std::collections::BTreeSet;

use super::chart::{SeriesAxes, SeriesLine, lines};
use super::grouped::{CellRuns, PeerRuns};
use super::peers::{Marker, PeerStyles};
use super::scalar::called;
use crate::markup::{Element, element, figure};

/// The names of both sides of a plot, and the factors that give its numbers the units in them.
type SeriesUnits<'a> = (&'a str, &'a str, (f64, f64));

/// Returns the units of a series; one that is not known is something over seconds, in its own words.
fn units<'a>(name: &str, words: &'a str) -> SeriesUnits<'a> {
    match name {
        "bytes" => ("s", "MB", (1.0, 1e-6)),
        "delay_by_frames" => ("frames", "ms", (1.0, 1.0)),
        "delay_by_interval" => ("interval, ms", "ms", (1e3, 1.0)),
        "frames_by_interval" => ("interval, ms", "frames", (1e3, 1.0)),
        "interrupt_to_answer" | "interrupt_to_prompt" => ("which of the floods", "ms", (1.0, 1.0)),
        "queue_down" | "queue_up" => ("s", "packets", (1.0, 1.0)),
        "ssh_to_prompt_by_round_trip" | "to_prompt_by_round_trip" => {
            ("round trip, ms", "ms", (1e3, 1.0))
        }
        _ => ("s", words, (1.0, 1.0)),
    }
}

/// A point that belongs into the plot of another series, and what is said of it.
const POINTS: &[(&str, &str, &str)] = &[("rule", "delay_by_frames", "’s rule")];

/// Up to so many peers have their lines in a plot of their own names; beyond that names cover everything.
const NAMED_MAX: usize = 12;

/// The series of a setting: a plot for each name, with the first run of each peer.
pub(super) fn plots(setting: &CellRuns, peers: &PeerStyles) -> Option<Element> {
    let names: BTreeSet<&str> = setting
        .outcomes()
        .flat_map(|outcome| outcome.series.keys().map(String::as_str))
        .collect();
    let own = names
        .iter()
        .filter(|name| POINTS.iter().all(|(point, ..)| point != *name));
    let charts = own.filter_map(|name| plot(setting, name, peers));
    let charts: Vec<Element> = charts.collect();
    (!charts.is_empty()).then(|| element("div").class("pair").all(charts))
}

fn plot(setting: &CellRuns, name: &str, peers: &PeerStyles) -> Option<Element> {
    let words = called(&name.replace("_by_", "_over_"));
    let (across, upward, factors) = units(name, &words);
    let mut drawn = named(setting, name, "", factors, peers);
    for (point, _, said) in POINTS.iter().filter(|(_, plot, _)| *plot == name) {
        let mut points = named(setting, point, said, factors, peers);
        // Of the same colour as its peer's line, and of another shape than the marks on it.
        points
            .iter_mut()
            .for_each(|point| point.style.mark = Marker::Ring);
        drawn.extend(points);
    }
    drawn.truncate(NAMED_MAX);
    if name.starts_with("queue_") {
        drawn
            .iter_mut()
            .for_each(|line| line.points = stepped(&line.points));
    }
    let is_log = if name.contains("_by_") {
        (
            is_wide(&drawn, |point| point.0),
            is_wide(&drawn, |point| point.1),
        )
    } else {
        (false, false)
    };
    let sides = SeriesAxes {
        across,
        upward,
        is_log,
    };
    let title = format!("{words}: {}", setting.title);
    let chart = lines(&title, &drawn, sides)?;
    let caption = if words.starts_with(upward) {
        words
    } else {
        format!("{words}, {upward}")
    };
    Some(figure(caption, chart))
}

/// Returns a line for each peer that has a series.
fn named(
    setting: &CellRuns,
    name: &str,
    said: &str,
    factors: (f64, f64),
    peers: &PeerStyles,
) -> Vec<SeriesLine> {
    let line = |runs: &PeerRuns| {
        let points = runs.complete().find_map(|one| one.series.get(name))?;
        let points = points.iter().map(|(x, y)| (x * factors.0, y * factors.1));
        Some(SeriesLine {
            peer: format!("{}{said}", runs.peer),
            style: peers.style(&runs.peer),
            points: points.collect(),
        })
    };
    let lines = setting.peers.iter().filter_map(line);
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// Returns points that hold their value until the next one.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let corners = points.windows(2).flat_map(|pair| match pair {
        [(x, y), (next, _)] => vec![(*x, *y), (*next, *y)],
        _ => Vec::new(),
    });
    corners.chain(points.last().copied()).collect()
}

/// Values that differ by this factor are drawn on a logarithmic side.
const WIDE: f64 = 50.0;

/// Returns whether values spread over so much that a straight side would hide most of them.
fn is_wide(lines: &[SeriesLine], side: fn(&(f64, f64)) -> f64) -> bool {
    let values = || lines.iter().flat_map(|line| line.points.iter().map(side));
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    least > 0.0 && most > least * WIDE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> SeriesLine {
        SeriesLine {
            peer: "model".to_owned(),
            style: PeerStyles::default().style("model"),
            points: points.to_vec(),
        }
    }

    #[test]
    fn a_queue_holds_its_depth_until_it_changes() {
        let corners = stepped(&[(1.0, 2.0), (3.0, 5.0)]);
        assert_eq!(corners, [(1.0, 2.0), (3.0, 2.0), (3.0, 5.0)]);
        assert_eq!(stepped(&[]), []);
    }

    #[test]
    fn a_side_is_logarithmic_where_values_spread_widely_and_none_is_zero() {
        let across = |point: &(f64, f64)| point.0;
        assert!(is_wide(&[line(&[(0.1, 0.0), (100.0, 0.0)])], across));
        assert!(!is_wide(&[line(&[(0.0, 0.0), (100.0, 0.0)])], across));
        assert!(!is_wide(&[line(&[(10.0, 0.0), (100.0, 0.0)])], across));
    }

    use super::super::tests::fixture::{assert_in_order, outcome, setting};
    use crate::outcome::Outcome;

    fn with(peer: &str, seed: u64, series: &[(&str, &[(f64, f64)])]) -> Outcome {
        let series = series.iter();
        let series = series.map(|(name, points)| ((*name).to_owned(), points.to_vec()));
        Outcome {
            series: series.collect(),
            ..outcome(peer, seed)
        }
    }

    fn drawn(outcomes: Vec<Outcome>) -> Option<String> {
        let peers = outcomes.into_iter().map(|outcome| PeerRuns {
            peer: outcome.run.peer.clone(),
            outcomes: vec![outcome],
        });
        let plots = plots(&setting(peers.collect()), &PeerStyles::default());
        plots.map(|plots| plots.html())
    }

    #[test]
    fn each_name_has_a_plot_in_its_units() {
        let points: &[(f64, f64)] = &[(0.0, 0.0), (1.0, 2e6), (2.0, 4e6)];
        let series = [("bytes", points), ("lines_shown", points)];
        let svg = drawn(vec![with("ssh", 1, &series)]).unwrap();
        let parts = [
            "<figcaption>bytes, MB</figcaption>",
            "<title>bytes: A slow link: MB over s</title>",
            ">4</text>",
            "<figcaption>lines shown</figcaption>",
            "<title>lines shown: A slow link: lines shown over s</title>",
            ">4\u{202f}000\u{202f}000</text>",
        ];
        assert_in_order(&svg, &parts);
        let across = [(0.1, 3.0), (0.2, 4.0)];
        let svg = drawn(vec![with("ssh", 1, &[("delay_by_interval", &across)])]).unwrap();
        let parts = [
            "<figcaption>delay over interval, ms</figcaption>",
            "ms over interval, ms</title>",
            ">200</text>",
        ];
        assert_in_order(&svg, &parts);
    }

    #[test]
    fn what_has_no_points_has_no_line_and_no_plot() {
        assert!(drawn(vec![with("ssh", 1, &[])]).is_none());
        assert!(drawn(vec![with("ssh", 1, &[("bytes", &[])])]).is_none());
    }

    #[test]
    fn a_rule_is_a_ring_in_the_plot_that_it_belongs_to_and_has_none_of_its_own() {
        let points: &[(f64, f64)] = &[(1.0, 10.0), (2.0, 20.0)];
        let rule: &[(f64, f64)] = &[(1.5, 15.0)];
        let series = [("delay_by_frames", points), ("rule", rule)];
        let svg = drawn(vec![with("ssh", 1, &series)]).unwrap();
        assert_eq!(svg.matches("<figure>").count(), 1);
        assert!(svg.contains(">ssh’s rule</text>"), "{svg}");
        assert_eq!(svg.matches(Marker::Ring.shape()).count(), 1, "{svg}");
        assert!(drawn(vec![with("ssh", 1, &[("rule", rule)])]).is_none());
    }

    #[test]
    fn a_plot_names_no_more_peers_than_it_has_room_for() {
        let points: &[(f64, f64)] = &[(0.0, 0.0), (1.0, 2e6)];
        let peers =
            (0..NAMED_MAX + 2).map(|peer| with(&format!("p{peer:02}"), 1, &[("bytes", points)]));
        let svg = drawn(peers.collect()).unwrap();
        assert_eq!(svg.matches(">p").count(), NAMED_MAX, "{svg}");
    }

    #[test]
    fn only_series_over_something_else_than_time_have_logarithmic_sides() {
        let points: &[(f64, f64)] = &[(0.001, 1.0), (0.01, 10.0), (1.0, 100.0)];
        let line = |name| drawn(vec![with("ssh", 1, &[(name, points)])]).unwrap();
        assert!(
            line("frames_by_interval").contains("d=\"M58 280l143-135 285-135\""),
            "{}",
            line("frames_by_interval")
        );
        assert!(
            !line("lines_shown").contains("l143-135"),
            "{}",
            line("lines_shown")
        );
    }
}
