//! Data of paths, no finer than can be seen, and curves that go in steps.

use std::fmt::Write as _;

/// A curve that is drawn leaves its points by at most this much of a drawing's unit. A unit is at most 1.15 pixels
/// on the page, so this is less than one; chosen by eye.
const TOLERANCE: f64 = 0.75;

/// The `d` of a path: places in whole units, each relative to the one before.
#[derive(Debug, Default)]
pub(in crate::report) struct PathData {
    text: String,
    at: Option<(i64, i64)>,
    command: char,
}

impl PathData {
    /// Returns the line through points, without those that it passes closely enough.
    pub(in crate::report) fn polyline(points: &[(f64, f64)]) -> Self {
        let mut data = Self::default();
        let simplified = simplified(points);
        if let Some((first, rest)) = simplified.split_first() {
            data.move_to(*first);
            rest.iter().for_each(|point| data.line_to(*point));
        }
        data
    }

    /// Returns the line through corners that goes level to the next, then up or down to it.
    pub(in crate::report) fn steps(corners: &[(f64, f64)]) -> Self {
        let level = corners.windows(2).map(|pair| (pair[1].0, pair[0].1));
        let points = corners.iter().take(1).copied();
        let rest = level.zip(corners.iter().skip(1));
        let rest = rest.flat_map(|(level, corner)| [level, *corner]);
        Self::polyline(&points.chain(rest).collect::<Vec<_>>())
    }

    /// Begins a line at a point.
    pub(in crate::report) fn move_to(&mut self, point: (f64, f64)) {
        let (x, y) = whole(point);
        match self.at {
            None => self.command('M', &[x, y]),
            Some(at) => self.command('m', &[x - at.0, y - at.1]),
        }
        self.at = Some((x, y));
    }

    /// Draws a line to a point. To the same point, it is a dot where the ends of lines are round.
    pub(in crate::report) fn line_to(&mut self, point: (f64, f64)) {
        let (x, y) = whole(point);
        let at = self.at.unwrap_or((x, y));
        match (x - at.0, y - at.1) {
            (0, 0) if self.command != 'm' && self.command != 'M' => {}
            (x, 0) => self.command('h', &[x]),
            (0, y) => self.command('v', &[y]),
            (x, y) => self.command('l', &[x, y]),
        }
        self.at = Some((x, y));
    }

    /// Draws a shape around a point; it is path data that begins with a move from there.
    pub(in crate::report) fn shape(&mut self, point: (f64, f64), shape: &str) {
        let (x, y) = whole(point);
        self.command('M', &[x, y]);
        self.text += shape;
        self.at = None;
    }

    /// Writes a command; its letter is not needed again for a line that goes on, nor a gap before a minus.
    fn command(&mut self, command: char, numbers: &[i64]) {
        let mut needs_gap = command == 'l' && self.command == 'l';
        if !needs_gap {
            self.text.push(command);
        }
        for number in numbers {
            if needs_gap && *number >= 0 {
                self.text.push(' ');
            }
            // Writing to a string does not fail.
            let _ = write!(self.text, "{number}");
            needs_gap = true;
        }
        self.command = command;
    }
}

impl From<PathData> for String {
    fn from(data: PathData) -> Self {
        data.text
    }
}

/// Puts a point onto whole units.
fn whole((x, y): (f64, f64)) -> (i64, i64) {
    (x.round() as i64, y.round() as i64)
}

/// Returns the points that a line needs to pass all within the tolerance.
///
/// Source: D. Douglas and T. Peucker, "Algorithms for the reduction of the number of points", 1973.
fn simplified(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut is_kept = vec![false; points.len()];
    let mut spans = vec![(0, points.len().saturating_sub(1))];
    while let Some((first, last)) = spans.pop() {
        let Some(span) = points.get(first..=last) else {
            break;
        };
        (is_kept[first], is_kept[last]) = (true, true);
        let ends = (points[first], points[last]);
        let distances = span.iter().map(|point| distance(*point, ends));
        let farthest = distances
            .enumerate()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((place, distance)) = farthest
            && distance > TOLERANCE
        {
            spans.extend([(first, first + place), (first + place, last)]);
        }
    }
    let kept = points.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(point, _)| *point).collect()
}

/// Returns how far a point is from the line between two.
fn distance((x, y): (f64, f64), (from, to): ((f64, f64), (f64, f64))) -> f64 {
    let (width, height) = (to.0 - from.0, to.1 - from.1);
    let along = (x - from.0) * width + (y - from.1) * height;
    let share = (along / (width * width + height * height)).clamp(0.0, 1.0);
    let share = if share.is_nan() { 0.0 } else { share };
    (x - from.0 - share * width).hypot(y - from.1 - share * height)
}

/// A corner is a step where the curve moves by at least this much of a drawing's unit.
const GRAIN: f64 = 0.5;

/// Puts a place onto the grain.
fn grained(place: f64) -> f64 {
    (place / GRAIN).round() * GRAIN
}

