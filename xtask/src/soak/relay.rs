//! A relay on loopback that moves a client to another port, as a change of network does.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;

/// Longer than any datagram of a session.
const DATAGRAM_MAX: usize = 9216;

/// The time after which a thread looks whether it is to go on, and with which socket. Chosen by eye.
const LOOK: Duration = Duration::from_millis(100);

/// Passes datagrams on until it is dropped.
pub(super) struct Relay {
    shared: Arc<Shared>,
    server: SocketAddr,
    port: u16,
}

struct Shared {
    is_over: AtomicBool,
    /// The socket that the client talks to.
    outside: UdpSocket,
    /// The socket whose address the server sees.
    inside: Mutex<Arc<UdpSocket>>,
    client: Mutex<Option<SocketAddr>>,
}

impl Relay {
    /// Begins to pass on what comes to a port of its own.
    pub(super) fn to(port: u16) -> Result<Relay> {
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let outside = bound()?;
        let port = outside.local_addr()?.port();
        let shared = Arc::new(Shared {
            is_over: AtomicBool::new(false),
            outside,
            inside: Mutex::new(connected(server)?),
            client: Mutex::new(None),
        });
        let ways: [fn(&Shared, &mut [u8]); 2] = [Shared::up, Shared::down];
        for pass in ways {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut buffer = vec![0; DATAGRAM_MAX];
                while !shared.is_over.load(Ordering::Relaxed) {
                    pass(&shared, &mut buffer);
                }
            });
        }
        Ok(Relay {
            shared,
            server,
            port,
        })
    }

    /// Returns the port that the client talks to.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Lets the server see the client at another port.
    pub(super) fn move_client(&self) -> Result<()> {
        *lock(&self.shared.inside) = connected(self.server)?;
        Ok(())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Passes on one datagram of the client, if one comes. A failure is a loss, as in any network.
    fn up(&self, buffer: &mut [u8]) {
        if let Ok((length, from)) = self.outside.recv_from(buffer) {
            *lock(&self.client) = Some(from);
            let inside = Arc::clone(&lock(&self.inside));
            let _ = inside.send(&buffer[..length]);
        }
    }

    fn down(&self, buffer: &mut [u8]) {
        let inside = Arc::clone(&lock(&self.inside));
        let client = *lock(&self.client);
        if let (Ok(length), Some(client)) = (inside.recv(buffer), client) {
            let _ = self.outside.send_to(&buffer[..length], client);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bound() -> Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(LOOK))?;
    Ok(socket)
}

fn connected(server: SocketAddr) -> Result<Arc<UdpSocket>> {
    let socket = bound()?;
    socket.connect(server)?;
    Ok(Arc::new(socket))
}
