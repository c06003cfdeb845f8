//! What the kernel knows about a running process.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// A process, by its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process(pub(super) u32);

impl Process {
    /// Memory that is resident now, in bytes.
    pub(super) fn resident_bytes(self) -> Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The most memory that was ever resident, in bytes.
    pub(super) fn resident_bytes_max(self) -> Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Processor time of all threads so far, in nanoseconds' resolution: the clock ticks of
    /// `/proc/PID/stat` are longer than what an idle minute takes.
    pub(super) fn processor_time(self) -> Result<Duration> {
        let mut total = Duration::ZERO;
        let folder = format!("/proc/{}/task", self.0);
        for task in fs::read_dir(&folder).with_context(|| format!("listing {folder}"))? {
            let path = task?.path().join("schedstat");
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            total += Duration::from_nanos(first_number(&text).context("schedstat has no number")?);
        }
        Ok(total)
    }

    fn status_bytes(self, field: &str) -> Result<u64> {
        let path = format!("/proc/{}/status", self.0);
        let status = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        let kibibytes = status
            .lines()
            .find_map(|line| first_number(line.strip_prefix(field)?));
        Ok(1024 * kibibytes.with_context(|| format!("{path} has no {field}"))?)
    }

    /// Ends the process without asking; one that has ended already is fine.
    pub(super) fn kill(self) {
        let mut kill = std::process::Command::new("kill");
        kill.args(["-KILL", &self.0.to_string()])
            .stderr(std::process::Stdio::null());
        // Whether it was still there makes no difference.
        let _ = kill.status();
    }
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_has_run() {
        let this = Process(std::process::id());
        let resident = this.resident_bytes().unwrap();
        assert!(resident > 0 && resident <= this.resident_bytes_max().unwrap());
        assert!(this.processor_time().unwrap() > Duration::ZERO);
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = Process(child.id());
        child.wait().unwrap();
        assert!(process.resident_bytes().is_err());
        assert!(process.processor_time().is_err());
    }
}
