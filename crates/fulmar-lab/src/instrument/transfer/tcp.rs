//! One stream of plain TCP, with nothing around it.

use std::io::{self, BufWriter, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::limit_window;

use super::TransferDirection;
use crate::instrument::{Congestion, Kernel};
use crate::link::Link;
use crate::scenario::SERVER_IP;

/// The bytes that are written and read at once: more than the largest window would need calls for.
const PIECE: usize = 256 * 1024;

/// The sizes to which wide buffers of both hosts may grow: twice what the longest path of the copies holds, with its
/// queue.
const BUFFERS: &str = "4096 131072 134217728";

/// The settings of a stream.
#[derive(Clone, Copy, Debug)]
pub(in crate::instrument) struct TcpSettings {
    pub(in crate::instrument) congestion: Congestion,
    /// The most bytes that the receiver lets be under way; `None` where that grows by itself.
    pub(in crate::instrument) window: Option<u32>,
    /// True for buffers that hold any path of the experiments; otherwise they are the kernel's.
    pub(in crate::instrument) has_wide_buffers: bool,
}

impl TcpSettings {
    /// Sets what is of the hosts, for connections that are made from here on, and returns it in words.
    pub(super) fn set(self, link: &Link) -> Result<String> {
        if self.has_wide_buffers {
            for host in [&link.client, &link.server] {
                host.set_parameter("ipv4/tcp_rmem", BUFFERS)?;
                host.set_parameter("ipv4/tcp_wmem", BUFFERS)?;
            }
        }
        set_kernel(link, self.congestion)
    }
}

/// Sets the TCP of both hosts, and says how, with the sizes to which its buffers may grow.
pub(super) fn set_kernel(link: &Link, congestion: Congestion) -> Result<String> {
    let kernel = Kernel {
        congestion,
        is_wide: false,
    };
    let words = kernel.set(link)?;
    let buffers = |name| -> Result<String> {
        let value = link.client.parameter(name)?;
        Ok(value.replace('\t', " "))
    };
    Ok(format!(
        "{words}, tcp_rmem {}, tcp_wmem {}",
        buffers("ipv4/tcp_rmem")?,
        buffers("ipv4/tcp_wmem")?
    ))
}

/// A stream under way; it ends with this value.
pub(crate) struct TcpTransfer {
    received: Arc<AtomicU64>,
    ends: [TcpStream; 2],
    threads: Vec<JoinHandle<()>>,
}

impl TcpTransfer {
    /// Connects, which takes a round trip, and begins to send so many bytes.
    ///
    /// # Errors
    ///
    /// Where the hosts do not reach each other.
    pub(crate) fn start(
        link: &Link,
        window: Option<u32>,
        direction: TransferDirection,
        bytes: u64,
    ) -> Result<Self> {
        let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))??;
        let to = listener.local_addr()?;
        let client = link.client.within(|| TcpStream::connect(to))??;
        let (server, _) = listener.accept().context("taking the connection")?;
        let (source, sink) = match direction {
            TransferDirection::Up => (client, server),
            TransferDirection::Down => (server, client),
        };
        if let Some(window) = window {
            limit_window(&sink, window).context("setting the window")?;
        }
        let received = Arc::new(AtomicU64::new(0));
        let ends = [source.try_clone()?, sink.try_clone()?];
        let count = Arc::clone(&received);
        let threads = vec![
            std::thread::spawn(move || send(&source, bytes)),
            std::thread::spawn(move || receive(&sink, window, &count)),
        ];
        Ok(Self {
            received,
            ends,
            threads,
        })
    }

    /// Returns the number of bytes that have arrived.
    pub(in crate::instrument) fn received(&self) -> u64 {
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

/// Sends until all is sent or the connection has ended.
fn send(to: &TcpStream, bytes: u64) {
    let mut pieces = BufWriter::with_capacity(PIECE, to);
    let sent = io::copy(&mut io::repeat(0).take(bytes), &mut pieces);
    if sent.and_then(|_| pieces.flush()).is_ok() {
        let _ = to.shutdown(Shutdown::Write);
    }
}

fn receive(mut from: &TcpStream, window: Option<u32>, received: &AtomicU64) {
    let mut piece = vec![0; PIECE];
    loop {
        if let Some(window) = window {
            // It was permitted before. The kernel moves the limit while data come.
            let _ = limit_window(from, window);
        }
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => drop(received.fetch_add(count as u64, Ordering::Relaxed)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
