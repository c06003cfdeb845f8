//! A curve of a chart, in the places of the drawing.

use super::frame::marks;
use crate::markup::{Element, element};
use crate::report::peers::{PeerStyle, dashed};

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
    /// Draws the line with its marks.
    pub(super) fn element(&self) -> Element {
        element("g")
            .class(format!("c{}", self.style.colour))
            .with(dashed(self.line.clone(), self.style))
            .all(marks(self.style.mark, self.marks.iter().copied()))
    }
}
