//! Charts, drawn as SVG by functions of numbers alone.
//!
//! Colours and widths of lines are the stylesheet's; what is a place is reckoned here.

mod cdf;
mod curve;
mod frame;
mod label;
mod lines;
mod path_data;
mod plot;
mod scale;
mod spread;
mod timeline;

pub(super) use cdf::{CdfCurve, TimeAxis, cdf};
pub(super) use frame::FRAME;
pub(super) use lines::{SeriesAxes, SeriesLine, lines};
pub(super) use spread::{SpreadKind, SpreadRow, SpreadValue, definitions, spread, spread_over};
pub(super) use timeline::{Timeline, TimelineKey, ladder, timeline};
