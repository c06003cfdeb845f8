//! Names written beside their curves, where they cover nothing.

use super::curve::PlottedCurve;
use super::frame::{Area, path, text};
use super::path_data::{PathData, height_at};
use crate::markup::Element;

/// The size of a label: its letters are about this wide, and this high.
const LETTER: f64 = 9.5;
const HEIGHT: f64 = 16.0;
/// The distance from its curve, if there is room; else it is further away, at the end of a line.
const GAP: f64 = 9.0;
const GAPS: [f64; 4] = [GAP, 34.0, 60.0, 90.0];

/// A place for a label.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    /// The area that it covers.
    area: Area,
    /// The point at which its text begins or ends, and stands.
    x: f64,
    y: f64,
    /// The point of its curve.
    curve: (f64, f64),
    /// True if it is left of the curve, so that its text ends at `x`.
    is_left: bool,
}

impl Spot {
    /// Returns what it covers together with its line.
    fn whole(&self) -> Area {
        self.area.with((self.curve.0, self.area.top))
    }

    /// Returns the line from its curve to it, where it is not right beside it.
    fn leader(&self) -> Option<String> {
        let is_far = (self.x - self.curve.0).abs() > GAP + 1.0;
        let end = if self.is_left {
            self.x + 3.0
        } else {
            self.x - 3.0
        };
        is_far.then(|| {
            let line = [self.curve, (end, self.curve.1)];
            PathData::polyline(&line).into()
        })
    }
}

