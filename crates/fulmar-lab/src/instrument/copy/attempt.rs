//! One command that carries something: until it has, or its time is over.

use std::time::Duration;

use anyhow::Result;

use super::stream::TransferDirection;
use super::tool::{self, Tool};
use super::transfer::{Transfer, TransferFiles};
use crate::experiment::Surroundings;
use crate::instrument::figures::Figures;
use crate::peer::{Cost, Costs, costs};
use crate::replay::Stage;

/// Between two looks whether it is over, and at the processes. Chosen by eye: the first is a
/// hundredth of the fastest copy, and what a process does after the second last look is not counted.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS_AT_COSTS: u32 = 5;

/// An attempt to carry something, as it was when that was over.
pub(super) struct Attempt {
    transfer: Transfer,
    watched: [Costs; 2],
    is_in_time: bool,
    /// The time that the whole command took, and how much had arrived then.
    pub(super) took: Duration,
    pub(super) arrived: u64,
}

impl Attempt {
    /// Carries what is in a folder, until that is done or the time is over.
    pub(super) fn make(
        tool: Tool,
        ends: (&Stage, &TransferFiles),
        load: (TransferDirection, u64),
        time: Duration,
        around: &Surroundings,
    ) -> Result<Self> {
        let mut watched = ends.0.costs()?;
        watched.iter_mut().for_each(Costs::begin);
        let mut transfer = Transfer::start(tool, ends, load, around)?;
        let is_in_time = await_end(&mut transfer, time, &mut watched)?;
        Ok(Self {
            took: transfer.took(),
            arrived: transfer.arrived(),
            transfer,
            watched,
            is_in_time,
        })
    }

    /// Returns the commands that were run, for a reader.
    pub(super) fn commands(&self) -> Vec<String> {
        self.transfer.commands.clone()
    }

    /// Notes how fast so much was carried: size over wall time.
    pub(super) fn speed(&self, bytes: u64) -> Figures {
        let took = self.took.as_secs_f64();
        let mut figures = Figures::default();
        figures.put("bytes", bytes as f64, "B");
        figures.put("took", took, "s");
        figures.put("rate", bytes as f64 / took, "B/s");
        figures.put_share("in_time", self.is_in_time);
        figures
    }

    /// Notes what both hosts have spent together, for each byte of so many, and the memory of our own
    /// processes.
    pub(super) fn put_costs(&self, figures: &mut Figures, bytes: u64) {
        let watched = self.watched.each_ref();
        let spent = costs(tool::ALL, watched).into_iter().flatten();
        let cpu: Duration = spent.map(|cost: Cost| cost.cpu).sum();
        figures.put("cpu", cpu.as_secs_f64(), "s");
        if bytes > 0 {
            let per_byte = cpu.as_secs_f64() * 1e9 / bytes as f64;
            figures.put("cpu_a_byte", per_byte, "ns/B");
        }
        let ours = costs(tool::OURS, watched);
        for (host, cost) in ["client", "server"].into_iter().zip(ours) {
            if let Some(cost) = cost {
                figures.put(&format!("{host}_memory"), cost.memory as f64, "B");
            }
        }
    }
}

/// Waits until all is carried or the time is over, and looks at what it costs. Tells which it was.
fn await_end(transfer: &mut Transfer, time: Duration, watched: &mut [Costs; 2]) -> Result<bool> {
    for look in 0_u32.. {
        if transfer.has_ended()? {
            return Ok(true);
        }
        if look % LOOKS_AT_COSTS == 0 {
            watched.iter_mut().for_each(Costs::look);
        }
        if transfer.took() >= time {
            break;
        }
        std::thread::sleep(LOOK);
    }
    Ok(false)
}
