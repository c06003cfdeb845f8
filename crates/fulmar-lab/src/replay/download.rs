//! A download beside a session: an endless TCP stream from the server's host to the client's.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};

use crate::link::Link;
use crate::scenario::SERVER_IP;

/// So much is written or read at once; more than fits a turn of either.
const PIECE: usize = 64 * 1024;

/// Runs until it is dropped. The system's own TCP carries it, with its usual settings.
pub(super) struct Download {
    ends: [TcpStream; 2],
    threads: Vec<JoinHandle<()>>,
}

impl Download {
    /// Connects, which takes a round trip, and starts the stream.
    ///
    /// # Errors
    ///
    /// Where the hosts do not reach each other.
    pub(super) fn start(link: &Link) -> Result<Self> {
        let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))?;
        let listener = listener.context("listening for the download")?;
        let address = listener.local_addr()?;
        let client = link.client.within(|| TcpStream::connect(address))?;
        let client = client.context("connecting for the download")?;
        let (server, _) = listener.accept()?;
        let ends = [client.try_clone()?, server.try_clone()?];
        let threads = vec![
            std::thread::spawn(move || send(server)),
            std::thread::spawn(move || receive(client)),
        ];
        Ok(Self { ends, threads })
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        for end in &self.ends {
            // It may be over already.
            let _ = end.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn send(mut stream: TcpStream) {
    let piece = [0; PIECE];
    while stream.write_all(&piece).is_ok() {}
}

fn receive(mut stream: TcpStream) {
    let mut buffer = [0; PIECE];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Err(error) if error.kind() != ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}
