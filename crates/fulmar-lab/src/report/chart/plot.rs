//! Curves over a scale on either side, each with its marks and its name beside it.

use super::curve::PlottedCurve;
use super::frame::{Area, across, drawing, upward};
use super::label::labels;
use super::scale::Scale;
use crate::markup::Element;

const WIDTH: f64 = 500.0;
const HEIGHT: f64 = 330.0;

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
