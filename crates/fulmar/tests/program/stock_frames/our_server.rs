//! Our server on a UDP socket, with the test in the place of its program.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use fulmar_base::{Ecn, PathId, Time};
use fulmar_core::{Server, ServerConfig, ServerEvent};
use fulmar_datagram::Key;
use fulmar_platform::{boot_time, random};
use fulmar_terminal::Screen;
use fulmar_transport::limits::TURN_WORK_MAX;
use fulmar_transport::{Arrival, Dialect};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// The longest UDP payload there is.
pub(crate) const DATAGRAM_BYTES_MAX: usize = 65_536;

/// A server without a pty.
pub(crate) struct OurServer {
    server: Server,
    socket: UdpSocket,
    key: String,
    /// The addresses that datagrams came from, in the order in which they first did; a place is a path's number.
    clients: Vec<SocketAddr>,
}

pub(crate) fn now() -> Time {
    Time::from_origin(boot_time())
}

impl OurServer {
    /// Starts a server at a port of the system's choice.
    pub(crate) fn start() -> OurServer {
        OurServer::start_with(|_| ())
    }

    /// Starts a server that is not quite the usual one.
    pub(crate) fn start_with(configure: impl FnOnce(&mut ServerConfig)) -> OurServer {
        let (mut key, mut seed) = ([0; 16], [0; 32]);
        random(&mut key).expect("randomness");
        random(&mut seed).expect("randomness");
        let key = Key::from_bytes(key.into());
        let text = key.to_base64().to_string();
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
        socket.set_nonblocking(true).expect("a socket can be told");
        let mut config = ServerConfig::new(key, seed);
        configure(&mut config);
        OurServer {
            server: Server::new(now(), config),
            socket,
            key: text,
            clients: Vec::new(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.socket.local_addr().expect("it is bound").port()
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.server.screen()
    }

    /// Returns the dialect that is spoken with the client.
    pub(crate) fn dialect(&self) -> Dialect {
        self.server.dialect()
    }

    /// Shows what a program writes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.server.handle_pty_output(now(), rest, TURN_WORK_MAX);
            rest = &rest[taken..];
        }
    }

    /// Receives, decides and sends what is possible without waiting.
    pub(crate) fn turn(&mut self) {
        self.receive();
        if self
            .server
            .poll_timeout()
            .is_some_and(|(at, _)| at <= now())
        {
            self.server.handle_timeout(now());
        }
        // Answers to the program's questions; nobody reads them here.
        loop {
            let length = self.server.pty_input().len();
            if length == 0 {
                break;
            }
            self.server.pty_taken(now(), length);
        }
        self.send();
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Ended(ending) = event {
                panic!("the session has ended: {ending:?}");
            }
        }
    }

    /// Returns the time for which nothing need be done unless something comes.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        self.server.poll_timeout().map(|(at, _)| at.since(now()))
    }

    fn receive(&mut self) {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        loop {
            let (length, from) = match self.socket.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => panic!("receiving: {error}"),
            };
            if !self.clients.contains(&from) {
                self.clients.push(from);
            }
            let place = self.clients.iter().position(|known| *known == from);
            let arrival = Arrival {
                path: PathId::new(place.expect("just noted") as u64),
                ecn: Ecn::NotCapable,
                bytes: &buffer[..length],
            };
            let _ = self.server.handle_datagram(now(), arrival);
        }
    }

    fn send(&mut self) {
        let mut buffer = Vec::new();
        while let Some(transmit) = self.server.poll_transmit(now(), &mut buffer) {
            let client = self.clients[transmit.path.get() as usize];
            for datagram in transmit.split(&buffer) {
                self.socket
                    .send_to(datagram, client)
                    .expect("loopback takes it");
            }
        }
    }
}

impl AsFd for OurServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
