//! The links that predictions are tried on.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_sim::{Delay, Loss};
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;

/// A link: the same both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TestLink {
    /// The shortest round trip, in milliseconds.
    #[serde(rename = "round_trip_ms")]
    pub round_trip: u64,
    /// The most milliseconds by which each way takes longer; what was sent first comes first.
    #[serde(rename = "jitter_ms")]
    pub jitter: u64,
    /// The number of datagrams of a hundred that are lost each way.
    #[serde(rename = "loss_percent")]
    pub loss: u32,
}

/// The round trips of the table, and its losses. Source: docs/prediction.md §10.
const ROUND_TRIPS: [u64; 4] = [50, 100, 300, 500];
const LOSSES: [u32; 3] = [0, 5, 29];
/// The round trip of a near link: the gate's, beside those of the table. Chosen by eye.
const NEAR: u64 = 5;

impl TestLink {
    /// The links of the table: with 0 and 30 ms of jitter.
    pub fn table() -> Vec<TestLink> {
        TestLink::all(&ROUND_TRIPS, &[0, 30])
    }

    /// The links of the gate: with a near one, and with 120 ms of jitter, too.
    pub fn gate() -> Vec<TestLink> {
        let mut round_trips = vec![NEAR];
        round_trips.extend(ROUND_TRIPS);
        TestLink::all(&round_trips, &[0, 30, 120])
    }

    fn all(round_trips: &[u64], jitters: &[u64]) -> Vec<TestLink> {
        let mut links = Vec::new();
        for &loss in &LOSSES {
            for &jitter in jitters {
                links.extend(round_trips.iter().map(|&round_trip| TestLink {
                    round_trip,
                    jitter,
                    loss,
                }));
            }
        }
        links
    }

    /// Returns the link as a scenario.
    pub fn scenario(&self, seed: u64) -> Scenario {
        let least = Duration::from_micros(self.round_trip * 500);
        let most = least + Duration::from_millis(self.jitter);
        let mut impairments = Vec::new();
        if self.loss > 0 {
            impairments.push(Loss::percent(self.loss));
        }
        impairments.push(match self.jitter {
            0 => Delay::fixed(least),
            _ => Delay::jitter(least, most),
        });
        Scenario::both(seed, impairments)
    }
}

impl fmt::Display for TestLink {
    /// `100 ms`, with jitter and loss behind it where there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.round_trip)?;
        if self.jitter > 0 {
            write!(f, ", jitter {} ms", self.jitter)?;
        }
        if self.loss > 0 {
            write!(f, ", loss {} %", self.loss)?;
        }
        Ok(())
    }
}

impl FromStr for TestLink {
    type Err = anyhow::Error;

    /// Reads `100`, `100:30` or `100:30:5`: round trip, jitter, loss.
    fn from_str(text: &str) -> Result<TestLink> {
        let number = |part: &str| {
            let part = part.trim().parse::<u64>();
            part.with_context(|| format!("“{text}” is no link: ROUND_TRIP:JITTER:LOSS is"))
        };
        let parts: Vec<u64> = text.split(':').map(number).collect::<Result<_>>()?;
        if parts.len() > 3 {
            bail!("“{text}” is no link: ROUND_TRIP:JITTER:LOSS is");
        }
        let part = |number: usize| parts.get(number).copied().unwrap_or(0);
        let [round_trip, jitter, loss] = [0, 1, 2].map(part);
        let most = 60_000;
        if round_trip > most || jitter > most || loss > 90 {
            bail!("“{text}” is no link that a session could be on");
        }
        Ok(TestLink {
            round_trip,
            jitter,
            loss: loss as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_written_as_numbers() {
        let link = |round_trip, jitter, loss| TestLink {
            round_trip,
            jitter,
            loss,
        };
        for (text, expected) in [
            ("100", link(100, 0, 0)),
            ("50:30", link(50, 30, 0)),
            ("500:120:29", link(500, 120, 29)),
        ] {
            assert_eq!(text.parse::<TestLink>().unwrap(), expected);
        }
        for text in ["", "x", "1:2:3:4", "100:0:91", "99999999"] {
            assert!(text.parse::<TestLink>().is_err(), "{text}");
        }
    }

    #[test]
    fn there_are_24_links_and_45() {
        assert_eq!((TestLink::table().len(), TestLink::gate().len()), (24, 45));
    }
}
