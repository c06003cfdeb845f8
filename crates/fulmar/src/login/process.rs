//! ssh as a process: what is written to it and read from it, its messages, its end.
//!
//! Whatever is said over it is a matter of the login.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use fulmar_platform::{
    Interest, Piped, PollList, PollSlot, Signal, SignalPipe, Stream, Transfer, boot_time,
};
use zeroize::Zeroizing;

use super::complaint::SshComplaint;
use super::shown::Shown;

/// What is read of one stream in one turn of a loop.
///
/// Source: docs/threat-model.md §6.
pub(crate) const BYTES_PER_TURN: usize = 64 * 1024;

/// What is read at once.
const BYTES_AT_ONCE: usize = 4096;

/// What is kept of ssh's messages, to learn from them why it has ended. Chosen by eye: the warning
/// about a changed host key is half as long.
const TAIL_BYTES_MAX: usize = 2048;

/// How long a far side is given to end, when its input has, before ssh is ended. Chosen by eye: longer
/// than a round trip.
const LEAVE_WITHIN: Duration = Duration::from_millis(500);

/// How long ssh is given to end when it is asked to. Chosen by eye: it only puts a terminal's modes
/// back.
const END_WITHIN: Duration = Duration::from_secs(2);

/// A running ssh, or what stands in for it.
pub(crate) struct SshProcess {
    ssh: Piped,
    outgoing: Vec<u8>,
    written: usize,
    shown: Shown,
    tail: String,
    status: Option<ExitStatus>,
}

/// Where its pipes are in the list of one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    input: Option<PollSlot>,
    output: Option<PollSlot>,
    errors: Option<PollSlot>,
}

impl Slots {
    /// Tells if its standard output is on the list.
    #[cfg(test)]
    pub(crate) fn listens_to_output(&self) -> bool {
        self.output.is_some()
    }
}

/// Which of its pipes have something to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// Its standard output.
    pub(crate) output: bool,
    /// Its standard error.
    pub(crate) errors: bool,
}

/// What a piece of output was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// More is wanted.
    GoOn,
    /// Nothing else is to be read in this turn.
    Stop,
}

