//! A run from its start to its end: each key and its wait, what was lost, what waited in the queue; and a few
//! seconds of it up close: from each key a line to the moment at which it was right.

use super::frame::{Area, across, drawing, path, plain, strokes, text, upward};
use super::path_data::PathData;
use super::scale::Scale;
use crate::markup::{Element, element};
use crate::report::peers::PeerStyle;

const WIDTH: f64 = 976.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 964.0;
const SECONDS: &str = "s from the start of the run";
/// The waits of keys.
const WAITS: Area = Area {
    left: LEFT,
    top: 12.0,
    right: RIGHT,
    bottom: 142.0,
};
/// A stripe each for losses up and down.
const LOST: [(f64, f64); 2] = [(160.0, 170.0), (174.0, 184.0)];
/// The queues, where something is known of them.
const QUEUE: (f64, f64) = (198.0, 248.0);

/// A key: when it was typed, and how long it waited, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct TimelineKey {
    pub(in crate::report) typed: f64,
    pub(in crate::report) waited: f64,
    /// True if it waited in vain.
    pub(in crate::report) is_censored: bool,
    /// True if something was wrong because of it.
    pub(in crate::report) is_wrong: bool,
}

/// The course of a run, as far as it is known.
pub(in crate::report) struct Timeline<'a> {
    pub(in crate::report) style: PeerStyle,
    pub(in crate::report) keys: Vec<TimelineKey>,
    /// The times at which packets were lost on the way up, and down, in seconds.
    pub(in crate::report) lost: [Vec<f64>; 2],
    /// The number of packets that waited, up and down: seconds, and a number from then on.
    pub(in crate::report) queue: [&'a [(f64, f64)]; 2],
    /// The second up to which it is drawn, so that runs stand under each other.
    pub(in crate::report) until: f64,
    /// The longest wait that is drawn, in milliseconds.
    pub(in crate::report) longest: f64,
}

/// Draws a run.
pub(in crate::report) fn timeline(title: &str, run: &Timeline<'_>) -> Element {
    let has_queue = run.queue.iter().any(|way| !way.is_empty());
    let bottom = if has_queue { QUEUE.1 } else { LOST[1].1 + 6.0 };
    let x = Scale::linear((0.0, run.until), (LEFT, RIGHT));
    let y = Scale::log((1.0, run.longest.max(10.0)), (WAITS.bottom, WAITS.top));
    let whole = Area { bottom, ..WAITS };
    let mut parts = vec![
        across(whole, &x, 10, SECONDS),
        upward(WAITS, &y, 6, wait_tick),
    ];
    parts.extend(keys(run, &x, &y));
    for ((stripe, lost), name) in LOST.iter().zip(&run.lost).zip(["lost up", "lost down"]) {
        parts.push(text(LEFT - 7.0, stripe.1 - 1.0, "end", name));
        parts.push(stripes(lost, &x, *stripe));
    }
    if has_queue {
        parts.extend(queues(run, &x));
    }
    drawing(WIDTH, bottom + 44.0, title).with(
        element("g")
            .class(format!("c{}", run.style.colour))
            .all(parts),
    )
}

fn wait_tick(millis: f64) -> String {
    match millis {
        _ if millis >= 1000.0 => format!("{} s", plain(millis / 1000.0)),
        _ => format!("{} ms", plain(millis)),
    }
}

/// Dots nearer to each other than this touch, and are drawn as a line: they are 5 units wide.
const TOUCHING: f64 = 3.0;

fn keys(run: &Timeline<'_>, x: &Scale, y: &Scale) -> Vec<Element> {
    let (mut never, mut wrong) = (PathData::default(), PathData::default());
    let mut answered = Vec::new();
    for key in &run.keys {
        let place = (x.at(key.typed).round(), y.at(key.waited * 1e3).round());
        if key.is_censored {
            never.shape(place, "m-3-3l6 6m0-6l-6 6");
        } else {
            answered.push(place);
        }
        if key.is_wrong {
            wrong.shape(place, "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0");
        }
    }
    answered.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.total_cmp(&other.0)));
    let rows = answered.chunk_by(|one, next| one.1 == next.1 && next.0 - one.0 <= TOUCHING);
    let dots = rows.filter_map(|row| Some((*row.first()?, *row.last()?)));
    vec![
        strokes("keys", dots),
        path("never", never),
        path("never", wrong),
    ]
}

