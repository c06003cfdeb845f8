//! One figure of many things on one logarithmic scale, a row for each: where it is, and how sure.
//!
//! Rows are text of the page with a stripe beside it, whose places are shares of its width. So words keep their
//! size however narrow the page is.

use super::scale::{Scale, decades};
use crate::markup::{Element, element};
use crate::report::number::time;
use crate::report::peers::{PeerStyles, short};

/// One thing and its figures.
pub(in crate::report) struct SpreadRow {
    pub(in crate::report) name: Element,
    pub(in crate::report) values: Vec<SpreadValue>,
}

/// A figure of one peer.
#[derive(Clone, Debug)]
pub(in crate::report) struct SpreadValue {
    pub(in crate::report) peer: String,
    pub(in crate::report) value: f64,
    /// The interval in which it may lie.
    pub(in crate::report) interval: Option<(f64, f64)>,
    /// In words, for those who cannot see it.
    pub(in crate::report) words: String,
}

/// The form of the numbers below the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum SpreadKind {
    /// Times in seconds.
    Seconds,
    /// Ratios, with a line at 1.
    Ratio,
}

const HEIGHT: u32 = 22;
const MIDDLE: u32 = HEIGHT / 2;

/// Draws the rows over one scale. `None` where there is no figure.
pub(in crate::report) fn spread(
    rows: Vec<SpreadRow>,
    kind: SpreadKind,
    peers: &PeerStyles,
) -> Option<Element> {
    spread_over(rows, kind, Vec::new(), peers)
}

/// The same over a scale that has room for other values, too: those of a drawing that is compared with it.
pub(in crate::report) fn spread_over(
    rows: Vec<SpreadRow>,
    kind: SpreadKind,
    others: Vec<f64>,
    peers: &PeerStyles,
) -> Option<Element> {
    let values = rows.iter().flat_map(|row| &row.values);
    let values = values.map(|value| value.value);
    let scale = scale(values.chain(others), kind)?;
    let drawn = rows.into_iter().map(|row| {
        let stripe = stripe(&row, &scale, kind, peers);
        element("div").class("row").with(row.name).with(stripe)
    });
    let drawn: Vec<Element> = drawn.collect();
    let blank = element("div");
    let axis = element("div")
        .class("row axis")
        .with(blank)
        .with(axis(&scale, kind));
    Some(element("div").class("spread").all(drawn).with(axis))
}

fn scale(values: impl Iterator<Item = f64>, kind: SpreadKind) -> Option<Scale> {
    let values = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| {
        (low.min(value), high.max(value))
    });
    if high <= 0.0 {
        return None;
    }
    let (low, high) = match kind {
        SpreadKind::Seconds => decades(low, high),
        SpreadKind::Ratio => decades(low.min(0.5), high.max(2.0)),
    };
    Some(Scale::log((low, high), (1.5, 98.5)))
}

fn stripe(row: &SpreadRow, scale: &Scale, kind: SpreadKind, peers: &PeerStyles) -> Element {
    let words: Vec<&str> = row.values.iter().map(|one| one.words.as_str()).collect();
    let mut svg = element("svg")
        .set("role", "img")
        .set("height", HEIGHT)
        .with(element("title").text(words.join("; ")))
        .with(element("use").set("href", "#level"));
    if kind == SpreadKind::Ratio {
        let one = element("use").set("href", "#one");
        svg = svg.with(one.set("x", percent(scale.at(1.0))));
    }
    let drawn = row.values.iter().flat_map(|value| {
        let bar = value.interval.map(|(low, high)| {
            let colour = peers.style(&value.peer).colour;
            level(percent(scale.at(low)), percent(scale.at(high))).class(format!("line c{colour}"))
        });
        let place = percent(scale.at(value.value));
        bar.into_iter()
            .chain([peers.mark(&value.peer, place, MIDDLE)])
    });
    svg.all(drawn)
}

/// Returns what the rows refer to: the line along a row, and that through it at 1.
pub(in crate::report) fn definitions() -> [Element; 2] {
    let along = level("0".to_owned(), "100%".to_owned()).class("grid");
    let through = element("line").class("one").set("y2", HEIGHT);
    [along.set("id", "level"), through.set("id", "one")]
}

