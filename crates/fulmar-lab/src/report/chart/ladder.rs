//! A few seconds of a run up close: from each key a line to the moment at which it was right.

use super::frame::{Area, across, drawing, path, text};
use super::scale::Scale;
use crate::report::markup::{Element, element};
use crate::report::peers::{Style, short};

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
    style: Style,
    rungs: &[Rung],
    span: (f64, f64),
) -> Element {
    let x = Scale::linear(span, (PLOT.left, PLOT.right));
    let within = rungs
        .iter()
        .filter(|rung| rung.typed >= span.0 && rung.typed < span.1);
    let (mut lines, mut never) = (String::new(), String::new());
    for rung in within {
        match rung.seen {
            Some(seen) => lines += &line(rung, seen, &x, span.1),
            None => {
                never += &format!(
                    "M{} {}v14m-4-4l4 4l4-4",
                    short(x.at(rung.typed)),
                    short(PLOT.top)
                )
            }
        }
    }
    let sides = format!(
        "M{} {}H{}",
        short(PLOT.left),
        short(PLOT.top),
        short(PLOT.right)
    );
    drawing(WIDTH, PLOT.bottom + 44.0, title)
        .all(across(PLOT, &x, 12, "s from the start of the run"))
        .with(path("base", sides))
        .with(text(PLOT.left - 7.0, PLOT.top + 4.0, "end", "typed"))
        .with(text(PLOT.left - 7.0, PLOT.bottom + 4.0, "end", "right"))
        .with(
            element("g")
                .class(format!("c{}", style.colour))
                .with(path("rung", lines))
                .with(path("never", never)),
        )
}

/// From the upper side to the lower one; cut where the span ends before that.
fn line(rung: &Rung, seen: f64, x: &Scale, end: f64) -> String {
    let share = if seen > end {
        (end - rung.typed) / (seen - rung.typed)
    } else {
        1.0
    };
    format!(
        "M{} {}L{} {}",
        short(x.at(rung.typed)),
        short(PLOT.top),
        short(x.at(seen)),
        short(PLOT.top + (PLOT.bottom - PLOT.top) * share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::Peers;

    fn drawn(rungs: &[Rung]) -> String {
        let style = Peers::default().style("mosh");
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
            svg.contains("class=\"rung\" d=\"M178 12L178 76M278 12L328 76\""),
            "{svg}"
        );
    }

    #[test]
    fn a_line_that_leaves_the_span_is_cut_where_it_does() {
        let svg = drawn(&[Rung {
            typed: 7.86,
            seen: Some(9.86),
        }]);
        assert!(svg.contains("M864 12L964 44"), "{svg}");
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
