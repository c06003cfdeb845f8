//! A UDP socket of a test.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Deref;

use super::DEADLINE;

/// A UDP socket whose reads have a time limit and go on after a signal.
///
/// A read with a time limit ends with `EINTR` when a signal is handled meanwhile, whatever the handler's flags
/// say, and when the process was stopped and continues (signal(7)).
pub(crate) struct Socket(UdpSocket);

impl Socket {
    /// Opens a free port on loopback. A read that lasts until the deadline fails.
    pub(crate) fn on_loopback() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        socket.set_read_timeout(Some(DEADLINE)).expect("a limit");
        Self(socket)
    }

    /// As [`UdpSocket::recv`].
    pub(crate) fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.0.recv(buffer))
    }

    /// As [`UdpSocket::recv_from`].
    pub(crate) fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        uninterrupted(|| self.0.recv_from(buffer))
    }
}

/// All that does not wait is the socket's own.
impl Deref for Socket {
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

    #[test]
    fn a_read_goes_on_when_the_process_was_stopped() {
        let (reader, writer) = (Socket::on_loopback(), Socket::on_loopback());
        let to = reader.local_addr().expect("it is bound");
        let (told, thread) = std::sync::mpsc::channel();
        let reading = std::thread::spawn(move || {
            told.send(rustix::thread::gettid()).expect("it is awaited");
            reader.recv(&mut [0; 10])
        });
        let thread = thread.recv().expect("it begins").as_raw_nonzero();
        let status = format!("/proc/self/task/{thread}/status");
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
