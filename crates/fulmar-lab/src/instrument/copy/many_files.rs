//! Many small files, from the start of the command to its end.

use std::fs;
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
use crate::replay::Stage;

/// The number of files in one folder. Chosen by eye: as in a tree of sources, and a folder is one more entry
/// for every tool.
const A_FOLDER: usize = 100;

/// The work: a folder of files over one path.
#[derive(Clone, Copy, Debug)]
pub struct ManyFiles {
    /// The path.
    pub path: NetworkPath,
    /// The number of files.
    pub files: usize,
    /// The size of each.
    pub bytes: usize,
    /// The longest time for it.
    pub time: Duration,
}

impl Work for ManyFiles {
    fn measure(&self, peer: &str, seed: u64, around: &Surroundings) -> Result<Measured> {
        let tool = Tool::named(peer, &tool::FOLDER)?;
        let scenario = self.path.scenario(seed)?;
        let stage = Stage::new(&scenario, FilePath::new("/dev/null"))?;
        let files = TransferFiles::new()?;
        self.fill(&files.source())?;
        let all = (self.files * self.bytes) as u64;
        let ends = (&stage, &files);
        let attempt = Attempt::make(tool, ends, (TransferDirection::Up, all), self.time, around)?;
        let there = self.arrived(&files)?;
        let mut figures = attempt.speed((there * self.bytes) as u64);
        attempt.put_costs(&mut figures, all);
        let rate = there as f64 / attempt.took.as_secs_f64();
        figures.put("files", there as f64, "files");
        figures.put("files_a_second", rate, "files/s");
        figures.put_share("is_whole", there == self.files);
        Ok(figures.measured(&scenario, attempt.commands()))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("files", self.files.to_string()),
            ("bytes each", self.bytes.to_string()),
            ("at most", format!("{} s", self.time.as_secs())),
        ]
    }
}

impl ManyFiles {
    /// Makes the files, a hundred in a folder.
    fn fill(&self, source: &FilePath) -> Result<()> {
        let mut random = Random::stream(2, 0);
        for number in 0..self.files {
            let file = source.join(name(number));
            if number % A_FOLDER == 0 {
                let folder = file.parent().context("a file is in a folder")?;
                fs::create_dir_all(folder).context("making a folder in memory")?;
            }
            fs::write(&file, content(&mut random, self.bytes))
                .context("making a file in memory")?;
        }
        Ok(())
    }

    /// Returns the number of them that have arrived, with the bytes that they have at the source.
    fn arrived(&self, files: &TransferFiles) -> Result<usize> {
        let mut there = 0;
        for number in 0..self.files {
            let name = name(number);
            if let Ok(copy) = fs::read(files.target().join(&name)) {
                there += usize::from(copy == fs::read(files.source().join(&name))?);
            }
        }
        Ok(there)
    }
}

fn name(number: usize) -> String {
    format!("folder-{}/file-{number}", number / A_FOLDER)
}

fn content(random: &mut Random, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| random.bits() as u8).collect()
}
