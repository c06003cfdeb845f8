//! The login parent: the process that stays with the login until its daemon was heard.
//!
//! The fork comes first, so that no secret exists in a process that forks again (docs/threat-model.md §5), and the daemon
//! does all the work. Its parent does not leave when the daemon is ready: it is the one whom the end of the login
//! reaches. It does nothing about that but leave itself; the daemon sees that it is alone.
//!
//! For a session the login's input is the parent's, too: it hands the offer in it to the daemon. The daemon of a copy
//! reads and writes itself what the login does.
//!
//! An end of the input that was announced is not the end of the login, which then nobody sees; a daemon to which nobody
//! comes ends by itself.
//!
//! ```text
//!  ssh ── standard input ──► login parent ────── offer, go on ─────► daemon
//!      ◄─ FULMAR HEARD ───────────┴◄─ introduced, ready, heard, failed ─┘
//! ```
//!
//! Source: docs/protocol.md §2.9, §2.10.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use fulmar_core::Capability;
use fulmar_login::{OfferReader, ReceivedOffer, SessionName};
use fulmar_platform::process::{Forked, fork, leave_session};
use fulmar_platform::{Interest, Poller};

use crate::offer_input::{Input, News, OfferInputError};
use crate::reactor::Token;
use crate::system::while_doing;

/// The daemon has printed where it can be reached, if it can be yet.
const INTRODUCED: u8 = b'i';

/// The daemon is what it was asked to be.
const READY: u8 = b'r';

/// The name of the session follows: its length in one byte, and its letters.
const NAMED: u8 = b'n';

/// The daemon has nothing more to do for a login that carries datagrams of a session which is there.
const CARRIED: u8 = b'c';

/// The daemon could not be what it was asked to be, and has said why.
const FAILED: u8 = b'f';

/// The same, because there is no program to run.
const NO_PROGRAM: u8 = b'p';

/// The login was still there when the daemon was ready.
const GO_ON: u8 = b'g';

/// The daemon has heard its client.
const HEARD: u8 = b'h';

/// The outcome of a fork, in each of the two processes.
#[derive(Debug)]
pub(crate) enum DaemonFork {
    /// The one that was started.
    Parent(LoginParent),
    /// The one that stays. It leads a session of its own.
    Daemon(ParentHandle),
}

/// The process that was started, beside its daemon.
#[derive(Debug)]
pub(crate) struct LoginParent {
    daemon: UnixStream,
    is_introduced: bool,
    has_offer: bool,
    is_ready: bool,
    /// True if the client knows that ssh can carry datagrams, and so ends the login itself.
    may_carry: bool,
    /// The name of the session.
    name: Option<SessionName>,
    /// True if the daemon needs the login no more.
    is_independent: bool,
    /// True if the daemon was told that the login is still there.
    has_let_go_on: bool,
}

/// The reason why a parent is not needed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// The client was heard.
    Heard,
    /// Datagrams are to be carried to a session and from it, once the client says so.
    Carried,
    /// The client wants its datagrams to be carried, of which these bytes have come.
    OverSsh(Vec<u8>),
    /// The login has ended, and with this process the daemon will.
    LoginEnded,
    /// The daemon could not be what it was asked to be, and has said why.
    Failed,
    /// The same, because there is no program to run.
    NoProgram,
    /// The daemon has ended without a word.
    DaemonEnded,
}

/// The daemon's tie to its parent, which it keeps until a client has reached it.
#[derive(Debug)]
pub(crate) struct ParentHandle {
    parent: UnixStream,
}

/// Makes two processes of one.
///
/// # Errors
///
/// When the system has no room for another process.
pub(crate) fn fork_daemon() -> io::Result<DaemonFork> {
    let (daemon, parent) = UnixStream::pair()?;
    match fork()? {
        Forked::Parent { .. } => {
            drop(parent);
            Ok(DaemonFork::Parent(LoginParent {
                daemon,
                is_introduced: false,
                has_offer: false,
                is_ready: false,
                may_carry: false,
                name: None,
                is_independent: false,
                has_let_go_on: false,
            }))
        }
        Forked::Child => {
            drop(daemon);
            leave_session()?;
            Ok(DaemonFork::Daemon(ParentHandle { parent }))
        }
    }
}

impl LoginParent {
    /// Waits until there is no more to wait for, with a daemon that looks after the login's input and output itself.
    ///
    /// # Errors
    ///
    /// When the daemon cannot be heard.
    pub(crate) fn wait(mut self) -> io::Result<Leave> {
        loop {
            if let Some(leave) = self.listen()? {
                return Ok(leave);
            }
        }
    }

    /// Returns the name of the session, if the client may want ssh to carry its datagrams.
    pub(crate) fn carries(&self) -> Option<&SessionName> {
        self.name.as_ref().filter(|_| self.may_carry)
    }

    /// Tells if the daemon needs the login no more, so that its end is none of the session.
    pub(crate) fn is_independent(&self) -> bool {
        self.is_independent
    }

