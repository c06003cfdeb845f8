//! Curves over a scale on either side, each with its marks and its name beside it.

use super::frame::{Area, across, drawing, marks, upward};
use super::label::labels;
use super::scale::Scale;
use crate::report::markup::{Element, element};
use crate::report::peers::{PeerStyle, dashed};

const WIDTH: f64 = 500.0;
const HEIGHT: f64 = 330.0;

/// The curve of one peer, all of it in places of the drawing.
pub(super) struct PlottedCurve<'a> {
    pub(super) peer: &'a str,
    pub(super) style: PeerStyle,
    /// The line, without its dashes.
    pub(super) line: Element,
    /// The corners or points that the line goes through.
    pub(super) places: Vec<(f64, f64)>,
    pub(super) marks: Vec<(f64, f64)>,
    /// The places beside which the name can stand.
    pub(super) anchors: Vec<(f64, f64)>,
}

impl PlottedCurve<'_> {
    fn element(&self) -> Element {
        element("g")
            .class(format!("c{}", self.style.colour))
            .with(dashed(self.line.clone(), self.style))
            .all(marks(self.style.mark, self.marks.iter().copied()))
    }
}

/// Draws the curves in an area; of the lower side there is a name, of the left one the form of its numbers.
pub(super) fn plot(
    title: &str,
    area: Area,
    (x, name): (&Scale, &str),
    (y, show): (&Scale, fn(f64) -> String),
    curves: &[PlottedCurve<'_>],
) -> Element {
    drawing(WIDTH, HEIGHT, title)
        .with(upward(area, y, 6, show))
        .with(across(area, x, 7, name))
        .all(curves.iter().map(PlottedCurve::element))
        .all(labels(curves, area))
}
