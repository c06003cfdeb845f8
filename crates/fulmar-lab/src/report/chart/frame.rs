//! The frame of a chart: where the plot is, its grid, and what is written along it.

use super::path_data::PathData;
use super::scale::Scale;
use crate::markup::{Element, element};
use crate::report::number::rounded;
use crate::report::peers::Marker;

/// The class of what many charts have alike: a page draws it once.
pub(in crate::report) const FRAME: &str = "frame";

/// A rectangle, in units of the drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Area {
    pub(in crate::report) left: f64,
    pub(in crate::report) top: f64,
    pub(in crate::report) right: f64,
    pub(in crate::report) bottom: f64,
}

impl Area {
    /// Returns the rectangle from these sides.
    pub(in crate::report) fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self {
            left,
            top,
            right,
            bottom,
        }
    }

    /// Returns the rectangle that holds a point, too.
    pub(in crate::report) fn with(&self, (x, y): (f64, f64)) -> Self {
        Self {
            left: self.left.min(x),
            top: self.top.min(y),
            right: self.right.max(x),
            bottom: self.bottom.max(y),
        }
    }

    /// Returns whether two rectangles have anything in common.
    pub(in crate::report) fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Returns whether a point is in it.
    pub(in crate::report) fn holds(&self, (x, y): (f64, f64)) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// Returns whether another lies in it.
    pub(in crate::report) fn contains(&self, other: &Self) -> bool {
        self.holds((other.left, other.top)) && self.holds((other.right, other.bottom))
    }
}

/// Begins a drawing of a size, with a title for those who cannot see it.
pub(in crate::report) fn drawing(width: f64, height: f64, title: &str) -> Element {
    element("svg")
        .set("role", "img")
        .set("viewBox", format!("0 0 {width} {height}"))
        .with(element("title").text(title))
}

/// Returns text at a place; `anchor` is `start`, `middle` or `end`.
pub(in crate::report) fn text(x: f64, y: f64, anchor: &'static str, text: &str) -> Element {
    let place = element("text").set("x", x.round()).set("y", y.round());
    let place = match anchor {
        "start" => place,
        anchor => place.set("text-anchor", anchor),
    };
    place.text(text)
}

/// Returns a path of a class.
pub(in crate::report) fn path(class: &str, d: impl Into<String>) -> Element {
    element("path").class(class).set("d", d.into())
}

/// Returns one mark at each of some places, if there are any.
pub(in crate::report) fn marks(
    mark: Marker,
    places: impl IntoIterator<Item = (f64, f64)>,
) -> Option<Element> {
    let mut places = places.into_iter().peekable();
    places.peek()?;
    let mut data = PathData::default();
    places.for_each(|place| data.shape(place, mark.shape()));
    Some(path(mark.class(), data))
}

/// Draws straight lines, each from a point to another.
pub(in crate::report) fn strokes(
    class: &str,
    lines: impl IntoIterator<Item = ((f64, f64), (f64, f64))>,
) -> Element {
    let mut data = PathData::default();
    for (from, to) in lines {
        data.move_to(from);
        data.line_to(to);
    }
    path(class, data)
}

/// Marks values along the lower side, with lines through the area.
pub(in crate::report) fn across(area: Area, scale: &Scale, most: usize, name: &str) -> Element {
    let ticks = scale.ticks(most);
    let lines = ticks.iter().map(|tick| {
        let x = scale.at(*tick);
        ((x, area.top), (x, area.bottom))
    });
    let base = ((area.left, area.bottom), (area.right, area.bottom));
    let mut parts = vec![strokes("grid", lines), strokes("base", [base])];
    let label = area.bottom + 17.0;
    parts.extend(
        ticks
            .iter()
            .map(|tick| text(scale.at(*tick), label, "middle", &plain(*tick))),
    );
    let middle = f64::midpoint(area.left, area.right);
    parts.push(text(middle, area.bottom + 36.0, "middle", name).class("name"));
    element("g").class(FRAME).all(parts)
}

/// Marks values along the left side, with lines through the area.
pub(in crate::report) fn upward(
    area: Area,
    scale: &Scale,
    most: usize,
    show: fn(f64) -> String,
) -> Element {
    let ticks = scale.ticks(most);
    let lines = ticks.iter().map(|tick| {
        let y = scale.at(*tick);
        ((area.left, y), (area.right, y))
    });
    let mut parts = vec![strokes("grid", lines)];
    parts.extend(ticks.iter().map(|tick| {
        let y = scale.at(*tick) + 4.0;
        text(area.left - 7.0, y, "end", &show(*tick))
    }));
    element("g").class(FRAME).all(parts)
}

/// Returns a round number as it is written: `0.2`, `10`, `10 000`.
pub(in crate::report) fn plain(value: f64) -> String {
    let text = rounded(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_have_no_idle_digits() {
        let shown = [0.0, 0.2, 0.25, 1.0, 10.0, 100.0, 2_000.0].map(plain);
        assert_eq!(shown, ["0", "0.2", "0.25", "1", "10", "100", "2000"]);
    }

    #[test]
    fn ticks_are_marked_at_their_places() {
        let area = Area::new(40.0, 10.0, 240.0, 110.0);
        let scale = Scale::linear((0.0, 2.0), (40.0, 240.0));
        let parts = across(area, &scale, 3, "s").to_string();
        assert!(
            parts.contains("M40 10v100m100-100v100m100-100v100"),
            "{parts}"
        );
        assert!(parts.contains("<text x=\"140\" y=\"127\" text-anchor=\"middle\">1</text>"));
    }

    #[test]
    fn areas_meet_where_they_overlap() {
        let area = Area::new(0.0, 0.0, 10.0, 10.0);
        assert!(area.meets(&Area::new(9.0, 9.0, 20.0, 20.0)));
        assert!(!area.meets(&Area::new(10.0, 0.0, 20.0, 10.0)));
        assert!(area.contains(&Area::new(1.0, 1.0, 10.0, 10.0)));
        assert!(!area.contains(&Area::new(1.0, 1.0, 10.5, 10.0)));
    }

    #[test]
    fn areas_that_only_touch_do_not_meet() {
        let area = Area::new(10.0, 10.0, 20.0, 20.0);
        for beside in [(0.0, 10.0), (20.0, 10.0), (10.0, 0.0), (10.0, 20.0)] {
            let (left, top) = beside;
            let of = |by: f64| Area::new(left + by, top + by, left + 10.0 + by, top + 10.0 + by);
            assert!(!area.meets(&of(0.0)), "{beside:?}");
        }
        assert!(area.meets(&Area::new(0.0, 0.0, 10.5, 10.5)));
        let corners = [(10.0, 10.0), (20.0, 20.0), (9.9, 15.0), (15.0, 20.1)];
        assert_eq!(
            corners.map(|corner| area.holds(corner)),
            [true, true, false, false]
        );
        assert_eq!(area.with((5.0, 30.0)), Area::new(5.0, 10.0, 20.0, 30.0));
    }
}
