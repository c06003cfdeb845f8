//! ssh as a child process: its pipes and its end.
//!
//! Whatever is said over it is a matter of the login.

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use fulmar_login::SshExit;
use fulmar_platform::{Interest, Piped, Signal, SignalPipe, Stream, Transfer, boot_time, wait_for};
use zeroize::Zeroizing;

use crate::reactor::{Registry, Token};

/// The most bytes that one turn of a loop reads of a stream.
///
/// Source: docs/threat-model.md §6.
const BYTES_PER_TURN: usize = 64 * 1024;

/// The most bytes of one read.
const BYTES_AT_ONCE: usize = 4096;

/// The time that ssh has to end when it is asked to. Chosen by eye: it only puts a terminal's modes
/// back.
const END_WITHIN: Duration = Duration::from_secs(2);

/// A running ssh, or what stands in for it.
pub(crate) struct SshChild {
    ssh: Piped,
    outgoing: Vec<u8>,
    written: usize,
    /// True if its input ends behind what there is to write.
    is_complete: bool,
    was_cut_off: bool,
    status: Option<SshExit>,
}

impl SshChild {
    /// Starts ssh with this command line.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(line: &[OsString]) -> io::Result<SshChild> {
        let (program, arguments) = line.split_first().ok_or(io::ErrorKind::NotFound)?;
        SshChild::of(Command::new(program).args(arguments))
    }

    /// Starts it where it has no terminal to ask on, and no program that asks in its stead.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start_unattended(line: &[OsString]) -> io::Result<SshChild> {
        let (program, arguments) = line.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        // The ssh of a jump host is not told of BatchMode.
        command.args(arguments).env("SSH_ASKPASS_REQUIRE", "never");
        Ok(SshChild::with(Piped::spawn_without_terminal(&mut command)?))
    }

    /// Starts anything else in its stead.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn of(command: &mut Command) -> io::Result<SshChild> {
        Ok(SshChild::with(Piped::spawn(command)?))
    }

    fn with(ssh: Piped) -> SshChild {
        SshChild {
            ssh,
            outgoing: Vec::new(),
            written: 0,
            is_complete: false,
            was_cut_off: false,
            status: None,
        }
    }

    /// Registers its pipes, the output only if somebody listens.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>, is_listening: bool) {
        let writes = self.written < self.outgoing.len();
        self.register_pipes(registry, is_listening, writes);
    }

    /// Registers its pipes for whoever writes and reads them directly.
    pub(crate) fn register_pipes<'fd>(
        &'fd self,
        registry: &mut Registry<'fd>,
        reads: bool,
        writes: bool,
    ) {
        if let Some(input) = self.ssh.input().filter(|_| writes) {
            registry.add_borrowed(Token::SshInput, input, Interest::Write);
        }
        if let Some(output) = self.ssh.stream(Stream::Output).filter(|_| reads) {
            registry.add_borrowed(Token::SshOutput, output, Interest::Read);
        }
        if let Some(errors) = self.ssh.stream(Stream::Errors) {
            registry.add_borrowed(Token::SshErrors, errors, Interest::Read);
        }
    }

    /// Hands over what has come on its standard output, within the budget of one turn and until `hear` wants no more;
    /// returns whether there will be no more.
    pub(crate) fn read_output(&mut self, mut hear: impl FnMut(&[u8]) -> ControlFlow<()>) -> bool {
        // It may be a key.
        let mut bytes = Zeroizing::new([0; BYTES_AT_ONCE]);
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Output, bytes.as_mut_slice()) {
                Ok(Transfer::Bytes(count)) => {
                    let bytes = bytes.get(..count).unwrap_or_default();
                    if hear(bytes).is_break() {
                        return false;
                    }
                }
                Ok(Transfer::WouldBlock) => return false,
                Ok(Transfer::Closed) | Err(_) => return self.ssh.stream(Stream::Output).is_none(),
            }
        }
        false
    }

    /// Hands over what has come on its standard error, within the budget of one turn; returns whether there will be
    /// no more.
    pub(crate) fn read_errors(&mut self, mut hear: impl FnMut(&[u8])) -> bool {
        let mut bytes = [0; BYTES_AT_ONCE];
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Errors, &mut bytes) {
                Ok(Transfer::Bytes(count)) => hear(bytes.get(..count).unwrap_or_default()),
                Ok(Transfer::WouldBlock) => return false,
                Ok(Transfer::Closed) | Err(_) => return self.ssh.stream(Stream::Errors).is_none(),
            }
        }
        false
    }

    /// Returns how it has ended, once. A stream may stay open for as long as a master of shared
    /// connections runs, so it is ssh's own end that counts.
    pub(crate) fn look_for_end(&mut self) -> Option<SshExit> {
        if self.status.is_some() {
            return None;
        }
        // Nobody else waits for our children.
        self.status = self.ssh.try_wait().ok().flatten().map(ssh_exit);
        if let Some(status) = &self.status {
            tracing::info!(%status, "ssh has ended");
        }
        self.status
    }

    /// Has more for the remote side.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
    }

    /// Ends its input behind what there is to write.
    pub(crate) fn close_input(&mut self) {
        self.is_complete = true;
        self.write();
    }

    /// Writes what there is to write.
    pub(crate) fn write(&mut self) {
        while let Some(rest) = self.outgoing.get(self.written..)
            && !rest.is_empty()
        {
            match self.ssh.write(rest) {
                Ok(Transfer::Bytes(count)) if count > 0 => self.written += count,
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => return,
                // Whoever does not read has what it needs, or has ended.
                Ok(Transfer::Closed) | Err(_) => {
                    self.written = self.outgoing.len();
                    self.was_cut_off = true;
                    return;
                }
            }
        }
        if self.is_complete {
            self.ssh.close_input();
        }
    }

    /// Writes past what it holds for the login, once all of that is written.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(crate) fn write_behind(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        self.write();
        if self.written < self.outgoing.len() {
            return Ok(Transfer::WouldBlock);
        }
        self.ssh.write(bytes)
    }

    /// Tells if it has taken all that was written to it, which is something.
    pub(crate) fn has_taken_all(&self) -> bool {
        self.written > 0 && self.written == self.outgoing.len() && self.ssh.has_read_all()
    }

    /// Tells if something was written to nobody since this was asked last: of that a SIGPIPE tells, which is of no
    /// further meaning.
    pub(crate) fn take_cut_off(&mut self) -> bool {
        std::mem::take(&mut self.was_cut_off)
    }

    /// Ends it, and with it what it has started. Waits for a moment, so that nothing of it is left when
    /// we go: `grace` for the remote side, and some more for ssh.
    pub(crate) fn end(mut self, grace: Duration) {
        let Ok(mut children) = SignalPipe::new(&[Signal::Child]) else {
            return self.ssh.terminate();
        };
        self.ssh.close_input();
        // A connection that others use as well is not ours to end.
        if self.ends_within(grace, &mut children) || self.is_shared() {
            return;
        }
        self.ssh.terminate();
        if !self.ends_within(END_WITHIN, &mut children) {
            self.ssh.kill();
            self.ends_within(END_WITHIN, &mut children);
        }
    }

    /// Returns the pipes themselves, when what is said over them is no business of this.
    pub(crate) fn pipes(&mut self) -> &mut Piped {
        &mut self.ssh
    }

    /// Lets it go: there is nothing left for it to do.
    pub(crate) fn release(mut self) {
        self.ssh.close_input();
    }

    /// True when the command has ended and ssh has not: then others use its connection.
    fn is_shared(&mut self) -> bool {
        self.read_output(|_| ControlFlow::Continue(()))
    }

    fn ends_within(&mut self, limit: Duration, children: &mut SignalPipe) -> bool {
        let limit = boot_time() + limit;
        loop {
            // Before it is asked: the end of another child is to be found once, and this one's not missed.
            let _ = children.drain().count();
            if !matches!(self.ssh.try_wait(), Ok(None)) {
                return true;
            }
            let left = limit.saturating_sub(boot_time());
            if left.is_zero() || wait_for(children, Interest::Read, Some(left)).is_err() {
                return false;
            }
        }
    }
}

fn ssh_exit(status: ExitStatus) -> SshExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => SshExit::Status(code),
        (None, signal) => SshExit::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use fulmar_platform::Poller;

    use super::*;

    #[test]
    fn what_was_written_to_nobody_is_noticed_once() {
        let script = "exec <&-; echo x; exec tail -f /dev/null";
        let line = ["sh", "-c", script].map(OsString::from);
        let mut child = SshChild::start(&line).expect("there is a shell");
        let mut poller = Poller::new();
        let is_output = |(token, _)| token == Token::SshOutput;
        while !poller.ready().any(is_output) {
            let waited = poller.wait(None, |registry| child.register(registry, true));
            waited.expect("poll works");
        }
        child.append(b"x");
        child.write();
        assert!(child.take_cut_off() && !child.take_cut_off());
        child.end(Duration::ZERO);
    }
}