/// Strokes across a stripe, one in each column where there is any.
fn stripes(times: &[f64], x: &Scale, (top, bottom): (f64, f64)) -> Element {
    let mut places: Vec<f64> = times.iter().map(|time| x.at(*time).round()).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let lines = places
        .into_iter()
        .map(|place| ((place, top), (place, bottom)));
    strokes("lost", lines)
}

fn queues(run: &Timeline<'_>, x: &Scale) -> Vec<Element> {
    let deepest = run.queue.iter().flat_map(|way| way.iter());
    let deepest = deepest.map(|(_, packets)| *packets).fold(1.0, f64::max);
    let y = Scale::linear((0.0, deepest), (QUEUE.1, QUEUE.0));
    let [up, down] = run.queue.map(|way| columns(way, x, &y));
    let top = text(LEFT - 7.0, QUEUE.0 + 9.0, "end", &plain(deepest));
    let name = text(LEFT - 7.0, QUEUE.1 - 2.0, "end", "queue");
    vec![path("area", down), path("thin", up), top, name]
}

/// A queue's depth as bars: in each column of the drawing the deepest that it was.
fn columns(way: &[(f64, f64)], x: &Scale, y: &Scale) -> PathData {
    let ground = y.at(0.0);
    let mut deepest: Vec<f64> = vec![0.0; (RIGHT - LEFT) as usize + 1];
    for (number, (from, packets)) in way.iter().enumerate() {
        let until = way.get(number + 1).map_or(*from, |next| next.0);
        let column = |time: f64| (x.at(time) - LEFT + 1e-6).max(0.0) as usize;
        let last = column(until).min(deepest.len() - 1);
        for depth in &mut deepest[column(*from).min(last)..=last] {
            *depth = packets.max(*depth);
        }
    }
    if way.is_empty() {
        return PathData::default();
    }
    let mut corners = vec![(LEFT, ground)];
    let columns = deepest.iter().enumerate();
    corners.extend(columns.map(|(column, depth)| (LEFT + column as f64, y.at(*depth))));
    corners.push((RIGHT, ground));
    PathData::steps(&corners)
}

/// The part up close: keys are typed on the upper side, and seen on the lower one.
const CLOSE: Area = Area {
    left: LEFT,
    top: 12.0,
    right: RIGHT,
    bottom: 76.0,
};

/// Draws the keys typed within a span of seconds. A line straight down is a key that was there at once.
pub(in crate::report) fn ladder(title: &str, run: &Timeline<'_>, span: (f64, f64)) -> Element {
    let x = Scale::linear(span, (LEFT, RIGHT));
    let within = |key: &&TimelineKey| key.typed >= span.0 && key.typed < span.1;
    let (mut lines, mut never) = (Vec::new(), PathData::default());
    for key in run.keys.iter().filter(within) {
        let typed = (x.at(key.typed), CLOSE.top);
        if key.is_censored {
            never.shape(typed, "v14m-4-4l4 4 4-4");
        } else {
            lines.push((typed, end(key, &x, span.1)));
        }
    }
    let side = ((LEFT, CLOSE.top), (RIGHT, CLOSE.top));
    drawing(WIDTH, CLOSE.bottom + 44.0, title)
        .with(across(CLOSE, &x, 12, SECONDS))
        .with(strokes("base", [side]))
        .with(text(LEFT - 7.0, CLOSE.top + 4.0, "end", "typed"))
        .with(text(LEFT - 7.0, CLOSE.bottom + 4.0, "end", "right"))
        .with(
            element("g")
                .class(format!("c{}", run.style.colour))
                .with(strokes("rung", lines))
                .with(path("never", never)),
        )
}

