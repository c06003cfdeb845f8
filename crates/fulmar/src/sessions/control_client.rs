//! Finds the sessions of this user, and asks their servers.

use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use fulmar_datagram::Key;
use fulmar_login::{Announcement, BootstrapLine, SessionInfo, SessionName};
use fulmar_platform::{Signal, peer_process, process};
use fulmar_settings::Environment;

use super::control_request::{AttachPlace, attach_text, line_text};
use super::error::{PORTS_USED, SessionsError};
use super::run_folder::RunFolder;
use crate::process_title::{PortHolder, PortUse};
use crate::session_key;

/// The time that a server has to answer. Chosen by eye: it does so in a millisecond, unless it draws a flood.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The same where the answer is only of some interest. Chosen by eye: a login takes longer.
const GLANCE_WITHIN: Duration = Duration::from_millis(100);

/// The time that servers have to make their sockets again, and the pause between two looks. Chosen by eye: one takes a
/// millisecond.
const RESTORED_WITHIN: Duration = Duration::from_millis(200);
const LOOK_PAUSE: Duration = Duration::from_millis(10);

/// The most bytes of one answer. Chosen by eye: the longest have three lines of a login.
const ANSWER_BYTES_MAX: usize = 4096;

/// The beginning of the line with the port of a session.
const PORT: &str = "FULMAR PORT ";

/// The sessions of this user, as their servers describe them.
pub(crate) struct Directory {
    folders: Vec<RunFolder>,
}

/// A session whose server has answered.
pub(crate) struct FoundSession {
    folder: RunFolder,
    /// Its description.
    pub(crate) info: SessionInfo,
}

/// A session whose server does not answer.
pub(crate) struct SilentSession {
    /// Its name.
    pub(crate) name: SessionName,
    /// The number of its server's process, if the system tells.
    pub(crate) pid: Option<u32>,
    error: io::Error,
}

/// The sessions that there are.
#[derive(Default)]
pub(crate) struct Listing {
    /// Those whose servers have answered, in the order of their names.
    pub(crate) found: Vec<FoundSession>,
    /// Those whose servers have not.
    pub(crate) silent: Vec<SilentSession>,
}

/// A session that expects a client.
pub(crate) struct Attaching {
    stream: UnixStream,
    /// The name of the session.
    pub(crate) name: SessionName,
    /// Something that the user is to know of it.
    pub(crate) remark: Option<String>,
    /// The announcement of its server.
    pub(crate) announcement: Announcement,
    /// The port at which it expects the client.
    pub(crate) port: u16,
}

impl Directory {
    /// Returns the directory.
    pub(crate) fn of(environment: &Environment) -> Directory {
        Directory {
            folders: RunFolder::all(environment),
        }
    }

    /// Returns all sessions, in the order of their names. Servers whose sockets have gone from their folder make them
    /// again.
    pub(crate) fn list(environment: &Environment) -> Listing {
        let limit = Instant::now() + RESTORED_WITHIN;
        let mut has_asked = false;
        loop {
            let listing = Directory::of(environment).sessions(ANSWER_WITHIN);
            let missing = missing(&listing);
            if missing.is_empty() || limit <= Instant::now() {
                return listing;
            }
            if !has_asked {
                for pid in &missing {
                    // Who knows nothing of sockets does nothing about it.
                    let _ = process::send_signal(*pid, Signal::Continue);
                }
                has_asked = true;
            }
            thread::sleep(LOOK_PAUSE);
        }
    }

    /// Returns the sessions whose servers answer at once, as a login wants it.
    pub(crate) fn glance(environment: &Environment) -> Vec<SessionInfo> {
        let listing = Directory::of(environment).sessions(GLANCE_WITHIN);
        let found = listing.found.into_iter();
        found.map(|found| found.info).collect()
    }

