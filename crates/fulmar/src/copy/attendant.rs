//! The process that stays with the login until the far end of a copy was reached.
//!
//! The fork comes first, so that no secret exists in a process that forks again
//! (docs/threat-model.md §5). The far end does all the work, and reads and writes what the login does; this
//! process only leaves when it is told to, so that ssh can end, or when the far end has gone.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use fulmar_platform::process::{Forked, fork, leave_session};

/// The far end does without the login.
const LEAVE: u8 = b'l';

/// Which of the two processes this is.
#[derive(Debug)]
pub(super) enum Parted {
    /// The one that was started; it has nothing left to do. True if the other one goes on, or has ended
    /// well.
    Attendant(bool),
    /// The one that works. It leads a session of its own.
    Worker(Bond),
}

/// What the worker holds on to as long as it needs the login.
#[derive(Debug)]
pub(super) struct Bond(UnixStream);

/// Makes two processes of one; in the first it returns when that is to leave.
///
/// # Errors
///
/// When the system has no room for another process.
pub(super) fn part() -> io::Result<Parted> {
    let (mut worker, attendant) = UnixStream::pair()?;
    match fork()? {
        Forked::Parent { .. } => {
            drop(attendant);
            let mut word = [0];
            let is_well = worker.read_exact(&mut word).is_ok() && word == [LEAVE];
            Ok(Parted::Attendant(is_well))
        }
        Forked::Child => {
            drop(worker);
            leave_session()?;
            Ok(Parted::Worker(Bond(attendant)))
        }
    }
}

impl Bond {
    /// Lets the login end. One that has ended does not mind.
    pub(super) fn release(mut self) {
        let _ = self.0.write_all(&[LEAVE]);
    }
}

impl AsFd for Bond {
    /// Readable when the attendant has gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
