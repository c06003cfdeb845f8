//! One file over a link whose rate comes and goes, as it was measured in a cellular network.

use std::path::Path as FilePath;
use std::time::Duration;

use anyhow::Result;

use super::one_file::{carry, write_random};
use super::stream::TransferDirection;
use super::tool::{self, Tool};
use super::transfer::TransferFiles;
use crate::experiment::{Measured, Surroundings, Work};
use crate::replay::Stage;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// The bytes that an opportunity of a trace carries: a full packet of Ethernet.
const OPPORTUNITY: u64 = 1500;

/// The work: a file over such a link.
#[derive(Clone, Copy, Debug)]
pub struct TracedCopy {
    /// The two traces, `NAME.up` and `NAME.down`.
    pub trace: &'static str,
    /// The traces that are generated in their place, `NAME-up` and `NAME-down`.
    pub like: &'static str,
    /// The direction of the file.
    pub way: TransferDirection,
    /// The size of the file.
    pub bytes: u64,
    /// The most bytes that may wait for the link.
    pub queue: u64,
    /// The round trip without any waiting, in milliseconds.
    pub rtt_ms: u64,
    /// The longest time for it.
    pub time: Duration,
}

impl Work for TracedCopy {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer, &tool::FILE)?;
        let traces = match &around.data {
            Some(folder) => LinkTraces::in_folder(folder),
            None => LinkTraces::none(),
        };
        let scenario = Scenario::parse(&self.scenario(seed, around), &traces)?;
        let stage = Stage::new(&scenario, FilePath::new("/dev/null"))?;
        let files = TransferFiles::new()?;
        write_random(&files.source(), self.bytes)?;
        let trace = traces.get(&self.name(self.way, seed, around.is_generated))?;
        let began = stage.link.report()?.at;
        let ends = (&stage, &files);
        let (attempt, mut figures) = carry(tool, ends, (self.way, self.bytes), self.time, around)?;
        let capacity = trace.count_between(began, began + attempt.took) * OPPORTUNITY;
        let used = attempt.arrived as f64 / capacity as f64;
        figures.put("capacity", capacity as f64, "B");
        figures.put("of_capacity", used, "share");
        Ok(figures.measured(&scenario, attempt.commands()))
    }

    fn needs(&self) -> Vec<String> {
        let file = |way| format!("link-traces/{}.{way}", self.trace);
        vec![file("up"), file("down")]
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bytes", self.bytes.to_string())]
    }
}

impl TracedCopy {
    fn scenario(&self, seed: u64, around: &Surroundings) -> String {
        let name = |way| self.name(way, seed, around.is_generated);
        format!(
            "seed {seed}\nup trace {} queue {queue}B\ndown trace {} queue {queue}B\n\
             both delay {}us",
            name(TransferDirection::Up),
            name(TransferDirection::Down),
            self.rtt_ms * 500,
            queue = self.queue,
        )
    }

    fn name(&self, way: TransferDirection, seed: u64, is_generated: bool) -> String {
        let word = way.word();
        if is_generated {
            format!("{}-{word}:{seed}", self.like)
        } else {
            format!("{}.{word}", self.trace)
        }
    }
}
