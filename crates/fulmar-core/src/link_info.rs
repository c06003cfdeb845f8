//! Describes a link, in numbers and in words.

use std::fmt;
use std::time::Duration;

use fulmar_base::{PathId, Time};
use fulmar_predict::PredictionScore;
use fulmar_transport::{Counters, Dialect, Endpoint, Synced};

use crate::ways::Way;

/// The state of a link, for `Ctrl-^ i`, traces and tests.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// The dialect that is spoken.
    pub dialect: Dialect,
    /// The smoothed round trip and its variation, once one was measured.
    pub round_trip: Option<(Duration, Duration)>,
    /// The path on which datagrams are sent.
    pub path: Option<PathId>,
    /// The time at which the peer's newest state arrived.
    pub heard_at: Option<Time>,
    /// The counters of the link's endpoint.
    pub counters: Counters,
    /// The way in use, if there is a choice, or the user has made it.
    pub way: Option<Way>,
    /// True if the user wishes that way and no other.
    pub is_way_wished: bool,
    /// The success of prediction; `None` where nothing is predicted.
    pub prediction: Option<PredictionScore>,
}

impl LinkInfo {
    pub(crate) fn of<L: Synced, R: Synced>(endpoint: &Endpoint<L, R>) -> LinkInfo {
        let round_trip = endpoint.round_trip();
        LinkInfo {
            dialect: endpoint.dialect(),
            round_trip: round_trip
                .is_known()
                .then(|| (round_trip.smoothed(), round_trip.variation())),
            path: endpoint.path(),
            heard_at: endpoint.heard_at(),
            counters: endpoint.counters().clone(),
            way: None,
            is_way_wished: false,
            prediction: None,
        }
    }

    /// Returns what a person wants to know of the link, in rows of a word and its meaning.
    pub(crate) fn rows(&self, now: Time) -> Vec<String> {
        let mut rows = vec![
            row("round trip", self.round_trip_text()),
            row("last heard", self.last_heard_text(now)),
            row("protocol", dialect_text(self.dialect)),
        ];
        rows.extend(
            self.way
                .map(|way| row("way", way_text(way, self.is_way_wished))),
        );
        let counters = &self.counters;
        rows.push(row(
            "sent",
            amounts(counters.datagrams_sent, counters.bytes_sent),
        ));
        rows.push(row(
            "received",
            amounts(counters.datagrams_received, counters.bytes_received),
        ));
        rows.extend(self.troubles_text().map(|text| row("trouble", text)));
        rows.extend(prediction_rows(self.prediction.as_ref()));
        rows
    }

    fn round_trip_text(&self) -> String {
        match self.round_trip {
            None => "not measured yet".to_owned(),
            Some((smoothed, variation)) => format!(
                "{} ms, give or take {} ms",
                smoothed.as_millis(),
                variation.as_millis()
            ),
        }
    }

    fn last_heard_text(&self, now: Time) -> String {
        match self.heard_at {
            None => "nothing yet".to_owned(),
            Some(heard) => format!(
                "{}.{} s ago",
                now.since(heard).as_secs(),
                now.since(heard).subsec_millis() / 100
            ),
        }
    }

    /// Returns what has gone wrong with datagrams, if anything has.
    fn troubles_text(&self) -> Option<String> {
        let counters = &self.counters;
        let troubles = [
            (counters.late, "arrived late"),
            (counters.dropped.total(), "thrown away on arrival"),
            (counters.send_errors, "could not be sent"),
        ];
        let told = troubles.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

/// A word, and what there is to say of it.
fn row(word: &str, text: impl fmt::Display) -> String {
    format!("{word:12} {text}")
}

fn dialect_text(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Undecided => "not known yet",
        Dialect::Native => "native: Fulmar at both ends",
        Dialect::Legacy => "Mosh's: the server is stock's, or was started as stock's is",
        Dialect::Altered => "none: the login was changed on its way",
    }
}

fn way_text(way: Way, is_wished: bool) -> &'static str {
    match (way, is_wished) {
        (Way::Udp, _) => "UDP",
        (Way::Ssh, true) => "ssh, as you wish",
        (Way::Ssh, false) => "ssh, as UDP does not answer",
    }
}

