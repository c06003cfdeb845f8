//! The two hosts of a session, and the programs on them.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use fulmar_platform::Spawn;
use fulmar_platform::lab::{Halt, Network};
use fulmar_testbed::PtyProgram;
use fulmar_testbed::peers::search_path;

use crate::link::Link;
use crate::peer::{Costs, LabSshd, SessionFiles};
use crate::scenario::Scenario;
use crate::trace::Size;

/// So long a peer may take to leave when it was asked to, before it is made to. Chosen by eye:
/// twice the longest round trip of the experiments.
pub(crate) const LEAVE: Duration = Duration::from_secs(10);

/// The most looks for processes that were started while others were ended. Chosen by eye.
const ENDINGS_MAX: usize = 100;

/// A link, an sshd behind it, and all that runs on both hosts. Dropping it ends everything.
pub(crate) struct SessionHosts {
    // Dropped in this order: a link whose processes are gone would complain.
    pub(crate) link: Link,
    processes: Processes,
    pub(crate) sshd: LabSshd,
    pub(crate) files: SessionFiles,
}

/// All processes in some networks, which end when this is dropped.
struct Processes([Network; 2]);

impl SessionHosts {
    /// Sets up everything for a recording but the peer.
    ///
    /// # Errors
    ///
    /// Where links cannot be made here, or sshd is not installed.
    pub(crate) fn new(scenario: &Scenario, recording: &Path) -> Result<Self> {
        let files = SessionFiles::new(recording)?;
        let link = Link::start(scenario)?;
        let processes = Processes([link.client.network()?, link.server.network()?]);
        let sshd = LabSshd::start(&link.server, &files)?;
        Ok(Self {
            link,
            processes,
            sshd,
            files,
        })
    }

    /// Returns what counts the costs on both hosts, the client's first.
    ///
    /// # Errors
    ///
    /// Where a network cannot be looked at.
    pub(crate) fn costs(&self) -> Result<[Costs; 2]> {
        let [client, server] = &self.processes.0;
        let listener = self.sshd.pid();
        Ok([Costs::new(client, &[])?, Costs::new(server, &[listener])?])
    }

    /// Starts a peer's client: this line for `sh`, on the client's host.
    ///
    /// # Errors
    ///
    /// Where there is no terminal, or no shell.
    pub(crate) fn start(&self, line: &str, size: Size) -> Result<PtyProgram> {
        let mut shell = Spawn::new("/bin/sh");
        shell.arg("-c").arg(line).directory(self.files.home());
        // A character set that every peer can take for UTF-8.
        let environment: [(&str, OsString); 5] = [
            ("PATH", search_path()),
            ("HOME", self.files.home().into()),
            ("TERM", "xterm-256color".into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("LANG", "C.UTF-8".into()),
        ];
        for (name, value) in environment {
            shell.env(name, value);
        }
        Ok(self
            .link
            .client
            .within(|| PtyProgram::start(&shell, size.into()))??)
    }

    /// Ends all processes on both hosts.
    pub(crate) fn end_processes(&self) {
        self.processes.end();
    }
}

impl Processes {
    fn end(&self) {
        for _ in 0..ENDINGS_MAX {
            let ended = self
                .0
                .iter()
                .map(|network| network.halt(Halt::End).unwrap_or(0));
            if ended.sum::<usize>() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}
