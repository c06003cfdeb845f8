//! The result of one read or write that must not wait.

use rustix::fd::AsFd;
use rustix::io::{Errno, read, retry_on_intr, write};
use std::io;

/// The outcome of one non-blocking read or write.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// So many bytes were moved; after a write possibly fewer than were offered.
    Bytes(usize),
    /// Nothing could be moved without waiting.
    WouldBlock,
    /// The other side is gone for good: end of file, hang-up or broken pipe.
    Closed,
}

impl Transfer {
    /// Reads once into `buffer`, which must not be empty: a length of 0 means end of file.
    pub(crate) fn read(from: impl AsFd, buffer: &mut [u8]) -> io::Result<Self> {
        debug_assert!(
            !buffer.is_empty(),
            "an empty buffer cannot be told from end of file"
        );
        match retry_on_intr(|| read(&from, &mut *buffer)) {
            Ok(0) => Ok(Self::Closed),
            Ok(length) => Ok(Self::Bytes(length)),
            Err(error) => Self::of_error(error),
        }
    }

    pub(crate) fn write(to: impl AsFd, bytes: &[u8]) -> io::Result<Self> {
        match retry_on_intr(|| write(&to, bytes)) {
            Ok(length) => Ok(Self::Bytes(length)),
            Err(error) => Self::of_error(error),
        }
    }

    // Linux answers EIO on a pty master whose last slave was closed, and on a terminal that hung
    // up or whose foreground we may not have; none of these ever gets better.
    fn of_error(error: Errno) -> io::Result<Self> {
        match error {
            Errno::AGAIN => Ok(Self::WouldBlock),
            Errno::IO | Errno::PIPE => Ok(Self::Closed),
            other => Err(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::wait_readable;
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use std::io::{PipeReader, PipeWriter, pipe};

    fn waitless_pipe() -> (PipeReader, PipeWriter) {
        let (reader, writer) = pipe().unwrap();
        fcntl_setfl(&reader, fcntl_getfl(&reader).unwrap() | OFlags::NONBLOCK).unwrap();
        (reader, writer)
    }

    #[test]
    fn a_pipe_tells_bytes_waiting_and_end_apart() {
        let (reader, writer) = waitless_pipe();
        let mut buffer = [0; 8];
        assert_eq!(
            Transfer::read(&reader, &mut buffer).unwrap(),
            Transfer::WouldBlock
        );
        assert_eq!(
            Transfer::write(&writer, b"abc").unwrap(),
            Transfer::Bytes(3)
        );
        assert_eq!(
            Transfer::read(&reader, &mut buffer).unwrap(),
            Transfer::Bytes(3)
        );
        assert_eq!(&buffer[..3], b"abc");
        drop(writer);
        wait_readable(&reader);
        assert_eq!(
            Transfer::read(&reader, &mut buffer).unwrap(),
            Transfer::Closed
        );
    }

    #[test]
    fn a_pipe_without_reader_is_closed() {
        let (reader, writer) = waitless_pipe();
        drop(reader);
        // Another test that has just forked may hold the reader until it executes its program.
        wait_readable(&writer);
        // The runtime of Rust ignores SIGPIPE, so the write reports it.
        assert_eq!(Transfer::write(&writer, b"abc").unwrap(), Transfer::Closed);
    }
}
