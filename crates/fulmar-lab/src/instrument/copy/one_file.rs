//! One file, from the start of the command to its end.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path as FilePath;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_sim::Random;

use super::attempt::Attempt;
use super::network_path::NetworkPath;
use super::stream::TransferDirection;
use super::tool::{self, Tool};
use super::transfer::TransferFiles;
use crate::experiment::{Measured, Surroundings, Work};
use crate::instrument::figures::Figures;
use crate::replay::Stage;

/// The work: a file over one path.
#[derive(Clone, Copy, Debug)]
pub struct OneFile {
    /// The path.
    pub path: NetworkPath,
    /// The size of the file.
    pub bytes: u64,
    /// The longest time for it.
    pub time: Duration,
}

impl Work for OneFile {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer, &tool::FILE)?;
        let scenario = self.path.scenario(seed)?;
        let stage = Stage::new(&scenario, FilePath::new("/dev/null"))?;
        let files = TransferFiles::new()?;
        write_random(&files.source(), self.bytes)?;
        let ends = (&stage, &files);
        let (attempt, mut figures) = carry(
            tool,
            ends,
            (TransferDirection::Up, self.bytes),
            self.time,
            around,
        )?;
        figures.put("product", self.path.product() as f64, "B");
        Ok(figures.measured(&scenario, attempt.commands()))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("bytes", self.bytes.to_string()),
            ("at most", format!("{} s", self.time.as_secs())),
        ]
    }
}

/// Carries a file, and looks whether it is whole.
pub(super) fn carry(
    tool: Tool,
    (stage, files): (&Stage, &TransferFiles),
    load: (TransferDirection, u64),
    time: Duration,
    around: &Surroundings,
) -> Result<(Attempt, Figures)> {
    let attempt = Attempt::make(tool, (stage, files), load, time, around)?;
    let mut figures = attempt.speed(attempt.arrived);
    if !matches!(tool.kind, tool::Kind::Stream(_)) {
        attempt.put_costs(&mut figures, attempt.arrived);
        figures.put_share("is_whole", are_same(&files.source(), &files.target())?);
    }
    Ok((attempt, figures))
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
