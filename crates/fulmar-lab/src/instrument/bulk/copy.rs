//! A program that copies a file from the memory of one host to that of the other.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::peers::search_path;
use tempfile::TempDir;

use super::progress::TransferProgress;
use crate::peer::{Cost, Programs, costs};
use crate::replay::Stage;

/// Between two looks at the file. Chosen by eye: half of the shortest round trip.
const LOOK: Duration = Duration::from_millis(20);

/// So long the first byte may take: logins over any round trip.
const SET_UP: Duration = Duration::from_secs(60);

/// The folder in which files lie in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// The length of the block that the file repeats: nothing that any tool would find a pattern in.
const BLOCK: usize = 1 << 20;

/// A copy that was made, or as much of it as the time allowed.
pub(super) struct Copied {
    pub(super) progress: TransferProgress,
    /// True if all of it is there.
    pub(super) is_whole: bool,
    /// The cost of the tool on the client's host and on the server's.
    pub(super) costs: [Option<Cost>; 2],
    pub(super) line: String,
}

/// A file and the place for its copy, in memory. They go with this value.
pub(super) struct Files {
    folder: TempDir,
    bytes: u64,
}

impl Files {
    pub(super) fn new(seed: u64, bytes: u64) -> Result<Self> {
        let folder = TempDir::with_prefix_in("fulmar-lab-", MEMORY);
        let files = Self {
            folder: folder.context("making a folder in memory")?,
            bytes,
        };
        let mut random = fulmar_sim::Random::stream(seed, 0);
        let block: Vec<u8> = (0..BLOCK / 8)
            .flat_map(|_| random.bits().to_le_bytes())
            .collect();
        let mut source = File::create(files.source()).context("making a file in memory")?;
        let mut left = bytes;
        while left > 0 {
            let length = left.min(BLOCK as u64) as usize;
            let piece = block.get(..length).unwrap_or_default();
            source
                .write_all(piece)
                .context("filling a file in memory")?;
            left -= length as u64;
        }
        Ok(files)
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("target")
    }

    /// Returns how much of the copy is there.
    fn copied(&self) -> u64 {
        fs::metadata(self.target()).map_or(0, |file| file.len())
    }

    /// Tells whether source and copy are the same.
    fn are_same(&self) -> Result<bool> {
        Ok(self.copied() == self.bytes && fs::read(self.source())? == fs::read(self.target())?)
    }
}

/// Copies by this line for `sh`, until that is done or the time is over.
pub(super) fn run(
    stage: &Stage,
    files: &Files,
    line: &str,
    programs: Programs,
    time: Duration,
) -> Result<Copied> {
    let line = filled(line, stage, files)?;
    let mut costs_of = stage.costs()?;
    costs_of.iter_mut().for_each(|host| host.begin());
    let mut progress = TransferProgress::default();
    let start = boot_time();
    let mut tool = RunningProgram::start(stage, &line)?;
    loop {
        let has_ended = tool.has_ended()?;
        let (at, bytes) = (boot_time() - start, files.copied());
        progress.note(at, bytes);
        if has_ended {
            progress.end(at, bytes);
            break;
        }
        let limit = progress.first().map_or(SET_UP, |first| first + time);
        if at >= limit {
            break;
        }
        costs_of.iter_mut().for_each(|host| host.look());
        std::thread::sleep(LOOK);
    }
    let [client, server] = &costs_of;
    Ok(Copied {
        is_whole: files.are_same()?,
        progress,
        costs: costs(programs, [client, server]),
        line,
    })
}

/// Fills a line; none of the paths has characters that a shell changes.
fn filled(line: &str, stage: &Stage, files: &Files) -> Result<String> {
    let values = stage.kit.values(Path::new(""))?;
    let (_, config) = values.ssh.rsplit_once(' ').context("ssh has a file")?;
    Ok(line
        .replace("{ssh}", &values.ssh)
        .replace("{config}", config)
        .replace("{host}", &values.host)
        .replace("{source}", &files.source().display().to_string())
        .replace("{target}", &files.target().display().to_string()))
}

/// Returns a shell with this line, at home in the folder of the stage.
pub(super) fn shell(stage: &Stage, line: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(line).current_dir(stage.kit.home());
    shell
        .env("PATH", search_path())
        .env("HOME", stage.kit.home());
    shell
}

/// A tool that runs; it is ended with this value.
pub(in crate::instrument) struct RunningProgram {
    process: Child,
    has_ended: bool,
}

impl RunningProgram {
    /// Starts this line on the client's host.
    pub(in crate::instrument) fn start(stage: &Stage, line: &str) -> Result<Self> {
        let mut shell = shell(stage, line);
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self {
            process: stage.link.client.spawn(&mut shell)?,
            has_ended: false,
        })
    }

    /// Tells whether it has done its work.
    pub(in crate::instrument) fn has_ended(&mut self) -> Result<bool> {
        let status = self.process.try_wait().context("waiting for the tool")?;
        if let Some(status) = status {
            self.has_ended = true;
            ensure!(status.success(), "the tool ended with {status}");
        }
        Ok(self.has_ended)
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if !self.has_ended {
            // What it has started ends with the hosts.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}