/// Returns where the line of a key ends: on the lower side, or the span does if that is before.
fn end(key: &TimelineKey, x: &Scale, end: f64) -> (f64, f64) {
    let seen = key.typed + key.waited;
    let share = if seen > end {
        (end - key.typed) / (seen - key.typed)
    } else {
        1.0
    };
    (x.at(seen), CLOSE.top + (CLOSE.bottom - CLOSE.top) * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::PeerStyles;

    fn run<'a>(keys: Vec<TimelineKey>, queue: &'a [(f64, f64)]) -> Timeline<'a> {
        Timeline {
            style: PeerStyles::default().style("mosh"),
            keys,
            lost: [vec![], vec![4.43, 4.4301]],
            queue: [&[], queue],
            until: 8.86,
            longest: 100.0,
        }
    }

    fn key(typed: f64, waited: f64) -> TimelineKey {
        TimelineKey {
            typed,
            waited: waited / 1e3,
            is_censored: false,
            is_wrong: false,
        }
    }

    #[test]
    fn a_key_is_a_dot_at_its_time_and_wait() {
        // 886 units are 8.86 s; from 1 to 100 ms are 130 units.
        let keys = vec![key(0.0, 1.0), key(1.0, 10.0), key(2.0, 0.2)];
        let svg = timeline("run", &run(keys, &[])).to_string();
        assert!(
            svg.contains("class=\"keys\" d=\"M178 77h0m-100 65h0m200 0h0\""),
            "{svg}"
        );
    }

    #[test]
    fn a_key_in_vain_and_a_wrong_one_have_marks_of_their_own() {
        let mut never = key(1.0, 100.0);
        never.is_censored = true;
        let mut wrong = key(2.0, 10.0);
        wrong.is_wrong = true;
        let svg = timeline("run", &run(vec![never, wrong], &[])).to_string();
        assert!(svg.contains("\"M178 12m-3-3l6 6m0-6l-6 6\""), "{svg}");
        assert!(
            svg.contains("\"M278 77m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0\""),
            "{svg}"
        );
    }

    #[test]
    fn losses_at_one_place_are_one_stroke() {
        let svg = timeline("run", &run(vec![], &[])).to_string();
        assert!(svg.contains("class=\"lost\" d=\"M521 174v10\""), "{svg}");
    }

    #[test]
    fn a_queue_is_as_deep_as_it_was_in_each_column() {
        let svg = timeline("run", &run(vec![], &[(1.0, 2.0), (2.0, 4.0), (3.0, 0.0)])).to_string();
        assert!(
            svg.contains("d=\"M78 248h100v-25h100v-25h101v50h585\""),
            "{svg}"
        );
        assert!(svg.contains("viewBox=\"0 0 976 292\""), "{svg}");
    }

    fn drawn(keys: Vec<TimelineKey>) -> String {
        ladder("keys", &run(keys, &[]), (0.0, 8.86)).to_string()
    }

    #[test]
    fn a_key_there_at_once_is_a_line_straight_down_and_a_late_one_leans() {
        let keys = [(1.0, 0.0), (2.0, 500.0), (9.0, 100.0)];
        let svg = drawn(keys.map(|(typed, waited)| key(typed, waited)).to_vec());
        assert!(
            svg.contains("class=\"rung\" d=\"M178 12v64m100-64l50 64\""),
            "{svg}"
        );
    }

    #[test]
    fn a_line_that_leaves_the_span_is_cut_where_it_does() {
        let svg = drawn(vec![key(7.86, 2000.0)]);
        assert!(svg.contains("M864 12l100 32"), "{svg}");
    }

    #[test]
    fn a_key_never_seen_is_an_arrow_that_goes_nowhere() {
        let mut never = key(1.0, 100.0);
        never.is_censored = true;
        let svg = drawn(vec![never]);
        assert!(svg.contains("class=\"never\" d=\"M178 12v14"), "{svg}");
    }

    #[test]
    fn dots_that_touch_are_one_stroke() {
        // A unit is 10 ms here: dots 3 units apart touch, and 4 do not.
        let keys = [1.0, 1.03, 1.07].map(|typed| key(typed, 10.0)).to_vec();
        let svg = timeline("run", &run(keys, &[])).to_string();
        assert!(
            svg.contains("class=\"keys\" d=\"M178 77h3m4 0h0\""),
            "{svg}"
        );
    }

    #[test]
    fn a_part_up_close_has_the_keys_from_its_first_second_to_before_its_last() {
        let keys = [0.9, 1.0, 2.9, 3.0].map(|typed| key(typed, 0.0)).to_vec();
        let svg = ladder("keys", &run(keys, &[]), (1.0, 3.0)).to_string();
        assert!(
            svg.contains("class=\"rung\" d=\"M78 12v64m842-64v64\""),
            "{svg}"
        );
    }
}
