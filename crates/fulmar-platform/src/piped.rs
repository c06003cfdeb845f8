//! A program at the other ends of three pipes, of which none is ever waited for.

use crate::Transfer;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process, setsid};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

/// One of the streams that a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Output,
    /// Its standard error.
    Errors,
}

/// A program that runs with pipes for its standard streams. Our ends of them never wait; its own
/// are as usual.
///
/// It stays in our process group unless it has no terminal, so that the keys of a terminal reach it as they reach us. That it
/// has ended is told by [`Signal::Child`](crate::Signal::Child), not by the end of a stream: its
/// own children may keep that open. Dropping it closes the pipes, and neither ends nor reaps it.
#[derive(Debug)]
pub struct Piped {
    process: Child,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    status: Option<ExitStatus>,
}

impl Piped {
    /// Starts a program. What `command` says of streams does not count.
    ///
    /// # Errors
    ///
    /// When there is no such program, or the system has no descriptors or processes left.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let piped = Self {
            input: process.stdin.take().map(OwnedFd::from),
            output: process.stdout.take().map(OwnedFd::from),
            errors: process.stderr.take().map(OwnedFd::from),
            process,
            status: None,
        };
        for end in [&piped.input, &piped.output, &piped.errors] {
            end.as_ref().map_or(Ok(()), never_wait)?;
        }
        Ok(piped)
    }

    /// Starts a program that has no terminal, and can ask nobody anything. Nor does it get the signals that keys cause.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    pub fn spawn_without_terminal(command: &mut Command) -> io::Result<Self> {
        let leave_terminal = || {
            setsid()?;
            Ok(())
        };
        // SAFETY: the closure runs between fork and exec. It makes one system call: it neither
        // allocates nor locks, and drops nothing.
        unsafe { command.pre_exec(leave_terminal) };
        Self::spawn(command)
    }

    /// Returns the number of the process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the pipe that the program reads, unless that is closed.
    pub fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd)
    }

    /// Returns a pipe that the program writes, unless that is closed.
    pub fn stream(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        let end = match stream {
            Stream::Output => &self.output,
            Stream::Errors => &self.errors,
        };
        end.as_ref().map(AsFd::as_fd)
    }

    /// Writes `bytes` to the program, or as many of them as its pipe takes. When it does not read
    /// any more, the pipe is closed.
    ///
    /// # Errors
    ///
    /// Any error of `write` but those that [`Transfer`] stands for.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        let Some(input) = &self.input else {
            return Ok(Transfer::Closed);
        };
        let outcome = Transfer::write(input, bytes);
        if !matches!(outcome, Ok(Transfer::Bytes(_) | Transfer::WouldBlock)) {
            self.input = None;
        }
        outcome
    }

    /// Tells if the program has read all that was written to it so far. Where a system does not tell of a pipe what waits in
    /// it to the one who writes, it is never said to have.
    pub fn has_read_all(&self) -> bool {
        let input = self.input.as_ref().filter(|_| cfg!(target_os = "linux"));
        input.is_some_and(|input| ioctl_fionread(input).is_ok_and(|waiting| waiting == 0))
    }

    /// Says that there will be no more input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Reads what the program has written, into a buffer that is not empty. At its end the pipe is
    /// closed.
    ///
    /// # Errors
    ///
    /// Any error of `read` but those that [`Transfer`] stands for.
    pub fn read(&mut self, stream: Stream, buffer: &mut [u8]) -> io::Result<Transfer> {
        let end = match stream {
            Stream::Output => &mut self.output,
            Stream::Errors => &mut self.errors,
        };
        let Some(open) = end else {
            return Ok(Transfer::Closed);
        };
        let outcome = Transfer::read(open, buffer);
        if !matches!(outcome, Ok(Transfer::Bytes(_) | Transfer::WouldBlock)) {
            *end = None;
        }
        outcome
    }

    /// Returns how the program ended, if it has, without waiting.
    ///
    /// # Errors
    ///
    /// When somebody else has reaped the process.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.process.try_wait()?;
        }
        Ok(self.status)
    }

    /// Asks the program to end, which gives it time to put a terminal's modes back. One that has
    /// ended is not asked.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends the program without asking.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Ends the program without asking, and forgets it.
    pub fn end_at_once(&mut self) {
        self.kill();
        if self.status.is_none() {
            // Nobody but us waits for it; should somebody have, there is nothing left to wait for.
            self.status = self.process.wait().ok();
        }
    }

    // A process that was reaped has given its number back: it may be anybody's by now.
    fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            // It may have another user, or have ended; there is nothing more to do then.
            let _ = kill_process(Pid::from_child(&self.process), signal);
        }
    }
}

