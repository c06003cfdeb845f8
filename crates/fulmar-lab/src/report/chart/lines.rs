//! Values that change, of any kind: a line for each peer.

use super::curve::PlottedCurve;
use super::frame::{Area, path, plain};
use super::path_data::PathData;
use super::plot::plot;
use super::scale::{Scale, decades, round_up};
use crate::markup::Element;
use crate::report::peers::PeerStyle;

const PLOT: Area = Area {
    left: 58.0,
    top: 10.0,
    right: 486.0,
    bottom: 280.0,
};

/// Up to so many points each has its mark.
const MARKED_MAX: usize = 16;

/// The values of one peer, in the order of x.
pub(in crate::report) struct SeriesLine {
    pub(in crate::report) peer: String,
    pub(in crate::report) style: PeerStyle,
    pub(in crate::report) points: Vec<(f64, f64)>,
}

/// The names of both sides, and whether they are logarithmic.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct SeriesAxes<'a> {
    pub(in crate::report) across: &'a str,
    pub(in crate::report) upward: &'a str,
    pub(in crate::report) is_log: (bool, bool),
}

/// Draws the lines in one plot. `None` where no line has a point.
pub(in crate::report) fn lines(
    title: &str,
    lines: &[SeriesLine],
    sides: SeriesAxes<'_>,
) -> Option<Element> {
    let all = lines.iter().flat_map(|line| &line.points);
    let finite = all.filter(|(x, y)| x.is_finite() && y.is_finite());
    let (xs, ys): (Vec<f64>, Vec<f64>) = finite.copied().unzip();
    if xs.is_empty() {
        return None;
    }
    let x = scale(&xs, sides.is_log.0, false, (PLOT.left, PLOT.right));
    let y = scale(&ys, sides.is_log.1, true, (PLOT.bottom, PLOT.top));
    let plotted: Vec<PlottedCurve<'_>> = lines.iter().map(|line| one(line, &x, &y)).collect();
    let title = format!("{title}: {} over {}", sides.upward, sides.across);
    let (across, upward) = ((&x, sides.across), (&y, plain as fn(f64) -> String));
    Some(plot(&title, PLOT, across, upward, &plotted))
}

/// A side for some values; `has_zero` where 0 belongs to it however far it is.
fn scale(values: &[f64], is_log: bool, has_zero: bool, places: (f64, f64)) -> Scale {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if is_log {
        let least = values.iter().copied().filter(|value| *value > 0.0);
        let least = least.fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            return Scale::log(decades(least, high), places);
        }
    }
    let is_near = has_zero || low <= high - low;
    let low = if is_near { low.min(0.0) } else { low };
    let step = round_up((high - low) / 5.0);
    let low = (low / step + 1e-9).floor() * step;
    Scale::linear((low, low + ((high - low) / step).ceil() * step), places)
}

/// Places of points, without those that lie where the one before them does.
fn places(points: &[(f64, f64)], x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    let places = points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    let half = |place: f64| (place * 2.0).round() / 2.0;
    let mut places: Vec<(f64, f64)> = places
        .map(|point| (half(x.at(point.0)), half(y.at(point.1))))
        .collect();
    places.dedup();
    // Of more points than can be told apart in one column the least and the greatest remain.
    let columns = places.chunk_by(|one, next| one.0 == next.0);
    let ends = |column: &[(f64, f64)]| {
        let heights = column.iter().map(|place| place.1);
        let least = heights.clone().fold(f64::INFINITY, f64::min);
        let most = heights.fold(f64::NEG_INFINITY, f64::max);
        match column {
            [] | [_] | [_, _] => column.to_vec(),
            [first, .., last] => vec![*first, (first.0, least), (first.0, most), *last],
        }
    };
    columns.flat_map(ends).collect()
}

/// So many places along a line are tried for its name. Chosen by eye.
const ANCHORS_MAX: usize = 20;

