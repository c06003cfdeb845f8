//! One stream of plain TCP, as fast as the kernel carries it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};

use crate::instrument::{Congestion, Kernel};
use crate::link::{Host, Link};
use crate::scenario::{CLIENT_IP, SERVER_IP};

/// The bytes that are written and read at once.
const PIECE: usize = 256 * 1024;

/// The sizes to which the buffers of both hosts may grow: twice what the longest path of the experiment
/// holds, with its queue.
const BUFFERS: &str = "4096 131072 134217728";

/// The direction of bytes, as seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferDirection {
    /// To the server.
    Up,
    /// From the server.
    Down,
}

impl TransferDirection {
    /// `up` or `down`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The host that sends, and the one that receives.
    fn hosts(self, link: &Link) -> [&Host; 2] {
        match self {
            Self::Up => [&link.client, &link.server],
            Self::Down => [&link.server, &link.client],
        }
    }
}

/// A stream under way; it ends with this value.
pub(super) struct TcpTransfer {
    received: Arc<AtomicU64>,
    ends: [TcpStream; 2],
    threads: Vec<JoinHandle<()>>,
}

impl TcpTransfer {
    /// Begins to send so many bytes.
    pub(super) fn start(
        link: &Link,
        congestion: Congestion,
        way: TransferDirection,
        bytes: u64,
    ) -> Result<Self> {
        // The sender's decides, and is the one of the moment at which a connection is made.
        let kernel = Kernel {
            congestion,
            is_wide: false,
        };
        kernel.set(link)?;
        let [sender, receiver] = way.hosts(link);
        let address = match way {
            TransferDirection::Up => SERVER_IP,
            TransferDirection::Down => CLIENT_IP,
        };
        let listener = receiver.within(|| TcpListener::bind((address, 0)))??;
        let to = listener.local_addr()?;
        let near = sender.within(|| TcpStream::connect(to))??;
        let (far, _) = listener.accept().context("taking the connection")?;
        let received = Arc::new(AtomicU64::new(0));
        let (source, sink, count) = (near.try_clone()?, far.try_clone()?, Arc::clone(&received));
        let threads = vec![
            std::thread::spawn(move || send(&source, bytes)),
            std::thread::spawn(move || receive(&sink, &count)),
        ];
        Ok(Self {
            received,
            ends: [near, far],
            threads,
        })
    }

    /// Returns the number of bytes that have arrived.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Drop for TcpTransfer {
    fn drop(&mut self) {
        for end in &self.ends {
            // One that has ended already is what is wanted.
            let _ = end.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Lets TCP have buffers for any path of the experiment, on both hosts.
pub(super) fn widen(link: &Link) -> Result<String> {
    for host in [&link.client, &link.server] {
        host.set_parameter("ipv4/tcp_rmem", BUFFERS)?;
        host.set_parameter("ipv4/tcp_wmem", BUFFERS)?;
    }
    Ok(format!("both hosts: tcp_rmem and tcp_wmem {BUFFERS}"))
}

/// Sends until all is sent or the connection has ended.
fn send(mut to: &TcpStream, bytes: u64) {
    let piece = vec![0; PIECE];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(PIECE as u64) as usize;
        match to.write(piece.get(..length).unwrap_or_default()) {
            Ok(count) => left -= count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn receive(mut from: &TcpStream, received: &AtomicU64) {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => drop(received.fetch_add(count as u64, Ordering::Relaxed)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