/// Returns the corners of a curve that goes level and then straight up or down, thinned to the grain:
/// of all steps in one column of it the last one counts, and none that moves nothing.
///
/// `points` are places in the order of x; the first is where the curve begins, the last where it ends.
pub(in crate::report) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points.iter().map(|(x, y)| (grained(*x), grained(*y))) {
        match corners.as_mut_slice() {
            // The first corner says where the curve comes from.
            [_, .., last] if last.0 == x => last.1 = y,
            [.., last] if last.1 == y => {}
            _ => corners.push((x, y)),
        }
    }
    let end = points.last().map(|(x, y)| (grained(*x), grained(*y)));
    if let Some(end) = end.filter(|end| corners.last().is_none_or(|last| last.0 < end.0)) {
        corners.push(end);
    }
    corners
}

/// Returns at which height a curve is at a place: that of the last corner at or before it.
pub(in crate::report) fn height_at(corners: &[(f64, f64)], x: f64) -> Option<f64> {
    let behind = corners.partition_point(|corner| corner.0 <= x);
    behind.checked_sub(1).map(|last| corners[last].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(corners: &[(f64, f64)]) -> String {
        PathData::steps(corners).into()
    }

    fn polyline(points: &[(f64, f64)]) -> String {
        PathData::polyline(points).into()
    }

    #[test]
    fn a_curve_goes_level_and_then_up() {
        let corners = thinned(&[(0.0, 100.0), (10.0, 50.0), (30.0, 0.0), (40.0, 0.0)]);
        assert_eq!(steps(&corners), "M0 100h10v-50h20v-50h10");
    }

    #[test]
    fn lines_that_go_on_need_no_letter_and_none_is_drawn_to_where_it_is() {
        let points = [(0.0, 0.0), (3.0, 4.0), (1.0, 2.0), (5.0, -7.0), (5.2, -7.2)];
        assert_eq!(polyline(&points), "M0 0l3 4-2-2 4-9");
        let mut dots = PathData::default();
        for place in [1.0, 3.0] {
            dots.move_to((place, 9.0));
            dots.line_to((place, 9.0));
        }
        dots.shape((7.0, 8.0), "m0-5v10");
        dots.move_to((2.0, 2.0));
        assert_eq!(String::from(dots), "M1 9h0m2 0h0M7 8m0-5v10M2 2");
    }

    #[test]
    fn a_line_passes_every_point_closely_and_keeps_none_it_does_not_need() {
        let straight: Vec<(f64, f64)> = (0..=100).map(|x| (f64::from(x), 7.0)).collect();
        assert_eq!(simplified(&straight), [(0.0, 7.0), (100.0, 7.0)]);
        let wave = |x: u32| 50.0 + 40.0 * (f64::from(x) / 15.0).sin();
        let points: Vec<(f64, f64)> = (0..=400).map(|x| (f64::from(x), wave(x))).collect();
        let line = simplified(&points);
        assert!((10..60).contains(&line.len()), "{}", line.len());
        for point in &points {
            let near = line
                .windows(2)
                .map(|pair| distance(*point, (pair[0], pair[1])));
            let near = near.fold(f64::INFINITY, f64::min);
            assert!(near <= TOLERANCE, "{point:?}: {near}");
        }
    }

    #[test]
    fn a_peak_stays_and_a_closed_line_is_no_point() {
        let peak = [
            (0.0, 0.0),
            (50.0, 0.0),
            (50.5, 40.0),
            (51.0, 0.0),
            (90.0, 0.0),
        ];
        assert_eq!(polyline(&peak), "M0 0h50l1 40v-40h39");
        let closed = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0)];
        assert_eq!(polyline(&closed), "M0 0h9v9l-9-9");
        assert_eq!(polyline(&[(3.0, 4.0)]), "M3 4");
    }

    #[test]
    fn what_lies_in_one_column_becomes_one_step() {
        let points: Vec<(f64, f64)> = (0..=1000)
            .map(|number| (f64::from(number) / 100.0, 100.0 - f64::from(number) / 10.0))
            .collect();
        let corners = thinned(&points);
        assert!(corners.len() <= 23, "{}", corners.len());
        assert_eq!(corners.last(), Some(&(10.0, 0.0)));
        for (x, y) in points {
            let drawn = height_at(&corners, grained(x)).unwrap();
            assert!((drawn - y).abs() <= 5.5, "{x} {y} {drawn}");
        }
    }

    #[test]
    fn a_curve_that_never_moves_is_a_line_and_one_without_points_is_none() {
        assert_eq!(steps(&thinned(&[(0.0, 5.0), (9.0, 5.0)])), "M0 5h9");
        assert_eq!(steps(&thinned(&[])), "");
        assert_eq!(height_at(&[(1.0, 2.0)], 0.5), None);
    }

    #[test]
    fn a_step_at_the_start_goes_up_from_the_ground() {
        let corners = thinned(&[(0.0, 100.0), (0.1, 30.0), (50.0, 0.0)]);
        assert_eq!(steps(&corners), "M0 100v-70h50v-30");
    }

    #[test]
    fn a_curve_that_goes_down_again_keeps_its_corners() {
        let corners = thinned(&[(0.0, 100.0), (10.0, 50.0), (20.0, 80.0), (30.0, 80.0)]);
        assert_eq!(steps(&corners), "M0 100h10v-50h10v30h10");
    }
}