/// Draws the names of curves with their lines.
pub(super) fn labels(curves: &[PlottedCurve<'_>], within: Area) -> Vec<Element> {
    let drawn = curves.iter().zip(spots(curves, within));
    let drawn = drawn.filter_map(|(curve, spot)| {
        let spot = spot?;
        let anchor = if spot.is_left { "end" } else { "start" };
        let colour = curve.style.colour;
        let leader = spot.leader();
        let leader = leader.map(|d| path(&format!("thin c{colour}"), d));
        let label = text(spot.x, spot.y, anchor, curve.peer).class(format!("label c{colour}"));
        Some(leader.into_iter().chain([label]))
    });
    drawn.flatten().collect()
}

/// Returns a place for each name beside one of the anchors of its curve, within an area: the one that covers
/// least of the curves and of the names before it.
fn spots(curves: &[PlottedCurve<'_>], within: Area) -> Vec<Option<Spot>> {
    let mut taken: Vec<Area> = Vec::new();
    let mut spots = Vec::new();
    for curve in curves {
        let anchors = curve.anchors.iter();
        let candidates = anchors.flat_map(|anchor| beside(curve.peer, *anchor));
        let best = candidates.min_by(|one, other| {
            let cost = |spot: &Spot| cost(spot, &curve.places, curves, &taken, within);
            cost(one).total_cmp(&cost(other))
        });
        taken.extend(best.map(|spot| spot.whole()));
        spots.push(best);
    }
    spots
}

/// Places beside a place of a curve, on either side.
fn beside(name: &str, (x, y): (f64, f64)) -> impl Iterator<Item = Spot> {
    let width = name.chars().count() as f64 * LETTER;
    let sides = GAPS.map(|gap| [(x + gap, false), (x - gap, true)]);
    sides.into_iter().flatten().map(move |(start, is_left)| {
        let left = if is_left { start - width } else { start };
        let (top, bottom) = (y - HEIGHT / 2.0, y + HEIGHT / 2.0);
        Spot {
            area: Area::new(left, top, left + width, bottom),
            x: start,
            y: y + 4.5,
            curve: (x, y),
            is_left,
        }
    })
}

/// Returns how bad a place is: names covered, then curves covered, then how far from the middle.
fn cost(
    spot: &Spot,
    own: &[(f64, f64)],
    curves: &[PlottedCurve<'_>],
    taken: &[Area],
    within: Area,
) -> f64 {
    let outside = f64::from(u8::from(!within.contains(&spot.area)));
    let names = taken
        .iter()
        .filter(|area| area.meets(&spot.whole()))
        .count() as f64;
    let curves = curves.iter().map(|curve| curve.places.as_slice());
    let others = curves.filter(|places| *places != own);
    // What lies between a name and its curve would look like the curve it belongs to.
    let reach = match spot.leader() {
        Some(_) => spot.area,
        None => spot.whole(),
    };
    let covered: f64 = others.map(|curve| share_covered(curve, &reach)).sum();
    let own = share_covered(own, &spot.area);
    let middle = f64::midpoint(within.top, within.bottom);
    let off = (f64::midpoint(spot.area.top, spot.area.bottom) - middle).abs();
    let far = ((spot.x - spot.curve.0).abs() - GAP) / GAP;
    outside * 1e4
        + names * 1e3
        + covered * 100.0
        + own * 30.0
        + far * 0.3
        + off / (within.bottom - within.top)
}

/// Returns the share of a label's width that a curve runs through, from 0 to about 1.
fn share_covered(curve: &[(f64, f64)], area: &Area) -> f64 {
    const PARTS: u32 = 24;
    let width = area.right - area.left;
    let places = (0..=PARTS).map(|part| area.left + width * f64::from(part) / f64::from(PARTS));
    let mut before: Option<f64> = None;
    let crosses = places.filter(|x| {
        let Some(height) = height_at(curve, *x) else {
            return false;
        };
        let from = before.replace(height).unwrap_or(height);
        let (low, high) = (from.min(height), from.max(height));
        low <= area.bottom && high >= area.top
    });
    crosses.count() as f64 / f64::from(PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::PeerStyles;

    const WITHIN: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 400.0,
        bottom: 200.0,
    };

    /// A curve that rises at one place, with anchors on its rising part.
    fn rising(peer: &'static str, x: f64) -> PlottedCurve<'static> {
        PlottedCurve {
            peer,
            style: PeerStyles::default().style(peer),
            line: path("line", ""),
            places: vec![(0.0, 200.0), (x, 0.0), (400.0, 0.0)],
            marks: Vec::new(),
            anchors: (1..=9).map(|level| (x, f64::from(level) * 20.0)).collect(),
        }
    }

    /// The share of a label that any of the curves runs through.
    fn covered(curves: &[PlottedCurve<'_>], spot: &Spot) -> f64 {
        let curves = curves.iter();
        curves
            .map(|one| share_covered(&one.places, &spot.area))
            .sum()
    }

    #[test]
    fn a_name_stands_beside_its_own_curve_and_covers_no_other() {
        let curves = [
            rising("ssh", 100.0),
            rising("mosh", 115.0),
            rising("fulmar", 300.0),
        ];
        let spots = spots(&curves, WITHIN);
        let spots: Vec<Spot> = spots.into_iter().flatten().collect();
        assert_eq!(spots.len(), 3);
        for (spot, curve) in spots.iter().zip(&curves) {
            assert!(WITHIN.contains(&spot.area), "{spot:?}");
            assert!((spot.x - curve.places[1].0).abs() <= GAP, "{spot:?}");
            assert_eq!(covered(&curves, spot), 0.0, "{spot:?}");
        }
        assert!(spots[0].is_left && !spots[1].is_left);
    }

    #[test]
    fn names_of_equal_curves_do_not_lie_on_each_other() {
        let curves = ["one", "two", "three", "four"].map(|name| rising(name, 200.0));
        let spots = spots(&curves, WITHIN);
        let areas: Vec<Area> = spots.into_iter().flatten().map(|spot| spot.area).collect();
        for (number, area) in areas.iter().enumerate() {
            assert!(areas[number + 1..].iter().all(|other| !other.meets(area)));
        }
    }

    #[test]
    fn a_name_between_two_curves_is_led_out_by_a_line() {
        let curves = [
            rising("first", 200.0),
            rising("second", 206.0),
            rising("third", 212.0),
        ];
        let spots = spots(&curves, WITHIN);
        let spots: Vec<Spot> = spots.into_iter().flatten().collect();
        let leaders = spots.iter().filter_map(Spot::leader).count();
        assert_eq!(leaders, 1, "{spots:?}");
        for spot in &spots {
            assert_eq!(covered(&curves, spot), 0.0, "{spot:?}");
        }
    }

    #[test]
    fn a_curve_without_anchors_has_no_place() {
        let flat = PlottedCurve {
            anchors: Vec::new(),
            ..rising("none", 200.0)
        };
        assert_eq!(spots(&[flat], WITHIN), [None]);
    }

    #[test]
    fn a_name_rather_covers_a_curve_than_another_name() {
        let mut own = rising("own", 200.0);
        own.anchors = vec![(200.0, 100.0)];
        let area = Area::new(0.0, 92.0, 400.0, 108.0);
        let crossing = PlottedCurve {
            places: vec![(0.0, 100.0), (400.0, 100.0)],
            ..rising("other", 0.0)
        };
        let spot = |(start, is_left): (f64, bool)| {
            let candidates = beside("own", (200.0, 100.0));
            let mut candidates =
                candidates.filter(|spot| (spot.x, spot.is_left) == (start, is_left));
            candidates.next().unwrap()
        };
        let right = spot((200.0 + GAP, false));
        let curves = [own, crossing];
        let on_curve = cost(&right, &curves[0].places, &curves, &[], WITHIN);
        let on_name = cost(&right, &curves[0].places, &curves[..1], &[area], WITHIN);
        assert!(
            on_curve > 100.0 && on_name > on_curve * 5.0,
            "{on_curve} {on_name}"
        );
        let outside = cost(
            &right,
            &curves[0].places,
            &curves[..1],
            &[],
            area.with((0.0, 93.0)),
        );
        assert!(outside < 100.0, "it is within: {outside}");
        let narrow = Area::new(0.0, 0.0, 210.0, 200.0);
        let outside = cost(&right, &curves[0].places, &curves[..1], &[], narrow);
        assert!(outside > on_name * 5.0, "{outside}");
    }
}
