//! A program on a pseudo-terminal of its own.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use fulmar_platform::{Child, Interest, Master, Slave, Spawn, Transfer, WindowSize, pty, wait_for};

/// The most bytes that are read at once. Chosen by eye: a pty of Linux gives 4 KiB at most.
const READ_BYTES_MAX: usize = 65_536;

/// A program on a pseudo-terminal of its own, and the keyboard before it. Dropping it ends the program.
///
/// What the program writes is for the caller to look at, in pieces as they come. A wait is a loop around
/// [`turn`](Self::turn):
///
/// ```
/// use std::time::Duration;
/// use fulmar_platform::{Spawn, WindowSize};
/// use fulmar_testbed::PtyProgram;
///
/// # fn main() -> std::io::Result<()> {
/// let mut cat = PtyProgram::start(&Spawn::new("/bin/cat"), WindowSize { rows: 24, columns: 80 })?;
/// cat.type_keys(b"hello\n");
/// let mut shown = Vec::new();
/// while !shown.ends_with(b"hello\r\nhello\r\n") && !cat.is_closed() {
///     shown.extend_from_slice(cat.turn(Some(Duration::from_secs(60)))?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PtyProgram {
    master: Master,
    child: Child,
    /// Keys that the pty has not taken yet.
    to_type: VecDeque<u8>,
    is_closed: bool,
    buffer: Vec<u8>,
}

impl PtyProgram {
    /// Starts a program on a new pty of this size.
    ///
    /// # Errors
    ///
    /// When there is no pty, or the program cannot be run.
    pub fn start(command: &Spawn, size: WindowSize) -> io::Result<Self> {
        Self::start_on(pty::open(size)?, command)
    }

    /// Starts a program on a pty that was opened and looked at before.
    ///
    /// # Errors
    ///
    /// When the program cannot be run.
    pub fn start_on((master, slave): (Master, Slave), command: &Spawn) -> io::Result<Self> {
        let child = slave
            .spawn(command)
            .map_err(|error| io::Error::new(error.error.kind(), error))?;
        Ok(Self {
            master,
            child,
            to_type: VecDeque::new(),
            is_closed: false,
            buffer: vec![0; READ_BYTES_MAX],
        })
    }

    /// Returns the number of the program's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Returns our end of the pty, for its size and settings, and to wait for it beside others.
    #[must_use]
    pub fn master(&self) -> &Master {
        &self.master
    }

    /// Returns true once every program has let go of the pty, and all that was written is read.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns true while keys wait for room in the pty.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        !self.to_type.is_empty()
    }

    /// Returns what to wait for at [`master`](Self::master) before the next [`transfer`](Self::transfer).
    #[must_use]
    pub fn interest(&self) -> Interest {
        if self.has_keys() {
            Interest::ReadWrite
        } else {
            Interest::Read
        }
    }

    /// Types keys at the next turn, or as soon as the pty has room for them.
    pub fn type_keys(&mut self, keys: impl AsRef<[u8]>) {
        self.to_type.extend(keys.as_ref());
    }

    /// Types at once what the pty has room for. The rest is left for the next turns. A program that is gone takes
    /// all keys and reads none.
    ///
    /// # Errors
    ///
    /// When the pty fails.
    pub fn type_now(&mut self) -> io::Result<()> {
        while self.has_keys() {
            let (keys, _) = self.to_type.as_slices();
            match self.master.write(keys)? {
                Transfer::Bytes(count) => drop(self.to_type.drain(..count)),
                Transfer::WouldBlock => break,
                Transfer::Closed => self.to_type.clear(),
            }
        }
        Ok(())
    }

    /// Types and reads once what is possible without waiting, and returns what the program wrote: nothing, too, where
    /// it wrote nothing.
    ///
    /// # Errors
    ///
    /// When the pty fails.
    pub fn transfer(&mut self) -> io::Result<&[u8]> {
        self.type_now()?;
        let mut count = 0;
        if !self.is_closed {
            match self.master.read(&mut self.buffer)? {
                Transfer::Bytes(read) => count = read,
                Transfer::WouldBlock => {}
                Transfer::Closed => self.is_closed = true,
            }
        }
        Ok(&self.buffer[..count])
    }

    /// Waits until something can be read or typed, or `limit` has passed, and does it as
    /// [`transfer`](Self::transfer). `None` waits as long as it takes.
    ///
    /// # Errors
    ///
    /// When the pty fails.
    pub fn turn(&mut self, limit: Option<Duration>) -> io::Result<&[u8]> {
        wait_for(&self.master, self.interest(), limit)?;
        self.transfer()
    }

    /// Reads and forgets what the program still writes, until it lets go of the pty or `limit` has passed. Returns true
    /// if it has let go.
    ///
    /// # Errors
    ///
    /// When the pty fails.
    pub fn let_end(&mut self, limit: Duration) -> io::Result<bool> {
        let began = Instant::now();
        while !self.is_closed && began.elapsed() < limit {
            self.turn(Some(limit.saturating_sub(began.elapsed())))?;
        }
        Ok(self.is_closed)
    }

    /// Changes the size of the window.
    ///
    /// # Errors
    ///
    /// When the pty has no size.
    pub fn resize(&self, size: WindowSize) -> io::Result<()> {
        self.master.resize(size)
    }

    /// Closes the window: the pty hangs up, and the program has to live without it.
    ///
    /// # Errors
    ///
    /// When the system has no other pty to put in its place.
    pub fn close_window(&mut self) -> io::Result<()> {
        // A pty hangs up when the last descriptor of its master is closed.
        let size = WindowSize {
            rows: 1,
            columns: 1,
        };
        (self.master, _) = pty::open(size)?;
        self.is_closed = true;
        Ok(())
    }

    /// Returns how the program ended, if it has.
    ///
    /// # Errors
    ///
    /// When somebody else has waited for it.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until the program has ended. It may be waiting for its output to be read: see
    /// [`let_end`](Self::let_end).
    ///
    /// # Errors
    ///
    /// When somebody else has waited for it.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

