//! A UDP relay between a client and a server on loopback that counts what passes, and can be cut.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a waiting thread looks whether the relay is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Longer than any datagram that either end sends.
const DATAGRAM_MAX: usize = 65_536;

/// Passes datagrams on until it is dropped.
pub(super) struct Relay {
    port: u16,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What has passed in one direction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) datagrams: u64,
    /// UDP payload only.
    pub(super) bytes: u64,
}

impl Passed {
    /// What has passed since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        let datagrams = self.datagrams - earlier.datagrams;
        Self {
            datagrams,
            bytes: self.bytes - earlier.bytes,
        }
    }
}

#[derive(Default)]
struct Shared {
    is_cut: AtomicBool,
    is_over: AtomicBool,
    /// Where the client was last heard from: it may change its port.
    client: Mutex<Option<SocketAddr>>,
    to_server: Counter,
    to_client: Counter,
}

#[derive(Default)]
struct Counter {
    datagrams: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    fn add(&self, bytes: usize) {
        self.datagrams.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn read(&self) -> Passed {
        Passed {
            datagrams: self.datagrams.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

impl Relay {
    /// Opens a port of its own on loopback and passes what arrives there on to `server_port`.
    pub(super) fn to(server_port: u16) -> io::Result<Self> {
        let outside = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let inside = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        inside.connect((Ipv4Addr::LOCALHOST, server_port))?;
        for socket in [&outside, &inside] {
            socket.set_read_timeout(Some(LOOK))?;
        }
        let port = outside.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let up = {
            let (outside, inside) = (outside.try_clone()?, inside.try_clone()?);
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.pass_up(&outside, &inside))
        };
        let down = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.pass_down(&inside, &outside))
        };
        Ok(Self {
            port,
            shared,
            threads: vec![up, down],
        })
    }

    /// The port that the client talks to.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Drops everything from here on, both ways.
    pub(super) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::Relaxed);
    }

    /// Passes everything on again.
    pub(super) fn mend(&self) {
        self.shared.is_cut.store(false, Ordering::Relaxed);
    }

    /// What has passed from client to server and from server to client.
    pub(super) fn passed(&self) -> [Passed; 2] {
        [self.shared.to_server.read(), self.shared.to_client.read()]
    }
}

impl Shared {
    fn pass_up(&self, outside: &UdpSocket, inside: &UdpSocket) {
        self.pass(outside, |datagram, from| {
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
            if inside.send(datagram).is_ok() {
                self.to_server.add(datagram.len());
            }
        });
    }

    fn pass_down(&self, inside: &UdpSocket, outside: &UdpSocket) {
        self.pass(inside, |datagram, _| {
            let client = *self.client.lock().unwrap_or_else(PoisonError::into_inner);
            if client.is_some_and(|client| outside.send_to(datagram, client).is_ok()) {
                self.to_client.add(datagram.len());
            }
        });
    }

    fn pass(&self, from: &UdpSocket, mut pass_on: impl FnMut(&[u8], SocketAddr)) {
        let mut buffer = vec![0; DATAGRAM_MAX];
        while !self.is_over.load(Ordering::Relaxed) {
            self.pass_one(from, &mut buffer, &mut pass_on);
        }
    }

    /// Waits for a datagram and hands it to `pass_on`, unless the relay is cut. An error of a
    /// socket is a lost datagram, as it is to the two ends.
    fn pass_one(
        &self,
        from: &UdpSocket,
        buffer: &mut [u8],
        pass_on: &mut impl FnMut(&[u8], SocketAddr),
    ) {
        let Ok((length, sender)) = from.recv_from(buffer) else {
            return;
        };
        if !self.is_cut.load(Ordering::Relaxed) {
            pass_on(&buffer[..length], sender);
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic of that thread has been printed; there is nothing to add.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client, a relay, and a server.
    fn three() -> (UdpSocket, Relay, UdpSocket) {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let relay = Relay::to(server.local_addr().unwrap().port()).unwrap();
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
        (client, relay, server)
    }

    #[test]
    fn what_passes_is_counted_each_way() {
        let (client, relay, server) = three();
        let mut buffer = [0; 16];
        client.send(b"question").unwrap();
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"question");
        server.send_to(b"yes", from).unwrap();
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"yes");
        drop_and_count(relay, [(1, 8), (1, 3)]);
    }

    #[test]
    fn what_is_sent_into_a_cut_is_lost() {
        let (client, relay, server) = three();
        client.connect(server.local_addr().unwrap()).unwrap();
        let mut arrived = Vec::new();
        let mut pass_one = |shared: &Shared| {
            let mut pass_on = |datagram: &[u8], _| arrived.push(datagram.to_vec());
            shared.pass_one(&server, &mut [0; 16], &mut pass_on);
        };
        relay.cut();
        client.send(b"lost").unwrap();
        pass_one(&relay.shared);
        relay.mend();
        client.send(b"kept").unwrap();
        pass_one(&relay.shared);
        assert_eq!(arrived, [b"kept"]);
    }

    /// Ends the relay, so that its threads have counted all they have passed on.
    fn drop_and_count(relay: Relay, expected: [(u64, u64); 2]) {
        let shared = Arc::clone(&relay.shared);
        drop(relay);
        let passed = [shared.to_server.read(), shared.to_client.read()];
        assert_eq!(
            passed.map(|passed| (passed.datagrams, passed.bytes)),
            expected
        );
    }
}
