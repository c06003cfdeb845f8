//! A few seconds of a run up close: from each key a line to the moment at which it was right.

use super::frame::{Area, across, drawing, path, strokes, text};
use super::path_data::PathData;
use super::scale::Scale;
use crate::report::markup::{Element, element};
use crate::report::peers::PeerStyle;

const WIDTH: f64 = 976.0;
/// Keys are typed on the upper side, and seen on the lower one.
const PLOT: Area = Area {
    left: 78.0,
    top: 12.0,
    right: 964.0,
    bottom: 76.0,
};

/// A key that was typed at a second, and seen at another, if it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Rung {
    pub(in crate::report) typed: f64,
    pub(in crate::report) seen: Option<f64>,
}

/// Draws the keys typed within a span of seconds. A line straight down is a key that was there at once.
pub(in crate::report) fn ladder(
    title: &str,
    style: PeerStyle,
    rungs: &[Rung],
    span: (f64, f64),
) -> Element {
    let x = Scale::linear(span, (PLOT.left, PLOT.right));
    let within = rungs
        .iter()
        .filter(|rung| rung.typed >= span.0 && rung.typed < span.1);
    let (mut lines, mut never) = (Vec::new(), PathData::default());
    for rung in within {
        let typed = (x.at(rung.typed), PLOT.top);
        match rung.seen {
            Some(seen) => lines.push((typed, end(rung, seen, &x, span.1))),
            None => never.shape(typed, "v14m-4-4l4 4 4-4"),
        }
    }
    let side = ((PLOT.left, PLOT.top), (PLOT.right, PLOT.top));
    drawing(WIDTH, PLOT.bottom + 44.0, title)
        .with(across(PLOT, &x, 12, "s from the start of the run"))
        .with(strokes("base", [side]))
        .with(text(PLOT.left - 7.0, PLOT.top + 4.0, "end", "typed"))
        .with(text(PLOT.left - 7.0, PLOT.bottom + 4.0, "end", "right"))
        .with(
            element("g")
                .class(format!("c{}", style.colour))
                .with(strokes("rung", lines))
                .with(path("never", never)),
        )
}

/// Returns where the line of a key ends: on the lower side, or the span does if that is before.
fn end(rung: &Rung, seen: f64, x: &Scale, end: f64) -> (f64, f64) {
    let share = if seen > end {
        (end - rung.typed) / (seen - rung.typed)
    } else {
        1.0
    };
    (x.at(seen), PLOT.top + (PLOT.bottom - PLOT.top) * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::PeerStyles;

    fn drawn(rungs: &[Rung]) -> String {
        let style = PeerStyles::default().style("mosh");
        ladder("keys", style, rungs, (0.0, 8.86)).to_string()
    }

    #[test]
    fn a_key_there_at_once_is_a_line_straight_down_and_a_late_one_leans() {
        let rungs = [(1.0, 1.0), (2.0, 2.5), (9.0, 9.1)].map(|(typed, seen)| Rung {
            typed,
            seen: Some(seen),
        });
        let svg = drawn(&rungs);
        assert!(
            svg.contains("class=\"rung\" d=\"M178 12v64m100-64l50 64\""),
            "{svg}"
        );
    }

    #[test]
    fn a_line_that_leaves_the_span_is_cut_where_it_does() {
        let svg = drawn(&[Rung {
            typed: 7.86,
            seen: Some(9.86),
        }]);
        assert!(svg.contains("M864 12l100 32"), "{svg}");
    }

    #[test]
    fn a_key_never_seen_is_an_arrow_that_goes_nowhere() {
        let svg = drawn(&[Rung {
            typed: 1.0,
            seen: None,
        }]);
        assert!(svg.contains("class=\"never\" d=\"M178 12v14"), "{svg}");
    }
}
