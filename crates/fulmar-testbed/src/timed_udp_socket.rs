//! A UDP socket whose reads end for what comes, and not for a signal.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Deref;
use std::time::Duration;

/// A UDP socket whose reads have a time limit and go on after a signal.
///
/// A read with a time limit ends with `EINTR` when a signal is handled meanwhile, whatever the handler's flags
/// say, and when the process was stopped and continues (signal(7)).
#[derive(Debug)]
pub struct TimedUdpSocket(UdpSocket);

impl TimedUdpSocket {
    /// Gives the reads of a socket this limit.
    ///
    /// # Errors
    ///
    /// Where the system refuses it.
    pub fn new(socket: UdpSocket, limit: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(limit))?;
        Ok(Self(socket))
    }

    /// Opens a free port on the loopback device, with this limit for reads.
    ///
    /// # Errors
    ///
    /// Where there is none.
    pub fn on_loopback(limit: Duration) -> io::Result<Self> {
        Self::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, limit)
    }

    /// Reads as [`UdpSocket::recv`].
    ///
    /// # Errors
    ///
    /// Where that fails, which it does when the time is over.
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.recv(buffer))
    }

    /// Reads as [`UdpSocket::recv_from`].
    ///
    /// # Errors
    ///
    /// Where that fails, which it does when the time is over.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        uninterrupted(|| self.0.recv_from(buffer))
    }
}

/// All that does not wait is the socket's own.
impl Deref for TimedUdpSocket {
    type Target = UdpSocket;

    fn deref(&self) -> &UdpSocket {
        &self.0
    }
}

fn uninterrupted<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;
    use crate::DEADLINE;

    #[test]
    fn a_signal_ends_no_read_and_any_other_error_does() {
        let mut outcomes = [
            Err(io::ErrorKind::Interrupted),
            Err(io::ErrorKind::Interrupted),
            Ok(5),
            Err(io::ErrorKind::WouldBlock),
        ]
        .into_iter();
        let mut read =
            || uninterrupted(|| outcomes.next().expect("not so often").map_err(Into::into));
        assert_eq!(read().expect("it goes on"), 5);
        assert!(read().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock));
    }

    #[test]
    fn a_read_goes_on_when_the_process_was_stopped() {
        let socket = || TimedUdpSocket::on_loopback(DEADLINE).expect("a free port");
        let (reader, writer) = (socket(), socket());
        let to = reader.local_addr().expect("it is bound");
        let (told, thread) = std::sync::mpsc::channel();
        let reading = std::thread::spawn(move || {
            let this = std::fs::read_link("/proc/thread-self").expect("Linux has it");
            told.send(this).expect("it is awaited");
            reader.recv(&mut [0; 10])
        });
        let thread = thread.recv().expect("it begins");
        let status = std::path::Path::new("/proc").join(thread).join("status");
        let began = Instant::now();
        while !std::fs::read_to_string(&status).is_ok_and(|text| text.contains("State:\tS")) {
            assert!(began.elapsed() < DEADLINE, "it does not wait");
        }
        // The shell is no part of the process that it stops.
        let script = "kill -STOP $PPID && kill -CONT $PPID";
        let done = Command::new("sh").args(["-c", script]).status();
        assert!(done.expect("there is a shell").success());
        writer.send_to(b"hello", to).expect("it is sent");
        let read = reading.join().expect("it does not panic");
        assert_eq!(read.expect("it goes on"), 5);
    }
}