fn axis(scale: &Scale, kind: SpreadKind) -> Element {
    let ticks = scale.ticks(7).into_iter().map(|tick| {
        let name = match kind {
            SpreadKind::Seconds => time(tick).replace(".00", "").replace(".0", ""),
            SpreadKind::Ratio => format!("{}×", super::frame::plain(tick)),
        };
        element("text")
            .set("x", percent(scale.at(tick)))
            .set("y", 13)
            .set("text-anchor", "middle")
            .text(name)
    });
    element("svg")
        .set("aria-hidden", "true")
        .set("height", 18)
        .all(ticks)
}

fn level(from: String, to: String) -> Element {
    element("line")
        .set("x1", from)
        .set("x2", to)
        .set("y1", MIDDLE)
        .set("y2", MIDDLE)
}

fn percent(share: f64) -> String {
    format!("{}%", short(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64, interval: Option<(f64, f64)>) -> SpreadRow {
        SpreadRow {
            name: element("span").text("own effect"),
            values: vec![SpreadValue {
                peer: "mosh".to_owned(),
                value,
                interval,
                words: "mosh".to_owned(),
            }],
        }
    }

    #[test]
    fn a_figure_lies_at_its_share_of_the_width() {
        let rows = vec![row(0.01, None), row(1.0, None), row(100.0, None)];
        let drawn = spread(rows, SpreadKind::Seconds, &PeerStyles::default())
            .unwrap()
            .to_string();
        for place in ["1.5%", "50%", "98.5%"] {
            assert!(
                drawn.contains(&format!("x=\"{place}\" y=\"11\"></use>")),
                "{drawn}"
            );
        }
    }

    #[test]
    fn an_interval_is_a_line_that_ends_at_the_ends_of_the_scale() {
        let rows = vec![row(1.0, Some((0.0, f64::INFINITY)))];
        let drawn = spread(rows, SpreadKind::Ratio, &PeerStyles::default())
            .unwrap()
            .to_string();
        let line = "<line x1=\"1.5%\" x2=\"98.5%\" y1=\"11\" y2=\"11\" class=\"line c";
        assert!(drawn.contains(line), "{drawn}");
        assert!(
            drawn.contains(">0.1×<") && drawn.contains(">10×<"),
            "{drawn}"
        );
    }

    #[test]
    fn drawings_that_are_compared_have_one_scale() {
        let axis = |value, others: &[f64]| {
            let rows = vec![row(value, None)];
            let styles = PeerStyles::default();
            let drawn = spread_over(rows, SpreadKind::Seconds, others.to_vec(), &styles);
            let drawn = drawn.unwrap().to_string();
            drawn[drawn.find("row axis").unwrap()..].to_owned()
        };
        assert_eq!(axis(0.02, &[3.0]), axis(3.0, &[0.02]));
        assert_ne!(axis(0.02, &[]), axis(3.0, &[]));
    }

    #[test]
    fn no_figure_is_no_chart() {
        assert!(spread(vec![], SpreadKind::Seconds, &PeerStyles::default()).is_none());
        let never = vec![row(f64::INFINITY, None)];
        assert!(spread(never, SpreadKind::Seconds, &PeerStyles::default()).is_none());
    }

    #[test]
    fn a_scale_is_that_of_the_figures_that_can_be_drawn() {
        let values = [0.0, 0.05, 3.0, f64::INFINITY];
        let place = |value, kind| scale(values.into_iter(), kind).unwrap().at(value);
        assert_eq!(place(0.01, SpreadKind::Seconds), 1.5);
        assert_eq!(place(10.0, SpreadKind::Seconds), 98.5);
        // Of ratios a half and twice belong to it, however near all of them are.
        let ratios = scale([1.0].into_iter(), SpreadKind::Ratio).unwrap();
        assert_eq!(
            [0.1, 1.0, 10.0].map(|ratio| ratios.at(ratio)),
            [1.5, 50.0, 98.5]
        );
    }
}
