//! A session's keys on the path that a copy fills.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::network_path::NetworkPath;
use super::one_file::write_random;
use super::stream::TransferDirection;
use super::tool::{self, Tool};
use super::transfer::{Transfer, TransferFiles};
use crate::experiment::{Measured, Surroundings, Work};
use crate::instrument::figures::Figures;
use crate::instrument::lan;
use crate::peer::Peer;
use crate::replay::Stage;
use crate::stats::{Observation, Survival};

/// The peer whose keys they are: it predicts nothing, so that each waits for its echo.
const SESSION: &str = "fulmar-n";

/// The peer that stands for nobody: the path is idle.
pub(super) const IDLE: &str = "idle";

/// Longer than all keys take, whatever the path does to them.
const TYPING: Duration = Duration::from_secs(60);

/// The work: keys while somebody copies.
#[derive(Clone, Copy, Debug)]
pub struct KeysDuringCopy {
    /// The path.
    pub path: NetworkPath,
    /// The number of keys that are typed.
    pub keys: usize,
    /// The direction of the copy.
    pub way: TransferDirection,
}

impl Work for KeysDuringCopy {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = match peer {
            IDLE => None,
            _ => Some(Tool::named(peer, &tool::FILE)?),
        };
        let scenario = self.path.scenario(seed)?;
        let session = Peer::parse(SESSION)?;
        let files = TransferFiles::new()?;
        let bytes = (self.path.rate_bits / 8) * TYPING.as_secs();
        if tool.is_some() {
            write_random(&files.source(), bytes)?;
        }
        let mut commands = Vec::new();
        let begin = |stage: &Stage| -> Result<Option<Transfer>> {
            let start = |tool| Transfer::start(tool, (stage, &files), (self.way, bytes), around);
            let transfer = tool.map(start).transpose()?;
            commands.extend(transfer.iter().flat_map(|one| one.commands.clone()));
            Ok(transfer)
        };
        let end = |transfer: Option<Transfer>| match transfer {
            Some(mut transfer) => {
                ensure!(!transfer.has_ended()?, "the copy was over too early");
                Ok(Some((transfer.arrived(), transfer.took())))
            }
            None => Ok(None),
        };
        let (echoed, copied) = lan::echoed(&session, &scenario, self.keys, around, begin, end)?;
        let mut figures = waits(&echoed.verdict.own());
        if let Some((bytes, took)) = copied {
            figures.put("rate", bytes as f64 / took.as_secs_f64(), "B/s");
        }
        commands.splice(0..0, echoed.commands);
        Ok(figures.measured(&scenario, commands))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("keys", self.keys.to_string())]
    }
}

/// Returns the times that keys waited for their echo.
fn waits(own: &[Observation]) -> Figures {
    let waits = Survival::of(own);
    let mut figures = Figures::default();
    for (name, share) in [("key_median", 0.5), ("key_p95", 0.95)] {
        if let Some(wait) = waits.quantile(share) {
            figures.put_ms(name, wait);
        }
    }
    figures
}
