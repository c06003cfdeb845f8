//! The hosts of a measurement, and the commands of the sessions between them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::Kernel;
use crate::experiment::LabSetup;
use crate::peer::{Peer, Values};
use crate::replay::SessionHosts;
use crate::scenario::Scenario;

/// The file that stands for a recording where none is played.
const NO_RECORDING: &str = "/dev/null";

/// Returns hosts whose TCP is as the kernel has it by itself, for sessions in which no recording is played.
pub(super) fn hosts(scenario: &Scenario) -> Result<SessionHosts> {
    SessionHosts::new(scenario, Path::new(NO_RECORDING))
}

/// The two hosts of sessions, with the TCP that they are measured with.
pub(super) struct PeerHosts {
    pub(super) session: SessionHosts,
    /// The settings of TCP, in words.
    kernel: String,
    /// Our program.
    fulmar: PathBuf,
}

impl PeerHosts {
    /// Sets up hosts for sessions in which no recording is played.
    pub(super) fn new(scenario: &Scenario, kernel: Kernel, setup: &LabSetup) -> Result<Self> {
        Self::playing(Path::new(NO_RECORDING), scenario, kernel, setup)
    }

    /// Sets up hosts for sessions that play a recording.
    pub(super) fn playing(
        recording: &Path,
        scenario: &Scenario,
        kernel: Kernel,
        setup: &LabSetup,
    ) -> Result<Self> {
        let session = SessionHosts::new(scenario, recording)?;
        let kernel = kernel.set(&session.link)?;
        let fulmar = setup.fulmar.clone();
        Ok(Self {
            session,
            kernel,
            fulmar,
        })
    }

    /// Returns what is put into a peer's template; the command plays the recording.
    pub(super) fn values(&self) -> Result<Values> {
        self.session.files.values(&self.fulmar)
    }

    /// Returns the word that starts the lab at the remote end.
    pub(super) fn lab(&self) -> Result<String> {
        let command = self.values()?.command;
        let (lab, _) = command.split_once(' ').context("a command has a program")?;
        Ok(lab.to_owned())
    }

    /// Returns the line with which a peer begins a session that runs this command at the remote end.
    pub(super) fn line(&self, peer: &Peer, command: String) -> Result<String> {
        let values = self.values()?;
        peer.line(&Values { command, ..values })
    }

    /// Returns the commands of a session that was begun with this line, for a reader.
    pub(super) fn commands(&self, line: String) -> Vec<String> {
        vec![line, self.session.sshd.command.clone(), self.kernel.clone()]
    }
}
