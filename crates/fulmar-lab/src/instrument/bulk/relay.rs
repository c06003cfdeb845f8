//! The control of the ciphers: what moving bytes costs without doing anything to them.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;

use super::{put_costs, speed};
use crate::experiment::Measured;
use crate::peer::Cost;

/// The bytes that are moved at once: as many as a packet of OpenSSH carries.
const PIECE: usize = 32 * 1024;

/// Moves bytes from a pipe to a connection, and from there to a pipe, as ssh and sshd do. Returns
/// what that costs the two threads which stand for them, and what it was in words.
pub(super) fn run(warm_up: u64, bytes: u64) -> Result<(Measured, String)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    let (from_source, source) = io::pipe()?;
    let (sink, to_sink) = io::pipe()?;
    std::thread::scope(|scope| {
        let filling = scope.spawn(move || fill(source, warm_up + bytes));
        let client = scope.spawn(move || relay(from_source, near, warm_up));
        let server = scope.spawn(move || relay(far, to_sink, warm_up));
        let took = drain(sink, warm_up)?;
        filling.join().expect("a thread of ours does not panic")?;
        let mut measured = speed(bytes, took);
        for (host, relay) in [("client", client), ("server", server)] {
            let cpu = relay.join().expect("a thread of ours does not panic");
            let cpu = cpu.context("moving bytes")?;
            let cost = (host, Cost { cpu, memory: 0 });
            put_costs(&mut measured, std::iter::once(cost), bytes);
        }
        let words =
            format!("the lab itself: pipe to TCP to pipe, {PIECE} bytes at once, no cipher");
        Ok((measured, words))
    })
}

fn fill(mut source: PipeWriter, bytes: u64) -> io::Result<()> {
    let zeros = io::repeat(0).take(bytes);
    copy(zeros, &mut source, |_| {}).map(drop)
}

/// Moves everything, and returns the processor time of this thread from so many bytes on.
fn relay(from: impl Read, mut to: impl Write, warm_up: u64) -> io::Result<Duration> {
    let mut before = None;
    copy(from, &mut to, |bytes| {
        if bytes >= warm_up && before.is_none() {
            before = Some(own_time());
        }
    })?;
    let before = before.unwrap_or_else(own_time);
    Ok(own_time().saturating_sub(before))
}

/// Reads everything, and returns how long that took from so many bytes on.
fn drain(sink: PipeReader, warm_up: u64) -> io::Result<Duration> {
    let mut start = None;
    copy(sink, &mut io::sink(), |bytes| {
        if bytes >= warm_up && start.is_none() {
            start = Some(boot_time());
        }
    })?;
    Ok(start.map_or(Duration::ZERO, |start| boot_time() - start))
}

/// Copies by reading and writing, which is what programs with ciphers do, and not within the kernel.
fn copy(mut from: impl Read, to: &mut impl Write, mut moved: impl FnMut(u64)) -> io::Result<u64> {
    let mut piece = vec![0; PIECE];
    let mut bytes = 0;
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(piece.get(..count).unwrap_or_default())?;
        bytes += count as u64;
        moved(bytes);
    }
}

/// The time that this thread had the processor: the first number of its schedstat (proc(5)).
fn own_time() -> Duration {
    let line = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = line.split_whitespace().next();
    Duration::from_nanos(first.and_then(|time| time.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_moved_and_costs_something() {
        let (measured, _) = run(1_000_000, 5_000_000).unwrap();
        for name in ["client_cpu_a_byte", "server_cpu_a_byte", "goodput"] {
            assert!(measured.figures[name].value > 0.0, "{name}");
        }
        assert_eq!(measured.figures["bytes"].value, 5_000_000.0);
    }

    #[test]
    fn what_comes_in_pieces_is_copied_whole_and_told_as_it_moves() {
        let source: Vec<u8> = (0..3 * PIECE + 5).map(|byte| byte as u8).collect();
        let (mut copied, mut moved) = (Vec::new(), Vec::new());
        let bytes = copy(source.as_slice(), &mut copied, |bytes| moved.push(bytes)).unwrap();
        assert_eq!(bytes, source.len() as u64);
        assert!(copied == source);
        let piece = PIECE as u64;
        assert_eq!(moved, [piece, 2 * piece, 3 * piece, 3 * piece + 5]);
    }
}
