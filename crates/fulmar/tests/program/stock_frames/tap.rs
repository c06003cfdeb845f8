//! The way between a stock client and a stock server, with a client of ours that listens.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use fulmar_base::{Ecn, PathId};
use fulmar_core::{Client, ClientConfig};
use fulmar_datagram::Key;
use fulmar_platform::{Interest, Poller};
use fulmar_terminal::{Screen, Size};
use fulmar_transport::{Arrival, DatagramVerdict};

use super::our_server::{DATAGRAM_BYTES_MAX, now};
use super::stock_client::StockClient;

/// Passes datagrams on, and hands all that the server says to a client of ours as well, which has the
/// same key and says nothing. So both clients get the very same frames.
pub(crate) struct Tap {
    /// The socket that the stock client talks to.
    outside: UdpSocket,
    /// The socket that the server hears.
    inside: UdpSocket,
    /// The address from which the stock client was last heard.
    client: Option<SocketAddr>,
    ours: Client,
    poller: Poller<()>,
}

impl Tap {
    /// Listens to a session with the server at a port of this machine.
    pub(crate) fn to(server_port: u16, key: &str) -> Tap {
        let bind = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            socket.set_nonblocking(true).expect("a socket can be told");
            socket
        };
        let inside = bind();
        let server = (Ipv4Addr::LOCALHOST, server_port);
        inside.connect(server).expect("loopback is there");
        let key = Key::from_base64(key).expect("stock's keys are keys");
        Tap {
            outside: bind(),
            inside,
            client: None,
            // Without a path it sends nothing, so what its chaff is made of does not matter.
            ours: Client::new(now(), ClientConfig::new(key, [0; 32])),
            poller: Poller::new(),
        }
    }

    /// Returns the port at which the stock client is to look for its server.
    pub(crate) fn port(&self) -> u16 {
        self.outside.local_addr().expect("it is bound").port()
    }

    /// Returns the screen of our client.
    pub(crate) fn screen(&self) -> &Screen {
        self.ours.screen()
    }

    /// Changes the size of the window of our client.
    pub(crate) fn resize(&mut self, size: Size) {
        self.ours.handle_resize(now(), size);
    }

    /// Passes on what is there.
    pub(crate) fn turn(&mut self) {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        while let Some((length, from)) = receive(&self.outside, &mut buffer) {
            self.client = Some(from);
            // A server that has ended does not listen; the client finds out by itself.
            let _ = self.inside.send(&buffer[..length]);
        }
        while let Some((length, _)) = receive(&self.inside, &mut buffer) {
            let bytes = &buffer[..length];
            let client = self.client.expect("a server speaks when spoken to");
            self.outside
                .send_to(bytes, client)
                .expect("loopback takes it");
            let arrival = Arrival {
                path: PathId::new(0),
                ecn: Ecn::NotCapable,
                bytes,
            };
            let received = self.ours.handle_datagram(now(), arrival);
            assert!(
                !matches!(received.verdict, DatagramVerdict::Dropped(_)),
                "our client makes nothing of what stock's server sent: {received:?}"
            );
        }
    }

    /// Waits until there is something to pass on or to read, for so long at most.
    pub(crate) fn wait(&mut self, client: &StockClient, limit: Duration) {
        let waited = self.poller.wait(Some(limit), |registry| {
            registry.add((), &self.outside, Interest::Read);
            registry.add((), &self.inside, Interest::Read);
            registry.add((), client, Interest::Read);
        });
        waited.expect("poll works");
    }
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    match socket.recv_from(buffer) {
        Ok(received) => Some(received),
        Err(error) => match error.kind() {
            // Refused: nobody was there when something was sent before.
            io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionRefused => None,
            _ => panic!("receiving: {error}"),
        },
    }
}
