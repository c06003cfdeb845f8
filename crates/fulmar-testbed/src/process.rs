//! A process that is not our child, such as a server that has gone to the background.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, Instant};

use fulmar_platform::{Interest, wait_for};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, geteuid, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, waitid,
};

use crate::{DEADLINE, peers};

/// Asks the kernel to make orphans of our children ours, so that they can be waited for.
pub fn adopt_orphans() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_child_subreaper(Some(getpid())).expect("Linux has subreapers"));
}

/// True for root. Nobody else sees the environment of a program that is not to be dumped, as ours are, not even of their
/// own: then the calling test is left out.
#[track_caller]
pub fn sees_environments() -> bool {
    let is_root = geteuid().is_root();
    if !is_root {
        peers::leave_out("only root sees the environment of programs that are not to be dumped");
    }
    is_root
}

/// A process, held by a descriptor: its number cannot become another's meanwhile.
#[derive(Debug)]
pub struct Process {
    fd: OwnedFd,
    pid: u32,
}

impl Process {
    /// Takes hold of a process, which may have ended already if nobody has waited for it.
    pub fn of(pid: u32) -> Option<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
        let fd = pidfd_open(raw, PidfdFlags::empty()).ok()?;
        Some(Self { fd, pid })
    }

    /// Takes hold of every process that was started in a home: as its `HOME` says. Of our own programs only
    /// root is told: see [`sees_environments`].
    pub fn all_of(home: &Path) -> Vec<Self> {
        let variable = [b"HOME=", home.as_os_str().as_bytes()].concat();
        let is_of_home = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|it| it == variable)
        };
        let numbers = std::fs::read_dir("/proc").expect("Linux has it").flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(is_of_home).filter_map(Self::of).collect()
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The most memory that the process has had so far, in kilobytes.
    #[track_caller]
    pub fn memory_max(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid);
        let status = std::fs::read_to_string(path).expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number
            .and_then(|number| number.parse().ok())
            .expect("Linux counts it")
    }

    /// Sends a signal; a process that has ended does not mind.
    pub fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.fd, signal);
    }

    /// Waits until the process has ended; false when `limit` has passed first.
    pub fn wait(&self, limit: Duration) -> bool {
        let waited = wait_for(&self.fd, Interest::Read, Some(limit));
        waited.expect("a process can be polled").is_ready()
    }

    /// Waits until the process is stopped, or has ended.
    #[track_caller]
    pub fn wait_until_stopped(&self) {
        let deadline = Instant::now() + DEADLINE;
        let is_stopped = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
            status.is_ok_and(|status| status.contains("State:\tT"))
        };
        while !is_stopped() && !self.wait(Duration::from_millis(1)) {
            assert!(Instant::now() < deadline, "process {} goes on", self.pid);
        }
    }

    /// Returns the exit status of a process that has ended and that we have adopted; `None` if a
    /// signal has ended it.
    ///
    /// # Panics
    ///
    /// When the process is not ours to wait for, or was waited for before.
    pub fn take_status(&self) -> Option<i32> {
        waitid(WaitId::PidFd(self.fd.as_fd()), WaitIdOptions::EXITED)
            .expect("the process is ours")
            .expect("the process has ended")
            .exit_status()
    }

    /// Ends the process if it still runs, and forgets it.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
        self.wait(DEADLINE);
        // It may have been waited for before, or have a parent that does.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let _ = waitid(WaitId::PidFd(self.fd.as_fd()), options);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn an_orphan_tells_its_status() {
        adopt_orphans();
        let script = "exec 3<&0; (read line <&3; exit 7) >/dev/null 2>&1 & echo $!";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = shell.stdin.take();
        let output = shell.wait_with_output().unwrap();
        let pid = String::from_utf8(output.stdout).unwrap();
        let orphan = Process::of(pid.trim().parse().unwrap()).unwrap();
        drop(input);
        assert!(orphan.wait(DEADLINE));
        assert_eq!(orphan.take_status(), Some(7));
    }
}
