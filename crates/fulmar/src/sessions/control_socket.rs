//! The server's end of the socket of a session.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};

use fulmar_login::{SessionInfo, SessionName};
use fulmar_platform::{Interest, is_own_peer};

use super::control_request::{ControlRequest, RequestBuffer, RequestReader};
use super::run_folder::RunFolder;
use crate::reactor::{Registry, Token};

/// The most processes that may be asking at once; a further one takes the place of the oldest.
///
/// Source: docs/threat-model.md §6.
const PEERS_MAX: usize = 8;

/// The most names that are tried for a session whose own is another's by now. Chosen by eye: nobody has so many sessions.
const NAMES_TRIED: u32 = 1000;

/// The reads from one process in one turn, so that it keeps nobody else waiting. Chosen by eye: the usual request takes one.
const READS_PER_TURN: usize = 16;

/// A process that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerId(u64);

/// The socket of a session, and the processes that ask something there. All of them are this user's.
pub(crate) struct ControlSocket {
    folder: RunFolder,
    name: SessionName,
    /// The names that it had, the last one first.
    former: Vec<SessionName>,
    listener: UnixListener,
    inode: Option<u64>,
    peers: Vec<Peer>,
    next: u64,
}

struct Peer {
    id: PeerId,
    stream: UnixStream,
    /// `None` once it has asked.
    reader: Option<RequestReader>,
}

impl ControlSocket {
    /// Listens for the session of that name.
    ///
    /// # Errors
    ///
    /// With [`io::ErrorKind::AddrInUse`] if another session has it, or when the system refuses.
    pub(crate) fn open(folder: RunFolder, name: SessionName) -> io::Result<ControlSocket> {
        let listener = folder.listen(&name)?;
        Ok(ControlSocket {
            inode: folder.inode(&name),
            folder,
            name,
            former: Vec::new(),
            listener,
            peers: Vec::new(),
            next: 0,
        })
    }

    /// Returns the name of the session.
    pub(crate) fn name(&self) -> &SessionName {
        &self.name
    }

    /// Returns the names that it had before, the last one first.
    pub(crate) fn former_names(&self) -> &[SessionName] {
        &self.former
    }

