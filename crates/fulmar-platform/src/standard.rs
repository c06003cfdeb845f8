//! The standard input and output of a program that another one has started, without waiting.

use crate::Transfer;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io;

/// Standard input and output, past the buffers of the standard library. Neither is ever waited for.
///
/// Whoever shares them finds them non-blocking: they are meant to be pipes of our own, such as those
/// that an ssh daemon gives to a command.
#[derive(Debug)]
pub struct StandardPipes {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
}

impl StandardPipes {
    /// Takes them.
    ///
    /// # Errors
    ///
    /// When one of them is not open, or no descriptor is left.
    pub fn take() -> io::Result<Self> {
        Self::of(
            io::stdin().as_fd().try_clone_to_owned()?,
            io::stdout().as_fd().try_clone_to_owned()?,
        )
    }

    fn of(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        for end in [&input, &output] {
            fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            input: Some(input),
            output: Some(output),
        })
    }

    /// Returns the input, unless it has ended.
    pub fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd)
    }

    /// Returns the output, unless nobody reads it any more.
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        self.output.as_ref().map(AsFd::as_fd)
    }

    /// Reads what has come, into a buffer that is not empty. At its end the input is closed.
    ///
    /// # Errors
    ///
    /// Any error of `read` but those that [`Transfer`] stands for.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Transfer> {
        let Some(input) = &self.input else {
            return Ok(Transfer::Closed);
        };
        let outcome = Transfer::read(input, buffer);
        if !matches!(outcome, Ok(Transfer::Bytes(_) | Transfer::WouldBlock)) {
            self.input = None;
        }
        outcome
    }

    /// Writes `bytes`, or as many of them as there is room for. When nobody reads them any more, the
    /// output is closed.
    ///
    /// # Errors
    ///
    /// Any error of `write` but those that [`Transfer`] stands for.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        let Some(output) = &self.output else {
            return Ok(Transfer::Closed);
        };
        let outcome = Transfer::write(output, bytes);
        if !matches!(outcome, Ok(Transfer::Bytes(_) | Transfer::WouldBlock)) {
            self.output = None;
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _, pipe};

    #[test]
    fn nothing_waits_and_ends_are_noticed() {
        let (input, mut to_us) = pipe().unwrap();
        let (mut from_us, output) = pipe().unwrap();
        let mut pipes = StandardPipes::of(input.into(), output.into()).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(pipes.read(&mut buffer).unwrap(), Transfer::WouldBlock);
        to_us.write_all(b"hello").unwrap();
        assert_eq!(pipes.read(&mut buffer).unwrap(), Transfer::Bytes(5));
        assert_eq!(pipes.write(b"there").unwrap(), Transfer::Bytes(5));
        from_us.read_exact(&mut buffer[..5]).unwrap();
        let much = vec![0; 1 << 20];
        assert!(matches!(pipes.write(&much).unwrap(), Transfer::Bytes(n) if n < much.len()));
        assert_eq!(pipes.write(&much).unwrap(), Transfer::WouldBlock);
        drop((to_us, from_us));
        assert_eq!(pipes.read(&mut buffer).unwrap(), Transfer::Closed);
        assert_eq!(pipes.write(b"x").unwrap(), Transfer::Closed);
        assert!(pipes.input().is_none() && pipes.output().is_none());
    }
}
