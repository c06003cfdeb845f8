//! Draws the share of the keys that came within each time.

use std::time::Duration;

use super::curve::PlottedCurve;
use super::frame::{Area, path};
use super::path_data::{PathData, thinned};
use super::plot::plot;
use super::scale::{Scale, decades, round_up};
use crate::markup::Element;
use crate::report::number::{percent, time};
use crate::report::peers::PeerStyle;
use crate::stats::{KaplanMeier, Observation};

const PLOT: Area = Area {
    left: 46.0,
    top: 10.0,
    right: 488.0,
    bottom: 280.0,
};

/// The least time that is told from none: a tenth of a millisecond.
const LEAST_MS: f64 = 0.1;

/// The scale of time along the lower side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum TimeAxis {
    Log,
    Linear,
}

impl TimeAxis {
    fn name(self) -> &'static str {
        match self {
            Self::Log => "ms, logarithmic",
            Self::Linear => "ms, linear",
        }
    }
}

/// The waits of one peer.
pub(in crate::report) struct CdfCurve<'a> {
    pub(in crate::report) peer: &'a str,
    pub(in crate::report) style: PeerStyle,
    pub(in crate::report) waits: Vec<Observation>,
}

/// Draws the curves of all peers in one plot. `None` where nobody waited.
pub(in crate::report) fn cdf(
    title: &str,
    curves: &[CdfCurve<'_>],
    axis: TimeAxis,
) -> Option<Element> {
    let survivals: Vec<KaplanMeier> = curves
        .iter()
        .map(|curve| KaplanMeier::of(&curve.waits))
        .collect();
    let x = time_scale(&survivals, curves, axis)?;
    let y = Scale::linear((0.0, 1.0), (PLOT.bottom, PLOT.top));
    let plotted = curves.iter().zip(&survivals);
    let plotted: Vec<PlottedCurve<'_>> = plotted
        .map(|(curve, survival)| one(curve, survival, &x, &y))
        .collect();
    let title = described(title, axis, curves, &survivals);
    let (across, upward) = ((&x, axis.name()), (&y, percent_tick as fn(f64) -> String));
    Some(plot(&title, PLOT, across, upward, &plotted))
}

fn percent_tick(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns the scale of time: in linear time up to a little past what nine in ten of each peer took, so that
/// a few long waits do not press the rest against the side; in logarithmic time all of it.
fn time_scale(survivals: &[KaplanMeier], curves: &[CdfCurve<'_>], axis: TimeAxis) -> Option<Scale> {
    let places = (PLOT.left, PLOT.right);
    let waits = curves.iter().flat_map(|curve| &curve.waits);
    let longest = waits.map(|wait| millis(wait.waited())).reduce(f64::max)?;
    let quantile = |share| {
        let times = survivals.iter().map(move |one| one.quantile(share));
        times.flatten().map(millis)
    };
    Some(match axis {
        TimeAxis::Log => {
            let least = quantile(0.02).fold(longest, f64::min).max(LEAST_MS);
            Scale::log(decades(least, longest.max(LEAST_MS)), places)
        }
        TimeAxis::Linear => {
            let most = quantile(0.95).fold(0.0, f64::max);
            let most = if most > 0.0 {
                (most * 1.15).min(longest)
            } else {
                longest
            };
            let step = round_up(most / 8.0);
            Scale::linear((0.0, (most / step).ceil() * step), places)
        }
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The places of the steps: from the ground on the left to the last time at which somebody looked, or to the
/// right end where everything had come before it.
fn points(survival: &KaplanMeier, waits: &[Observation], x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    let mut points = vec![(PLOT.left, y.at(0.0))];
    let shown = survival
        .steps()
        .iter()
        .take_while(|step| millis(step.at) <= x.to());
    points.extend(shown.map(|step| (x.at(millis(step.at)), y.at(step.share))));
    let longest = waits.iter().map(|wait| millis(wait.waited()));
    let longest = longest.fold(0.0, f64::max);
    let last = survival.steps().last().map_or(0.0, |step| step.share);
    let end = if last > 0.999_999 { x.to() } else { longest };
    let height = points.last().map_or(y.at(0.0), |point| point.1);
    points.push((x.at(end), height));
    points
}

/// The shares at which a curve has its mark.
const MARKED: [f64; 3] = [0.25, 0.5, 0.75];

fn one<'a>(curve: &CdfCurve<'a>, survival: &KaplanMeier, x: &Scale, y: &Scale) -> PlottedCurve<'a> {
    let corners = thinned(&points(survival, &curve.waits, x, y));
    let quantiles = MARKED.iter().filter_map(|share| {
        let at = millis(survival.quantile(*share)?);
        (at <= x.to()).then(|| (x.at(at), y.at(*share)))
    });
    PlottedCurve {
        peer: curve.peer,
        style: curve.style,
        line: path("line", PathData::steps(&corners)),
        marks: quantiles.collect(),
        anchors: rising(&corners),
        places: corners,
    }
}

/// Returns the places at which a curve passes some heights.
fn rising(corners: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let height = PLOT.bottom - PLOT.top;
    let levels = (2..=18).map(|part| PLOT.bottom - height * f64::from(part) / 20.0);
    let passes = |level: f64| {
        let corner = corners.iter().find(|corner| corner.1 <= level)?;
        Some((corner.0, level))
    };
    levels.filter_map(passes).collect()
}

/// Returns the chart in words. The figures are said once for both plots of a pair.
fn described(
    title: &str,
    axis: TimeAxis,
    curves: &[CdfCurve<'_>],
    survivals: &[KaplanMeier],
) -> String {
    let name = axis.name();
    if axis == TimeAxis::Linear {
        return format!("{title}, {name}");
    }
    let peers = curves.iter().zip(survivals).map(|(curve, survival)| {
        let at_once = percent(survival.share(Duration::from_millis(5)));
        let median = survival.quantile(0.5);
        let median = median.map_or("none".to_owned(), |median| time(median.as_secs_f64()));
        format!("{}: median {median}, {at_once} % within 5 ms", curve.peer)
    });
    let peers: Vec<String> = peers.collect();
    format!("{title}, {name}. {}", peers.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::PeerStyles;
    use Observation::{After, Censored};

    fn curve(waits: Vec<Observation>) -> CdfCurve<'static> {
        CdfCurve {
            peer: "mosh",
            style: PeerStyles::named(["mosh"]).style("mosh"),
            waits,
        }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn drawn(waits: Vec<Observation>, axis: TimeAxis) -> String {
        cdf("Own effect", &[curve(waits)], axis)
            .unwrap()
            .to_string()
    }

    #[test]
    fn half_of_the_keys_at_ten_and_half_at_a_hundred_make_two_steps() {
        let waits = vec![After(ms(10)), After(ms(100))];
        let svg = drawn(waits, TimeAxis::Log);
        // From 10 to 100 ms is the whole width, and 50 % the middle of 10 to 280.
        assert!(
            svg.contains("class=\"line\" d=\"M46 280v-135h442v-135\""),
            "{svg}"
        );
        assert!(svg.contains("median 55.0 ms, 0 % within 5 ms"), "{svg}");
    }

    #[test]
    fn keys_that_never_came_leave_the_curve_below_the_top_and_end_it() {
        let waits = vec![After(ms(10)), Censored(ms(50)), After(ms(100))];
        let svg = drawn(waits, TimeAxis::Linear);
        assert!(
            svg.contains("<path class=\"line\" d=\"M46 280h44v-90h398v-180\""),
            "{svg}"
        );
        let waits = vec![After(ms(100)), Censored(ms(1000))];
        let svg = drawn(waits, TimeAxis::Log);
        assert!(svg.contains("d=\"M46 280v-135h442\""), "{svg}");
    }

    #[test]
    fn what_is_beyond_the_linear_end_is_not_drawn_at_it() {
        let mut waits = vec![After(ms(100)); 99];
        waits.push(After(ms(60_000)));
        let svg = drawn(waits, TimeAxis::Linear);
        // 99 % is 2.7 units below the top: no step to the top is shown, since none is within the scale.
        assert!(svg.contains("v-267h73\""), "{svg}");
    }

    #[test]
    fn ten_thousand_keys_are_a_few_kilobytes() {
        let waits = (0..10_000).map(|key| After(Duration::from_micros(key * 37)));
        let svg = drawn(waits.collect(), TimeAxis::Log);
        assert!(svg.len() < 12_000, "{}", svg.len());
    }

    #[test]
    fn nobody_waited_is_no_chart() {
        assert!(cdf("", &[], TimeAxis::Log).is_none());
        assert!(cdf("", &[curve(vec![])], TimeAxis::Log).is_none());
    }

    #[test]
    fn a_curve_ends_where_somebody_last_looked_unless_all_had_come() {
        let mut waits = vec![After(ms(10)), After(ms(100))];
        let all = drawn(waits.clone(), TimeAxis::Log);
        assert!(all.contains("v-135h442v-135\""), "{all}");
        waits.push(Censored(ms(500)));
        let svg = drawn(waits, TimeAxis::Log);
        // 500 ms are 0.85 of the way from 10 to 1000.
        assert!(svg.contains("M46 280v-90h221v-90h155\""), "{svg}");
    }

    #[test]
    fn a_curve_has_its_marks_at_the_quarters() {
        let waits = (1..=100).map(|wait| After(ms(wait))).collect();
        let svg = drawn(waits, TimeAxis::Linear);
        let marks = svg.split("class=\"mark\" d=\"").nth(1).unwrap();
        let marks = marks.split('"').next().unwrap();
        let places: Vec<&str> = marks
            .split('M')
            .skip(1)
            .map(|mark| mark.split('m').next().unwrap())
            .collect();
        // A quarter of the height is 67.5 units.
        let heights: Vec<&str> = places
            .iter()
            .filter_map(|place| place.split(' ').nth(1))
            .collect();
        assert_eq!(heights, ["213", "145", "78"], "{svg}");
    }
}