    /// Registers the socket and those who ask.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        registry.add(Token::ControlListener, &self.listener, Interest::Read);
        for (index, peer) in self.peers.iter().enumerate() {
            registry.add(Token::ControlPeer(index), &peer.stream, Interest::Read);
        }
    }

    /// Takes in whoever wants to ask something, as long as there is room; the others wait for the next turn. If there was none
    /// from the beginning, the oldest goes, and is returned. A process of another user is not heard.
    pub(crate) fn accept(&mut self) -> Option<PeerId> {
        let gone = (self.peers.len() >= PEERS_MAX).then(|| self.peers.remove(0).id);
        while self.peers.len() < PEERS_MAX
            && let Ok((stream, _)) = self.listener.accept()
        {
            if !is_own_peer(&stream).unwrap_or(false) || stream.set_nonblocking(true).is_err() {
                tracing::warn!("a process of another user is not heard");
                continue;
            }
            self.peers.push(Peer {
                id: PeerId(self.next),
                stream,
                reader: Some(RequestReader::default()),
            });
            self.next += 1;
        }
        gone
    }

    /// Reads from all who are ready, and returns what they ask for, and those who have gone or make no sense.
    pub(crate) fn read(&mut self, ready: &[usize]) -> Vec<(PeerId, Option<ControlRequest>)> {
        let mut read = Vec::new();
        for index in ready {
            if let Some(peer) = self.peers.get_mut(*index) {
                match peer.read() {
                    Ok(None) => {}
                    Ok(Some(request)) => read.push((peer.id, Some(request))),
                    Err(error) => {
                        tracing::debug!(%error, "whoever has asked has gone");
                        read.push((peer.id, None));
                    }
                }
            }
        }
        for (gone, _) in read.iter().filter(|(_, request)| request.is_none()) {
            self.dismiss(*gone);
        }
        read
    }

    /// Answers, in lines. Who does not take them has gone.
    pub(crate) fn answer(&mut self, id: PeerId, lines: &str) {
        let peer = self.peers.iter_mut().find(|peer| peer.id == id);
        if let Some(peer) = peer
            && let Err(error) = peer.stream.write_all(lines.as_bytes())
        {
            tracing::debug!(%error, "answering");
        }
    }

    /// Lets one go who asks nothing more, with the connection to it.
    pub(crate) fn hand_over(&mut self, id: PeerId) -> Option<UnixStream> {
        let index = self.peers.iter().position(|peer| peer.id == id)?;
        Some(self.peers.remove(index).stream)
    }

    /// Lets one go.
    pub(crate) fn dismiss(&mut self, id: PeerId) {
        self.peers.retain(|peer| peer.id != id);
    }

    /// Gives the session another name.
    ///
    /// # Errors
    ///
    /// With [`io::ErrorKind::AddrInUse`] if another session has it, or when the system refuses.
    pub(crate) fn rename(&mut self, name: SessionName) -> io::Result<()> {
        self.folder.rename(&self.name, &name)?;
        self.former.retain(|former| *former != name);
        self.former
            .insert(0, std::mem::replace(&mut self.name, name));
        self.former.truncate(SessionInfo::FORMER_MAX);
        Ok(())
    }

    /// Listens anew if the socket has gone from its folder, as when somebody has cleaned that.
    pub(crate) fn restore(&mut self) {
        if self.inode.is_some() && self.folder.inode(&self.name) == self.inode {
            return;
        }
        match self.listen_anew() {
            Ok(listener) => {
                tracing::info!("the session's socket is there again");
                self.listener = listener;
                self.inode = self.folder.inode(&self.name);
            }
            Err(error) => tracing::warn!(%error, "making the session's socket again"),
        }
    }
}

impl ControlSocket {
    /// Listens where it did, under another name if another session has that by now, or in a folder of its own if somebody else has
    /// that one.
    fn listen_anew(&mut self) -> io::Result<UnixListener> {
        let (was, mut number) = (self.name.clone(), 1);
        loop {
            match self.folder.listen(&self.name) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && number < NAMES_TRIED => {
                    number += 1;
                    self.name = SessionName::numbered(was.as_str(), number);
                }
                Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
                    tracing::warn!(%error, "making the session's socket where it was");
                    self.folder = RunFolder::fresh()?;
                    return self.folder.listen(&self.name);
                }
                outcome => return outcome,
            }
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        if let Some(inode) = self.inode {
            self.folder.remove(&self.name, inode);
        }
    }
}