fn never_wait(end: &OwnedFd) -> io::Result<()> {
    Ok(fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::wait_readable;

    fn shell(script: &str) -> Piped {
        Piped::spawn(Command::new("/bin/sh").arg("-c").arg(script)).unwrap()
    }

    fn read_to_end(program: &mut Piped, stream: Stream) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 64];
        while program.stream(stream).is_some() {
            wait_readable(program.stream(stream).unwrap());
            match program.read(stream, &mut buffer).unwrap() {
                Transfer::Bytes(length) => text.extend_from_slice(&buffer[..length]),
                Transfer::WouldBlock | Transfer::Closed => {}
            }
        }
        String::from_utf8(text).unwrap()
    }

    fn reap(mut program: Piped) -> ExitStatus {
        program.process.wait().unwrap()
    }

    #[test]
    fn a_program_without_a_terminal_leads_a_session_of_its_own() {
        let mut command = Command::new("/bin/sh");
        let script = "read -r line </proc/$$/stat; set -- ${line##*) }; echo $4; \
                      (: </dev/tty) 2>/dev/null && echo asks; echo over";
        command.args(["-c", script]);
        let mut program = Piped::spawn_without_terminal(&mut command).unwrap();
        let said = read_to_end(&mut program, Stream::Output);
        assert_eq!(said.trim(), format!("{}\nover", program.pid()));
        reap(program);
    }

    #[test]
    fn input_output_and_errors_are_pipes_of_their_own() {
        let mut program = shell("read line; echo out $line; echo err >&2; exit 3");
        let mut buffer = [0; 64];
        assert_eq!(
            program.read(Stream::Output, &mut buffer).unwrap(),
            Transfer::WouldBlock
        );
        assert_eq!(program.write(b"hello\n").unwrap(), Transfer::Bytes(6));
        assert_eq!(read_to_end(&mut program, Stream::Output), "out hello\n");
        assert_eq!(read_to_end(&mut program, Stream::Errors), "err\n");
        assert_eq!(reap(program).code(), Some(3));
    }

    #[test]
    fn a_program_that_does_not_read_is_not_waited_for() {
        let mut program = shell("exec sleep 1000");
        let megabyte = vec![b'x'; 1 << 20];
        // More than a pipe holds.
        assert!(matches!(program.write(&megabyte).unwrap(), Transfer::Bytes(n) if n < 1 << 20));
        assert_eq!(program.write(&megabyte).unwrap(), Transfer::WouldBlock);
        program.end_at_once();
        assert!(
            program
                .try_wait()
                .unwrap()
                .is_some_and(|status| !status.success())
        );
    }

    #[test]
    fn the_end_of_the_input_is_seen_over_there() {
        let mut program = shell("cat; echo end");
        program.close_input();
        assert!(program.input().is_none());
        assert_eq!(program.write(b"x").unwrap(), Transfer::Closed);
        assert_eq!(read_to_end(&mut program, Stream::Output), "end\n");
        assert!(reap(program).success());
    }

    #[test]
    fn a_reader_that_left_closes_the_pipe() {
        let mut program = shell("exec 0<&-; echo ready; exec sleep 1000");
        wait_readable(program.stream(Stream::Output).unwrap());
        // What another test has just forked may hold the reading end until it executes its program.
        wait_readable(program.input().unwrap());
        assert_eq!(program.write(b"x").unwrap(), Transfer::Closed);
        assert!(program.input().is_none());
        program.terminate();
        assert!(!reap(program).success());
    }

    #[test]
    fn who_has_ended_is_not_signalled() {
        let mut program = shell("exit 0");
        while program.try_wait().unwrap().is_none() {
            wait_readable(program.stream(Stream::Output).unwrap());
        }
        assert!(program.try_wait().unwrap().unwrap().success());
        program.kill();
        program.terminate();
    }
}
