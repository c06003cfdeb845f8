//! The process itself: going to the background, and who we are.

use crate::secret::are_secrets_held;
use crate::threads::refuse_threads;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, getsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// The side of a fork on which a process finds itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forked {
    /// The process that was there before.
    Parent {
        /// The number of the new process.
        child: u32,
    },
    /// The new process.
    Child,
}

/// Makes a second process that goes on from here as this one does.
///
/// Everything open is shared, and timers and raw terminal modes belong to both: it is meant for the
/// start of a program that wants to be in the background.
///
/// # Errors
///
/// When other threads run, which would not be there in the child while what they held locked stays
/// so; while there is a [`SecretBox`](crate::SecretBox), whose contents no child inherits; or when
/// the system has no room for a process.
pub fn fork() -> io::Result<Forked> {
    refuse_threads()?;
    if are_secrets_held() {
        return Err(io::Error::other("secrets are not to be inherited"));
    }
    // SAFETY: no other thread runs, so the child is whole: nothing is locked or half done in it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent {
            child: child.unsigned_abs(),
        }),
    }
}

/// Leaves the session and its terminal: their end is not ours any more.
///
/// # Errors
///
/// When the process leads a group, as one started by a shell does; a child of a fork does not.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// True when the process leads its session, as one does that a terminal emulator started: then no
/// shell is there that would continue it after a stop.
pub fn leads_session() -> bool {
    getsid(None) == Ok(getpid())
}

/// Points descriptors 0 to 2 to nowhere, so that whoever waits for their end is not kept waiting.
///
/// # Errors
///
/// When there is no `/dev/null`.
pub fn redirect_stdio_to_null() -> io::Result<()> {
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

/// Sends a signal to a process, such as a child that was not waited for.
///
/// # Errors
///
/// When there is no process of that number, or it is not ours to signal.
pub fn send_signal(pid: u32, signal: crate::Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let signal = rustix::process::Signal::from_named_raw(signal.number());
    match (pid, signal) {
        (Some(pid), Some(signal)) => Ok(rustix::process::kill_process(pid, signal)?),
        _ => Err(Errno::SRCH.into()),
    }
}

/// Tells if a process of that number is there, and ours to signal.
pub fn may_signal(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Returns the name by which lists of processes know this one.
///
/// # Errors
///
/// When the system has no such names.
pub fn process_name() -> io::Result<CString> {
    rustix::thread::name().map_err(Into::into)
}

/// Has lists of processes know this one by a name, of which 15 bytes count. To be called by its first thread.
///
/// # Errors
///
/// When the system has no such names.
pub fn set_process_name(name: &CStr) -> io::Result<()> {
    Ok(rustix::thread::set_name(name)?)
}

/// Returns the numbers and names of our user's processes, in the order of the numbers; none where the system has no /proc.
pub fn own_processes() -> Vec<(u32, CString)> {
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered = |entry: std::fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let is_own = entry.metadata().is_ok_and(|status| status.uid() == own);
        let mut name = std::fs::read(entry.path().join("comm")).ok()?;
        name.truncate(name.strip_suffix(b"\n").map_or(name.len(), <[u8]>::len));
        Some((number, CString::new(name).ok()?)).filter(|_| is_own)
    };
    let mut processes: Vec<_> = entries.filter_map(numbered).collect();
    processes.sort_unstable();
    processes
}

/// Returns the name of this machine.
pub fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn processes_are_found_by_their_name() {
        use crate::test_support::{in_child, run_in_child};
        if in_child() {
            let name = c"a-test-of-names";
            assert_ne!(process_name().unwrap().as_c_str(), name);
            // The test runs in a thread of its own, whose name is not the process's.
            let own = (std::process::id(), name.to_owned());
            assert!(!own_processes().contains(&own));
            let comm = format!("/proc/{}/comm", std::process::id());
            std::fs::write(comm, name.to_bytes()).unwrap();
            assert!(own_processes().contains(&own));
            return;
        }
        let (status, output) = run_in_child("process::tests::processes_are_found_by_their_name");
        assert!(status.success(), "{output}");
    }

    #[test]
    fn a_process_may_be_signalled_while_it_is_there() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        assert!(may_signal(child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!may_signal(child.id()));
        assert!(!may_signal(0) && !may_signal(u32::MAX));
    }

    #[test]
    fn a_signal_reaches_a_child_and_nobody_else() {
        use std::os::unix::process::ExitStatusExt;
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        send_signal(child.id(), crate::Signal::Terminate).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert!(send_signal(0, crate::Signal::Terminate).is_err());
        assert!(send_signal(u32::MAX, crate::Signal::Terminate).is_err());
    }

    #[test]
    fn a_process_with_threads_does_not_fork() {
        // The test runner has some.
        assert!(fork().is_err());
    }

    #[test]
    fn the_machine_has_a_name() {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host_name(), kernel.trim_end());
    }
}