fn amounts(datagrams: u64, bytes: u64) -> String {
    format!("{datagrams} datagrams, {}", Amount(bytes))
}

/// Returns how many keys were shown before the answer, so many of them right and so many wrong, and by how much
/// earlier the right ones were there.
fn prediction_rows(score: Option<&PredictionScore>) -> Vec<String> {
    let Some(score) = score else {
        return vec![row("predictions", "off")];
    };
    let PredictionScore {
        keys,
        shown,
        right,
        wrong,
        open,
        ..
    } = score;
    let told = format!("{shown} of {keys} keys were shown before the server's answer");
    let mut rows = vec![row("predictions", told)];
    if *shown > 0 {
        let early = match right {
            0 => String::new(),
            _ => format!(", {} ms early on average", score.mean_saved().as_millis()),
        };
        rows.push(row("", format!("right: {right}{early}; wrong: {wrong}")));
    }
    if *open > 0 {
        let told = format!("not compared: {open}, since the screen moved on first");
        rows.push(row("", told));
    }
    rows
}

/// A number of bytes as people write it.
struct Amount(u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ 0..10_000 => write!(f, "{bytes} B"),
            bytes @ 10_000..10_000_000 => write!(f, "{} kB", bytes / 1000),
            bytes => write!(f, "{} MB", bytes / 1_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> LinkInfo {
        LinkInfo {
            dialect: Dialect::Legacy,
            round_trip: None,
            path: None,
            heard_at: None,
            counters: Counters::default(),
            way: None,
            is_way_wished: false,
            prediction: None,
        }
    }

    fn told(info: &LinkInfo) -> String {
        let rows = info.rows(Time::from_origin(Duration::from_millis(9340)));
        for row in &rows {
            // Two blanks stand before each.
            assert!(row.chars().count() <= 78, "{row}");
        }
        rows.join("\n")
    }

    #[test]
    fn a_new_link_says_what_is_not_known_yet() {
        let told = told(&LinkInfo {
            dialect: Dialect::Undecided,
            ..info()
        });
        for text in [
            "round trip   not measured yet",
            "last heard   nothing yet",
            "protocol     not known yet",
        ] {
            assert!(told.contains(text), "{told}");
        }
        assert!(!told.contains("trouble"), "{told}");
    }

    #[test]
    fn round_trip_silence_and_amounts_are_told() {
        let mut info = LinkInfo {
            dialect: Dialect::Native,
            round_trip: Some((Duration::from_millis(107), Duration::from_micros(4600))),
            heard_at: Some(Time::from_origin(Duration::from_secs(8))),
            ..info()
        };
        info.counters.datagrams_sent = 3;
        info.counters.bytes_sent = 12_345;
        info.counters.late = 2;
        let told = told(&info);
        for text in [
            "round trip   107 ms, give or take 4 ms",
            "last heard   1.3 s ago",
            "protocol     native: Fulmar at both ends",
            "sent         3 datagrams, 12 kB",
            "received     0 datagrams, 0 B",
            "trouble      2 arrived late",
            "predictions  off",
        ] {
            assert!(told.contains(text), "{told}");
        }
    }

    #[test]
    fn predictions_are_told_with_what_they_saved() {
        let mut info = info();
        let mut score = PredictionScore {
            keys: 300_000,
            ..PredictionScore::default()
        };
        info.prediction = Some(score);
        assert!(told(&info).ends_with("0 of 300000 keys were shown before the server's answer"));
        score.shown = 120_000;
        score.right = 118_000;
        score.wrong = 2000;
        score.saved = Duration::from_secs(9440);
        info.prediction = Some(score);
        let told = told(&info);
        let text = "right: 118000, 80 ms early on average; wrong: 2000";
        assert!(told.contains(text), "{told}");
        assert!(!told.contains("not compared"), "{told}");
    }

    #[test]
    fn predictions_that_were_not_compared_are_told_apart() {
        let mut info = info();
        info.prediction = Some(PredictionScore {
            keys: 39,
            shown: 30,
            open: 24,
            ..PredictionScore::default()
        });
        let told = told(&info);
        assert!(told.contains("right: 0; wrong: 0"), "{told}");
        // The others are on their way.
        assert!(told.contains("not compared: 24, since"), "{told}");
    }
}
