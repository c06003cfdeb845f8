//! Curves that go in steps, no finer than can be seen.

use std::fmt::Write as _;

use crate::report::peers::short;

/// A corner is drawn where the curve moves by at least this much of a drawing's unit.
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

/// Returns the path through corners: level to the next, then up or down to it.
pub(in crate::report) fn path(corners: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut last = None;
    for (x, y) in corners.iter().copied() {
        let _ = match last {
            None => write!(d, "M{} {}", short(x), short(y)),
            Some((before, level)) if before != x && level != y => {
                write!(d, "H{}V{}", short(x), short(y))
            }
            Some((before, _)) if before != x => write!(d, "H{}", short(x)),
            Some(_) => write!(d, "V{}", short(y)),
        };
        last = Some((x, y));
    }
    d
}

/// Returns at which height a curve is at a place: that of the last corner at or before it.
pub(in crate::report) fn height_at(corners: &[(f64, f64)], x: f64) -> Option<f64> {
    let behind = corners.partition_point(|corner| corner.0 <= x);
    behind.checked_sub(1).map(|last| corners[last].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_level_and_then_up() {
        let corners = thinned(&[(0.0, 100.0), (10.0, 50.0), (30.0, 0.0), (40.0, 0.0)]);
        assert_eq!(path(&corners), "M0 100H10V50H30V0H40");
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
        assert_eq!(path(&thinned(&[(0.0, 5.0), (9.0, 5.0)])), "M0 5H9");
        assert_eq!(path(&thinned(&[])), "");
        assert_eq!(height_at(&[(1.0, 2.0)], 0.5), None);
    }

    #[test]
    fn a_step_at_the_start_goes_up_from_the_ground() {
        let corners = thinned(&[(0.0, 100.0), (0.1, 30.0), (50.0, 0.0)]);
        assert_eq!(path(&corners), "M0 100V30H50V0");
    }
}