    /// Hands over the offer in `input`, and waits until there is no more to wait for. To be asked again after what is not
    /// the end. What comes after the offer is of no interest, only the end of it, and the wish that ssh carries datagrams.
    ///
    /// # Errors
    ///
    /// When there is no offer that makes sense, or the system does not let us wait.
    pub(crate) fn attend(&mut self, input: &mut Input) -> Result<Leave, OfferInputError> {
        let mut poller = Poller::new();
        loop {
            if self.is_independent && !input.is_open() {
                return Ok(Leave::LoginEnded);
            }
            // What is wrong with the input is told after where the daemon is, and while the daemon looks at the offer,
            // what it says about it comes first.
            let is_busy = !self.is_introduced || (self.has_offer && !self.is_ready);
            // A login that has ended while the daemon looked at the offer has done so before any
            // client was heard, though one may have sent something: the daemon is not to read that.
            let is_asked = self.is_ready && !self.has_let_go_on && !self.is_independent;
            let waited = poller.wait(is_asked.then_some(Duration::ZERO), |registry| {
                if !self.is_independent {
                    registry.add(Token::ForkPeer, &self.daemon, Interest::Read);
                }
                if !is_busy && input.is_open() {
                    registry.add(Token::Input, input, Interest::Read);
                }
            });
            waited.map_err(while_doing("waiting for the client"))?;
            let has_come = |wanted| poller.ready().any(|(token, _)| token == wanted);
            let (daemon, login) = (has_come(Token::ForkPeer), has_come(Token::Input));
            if is_asked && !daemon && !login {
                self.has_let_go_on = true;
                self.tell(&[GO_ON]);
            }
            // The daemon first: a client that was heard needs the login no more.
            if daemon
                && let Some(leave) = self.listen().map_err(while_doing("hearing the server"))?
            {
                return Ok(leave);
            }
            if !login {
                continue;
            }
            match input.read()? {
                News::Offer(ReceivedOffer { offer, text }) => {
                    self.has_offer = true;
                    self.may_carry =
                        offer.capabilities.has(Capability::Ssh) && input.is_transparent();
                    self.tell(&text);
                }
                News::OverSsh(early) if self.carries().is_some() => {
                    return Ok(Leave::OverSsh(early));
                }
                News::Nothing | News::OverSsh(_) => {}
                News::End => return Ok(Leave::LoginEnded),
            }
        }
    }

    /// A daemon that is gone is noticed in the next turn.
    fn tell(&mut self, text: &[u8]) {
        let _ = self.daemon.write_all(text);
    }

    fn listen(&mut self) -> io::Result<Option<Leave>> {
        let mut word = [0];
        let count = match self.daemon.read(&mut word) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            outcome => outcome?,
        };
        Ok(match (count, word) {
            (0, _) => Some(Leave::DaemonEnded),
            (_, [HEARD]) => {
                self.is_independent = true;
                Some(Leave::Heard)
            }
            (_, [CARRIED]) => {
                self.is_independent = true;
                Some(Leave::Carried)
            }
            (_, [NAMED]) => {
                self.name = self.hear_name()?;
                None
            }
            (_, [FAILED]) => Some(Leave::Failed),
            (_, [NO_PROGRAM]) => Some(Leave::NoProgram),
            (_, [INTRODUCED]) => {
                self.is_introduced = true;
                None
            }
            _ => {
                self.is_ready = true;
                None
            }
        })
    }
}

impl LoginParent {
    fn hear_name(&mut self) -> io::Result<Option<SessionName>> {
        let mut length = [0];
        self.daemon.read_exact(&mut length)?;
        let mut name = vec![0; usize::from(length[0])];
        self.daemon.read_exact(&mut name)?;
        let name = str::from_utf8(&name).ok();
        Ok(name.and_then(|name| SessionName::parse(name).ok()))
    }
}

impl ParentHandle {
    /// Waits for the offer; `None` if the login has ended first, of which the parent tells.
    ///
    /// # Errors
    ///
    /// When what comes makes no sense.
    pub(crate) fn offer(&mut self) -> Result<Option<ReceivedOffer>, OfferInputError> {
        let mut reader = OfferReader::default();
        let mut bytes = [0; 4096];
        loop {
            let count = match self.parent.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return Ok(None),
                Ok(count) => count,
            };
            let read = bytes.get(..count).unwrap_or_default();
            if let Some(received) = reader.take(read).map_err(OfferInputError::NoOffer)? {
                return Ok(Some(received));
            }
        }
    }

    /// Says that where this daemon can be reached is printed, if it can be yet.
    pub(crate) fn declare_introduced(&mut self) {
        self.say(INTRODUCED);
    }

    /// Says which session the login is about. Best said before it is [ready](ParentHandle::declare_ready).
    pub(crate) fn declare_name(&mut self, name: &SessionName) {
        let name = name.as_str().as_bytes();
        if let Ok(length) = u8::try_from(name.len()) {
            let word = [&[NAMED, length], name].concat();
            let _ = self.parent.write_all(&word);
        }
    }

    /// Says that the login is to carry datagrams, for which nobody but the parent is needed.
    pub(crate) fn declare_carried(mut self) {
        self.say(CARRIED);
    }

    /// Says that all that can go wrong has gone well, and waits to hear that the login is still there. Returns false
    /// if it has ended, of which the parent tells.
    pub(crate) fn declare_ready(&mut self) -> bool {
        self.say(READY);
        let mut word = [0];
        self.parent.read_exact(&mut word).is_ok()
    }

    /// Says that all is in vain, and that the client was told why.
    pub(crate) fn declare_failed(mut self) {
        self.say(FAILED);
    }

    /// Says the same, because there is no program to run.
    pub(crate) fn declare_no_program(mut self) {
        self.say(NO_PROGRAM);
    }

    /// Says that the client was heard. From then on nobody is depended on.
    pub(crate) fn declare_heard(mut self) {
        self.say(HEARD);
    }

    /// A parent that is gone meanwhile is noticed in the loop.
    fn say(&mut self, word: u8) {
        let _ = self.parent.write_all(&[word]);
    }
}

impl AsFd for ParentHandle {
    /// Readable when the parent has gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }
}