impl Peer {
    fn read(&mut self) -> io::Result<Option<ControlRequest>> {
        let mut buffer = RequestBuffer::blank();
        for _ in 0..READS_PER_TURN {
            let count = match self.stream.read(buffer.bytes()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // Nothing more is expected of one who has asked.
            let reader = self.reader.as_mut().ok_or(io::ErrorKind::InvalidData)?;
            let bytes = buffer.bytes().get(..count).unwrap_or_default();
            let request = reader.take(bytes);
            let request = request.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            if request.is_some() {
                self.reader = None;
                return Ok(request);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::control_request::line_text;
    use super::*;

    fn name(text: &str) -> SessionName {
        SessionName::parse(text).unwrap()
    }

    fn socket() -> (TempDir, RunFolder, ControlSocket) {
        let place = TempDir::new().unwrap();
        let folder = RunFolder::of_test(&place.path().join("run"));
        let control = ControlSocket::open(folder.clone(), name("work")).unwrap();
        (place, folder, control)
    }

    /// Takes in what has come from all.
    fn turn(control: &mut ControlSocket) -> Vec<(PeerId, Option<ControlRequest>)> {
        control.accept();
        let all: Vec<usize> = (0..control.peers.len()).collect();
        control.read(&all)
    }

    #[test]
    fn a_request_is_read_and_answered_and_a_peer_that_goes_is_told_of() {
        let (_place, folder, mut control) = socket();
        let mut peer = folder.connect(&name("work")).unwrap();
        assert!(turn(&mut control).is_empty());
        peer.write_all(line_text("status").as_bytes()).unwrap();
        let read = turn(&mut control);
        let [(id, Some(ControlRequest::Status))] = read.as_slice() else {
            panic!("{} requests", read.len());
        };
        control.answer(*id, "hello\n");
        let mut answer = [0; 6];
        peer.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"hello\n");
        drop(peer);
        assert!(matches!(turn(&mut control).as_slice(), [(gone, None)] if gone == id));
        assert!(control.peers.is_empty());
    }

    #[test]
    fn nobody_asks_twice_or_nonsense_and_of_many_the_oldest_go() {
        let (_place, folder, mut control) = socket();
        for text in [&line_text("status").repeat(2), "hello\n"] {
            let mut peer = folder.connect(&name("work")).unwrap();
            peer.write_all(text.as_bytes()).unwrap();
            turn(&mut control);
            // It may have been let go by now.
            let _ = peer.write_all(b"x");
            turn(&mut control);
            assert!(control.peers.is_empty(), "{text}");
        }
        let peers: Vec<UnixStream> = std::iter::repeat_with(|| {
            let peer = folder.connect(&name("work")).unwrap();
            turn(&mut control);
            peer
        })
        .take(PEERS_MAX + 5)
        .collect();
        assert_eq!(control.peers.len(), PEERS_MAX);
        drop(peers);
    }

    #[test]
    fn of_many_who_ask_at_once_each_is_answered() {
        let (_place, folder, mut control) = socket();
        let peers: Vec<UnixStream> = std::iter::repeat_with(|| {
            let mut peer = folder.connect(&name("work")).unwrap();
            peer.write_all(line_text("status").as_bytes()).unwrap();
            peer
        })
        .take(3 * PEERS_MAX)
        .collect();
        let mut asked = 0;
        for _ in 0..4 {
            // As a server does: it reads first, and takes in others then.
            let all: Vec<usize> = (0..control.peers.len()).collect();
            for (id, request) in control.read(&all) {
                assert!(matches!(request, Some(ControlRequest::Status)));
                control.dismiss(id);
                asked += 1;
            }
            assert_eq!(control.accept(), None);
        }
        assert_eq!(asked, peers.len());
    }

    #[test]
    fn a_session_whose_name_another_has_by_now_is_found_under_one_like_it() {
        let (place, folder, mut control) = socket();
        std::fs::remove_dir_all(place.path().join("run")).unwrap();
        let other = ControlSocket::open(folder.clone(), name("work")).unwrap();
        control.restore();
        assert_eq!(control.name(), &name("work-2"));
        assert_eq!(folder.names(), [name("work"), name("work-2")]);
        drop(other);
        assert!(folder.connect(&name("work-2")).is_ok());
    }

    #[test]
    fn the_last_names_are_kept_and_none_that_the_session_has_again() {
        let (_place, _folder, mut control) = socket();
        for to in ["a", "b", "work", "c", "d"] {
            control.rename(name(to)).unwrap();
        }
        assert_eq!(control.former_names(), ["c", "work", "b"].map(name));
    }

    #[test]
    fn a_session_is_found_under_its_new_name_and_after_its_folder_was_cleaned() {
        let (place, folder, mut control) = socket();
        control.rename(name("play")).unwrap();
        assert_eq!(folder.names(), [name("play")]);
        assert_eq!(control.former_names(), [name("work")]);
        control.restore();
        std::fs::remove_dir_all(place.path().join("run")).unwrap();
        control.restore();
        assert!(folder.connect(&name("play")).is_ok());
        drop(control);
        assert!(folder.names().is_empty());
    }
}