impl SshProcess {
    /// Starts ssh with this command line, and has `bytes` for the far side.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(line: &[OsString], bytes: Vec<u8>) -> io::Result<SshProcess> {
        let (program, arguments) = line.split_first().ok_or(io::ErrorKind::NotFound)?;
        SshProcess::of(Command::new(program).args(arguments), bytes)
    }

    /// Starts anything else in its stead.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn of(command: &mut Command, bytes: Vec<u8>) -> io::Result<SshProcess> {
        Ok(SshProcess {
            ssh: Piped::spawn(command)?,
            outgoing: bytes,
            written: 0,
            shown: Shown::default(),
            tail: String::new(),
            status: None,
        })
    }

    /// Returns how ssh has ended, if it has. All that it wrote has been read then.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Returns what ssh seems to have complained about.
    pub(crate) fn complaint(&self) -> SshComplaint {
        SshComplaint::of(&self.tail)
    }

    /// Puts its pipes on the list, the output only if somebody listens.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>, is_listening: bool) -> Slots {
        let writes = self.written < self.outgoing.len();
        let input = self.ssh.input().filter(|_| writes);
        let input = input.map(|input| list.add_borrowed(input, Interest::Write));
        let mut stream = |stream| {
            let end = self.ssh.stream(stream)?;
            Some(list.add_borrowed(end, Interest::Read))
        };
        let output = match is_listening {
            true => stream(Stream::Output),
            false => None,
        };
        Slots {
            input,
            output,
            errors: stream(Stream::Errors),
        }
    }

    /// The same for whoever writes and reads the pipes directly.
    pub(crate) fn enlist_pipes<'fd>(
        &'fd self,
        list: &mut PollList<'fd>,
        reads: bool,
        writes: bool,
    ) -> Slots {
        let input = self.ssh.input().filter(|_| writes);
        let input = input.map(|input| list.add_borrowed(input, Interest::Write));
        Slots {
            input,
            ..self.enlist(list, reads)
        }
    }

    /// Reads the answer of the list.
    pub(crate) fn ready(list: &PollList<'_>, slots: Slots) -> Ready {
        let is_readable =
            |slot: Option<PollSlot>| slot.is_some_and(|slot| list.readiness(slot).is_readable());
        // Writing is tried each turn anyway.
        let _ = slots.input;
        Ready {
            output: is_readable(slots.output),
            errors: is_readable(slots.errors),
        }
    }

    /// Hands over what has come on its standard output, within the budget of one turn; returns whether
    /// there will be no more.
    pub(crate) fn read_output(
        &mut self,
        mut hear: impl FnMut(&mut Self, &[u8]) -> Hearing,
    ) -> bool {
        // It may be a key.
        let mut bytes = Zeroizing::new([0; BYTES_AT_ONCE]);
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Output, bytes.as_mut_slice()) {
                Ok(Transfer::Bytes(count)) => {
                    let bytes = bytes.get(..count).unwrap_or_default();
                    if hear(self, bytes) == Hearing::Stop {
                        return false;
                    }
                }
                Ok(Transfer::WouldBlock) => return false,
                Ok(Transfer::Closed) | Err(_) => return self.ssh.stream(Stream::Output).is_none(),
            }
        }
        false
    }

    /// Returns what has come of messages, harmless by now.
    pub(crate) fn read_errors(&mut self) -> String {
        let mut printed = String::new();
        let mut bytes = [0; BYTES_AT_ONCE];
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Errors, &mut bytes) {
                Ok(Transfer::Bytes(count)) => {
                    let bytes = bytes.get(..count).unwrap_or_default();
                    printed += &self.shown.take(bytes);
                }
                Ok(Transfer::WouldBlock) => break,
                Ok(Transfer::Closed) | Err(_) => {
                    printed += &self.shown.finish();
                    break;
                }
            }
        }
        self.tail += &printed;
        let mut excess = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        while !self.tail.is_char_boundary(excess) {
            excess += 1;
        }
        self.tail.drain(..excess);
        printed
    }

    /// Returns how it has ended, once. A stream may stay open for as long as a master of shared
    /// connections runs, so it is ssh's own end that counts.
    pub(crate) fn look_for_end(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return None;
        }
        // Nobody else waits for our children.
        self.status = self.ssh.try_wait().ok().flatten();
        if let Some(status) = &self.status {
            tracing::info!(%status, "ssh has ended");
        }
        self.status
    }

    /// Has more for the far side, unless there was as much as `limit` already.
    pub(crate) fn append(&mut self, bytes: &[u8], limit: usize) {
        if self.outgoing.len() < limit {
            self.outgoing.extend_from_slice(bytes);
        }
    }

    /// Writes what there is to write. Returns whether nobody reads any more.
    pub(crate) fn write(&mut self) -> bool {
        while let Some(rest) = self.outgoing.get(self.written..)
            && !rest.is_empty()
        {
            match self.ssh.write(rest) {
                Ok(Transfer::Bytes(count)) if count > 0 => self.written += count,
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => return false,
                // Whoever does not read has what it needs, or has ended.
                Ok(Transfer::Closed) | Err(_) => {
                    self.written = self.outgoing.len();
                    return true;
                }
            }
        }
        false
    }

    /// Ends it, and with it a far side that nobody has reached. One that can be reached is given a
    /// moment: such a call is not asking for a password.
    pub(crate) fn leave(self, is_reachable: bool) {
        self.end(match is_reachable {
            true => LEAVE_WITHIN,
            false => Duration::ZERO,
        });
    }

    /// Ends it, and with it what it has started. Waits for a moment, so that nothing of it is left when
    /// we go: `patience` for the far side, and some more for ssh.
    pub(crate) fn end(mut self, patience: Duration) {
        let Ok(mut children) = SignalPipe::new(&[Signal::Child]) else {
            return self.ssh.terminate();
        };
        self.ssh.close_input();
        if self.ends_within(patience, &mut children) || self.is_shared() {
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

    /// Ends it without asking.
    #[cfg(test)]
    pub(crate) fn end_at_once(&mut self) {
        self.ssh.end_at_once();
    }

    /// True when the command has ended and ssh has not: then others use its connection.
    fn is_shared(&mut self) -> bool {
        self.read_output(|_, _| Hearing::GoOn)
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
            let mut list = PollList::new();
            list.add(&*children, Interest::Read);
            if left.is_zero() || list.wait(Some(left)).is_err() {
                return false;
            }
        }
    }
}