fn one<'a>(line: &'a SeriesLine, x: &Scale, y: &Scale) -> PlottedCurve<'a> {
    let places = places(&line.points, x, y);
    let some = |most: usize| {
        let stride = places.len().div_ceil(most).max(1);
        places.iter().copied().step_by(stride).collect()
    };
    PlottedCurve {
        peer: &line.peer,
        style: line.style,
        line: path("line", PathData::polyline(&places)),
        marks: some(MARKED_MAX),
        anchors: some(ANCHORS_MAX),
        places,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::PeerStyles;

    const SIDES: SeriesAxes<'static> = SeriesAxes {
        across: "s",
        upward: "lines shown",
        is_log: (false, false),
    };

    fn drawn(points: Vec<(f64, f64)>, sides: SeriesAxes<'_>) -> String {
        let line = SeriesLine {
            peer: "mosh".to_owned(),
            style: PeerStyles::default().style("mosh"),
            points,
        };
        lines("Tinygrams", &[line], sides).unwrap().to_string()
    }

    #[test]
    fn points_lie_at_their_places() {
        let svg = drawn(vec![(0.0, 0.0), (1.0, 50.0), (2.0, 100.0)], SIDES);
        assert!(svg.contains("d=\"M58 280l428-270\""), "{svg}");
        let log = SeriesAxes {
            is_log: (true, false),
            ..SIDES
        };
        let svg = drawn(vec![(0.1, 0.0), (1.0, 50.0), (10.0, 100.0)], log);
        assert!(svg.contains("d=\"M58 280l428-270\""), "{svg}");
    }

    #[test]
    fn a_hundred_thousand_points_are_no_more_than_can_be_seen() {
        let points =
            (0..100_000).map(|number| (f64::from(number), f64::from(number * 7919 % 1000)));
        assert!(drawn(points.collect(), SIDES).len() < 60_000);
    }

    #[test]
    fn a_side_far_from_nothing_begins_near_its_values() {
        let points = vec![(6000.0, 0.0), (7000.0, 50.0), (8000.0, 100.0)];
        let svg = drawn(points, SIDES);
        assert!(svg.contains("d=\"M58 280l428-270\""), "{svg}");
    }

    #[test]
    fn a_single_point_is_a_mark_and_none_is_no_chart() {
        assert!(drawn(vec![(3.0, 5.0)], SIDES).contains("class=\"mark\""));
        assert!(lines("", &[], SIDES).is_none());
        let odd = vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)];
        let line = SeriesLine {
            peer: "odd".to_owned(),
            style: PeerStyles::default().style("odd"),
            points: odd,
        };
        assert!(lines("", &[line], SIDES).is_none());
    }

    #[test]
    fn a_side_begins_at_nothing_where_its_values_reach_down_to_half() {
        let from = |low: f64| scale(&[low, 100.0], false, false, (0.0, 1.0)).at(50.0);
        assert_eq!((from(50.0), from(51.0)), (0.5, 0.0));
        let zero = scale(&[60.0, 100.0], false, true, (0.0, 1.0));
        assert_eq!(zero.at(50.0), 0.5);
    }

    #[test]
    fn of_many_points_in_one_column_the_first_the_least_the_greatest_and_the_last_remain() {
        let side = Scale::linear((0.0, 100.0), (0.0, 100.0));
        let points = [
            (5.0, 40.0),
            (5.0, 10.0),
            (5.0, 90.0),
            (5.0, 60.0),
            (5.0, 50.0),
            (9.0, 1.0),
        ];
        let expected = [
            (5.0, 40.0),
            (5.0, 10.0),
            (5.0, 90.0),
            (5.0, 50.0),
            (9.0, 1.0),
        ];
        assert_eq!(places(&points, &side, &side), expected);
        let two = [(5.0, 40.0), (5.1, 40.1), (5.0, 10.0)];
        assert_eq!(places(&two, &side, &side), [(5.0, 40.0), (5.0, 10.0)]);
    }
}