    fn sessions(&self, within: Duration) -> Listing {
        let mut listing = Listing::default();
        let limit = Instant::now() + within;
        for folder in &self.folders {
            for name in folder.names() {
                // One that hangs does not take the time of the others.
                let left = limit.saturating_duration_since(Instant::now());
                let left = left.max(GLANCE_WITHIN).min(within);
                match ask_status(folder, &name, left) {
                    Ok(session) => listing.found.push(session),
                    Err(silent) => {
                        tracing::info!(%name, error = %silent.error, "a session without an answer");
                        if !is_absence(&silent.error) && !has_hung_up(&silent.error) {
                            listing.silent.push(silent);
                        }
                    }
                }
            }
        }
        let found = &mut listing.found;
        found.sort_by(|one, other| one.info.name.cmp(&other.info.name));
        listing
    }

    /// Returns the session of that name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When its server does not answer.
    pub(crate) fn find(&self, name: &SessionName) -> Result<Option<FoundSession>, SessionsError> {
        for folder in &self.folders {
            match ask_status(folder, name, ANSWER_WITHIN) {
                Ok(found) => return Ok(Some(found)),
                Err(silent) if is_absence(&silent.error) => {}
                Err(silent) => return Err(silent.into()),
            }
        }
        Ok(None)
    }

    /// Returns the session of that name, or else the only one that had it; without a name, the only one, or the one that was
    /// left last.
    ///
    /// # Errors
    ///
    /// When there is none, or none that is meant more than others.
    pub(crate) fn choose(
        environment: &Environment,
        name: Option<&SessionName>,
    ) -> Result<FoundSession, SessionsError> {
        if let Some(name) = name
            && let Some(found) = Directory::of(environment).find(name)?
        {
            return Ok(found);
        }
        let Listing {
            found: mut all,
            silent,
        } = Directory::list(environment);
        let there = || {
            let found = all.iter().map(|found| &found.info.name);
            let all = found.chain(silent.iter().map(|silent| &silent.name));
            all.cloned().collect()
        };
        let chosen = match name {
            Some(name) => {
                let infos: Vec<&SessionInfo> = all.iter().map(|found| &found.info).collect();
                called(&infos, name).ok_or_else(|| SessionsError::NotFound {
                    name: name.clone(),
                    there: there(),
                    may_begin: true,
                })?
            }
            None => {
                let infos: Vec<&SessionInfo> = all.iter().map(|found| &found.info).collect();
                match (likeliest(&infos), infos.is_empty()) {
                    (Some(index), _) => index,
                    (None, true) => {
                        let silent = silent.into_iter().next();
                        return Err(silent.map_or(SessionsError::NoSessions, SessionsError::from));
                    }
                    (None, false) => return Err(SessionsError::Several { there: there() }),
                }
            }
        };
        Ok(all.swap_remove(chosen))
    }
}

impl FoundSession {
    /// Has the session end.
    ///
    /// # Errors
    ///
    /// When its server does not answer.
    pub(crate) fn end(&self) -> Result<(), SessionsError> {
        self.ask("end")
    }

    /// Gives the session another name.
    ///
    /// # Errors
    ///
    /// When its server refuses, or does not answer.
    pub(crate) fn rename(&self, to: &SessionName) -> Result<(), SessionsError> {
        self.ask(&format!("rename {to}"))
    }

    fn ask(&self, request: &str) -> Result<(), SessionsError> {
        self.exchange(line_text(request).as_bytes(), 1).map(|_| ())
    }

    /// Says something at the session's socket, and returns the connection and the first lines of the answer.
    fn exchange(
        &self,
        text: &[u8],
        count: usize,
    ) -> Result<(UnixStream, Vec<String>), SessionsError> {
        let stream = self.folder.connect(&self.info.name);
        let mut stream = stream.map_err(self.silent())?;
        let lines = exchange(&mut stream, text, count, ANSWER_WITHIN).map_err(self.silent())?;
        refusal(&lines).map_or(Ok((stream, lines)), Err)
    }

