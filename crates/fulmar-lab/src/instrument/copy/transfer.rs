//! A copy under way, whoever makes it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::peers::find;
use tempfile::TempDir;

use super::stream::{TcpTransfer, TransferDirection, widen};
use super::tool::{Kind, Tool, with_ends};
use crate::experiment::Surroundings;
use crate::instrument::Kernel;
use crate::instrument::bulk::copy::RunningProgram;
use crate::peer::plain;
use crate::replay::Stage;

/// The folder in which files lie in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// A place for source and target, in memory. It goes with this value.
pub(super) struct TransferFiles(TempDir);

/// A tool that carries, and how far it has come.
pub(super) struct Transfer {
    kind: TransferKind,
    bytes: u64,
    began: Duration,
    /// The commands that were run, for a reader.
    pub(super) commands: Vec<String>,
}

enum TransferKind {
    Stream(TcpTransfer),
    Command(RunningProgram, PathBuf),
}

impl TransferFiles {
    pub(super) fn new() -> Result<Self> {
        let folder = TempDir::with_prefix_in("fulmar-lab-", MEMORY);
        let files = Self(folder.context("making a folder in memory")?);
        fs::create_dir(files.far())?;
        Ok(files)
    }

    pub(super) fn source(&self) -> PathBuf {
        self.0.path().join("source")
    }

    /// The target, alone in its folder.
    pub(super) fn target(&self) -> PathBuf {
        self.far().join("target")
    }

    fn far(&self) -> PathBuf {
        self.0.path().join("far")
    }
}

impl Transfer {
    /// Lets somebody begin to carry what is in a folder, or as many bytes of zeros where it is plain TCP.
    pub(super) fn start(
        tool: Tool,
        (stage, files): (&Stage, &TransferFiles),
        (way, bytes): (TransferDirection, u64),
        around: &Surroundings,
    ) -> Result<Self> {
        let began = boot_time();
        let (kind, commands) = match tool.kind {
            Kind::Stream(congestion) => {
                let words = widen(&stage.link)?;
                let stream = TcpTransfer::start(&stage.link, congestion, way, bytes)?;
                let said = format!("a TCP stream of the lab, {}", tool.name);
                (TransferKind::Stream(stream), vec![said, words])
            }
            Kind::Command { program, line } => {
                if let Some(program) = program {
                    find(program).with_context(|| format!("{program} is not installed"))?;
                }
                let kernel = Kernel::USUAL.set(&stage.link)?;
                let line = filled(&with_ends(line, way), stage, files, around)?;
                let running = RunningProgram::start(stage, &line)?;
                let target = files.far();
                let daemon = stage.daemon.command.clone();
                (
                    TransferKind::Command(running, target),
                    vec![line, daemon, kernel],
                )
            }
        };
        Ok(Self {
            kind,
            bytes,
            began,
            commands,
        })
    }

    /// Returns the number of bytes at the far side of the copy.
    pub(super) fn arrived(&self) -> u64 {
        match &self.kind {
            TransferKind::Stream(stream) => stream.received(),
            TransferKind::Command(_, folder) => held(folder).min(self.bytes),
        }
    }

    /// Tells whether it has done its work.
    pub(super) fn has_ended(&mut self) -> Result<bool> {
        match &mut self.kind {
            TransferKind::Stream(stream) => Ok(stream.received() >= self.bytes),
            TransferKind::Command(running, _) => running.has_ended(),
        }
    }

    /// Returns the time for which it has been under way.
    pub(super) fn took(&self) -> Duration {
        boot_time() - self.began
    }
}

/// Returns how much all files in a folder take, in bytes; holes take nothing.
fn held(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    // stat(2): blocks are of 512 bytes.
    sizes.map(|file| file.blocks() * 512).sum()
}

/// Fills a line; none of the paths has characters that a shell changes.
fn filled(
    line: &str,
    stage: &Stage,
    files: &TransferFiles,
    around: &Surroundings,
) -> Result<String> {
    let values = stage.kit.values(&around.fulmar)?;
    let (_, config) = values.ssh.rsplit_once(' ').context("ssh has a file")?;
    let mut line = line
        .replace("{ssh}", &values.ssh)
        .replace("{config}", config)
        .replace("{host}", &values.host)
        .replace("{source}", &plain(&files.source())?)
        .replace("{target}", &plain(&files.target())?);
    if line.contains("{fulmar}") {
        let fulmar = &around.fulmar;
        ensure!(
            fulmar.is_file(),
            "{} is not there; build it",
            fulmar.display()
        );
        line = line.replace("{fulmar}", &plain(fulmar)?);
    }
    Ok(line)
}
