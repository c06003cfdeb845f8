//! What can be told of a link, in numbers and in a line.

use std::fmt;
use std::time::Duration;

use fulmar_datagram::Time;
use fulmar_transport::{Counters, Dialect, Endpoint, PathId, Synced};

/// The state of a link, for `Ctrl-^ i`, traces and tests.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// What is spoken.
    pub dialect: Dialect,
    /// The smoothed round trip and its variation, once one was measured.
    pub round_trip: Option<(Duration, Duration)>,
    /// Where datagrams go.
    pub path: Option<PathId>,
    /// When the peer's newest state arrived.
    pub heard_at: Option<Time>,
    /// What was counted.
    pub counters: Counters,
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
        }
    }
}

impl fmt::Display for LinkInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dialect == Dialect::Native {
            f.write_str("native, ")?;
        }
        match self.round_trip {
            Some((smoothed, variation)) => write!(
                f,
                "round trip {} ms (varies by {})",
                smoothed.as_millis(),
                variation.as_millis()
            )?,
            None => f.write_str("round trip unknown")?,
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
            heard_at: None,
            counters: Counters::default(),
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
            "native, round trip 107 ms (varies by 4), sent 3 (12 kB), received 0 (0 B), 2 late"
        );
    }
}