    /// Returns a connection that carries datagrams to the session and from it, for a client at that address.
    ///
    /// # Errors
    ///
    /// When its server refuses, does not know how, or does not answer.
    pub(crate) fn carry(&self, client: Option<IpAddr>) -> Result<UnixStream, SessionsError> {
        let text = match client {
            Some(client) => line_text(&format!("over-ssh from={client}")),
            None => line_text("over-ssh"),
        };
        let (stream, lines) = self.exchange(text.as_bytes(), 1)?;
        stream.set_write_timeout(None).map_err(self.silent())?;
        match lines.first() {
            Some(line) if line.as_str() == BootstrapLine::OverSsh.text().trim_end() => Ok(stream),
            _ => Err(self.silent()(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Has the session expect the client of that offer under that key, which is not used by anybody else from then on.
    ///
    /// # Errors
    ///
    /// When its server refuses, or does not answer.
    pub(crate) fn attach(
        self,
        place: &AttachPlace,
        offer: &[u8],
        key: &Key,
    ) -> Result<Attaching, SessionsError> {
        let (stream, lines) = self.exchange(&attach_text(place, offer, key), 2)?;
        let announcement = lines.iter().find_map(|line| Announcement::parse(line));
        let port = lines.iter().find_map(|line| line.strip_prefix(PORT));
        let port = port.and_then(|port| port.parse().ok());
        match (announcement, port) {
            (Some(announcement), Some(port)) => Ok(Attaching {
                stream,
                name: self.info.name,
                remark: None,
                announcement,
                port,
            }),
            _ => Err(self.silent()(io::ErrorKind::InvalidData.into())),
        }
    }

    fn silent(&self) -> impl Fn(io::Error) -> SessionsError + use<> {
        let (name, pid) = (self.info.name.clone(), self.info.pid);
        move |error| SessionsError::no_answer(name.clone(), Some(pid), error)
    }
}

impl From<SilentSession> for SessionsError {
    fn from(silent: SilentSession) -> SessionsError {
        let SilentSession { name, pid, error } = silent;
        SessionsError::no_answer(name, pid, error)
    }
}

impl SilentSession {
    /// Returns all that is known of it.
    pub(crate) fn into_info(self) -> SessionInfo {
        SessionInfo::silent(self.name, self.pid)
    }
}

impl Attaching {
    /// Returns the answer to a client that is expected at that port.
    pub(crate) fn answer(port: u16) -> String {
        format!("{}{PORT}{port}\n", Announcement::ours().line())
    }

    /// Tells, when something has come, if the client was heard. If not, it is not expected any more.
    pub(crate) fn hear_out(mut self) -> bool {
        let heard = BootstrapLine::Heard.text();
        let mut bytes = vec![0; heard.len()];
        self.stream.read_exact(&mut bytes).is_ok() && bytes == heard.as_bytes()
    }
}

impl AsFd for Attaching {
    /// Readable when the client was heard, or is not expected any more.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn ask_status(
    folder: &RunFolder,
    name: &SessionName,
    within: Duration,
) -> Result<FoundSession, SilentSession> {
    let silent = |pid: Option<u32>| {
        let name = name.clone();
        move |error| SilentSession { name, pid, error }
    };
    let mut stream = folder.connect(name).map_err(silent(None))?;
    let pid = peer_process(&stream);
    let info = status(&mut stream, within).map_err(silent(pid))?;
    let folder = folder.clone();
    Ok(FoundSession { folder, info })
}

/// Returns what the session at the other end says of itself.
fn status(stream: &mut UnixStream, within: Duration) -> io::Result<SessionInfo> {
    let lines = exchange(stream, line_text("status").as_bytes(), 1, within)?;
    let info = lines.iter().find_map(|line| {
        match BootstrapLine::parse(line.as_bytes(), session_key::read) {
            Ok(Some(BootstrapLine::Session(info))) => Some(info),
            _ => None,
        }
    });
    info.ok_or(io::ErrorKind::InvalidData.into())
}

/// Says something and returns the first lines of the answer: `count` of them, or one that refuses.
fn exchange(
    stream: &mut UnixStream,
    text: &[u8],
    count: usize,
    within: Duration,
) -> io::Result<Vec<String>> {
    stream.set_write_timeout(Some(within))?;
    stream.set_read_timeout(Some(within))?;
    stream.write_all(text)?;
    let mut answer = Vec::new();
    let mut lines = Vec::new();
    let mut byte = [0];
    // What follows these lines is not taken.
    while lines.len() < count && answer.len() < ANSWER_BYTES_MAX {
        stream.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => {
                let line = String::from_utf8_lossy(&answer).into_owned();
                answer.clear();
                lines.push(line);
                if refusal(&lines).is_some() {
                    break;
                }
            }
            [byte] => answer.push(byte),
        }
    }
    stream.set_read_timeout(None)?;
    Ok(lines)
}

fn refusal(lines: &[String]) -> Option<SessionsError> {
    let last = lines.last()?;
    match BootstrapLine::parse(last.as_bytes(), session_key::read) {
        Ok(Some(BootstrapLine::Error(what))) if what == PORTS_USED => {
            Some(SessionsError::PortsUsed)
        }
        Ok(Some(BootstrapLine::Error(what))) => Some(SessionsError::Refused(what)),
        _ => None,
    }
}

/// Tells if an error means that there is no such session, or not at this socket: somebody else's is none.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::PermissionDenied
    )
}

/// Tells if an error means that the session has ended while it was asked.
fn has_hung_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// Returns the servers of this user that none of these sessions is of.
fn missing(listing: &Listing) -> Vec<u32> {
    let Listing { found, silent } = listing;
    let is_known = |pid: u32| {
        found.iter().any(|found| found.info.pid == pid)
            || silent.iter().any(|silent| silent.pid == Some(pid))
    };
    let of_session = |holder: &PortHolder| holder.port_use != PortUse::Copy;
    let servers = PortHolder::all().into_iter().filter(of_session);
    let pids = servers.map(|holder| holder.pid);
    pids.filter(|pid| !is_known(*pid)).collect()
}

/// Returns the session that has that name, or else the only one that had it.
fn called(infos: &[&SessionInfo], name: &SessionName) -> Option<usize> {
    let named = infos.iter().position(|info| info.name == *name);
    let formerly = infos.iter().enumerate();
    let mut formerly = formerly.filter(|(_, info)| info.former.contains(name));
    named.or_else(|| match (formerly.next(), formerly.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    })
}

/// Returns the session that is meant without a name: the only one, or the one that was left last.
fn likeliest(infos: &[&SessionInfo]) -> Option<usize> {
    match infos {
        [_] => Some(0),
        infos => {
            let left = infos.iter().enumerate();
            let left = left.filter_map(|(index, info)| Some((info.away?, index)));
            left.min().map(|(_, index)| index)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, away: Option<u64>) -> SessionInfo {
        SessionInfo {
            name: SessionName::parse(name).unwrap(),
            former: Vec::new(),
            pid: 1,
            age: Duration::ZERO,
            client: None,
            away: away.map(Duration::from_secs),
            expires: None,
            is_silent: false,
            command: String::new(),
        }
    }

    #[test]
    fn a_session_without_room_for_a_port_is_told_from_one_that_refuses() {
        let refused = |what: &str| {
            refusal(&[BootstrapLine::Error(what.to_owned())
                .text()
                .trim_end()
                .to_owned()])
        };
        assert!(matches!(
            refused(PORTS_USED),
            Some(SessionsError::PortsUsed)
        ));
        let other = refused("it is just ending");
        assert!(matches!(other, Some(SessionsError::Refused(_))));
    }

    #[test]
    fn a_former_name_leads_to_a_session_if_no_other_has_or_had_it() {
        let renamed = |name: &str, was: &str| SessionInfo {
            former: vec![SessionName::parse(was).unwrap()],
            ..info(name, None)
        };
        let [play, other, work] = [
            renamed("play", "work"),
            renamed("other", "work"),
            info("work", None),
        ];
        let name = SessionName::parse("work").unwrap();
        assert_eq!(called(&[&info("x", None), &play], &name), Some(1));
        assert_eq!(called(&[&play, &other], &name), None);
        assert_eq!(called(&[&play, &work], &name), Some(1));
        assert_eq!(called(&[], &name), None);
    }

    #[test]
    fn without_a_name_the_only_session_is_meant_or_the_one_that_was_left_last() {
        let [attended, other] = [info("a", None), info("b", None)];
        let [left, long_left] = [info("c", Some(9)), info("d", Some(900))];
        assert_eq!(likeliest(&[]), None);
        assert_eq!(likeliest(&[&attended]), Some(0));
        assert_eq!(likeliest(&[&attended, &other]), None);
        assert_eq!(likeliest(&[&attended, &long_left, &left]), Some(2));
    }
}
