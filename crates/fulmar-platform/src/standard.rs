//! The standard input and output of a program that another one has started, without waiting.

use crate::{Interest, Transfer, wait_for};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat, stat};
use std::io;
use std::time::Duration;

/// Tells if a standard stream was not open when the program was started.
///
/// The standard library has put `/dev/null` in its place by then, open for reading and writing. A shell opens that for one of
/// them only; who did it for both takes the stream for closed, too.
pub fn was_closed(stream: impl AsFd) -> bool {
    let is_null = match (fstat(&stream), stat("/dev/null")) {
        (Ok(stream), Ok(null)) => (stream.st_dev, stream.st_ino) == (null.st_dev, null.st_ino),
        _ => false,
    };
    let access = fcntl_getfl(stream).map(|flags| flags & OFlags::RWMODE);
    is_null && access == Ok(OFlags::RDWR)
}

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

/// Standard output that other programs may share: its mode stays as it is. A pipe that nobody else writes to is never waited
/// for; where others do, or it is a terminal, there may be less room than the system says.
#[derive(Debug)]
pub struct SharedOutput(OwnedFd);

impl SharedOutput {
    /// The most bytes that a pipe takes at once and in one piece when it has room at all: `PIPE_BUF` of
    /// Linux; elsewhere it is 512 at least.
    pub const AT_ONCE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

    /// Takes it.
    ///
    /// # Errors
    ///
    /// When it is not open, or no descriptor is left.
    pub fn take() -> io::Result<Self> {
        Ok(Self(io::stdout().as_fd().try_clone_to_owned()?))
    }

    /// Writes some of `bytes`, if there is room.
    ///
    /// # Errors
    ///
    /// Any error of `poll` and `write` but those that [`Transfer`] stands for.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Transfer> {
        if !wait_for(&self.0, Interest::Write, Some(Duration::ZERO))?.is_ready() {
            return Ok(Transfer::WouldBlock);
        }
        Transfer::write(&self.0, bytes.get(..Self::AT_ONCE).unwrap_or(bytes))
    }
}

impl AsFd for SharedOutput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::wait_readable;
    use std::io::{Read as _, Write as _, pipe};

    #[test]
    fn a_shared_output_is_not_waited_for_and_keeps_its_mode() {
        const AT_ONCE: usize = SharedOutput::AT_ONCE;
        let (reader, writer) = pipe().unwrap();
        let output = SharedOutput(writer.into());
        let before = fcntl_getfl(&output).unwrap();
        let bytes = [7; 3 * AT_ONCE];
        let mut taken = 0;
        while let Transfer::Bytes(count) = output.write(&bytes).unwrap() {
            assert!(count > 0 && count <= AT_ONCE);
            taken += count;
        }
        assert!(taken >= AT_ONCE, "{taken}");
        assert_eq!(output.write(&bytes).unwrap(), Transfer::WouldBlock);
        assert_eq!(fcntl_getfl(&output).unwrap(), before);
        drop(reader);
        // Another test that has just forked may hold the other end until it executes its program.
        wait_readable(&output);
        assert_eq!(output.write(&bytes).unwrap(), Transfer::Closed);
    }

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
        // Another test that has just forked may hold the other ends until it executes its program.
        wait_readable(pipes.input().unwrap());
        wait_readable(pipes.output().unwrap());
        assert_eq!(pipes.read(&mut buffer).unwrap(), Transfer::Closed);
        assert_eq!(pipes.write(b"x").unwrap(), Transfer::Closed);
        assert!(pipes.input().is_none() && pipes.output().is_none());
    }
}
