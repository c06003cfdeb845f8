//! A copy and a TCP stream share a queue that drops what it cannot hold.

use std::path::Path as FilePath;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::network_path::NetworkPath;
use super::one_file::write_random;
use super::stream::{TcpTransfer, TransferDirection, widen};
use super::tool::{self, Tool};
use super::transfer::{Transfer, TransferFiles};
use crate::experiment::{Measured, Surroundings, Work};
use crate::instrument::Congestion;
use crate::instrument::figures::Figures;
use crate::replay::Stage;

/// The time for which the first is alone.
const ALONE: Duration = Duration::from_secs(5);

/// The time that they have to find their shares, and the time for which these are measured. Chosen by eye:
/// Cubic takes seconds from one loss to the next.
const SETTLING: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_secs(30);

/// The work: somebody beside a TCP stream with Cubic.
#[derive(Clone, Copy, Debug)]
pub struct FairShare {
    /// The path.
    pub path: NetworkPath,
    /// True if the TCP stream is there before.
    pub is_second: bool,
}

/// The time that it takes, with what is made before.
pub(super) const TAKES: Duration = Duration::from_secs(50);

impl Work for FairShare {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer, &tool::FILE)?;
        let scenario = self.path.scenario(seed)?;
        let stage = Stage::new(&scenario, FilePath::new("/dev/null"))?;
        let files = TransferFiles::new()?;
        // More than the path carries meanwhile.
        let bytes = (self.path.rate_bits / 8) * TAKES.as_secs();
        write_random(&files.source(), bytes)?;
        let words = widen(&stage.link)?;
        let stream = || {
            TcpTransfer::start(
                &stage.link,
                Congestion::Losses,
                TransferDirection::Up,
                bytes,
            )
        };
        let copy = || {
            Transfer::start(
                tool,
                (&stage, &files),
                (TransferDirection::Up, bytes),
                around,
            )
        };
        let (mut transfer, stream) = if self.is_second {
            let stream = stream()?;
            std::thread::sleep(ALONE);
            (copy()?, stream)
        } else {
            let transfer = copy()?;
            std::thread::sleep(ALONE);
            (transfer, stream()?)
        };
        std::thread::sleep(SETTLING);
        let before = [transfer.arrived(), stream.received()];
        std::thread::sleep(MEASURED);
        let after = [transfer.arrived(), stream.received()];
        ensure!(!transfer.has_ended()?, "the copy was over too early");
        let mut commands = transfer.commands.clone();
        commands.push(format!("a TCP stream of the lab, Cubic; {words}"));
        Ok(figures(before, after).measured(&scenario, commands))
    }
}

/// Returns the shares of both in the time that was measured.
fn figures(before: [u64; 2], after: [u64; 2]) -> Figures {
    let [copied, streamed] = [0, 1].map(|one| (after[one] - before[one]) as f64);
    let seconds = MEASURED.as_secs_f64();
    let mut figures = Figures::default();
    figures.put("rate", copied / seconds, "B/s");
    figures.put("rate_beside", streamed / seconds, "B/s");
    figures.put("share", copied / (copied + streamed), "share");
    figures
}
