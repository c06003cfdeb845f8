//! A server that has gone to the background, as the one who started it knows it.

use std::path::Path;

use super::{DEADLINE, Process, World, adopt_orphans};

/// A server that runs. Dropping it ends it, and with its pty everything inside.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
    pub(crate) key: String,
}

impl Server {
    /// Starts `program new -p 0 -i 127.0.0.1 -c 256 -- command…`.
    pub(crate) fn start(world: &World, program: &Path, command: &[&str]) -> Self {
        adopt_orphans();
        let mut server = world.command(program);
        server.args(["new", "-p", "0", "-i", "127.0.0.1", "-c", "256"]);
        if !command.is_empty() {
            server.arg("--").args(command);
        }
        let output = server.output().expect("the server starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let started = Self::parse(&stdout, &stderr);
        started.unwrap_or_else(|| panic!("{} said {output:?}", program.display()))
    }

    /// Reads port and key from standard output, and the process number from standard error.
    pub(crate) fn parse(stdout: &str, stderr: &str) -> Option<Self> {
        let mut lines = stdout.lines();
        let connect = lines.find_map(|line| line.strip_prefix("MOSH CONNECT "))?;
        let (port, key) = connect.split_once(' ')?;
        let (_, pid) = stderr.split_once("detached, pid = ")?;
        let (pid, _) = pid.split_once(']')?;
        Some(Self {
            process: Process::of(pid.parse().ok()?)?,
            port: port.parse().ok()?,
            key: key.to_owned(),
        })
    }

    /// Waits until the server has ended and returns its exit status.
    #[track_caller]
    pub(crate) fn wait_for_end(&self) -> Option<i32> {
        assert!(self.process.wait(DEADLINE), "the server still runs");
        self.process.take_status()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill();
    }
}
