//! A UDP socket whose reads end for what comes, and not for a signal.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::ops::Deref;
use std::time::Duration;

/// A UDP socket whose reads have a time limit and go on after a signal.
///
/// A read with a time limit ends with `EINTR` when a signal is handled meanwhile, whatever the handler's flags
/// say, and when the process was stopped and continues (signal(7)).
#[derive(Debug)]
pub struct PatientSocket(UdpSocket);

impl PatientSocket {
    /// Gives the reads of a socket this limit.
    ///
    /// # Errors
    ///
    /// Where the system refuses it.
    pub fn new(socket: UdpSocket, limit: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(limit))?;
        Ok(Self(socket))
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
impl Deref for PatientSocket {
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
    use super::*;

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
}
