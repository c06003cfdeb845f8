//! One TCP stream of the lab's own: what a window does without anything around it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;
use fulmar_platform::lab::limit_window;

use super::progress::TransferProgress;
use crate::link::Link;
use crate::scenario::SERVER_IP;

/// The bytes that are written and read at once: more than the largest window would need calls for.
const PIECE: usize = 256 * 1024;

/// The longest silence that is borne. Chosen by eye: a hundred times the longest round trip.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Sends so many bytes from memory, from the server's host to the client's, until that is done or
/// the time is over. The receiver's window is at most as large as is said, if it is.
pub(super) fn run(
    link: &Link,
    bytes: u64,
    time: Duration,
    window: Option<u32>,
) -> Result<TransferProgress> {
    let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))??;
    let address = listener.local_addr()?;
    let start = boot_time();
    let near = link.client.within(|| TcpStream::connect(address))??;
    near.set_read_timeout(Some(SILENCE_MAX))?;
    let (far, _) = listener.accept().context("taking the connection")?;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || send(&far, bytes));
        let received = receive(near, start, time, window);
        let sent = sender.join().expect("a thread of ours does not panic");
        received.and_then(|progress| sent.map(|()| progress))
    })
}

/// Sends zeros; who has enough of them closes the connection.
fn send(mut far: &TcpStream, bytes: u64) -> Result<()> {
    let piece = vec![0; PIECE];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(PIECE as u64) as usize;
        match far.write(piece.get(..length).unwrap_or_default()) {
            Ok(count) => left -= count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_closed(error.kind()) => return Ok(()),
            Err(error) => return Err(error).context("sending the stream"),
        }
    }
    Ok(())
}

fn is_closed(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

fn receive(
    mut near: TcpStream,
    start: Duration,
    time: Duration,
    window: Option<u32>,
) -> Result<TransferProgress> {
    let mut piece = vec![0; PIECE];
    let mut progress = TransferProgress::default();
    let mut bytes = 0;
    loop {
        if let Some(window) = window {
            limit_window(&near, window).context("setting the window")?;
        }
        match near.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("receiving the stream"),
        }
        let at = boot_time() - start;
        progress.note(at, bytes);
        if progress.first().is_some_and(|first| at >= first + time) {
            break;
        }
    }
    progress.end(boot_time() - start, bytes);
    Ok(progress)
}
