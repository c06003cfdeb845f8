//! Core dumps: they would carry keys and typed text to disk.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// The limit on the size of core files that a process had, to be given back to the user's shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreLimit(pub(crate) Rlimit);

impl CoreLimit {
    /// Returns the limit in force.
    pub fn current() -> Self {
        Self(getrlimit(Resource::Core))
    }

    /// Returns the limit in bytes for ordinary use; `None` is no limit.
    pub fn bytes(&self) -> Option<u64> {
        self.0.current
    }

    /// Puts this limit into force in the calling process.
    ///
    /// # Errors
    ///
    /// When the hard limit was lowered meanwhile.
    pub fn restore(&self) -> io::Result<()> {
        Ok(setrlimit(Resource::Core, self.0)?)
    }
}

/// Makes the calling process leave no core file, and returns what to give to its children.
///
/// Only the soft limit becomes 0: the hard limit stays, or it could never be restored. On Linux
/// the process is marked as not dumpable too, because a core handler behind a pipe is started
/// whatever the limit, and because it keeps other processes of the same user from attaching.
/// The mark ends with `exec`, so a child needs nothing but the limit.
///
/// # Errors
///
/// When the system refuses either call.
pub fn forbid_core_dumps() -> io::Result<CoreLimit> {
    let before = CoreLimit::current();
    setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: before.0.maximum,
        },
    )?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(before)
}