impl Drop for PtyProgram {
    fn drop(&mut self) {
        // The program may have ended; then there is nothing to end.
        let _ = self.child.kill(&self.master);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DEADLINE;

    const SIZE: WindowSize = WindowSize {
        rows: 5,
        columns: 20,
    };

    fn shell(script: &str) -> PtyProgram {
        let mut command = Spawn::new("/bin/sh");
        command.arg("-c").arg(script).env("PATH", "/usr/bin:/bin");
        PtyProgram::start(&command, SIZE).unwrap()
    }

    /// Returns what is written until `end` is.
    fn read_until(program: &mut PtyProgram, end: &str) -> String {
        let began = Instant::now();
        let mut shown = String::new();
        while !shown.contains(end) {
            assert!(
                !program.is_closed() && began.elapsed() < DEADLINE,
                "{shown:?}"
            );
            shown += std::str::from_utf8(program.turn(Some(DEADLINE)).unwrap()).unwrap();
        }
        shown
    }

    #[test]
    fn keys_reach_the_program_and_its_answer_comes_back() {
        let mut program = shell("read line; echo got $line; exit 3");
        program.type_keys("key\n");
        read_until(&mut program, "got key");
        assert!(program.let_end(DEADLINE).unwrap());
        assert_eq!(program.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn more_keys_than_a_pty_holds_are_typed_while_the_output_is_read() {
        const KEYS: usize = 300_000;
        let mut program = shell("stty raw -echo; echo ready; head -c 300000 | wc -c; read line");
        read_until(&mut program, "ready");
        program.type_keys([b'x'; KEYS]);
        read_until(&mut program, "300000");
        assert!(!program.has_keys());
    }

    #[test]
    fn a_program_whose_window_is_closed_is_hung_up() {
        let mut program = shell("echo ready; read line");
        read_until(&mut program, "ready");
        program.close_window().unwrap();
        assert!(program.is_closed());
        assert_eq!(program.transfer().unwrap(), b"");
        assert!(!program.wait().unwrap().success());
    }

    #[test]
    fn what_is_typed_at_a_program_that_has_ended_is_lost() {
        let mut program = shell("exit 0");
        assert!(program.let_end(DEADLINE).unwrap());
        program.type_keys("x");
        program.transfer().unwrap();
        assert!(program.is_closed());
    }

    #[test]
    fn a_program_that_stays_is_not_waited_for_longer_than_the_limit() {
        assert!(!shell("read line").let_end(Duration::ZERO).unwrap());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = PtyProgram::start(&Spawn::new("/nowhere/program"), SIZE).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nowhere/program"), "{error}");
    }
}
