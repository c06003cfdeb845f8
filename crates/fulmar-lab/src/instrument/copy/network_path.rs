//! The paths that are copied over.

use anyhow::Result;

use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// The least that a queue holds: a tenth of a second of the slowest path with a rate.
const QUEUE_MIN: u64 = 100_000;

/// A path with a rate, the same both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkPath {
    /// The round trip, in milliseconds.
    pub rtt_ms: u64,
    /// The rate, in bits a second.
    pub rate_bits: u64,
    /// The loss each way, in percent, by chance alone.
    pub loss: f64,
}

impl NetworkPath {
    /// A path that loses nothing but what its queue does not hold.
    #[must_use]
    pub const fn clear(rtt_ms: u64, rate_bits: u64) -> Self {
        Self {
            rtt_ms,
            rate_bits,
            loss: 0.0,
        }
    }

    /// Its name as a cell.
    pub(super) fn name(self) -> String {
        if self.loss > 0.0 {
            format!("{}ms-loss-{}", self.rtt_ms, self.loss)
        } else {
            format!("{}ms-clear", self.rtt_ms)
        }
    }

    /// In words.
    pub(super) fn title(self) -> String {
        let loss = if self.loss > 0.0 {
            format!("{} % lost", self.loss)
        } else {
            "no loss".to_owned()
        };
        let rate = self.rate_bits / 1_000_000;
        format!("round trip {} ms, {rate} Mbit/s, {loss}", self.rtt_ms)
    }

    /// Returns the bytes that the path holds: rate times round trip.
    #[must_use]
    pub fn product(self) -> u64 {
        self.rate_bits / 8 * self.rtt_ms / 1000
    }

    /// The link; its queues hold as much as the path does.
    pub(super) fn scenario(self, seed: u64) -> Result<Scenario> {
        let loss = if self.loss > 0.0 {
            format!("loss {}%, ", self.loss)
        } else {
            String::new()
        };
        let text = format!(
            "seed {seed}\nboth {loss}rate {}bit queue {}B, delay {}us",
            self.rate_bits,
            self.product().max(QUEUE_MIN),
            self.rtt_ms * 500
        );
        Scenario::parse(&text, &LinkTraces::none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_s_queue_holds_what_the_path_does() {
        let path = NetworkPath::clear(45, 500_000_000);
        assert_eq!(path.product(), 2_812_500);
        let scenario = path.scenario(3).unwrap();
        let lines: Vec<&str> = scenario.text.lines().collect();
        assert_eq!(
            lines,
            [
                "seed 3",
                "both rate 500000000bit queue 2812500B, delay 22500us"
            ]
        );
        let short = NetworkPath::clear(20, 5_000_000).scenario(1).unwrap();
        let queue = "rate 5000000bit queue 100000B";
        assert!(short.text.contains(queue), "no less than it must");
        let lossy = NetworkPath { loss: 0.1, ..path };
        let scenario = lossy.scenario(1).unwrap();
        assert!(
            scenario.text.contains("both loss 0.1%, rate"),
            "{scenario:?}"
        );
        assert_eq!([path.name(), lossy.name()], ["45ms-clear", "45ms-loss-0.1"]);
    }
}
