//! The share of its path that a copy leaves to others: the keys of a session, and a TCP stream in the same queue.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::network_path::NetworkPath;
use super::{CUBIC, FILE};
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::hosts::hosts;
use crate::instrument::lan;
use crate::instrument::transfer::{Tool, Transfer, TransferDirection, TransferFiles};
use crate::peer::Peer;
use crate::replay::SessionHosts;
use crate::stats::{KaplanMeier, Observation};

/// The peer whose keys they are: it predicts nothing, so that each waits for its echo.
const SESSION: &str = "fulmar-n";

/// The peer that stands for nobody: the path is idle.
pub(super) const IDLE: &str = "idle";

/// Longer than all keys take, whatever the path does to them.
const TYPING: Duration = Duration::from_secs(60);

/// The time for which the first of two is alone.
const ALONE: Duration = Duration::from_secs(5);

/// The time that both have to find their shares, and the time for which these are measured. Chosen by eye:
/// Cubic takes seconds from one loss to the next.
const SETTLING: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_secs(30);

/// The time that shares take, with what is made before.
pub(super) const TAKES: Duration = Duration::from_secs(50);

/// The work: keys while somebody copies.
#[derive(Clone, Copy, Debug)]
pub struct KeysDuringCopy {
    /// The path.
    pub path: NetworkPath,
    /// The number of keys that are typed.
    pub keys: usize,
    /// The direction of the copy.
    pub direction: TransferDirection,
}

/// The work: somebody beside a TCP stream with Cubic.
#[derive(Clone, Copy, Debug)]
pub struct FairShare {
    /// The path.
    pub path: NetworkPath,
    /// True if the TCP stream is there before.
    pub is_second: bool,
}

impl Work for KeysDuringCopy {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = match peer {
            IDLE => None,
            _ => Some(Tool::named(peer, &FILE)?),
        };
        let scenario = self.path.scenario(seed)?;
        let session = Peer::parse(SESSION)?;
        let bytes = tool.map_or(0, |_| (self.path.rate_bits / 8) * TYPING.as_secs());
        let files = TransferFiles::random(bytes)?;
        let begin = |hosts: &SessionHosts| -> Result<Option<Transfer>> {
            let load = (self.direction, bytes);
            let start = |tool| Transfer::start(tool, (hosts, &files), load, setup);
            tool.map(start).transpose()
        };
        let end = |transfer: Option<Transfer>| match transfer {
            Some(mut transfer) => {
                ensure!(!transfer.has_ended()?, "the copy was over too early");
                let rate = transfer.arrived() as f64 / transfer.took().as_secs_f64();
                Ok(Some((rate, transfer.commands)))
            }
            None => Ok(None),
        };
        let (echoed, copied) = lan::echoed(&session, &scenario, self.keys, setup, begin, end)?;
        let mut measured = waits(&echoed.verdict.own());
        let mut commands = echoed.commands;
        if let Some((rate, its)) = copied {
            measured.put("rate", rate, "B/s");
            commands.extend(its);
        }
        Ok(measured.by(&scenario, commands))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("keys", self.keys.to_string())]
    }
}

/// Returns the times that keys waited for their echo.
fn waits(own: &[Observation]) -> Measured {
    let waits = KaplanMeier::of(own);
    let mut measured = Measured::default();
    measured.put_ms("key_median", waits.quantile(0.5));
    measured.put_ms("key_p95", waits.quantile(0.95));
    measured
}

impl Work for FairShare {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let tool = Tool::named(peer, &FILE)?;
        let scenario = self.path.scenario(seed)?;
        let hosts = hosts(&scenario)?;
        // More than the path carries meanwhile.
        let bytes = (self.path.rate_bits / 8) * TAKES.as_secs();
        let files = TransferFiles::random(bytes)?;
        let start = |tool| {
            let load = (TransferDirection::Up, bytes);
            Transfer::start(tool, (&hosts, &files), load, setup)
        };
        let beside = Tool::tcp("Cubic", CUBIC);
        let [first, second] = if self.is_second {
            [beside, tool]
        } else {
            [tool, beside]
        };
        let first = start(first)?;
        std::thread::sleep(ALONE);
        let second = start(second)?;
        let [mut copy, stream] = if self.is_second {
            [second, first]
        } else {
            [first, second]
        };
        std::thread::sleep(SETTLING);
        let before = [copy.arrived(), stream.arrived()];
        std::thread::sleep(MEASURED);
        let after = [copy.arrived(), stream.arrived()];
        ensure!(!copy.has_ended()?, "the copy was over too early");
        let mut commands = copy.commands;
        commands.extend(stream.commands);
        Ok(shares(before, after).by(&scenario, commands))
    }
}

/// Returns the shares of copy and stream in the time that was measured.
fn shares(before: [u64; 2], after: [u64; 2]) -> Measured {
    let [copied, streamed] = [0, 1].map(|one| (after[one] - before[one]) as f64);
    let seconds = MEASURED.as_secs_f64();
    let mut measured = Measured::default();
    measured.put("rate", copied / seconds, "B/s");
    measured.put("rate_beside", streamed / seconds, "B/s");
    measured.put("share", copied / (copied + streamed), "share");
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_arrived_while_it_was_measured() {
        // 30 MB of the copy and 90 MB of the stream in 30 s, whatever had come before.
        let figures = shares([500_000_000, 7], [530_000_000, 90_000_007]).figures;
        let value = |name: &str| figures[name].value;
        assert_eq!(value("rate"), 1e6);
        assert_eq!(value("rate_beside"), 3e6);
        assert_eq!(value("share"), 0.25);
    }

    #[test]
    fn keys_without_an_echo_count_among_the_slowest() {
        let after = |millis| Observation::After(Duration::from_millis(millis));
        let mut own: Vec<Observation> = (1..=95).map(after).collect();
        own.extend([Observation::Censored(Duration::from_millis(200)); 5]);
        let figures = waits(&own).figures;
        assert_eq!(figures["key_median"].value, 50.5);
        assert_eq!(figures["key_p95"].value, 95.0);
        own.truncate(94);
        own.extend([Observation::Censored(Duration::from_millis(200)); 6]);
        assert!(
            !waits(&own).figures.contains_key("key_p95"),
            "it never came"
        );
    }
}
