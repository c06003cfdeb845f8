//! One file, from the start of the command to its end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path as FilePath;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_sim::Random;

use super::carrier::{Carrier, Place};
use super::path::Path;
use super::stream::Way;
use super::tool::{self, Tool};
use crate::experiment::{Measured, Surroundings, Work};
use crate::instrument::figures::Figures;
use crate::peer::{Cost, Costs, costs};
use crate::replay::Stage;
use crate::scenario::Scenario;

/// Between two looks whether it is over, and at the processes. Chosen by eye: the first is a
/// hundredth of the fastest copy, and what a process does after the second last look is not counted.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS_AT_COSTS: u32 = 5;

/// The work: a file over one path.
#[derive(Clone, Copy, Debug)]
pub struct OneFile {
    /// The path.
    pub path: Path,
    /// How large the file is.
    pub bytes: u64,
    /// For how long at most.
    pub time: Duration,
}

impl Work for OneFile {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer, &tool::FILE)?;
        let scenario = self.path.scenario(seed)?;
        let stage = Stage::new(&scenario, FilePath::new("/dev/null"))?;
        let place = Place::new()?;
        write_random(&place.source(), self.bytes)?;
        let ends = (&stage, &place);
        let mut carried = carry(tool, ends, (Way::Up, self.bytes), self.time, around)?;
        let product = self.path.product() as f64;
        carried.figures.put("product", product, "B");
        Ok(told(&scenario, carried))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("bytes", self.bytes.to_string()),
            ("at most", format!("{} s", self.time.as_secs())),
        ]
    }
}

/// A copy that was made, or as much of it as the time allowed.
pub(super) struct Carried {
    pub(super) figures: Figures,
    pub(super) commands: Vec<String>,
    /// How much has arrived, and how long the whole command took.
    pub(super) arrived: u64,
    pub(super) took: Duration,
}

/// Carries what is in a place, until that is done or the time is over.
pub(super) fn carry(
    tool: Tool,
    (stage, place): (&Stage, &Place),
    (way, bytes): (Way, u64),
    time: Duration,
    around: &Surroundings,
) -> Result<Carried> {
    let mut watched = stage.costs()?;
    watched.iter_mut().for_each(Costs::begin);
    let mut carrier = Carrier::start(tool, (stage, place), (way, bytes), around)?;
    let is_over = await_end(&mut carrier, time, &mut watched)?;
    let took = carrier.took();
    let arrived = carrier.arrived();
    let mut figures = speed(arrived, took);
    figures.put_share("in_time", is_over);
    if !matches!(tool.kind, tool::Kind::Stream(_)) {
        put_costs(&mut figures, watched.each_ref(), arrived);
        figures.put_share("is_whole", are_same(&place.source(), &place.target())?);
    }
    Ok(Carried {
        figures,
        commands: carrier.commands.clone(),
        arrived,
        took,
    })
}

/// Waits until all is carried or the time is over, and looks at what it costs. Tells which it was.
pub(super) fn await_end(
    carrier: &mut Carrier,
    time: Duration,
    watched: &mut [Costs; 2],
) -> Result<bool> {
    for look in 0_u32.. {
        if carrier.has_ended()? {
            return Ok(true);
        }
        if look % LOOKS_AT_COSTS == 0 {
            watched.iter_mut().for_each(Costs::look);
        }
        if carrier.took() >= time {
            break;
        }
        std::thread::sleep(LOOK);
    }
    Ok(false)
}

/// Notes how much was carried, and how fast that was: size over wall time.
pub(super) fn speed(bytes: u64, took: Duration) -> Figures {
    let mut figures = Figures::default();
    figures.put("bytes", bytes as f64, "B");
    figures.put("took", took.as_secs_f64(), "s");
    figures.put("rate", bytes as f64 / took.as_secs_f64(), "B/s");
    figures
}

/// Notes what both hosts have spent together, and the memory of our own processes.
pub(super) fn put_costs(figures: &mut Figures, watched: [&Costs; 2], bytes: u64) {
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

/// Writes a file in which no tool would find a pattern.
pub(super) fn write_random(path: &FilePath, bytes: u64) -> Result<()> {
    let mut file = File::create(path).context("making a file in memory")?;
    // What the link does follows from the seed; what is carried may be the same each time.
    let mut random = Random::stream(1, 0);
    let mut piece = Vec::with_capacity(1 << 20);
    let mut left = bytes;
    while left > 0 {
        piece.clear();
        while piece.len() < 1 << 20 {
            piece.extend_from_slice(&random.bits().to_le_bytes());
        }
        let length = left.min(piece.len() as u64) as usize;
        let written = file.write_all(piece.get(..length).unwrap_or_default());
        written.context("filling a file in memory")?;
        left -= length as u64;
    }
    Ok(())
}

/// Tells whether two files are the same; one that is not there is not.
pub(super) fn are_same(one: &FilePath, other: &FilePath) -> Result<bool> {
    let (Ok(mut one), Ok(mut other)) = (File::open(one), File::open(other)) else {
        return Ok(false);
    };
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let count = one.read(&mut left)?;
        if count == 0 {
            return Ok(other.read(&mut right)? == 0);
        }
        let (mine, theirs) = (&left[..count], &mut right[..count]);
        if other.read_exact(theirs).is_err() || mine != theirs {
            return Ok(false);
        }
    }
}

/// What is kept of a copy.
pub(super) fn told(scenario: &Scenario, carried: Carried) -> Measured {
    Measured {
        scenario: scenario.text.clone(),
        commands: carried.commands,
        figures: carried.figures.0,
        ..Measured::default()
    }
}
