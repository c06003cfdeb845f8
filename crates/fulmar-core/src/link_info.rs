//! Describes a link, in numbers and in a line.

use std::fmt;
use std::time::Duration;

use fulmar_base::PathId;
use fulmar_predict::PredictionScore;
use fulmar_transport::{Counters, Dialect, Endpoint, Synced};

/// The state of a link, for `Ctrl-^ i`, traces and tests.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// The dialect that is spoken.
    pub dialect: Dialect,
    /// The smoothed round trip and its variation, once one was measured.
    pub round_trip: Option<(Duration, Duration)>,
    /// The path on which datagrams are sent.
    pub path: Option<PathId>,
    /// The counters of the link's endpoint.
    pub counters: Counters,
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
            counters: endpoint.counters().clone(),
            prediction: None,
        }
    }
}

impl fmt::Display for LinkInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.round_trip {
            Some((smoothed, variation)) => write!(
                f,
                "round trip {} \u{b1}{} ms",
                smoothed.as_millis(),
                variation.as_millis()
            )?,
            None => f.write_str("round trip unknown")?,
        }
        // A row of 80 columns ends behind it.
        if let Some(score) = &self.prediction {
            write!(f, ", {}", Predicted(score))?;
        }
        if self.dialect == Dialect::Native {
            f.write_str(", native")?;
        }
        let counters = &self.counters;
        write!(
            f,
            ", sent {} ({}), received {} ({})",
            counters.datagrams_sent,
            Amount(counters.bytes_sent),
            counters.datagrams_received,
            Amount(counters.bytes_received)
        )?;
        for (count, what) in [
            (counters.late, "late"),
            (counters.dropped.total(), "dropped"),
            (counters.send_errors, "not sent"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// A score in few words: of how many keys so many were shown before the answer, so many of them were
/// right and so many wrong, and by how much earlier the right ones were there.
struct Predicted<'a>(&'a PredictionScore);

impl fmt::Display for Predicted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PredictionScore {
            keys,
            shown,
            right,
            wrong,
            ..
        } = self.0;
        write!(f, "predicted {shown}/{keys}")?;
        if *shown > 0 {
            let saved = self.0.mean_saved().as_millis();
            write!(f, ": {right} right, {wrong} wrong, {saved} ms saved")?;
        }
        Ok(())
    }
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

    #[test]
    fn a_link_is_told_in_one_line() {
        let mut info = LinkInfo {
            dialect: Dialect::Legacy,
            round_trip: None,
            path: None,
            counters: Counters::default(),
            prediction: None,
        };
        info.counters.datagrams_sent = 3;
        info.counters.bytes_sent = 12_345;
        assert_eq!(
            info.to_string(),
            "round trip unknown, sent 3 (12 kB), received 0 (0 B)"
        );
        info.round_trip = Some((Duration::from_millis(107), Duration::from_micros(4600)));
        info.counters.late = 2;
        info.dialect = Dialect::Native;
        assert_eq!(
            info.to_string(),
            "round trip 107 ±4 ms, native, sent 3 (12 kB), received 0 (0 B), 2 late"
        );
        let mut score = PredictionScore {
            keys: 300,
            ..PredictionScore::default()
        };
        info.prediction = Some(score);
        let told = info.to_string();
        assert!(told.starts_with("round trip 107 ±4 ms, predicted 0/300, native, "));
        score.shown = 120;
        score.right = 118;
        score.wrong = 2;
        score.saved = Duration::from_millis(9440);
        info.prediction = Some(score);
        let told = info.to_string();
        let first = "round trip 107 ±4 ms, predicted 120/300: 118 right, 2 wrong, 80 ms saved";
        assert!(told.starts_with(first), "{told}");
        assert!("fulmar: ".len() + first.chars().count() <= 80);
    }
}
