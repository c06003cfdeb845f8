//! The process that stays with the login until the client was heard.
//!
//! The fork comes first, and the daemon does all the work, as in [`detach`](mod@super::detach). But its
//! parent does not leave when the daemon is ready: it is the one whom the end of the login reaches.
//! It does nothing about that but leave itself; the daemon sees that it is alone.
//!
//! ```text
//!  ssh ── standard input ──► attendant ◄── bond ──► daemon
//!      ◄─ FULMAR HEARD ─────────┘
//! ```
//!
//! Source: docs/protocol.md §2.9.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use fulmar_platform::process::{Forked, fork, leave_session};
use fulmar_platform::{Interest, PollList};

use super::offer_input::Input;

/// The daemon prints how to reach it.
const READY: u8 = b'r';

/// The daemon has heard its client.
const HEARD: u8 = b'h';

/// Which of the two processes this is.
#[derive(Debug)]
pub(crate) enum Parted {
    /// The one that was started.
    Attendant(Attendant),
    /// The one that stays. It leads a session of its own.
    Daemon(Bond),
}

/// The process that was started, beside its daemon.
#[derive(Debug)]
pub(crate) struct Attendant {
    daemon: UnixStream,
    is_ready: bool,
}

/// Why an attendant is not needed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// The client was heard.
    Heard,
    /// The login has ended, and with this process the daemon will.
    LoginEnded,
    /// The daemon could not start, and has said why.
    Failed,
    /// The daemon could be reached, and has ended.
    DaemonEnded,
}

/// What the daemon holds on to until it was reached.
#[derive(Debug)]
pub(crate) struct Bond {
    attendant: UnixStream,
}

/// Makes two processes of one.
///
/// # Errors
///
/// When the system has no room for another process.
pub(crate) fn part() -> io::Result<Parted> {
    let (daemon, attendant) = UnixStream::pair()?;
    match fork()? {
        Forked::Parent { .. } => {
            drop(attendant);
            let is_ready = false;
            Ok(Parted::Attendant(Attendant { daemon, is_ready }))
        }
        Forked::Child => {
            drop(daemon);
            leave_session()?;
            Ok(Parted::Daemon(Bond { attendant }))
        }
    }
}

impl Attendant {
    /// Waits until there is no more to wait for. What still comes on `input` is of no interest, only
    /// its end.
    ///
    /// # Errors
    ///
    /// When the system does not let us wait.
    pub(crate) fn attend(mut self, input: &mut Input) -> io::Result<Leave> {
        loop {
            let mut list = PollList::new();
            let daemon = list.add(&self.daemon, Interest::Read);
            let login = list.add(input, Interest::Read);
            list.wait(None)?;
            let [daemon, login] = [daemon, login].map(|slot| list.readiness(slot).is_readable());
            // The daemon first: a client that was heard needs the login no more.
            if daemon && let Some(leave) = self.listen()? {
                return Ok(leave);
            }
            if login && input.has_ended() {
                return Ok(Leave::LoginEnded);
            }
        }
    }

    fn listen(&mut self) -> io::Result<Option<Leave>> {
        let mut word = [0];
        let count = match self.daemon.read(&mut word) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            outcome => outcome?,
        };
        Ok(match (count, word) {
            (0, _) if self.is_ready => Some(Leave::DaemonEnded),
            (0, _) => Some(Leave::Failed),
            (_, [HEARD]) => Some(Leave::Heard),
            _ => {
                self.is_ready = true;
                None
            }
        })
    }
}

impl Bond {
    /// Says that all that can go wrong has gone well, and a client is about to learn how to come.
    pub(crate) fn declare_ready(&mut self) {
        self.say(READY);
    }

    /// Says that the client was heard. From then on nobody is depended on.
    pub(crate) fn declare_heard(mut self) {
        self.say(HEARD);
    }

    /// An attendant that is gone meanwhile is noticed in the loop.
    fn say(&mut self, word: u8) {
        let _ = self.attendant.write_all(&[word]);
    }
}

impl AsFd for Bond {
    /// Readable when the attendant has gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.attendant.as_fd()
    }
}
