//! Going to the background.
//!
//! The fork comes first, and the daemon does all the work: no key ever exists in a process that
//! will fork again (docs/threat-model.md §5). Its parent waits for it to be ready, because whoever
//! started us reads the port and the key before they see us leave, and learns of a failure by our
//! status.

use std::io::{self, PipeWriter, Read as _, Write as _};

use fulmar_platform::process::{Forked, fork, leave_session, redirect_stdio_to_null};

/// One of the two processes.
#[derive(Debug)]
pub(crate) enum Detached {
    /// The one that was started; the other has got ready, or has failed.
    Parent {
        /// The other's process number.
        daemon: u32,
        /// The fate of the daemon.
        outcome: Outcome,
    },
    /// The one that stays. It leads a session of its own.
    Daemon(Readiness),
}

/// The fate of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It serves.
    Ready,
    /// It could not start, and has said why.
    Failed,
}

/// Lets the parent go, with good news if told so.
#[derive(Debug)]
pub(crate) struct Readiness {
    pipe: PipeWriter,
}

/// The fate of the standard streams of a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// They are let go, so that ssh can end.
    Released,
    /// They stay open, for a log.
    Kept,
}

/// Makes two processes of one.
///
/// # Errors
///
/// When the system has no room for another process.
pub(crate) fn detach() -> io::Result<Detached> {
    let (mut reader, pipe) = io::pipe()?;
    match fork()? {
        Forked::Parent { child } => {
            drop(pipe);
            let mut word = [0];
            let outcome = match reader.read_exact(&mut word) {
                Ok(()) => Outcome::Ready,
                // The daemon has ended, and its end of the pipe with it.
                Err(_) => Outcome::Failed,
            };
            Ok(Detached::Parent {
                daemon: child,
                outcome,
            })
        }
        Forked::Child => {
            leave_session()?;
            Ok(Detached::Daemon(Readiness { pipe }))
        }
    }
}

impl Streams {
    /// Lets them go, if they are not kept.
    ///
    /// # Errors
    ///
    /// When there is no `/dev/null`.
    pub(crate) fn let_go(self) -> io::Result<()> {
        match self {
            Streams::Released => redirect_stdio_to_null(),
            Streams::Kept => Ok(()),
        }
    }
}

impl Readiness {
    /// Says that all is well and that what was to be printed is printed.
    ///
    /// # Errors
    ///
    /// When the standard streams cannot be redirected.
    pub(crate) fn declare(mut self, streams: Streams) -> io::Result<()> {
        streams.let_go()?;
        // A parent that was killed meanwhile is not missed.
        let _ = self.pipe.write_all(b".");
        Ok(())
    }
}
