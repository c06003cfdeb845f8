//! ssh at work: what is written to it, what it says, and its end.

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
use super::transcript::{Said, Transcript, Trouble};
use crate::bootstrap::offer::Block;
use crate::errors::{Failure, LoginFailure};

/// What is read of one stream in one turn of a loop.
///
/// Source: docs/threat-model.md §6.
const BYTES_PER_TURN: usize = 64 * 1024;

/// What is read at once.
const BYTES_AT_ONCE: usize = 4096;

/// What is kept of ssh's messages, to learn from them why it has ended. Chosen by eye: the warning
/// about a changed host key is half as long.
const TAIL_BYTES_MAX: usize = 2048;

/// What is passed on of ssh's messages once the server can be reached: they only go to a log.
///
/// Source: docs/threat-model.md §6.
const LATE_BYTES_MAX: usize = 64 * 1024;

/// How long a server is given to end, when its input has, before ssh is ended. Chosen by eye: longer
/// than a round trip.
const LEAVE_WITHIN: Duration = Duration::from_millis(500);

/// How long ssh is given to end when it is asked to. Chosen by eye: it only puts a terminal's modes
/// back.
const END_WITHIN: Duration = Duration::from_secs(2);

/// A call of ssh.
pub(crate) struct Call {
    ssh: Piped,
    /// Where it goes, as the user wrote it.
    host: String,
    block: Block,
    outgoing: Vec<u8>,
    written: usize,
    transcript: Transcript,
    shown: Shown,
    tail: String,
    is_heard: bool,
    /// Whether the far side has said what cannot be: the rest is left unread, so that one that writes
    /// without end keeps nobody busy but itself.
    is_deaf: bool,
    /// How much ssh has printed since the server can be reached.
    late_bytes: usize,
    status: Option<ExitStatus>,
}

/// Where its pipes are in the list of one turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    input: Option<PollSlot>,
    output: Option<PollSlot>,
    errors: Option<PollSlot>,
}

/// Which of its pipes have something to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    output: bool,
    errors: bool,
}

/// What one turn has brought.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// What the far side says.
    pub(crate) said: Vec<Said>,
    /// What ssh itself has printed, harmless by now.
    pub(crate) printed: String,
    /// Why it cannot go on, if it cannot.
    pub(crate) trouble: Option<Trouble>,
    /// Whether something was written to nobody. A SIGPIPE that comes now is of no further meaning.
    pub(crate) was_cut_off: bool,
}

impl Call {
    /// Starts ssh to that host with this command line, and has `block` for the far side.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(line: &[OsString], host: String, block: Block) -> io::Result<Call> {
        let (program, arguments) = line.split_first().ok_or(io::ErrorKind::NotFound)?;
        Call::of(Command::new(program).args(arguments), host, block)
    }

    /// Starts anything else that leads to a server in its stead.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn of(command: &mut Command, host: String, block: Block) -> io::Result<Call> {
        let ssh = Piped::spawn(command)?;
        Ok(Call {
            ssh,
            host,
            outgoing: block.bytes().to_vec(),
            written: 0,
            transcript: Transcript::of(&block),
            block,
            shown: Shown::default(),
            tail: String::new(),
            is_heard: false,
            is_deaf: false,
            late_bytes: 0,
            status: None,
        })
    }

    /// Has a server of ours be reachable only once it has agreed.
    pub(crate) fn wait_for_agreement(mut self) -> Call {
        self.transcript.wait_for_agreement();
        self
    }

    /// Returns where it goes, as the user wrote it.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns as a failure what has come out of ssh.
    pub(crate) fn failure_of(&self, trouble: Trouble) -> Failure {
        let host = self.host.clone();
        Failure::Login(match trouble {
            Trouble::TooMuchText => LoginFailure::TooMuchText { host },
            Trouble::Malformed => LoginFailure::Malformed { host },
            Trouble::Version(version) => LoginFailure::Version { host, version },
            Trouble::TwoServers => LoginFailure::TwoServers { host },
        })
    }

    /// Returns as a failure why the server will not be what it is to be, if it has said so.
    pub(crate) fn refusal(&self) -> Option<LoginFailure> {
        let (what, advice) = self.transcript.error()?;
        Some(LoginFailure::Refused {
            host: self.host.clone(),
            what: what.to_owned(),
            advice: advice.to_vec(),
        })
    }

    /// Returns as a failure that a server of ours has said nothing about what was offered to it, if
    /// that is so.
    pub(crate) fn silence(&self) -> Option<LoginFailure> {
        let host = self.host.clone();
        let is_silent = self.transcript.awaits_agreement();
        is_silent.then_some(LoginFailure::NoAnswer { host })
    }

    /// Returns as a failure that ssh has ended so.
    pub(crate) fn failure_of_end(&self, status: ExitStatus) -> LoginFailure {
        LoginFailure::SshEnded {
            host: self.host.clone(),
            status,
            complaint: SshComplaint::of(&self.tail),
        }
    }

    /// Returns what the far side has said.
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the same, to take something out of it.
    pub(crate) fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Tells if the server has said that it has heard us.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// Returns how ssh has ended, if it has. All that it wrote has been read then.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Puts its pipes on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Slots {
        let writes = self.written < self.outgoing.len();
        let input = self.ssh.input().filter(|_| writes);
        let input = input.map(|input| list.add_borrowed(input, Interest::Write));
        let mut stream = |stream| {
            let end = self.ssh.stream(stream)?;
            Some(list.add_borrowed(end, Interest::Read))
        };
        let output = match self.is_deaf {
            true => None,
            false => stream(Stream::Output),
        };
        Slots {
            input,
            output,
            errors: stream(Stream::Errors),
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

    /// Writes what there is to write, and reads what has come.
    pub(crate) fn turn(&mut self, ready: Ready) -> Turn {
        let mut turn = Turn::default();
        if ready.output {
            self.read_output(&mut turn);
        }
        if ready.errors {
            self.read_errors(&mut turn);
        }
        self.look_for_end(&mut turn);
        turn.was_cut_off = self.write();
        turn
    }

    fn read_output(&mut self, turn: &mut Turn) {
        // It may be a key.
        let mut bytes = Zeroizing::new([0; BYTES_AT_ONCE]);
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            if self.is_deaf {
                return;
            }
            let first = turn.said.len();
            let outcome = match self.ssh.read(Stream::Output, bytes.as_mut_slice()) {
                Ok(Transfer::Bytes(count)) => {
                    let bytes = bytes.get(..count).unwrap_or_default();
                    self.transcript.read(bytes, &mut turn.said)
                }
                Ok(Transfer::WouldBlock) => return,
                Ok(Transfer::Closed) | Err(_) if self.ssh.stream(Stream::Output).is_none() => {
                    return self.end_transcript(turn);
                }
                Ok(Transfer::Closed) | Err(_) => return,
            };
            turn.trouble = outcome.err();
            self.is_deaf = turn.trouble.is_some();
            let heard = turn.said.get(first..).unwrap_or_default();
            self.is_heard |= heard.contains(&Said::Heard);
            self.repeat(heard.contains(&Said::Ready), heard.contains(&Said::Hello));
        }
    }

    fn end_transcript(&mut self, turn: &mut Turn) {
        if !self.is_deaf {
            turn.trouble = self.transcript.end(&mut turn.said).err();
            self.is_deaf = turn.trouble.is_some();
        }
    }

    /// Writes again what a start-up file may have taken.
    fn repeat(&mut self, block: bool, offer: bool) {
        // Whoever asks for more than both, once each, gets no more.
        let limit = 4 * self.block.bytes().len();
        if block && self.outgoing.len() < limit {
            self.outgoing.extend_from_slice(self.block.bytes());
        }
        if offer && self.outgoing.len() < limit {
            self.outgoing.extend_from_slice(self.block.offer());
        }
    }

    fn read_errors(&mut self, turn: &mut Turn) {
        let mut bytes = [0; BYTES_AT_ONCE];
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Errors, &mut bytes) {
                Ok(Transfer::Bytes(count)) => {
                    let bytes = bytes.get(..count).unwrap_or_default();
                    turn.printed += &self.shown.take(bytes);
                }
                Ok(Transfer::WouldBlock) => break,
                Ok(Transfer::Closed) | Err(_) => {
                    turn.printed += &self.shown.finish();
                    break;
                }
            }
        }
        self.tail += &turn.printed;
        let mut excess = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        while !self.tail.is_char_boundary(excess) {
            excess += 1;
        }
        self.tail.drain(..excess);
        if self.transcript.is_reachable() {
            // It goes on being read: ssh may carry others' sessions, too.
            self.late_bytes = self.late_bytes.saturating_add(turn.printed.len());
            if self.late_bytes > LATE_BYTES_MAX {
                turn.printed.clear();
            }
        }
    }

    /// A stream may stay open for as long as a master of shared connections runs, so it is ssh's own
    /// end that counts.
    fn look_for_end(&mut self, turn: &mut Turn) {
        if self.status.is_some() {
            return;
        }
        // Nobody else waits for our children.
        let Ok(Some(status)) = self.ssh.try_wait() else {
            return;
        };
        self.read_output(turn);
        self.read_errors(turn);
        self.end_transcript(turn);
        self.status = Some(status);
        tracing::info!(%status, "ssh has ended");
    }

    /// Returns whether nobody reads any more.
    fn write(&mut self) -> bool {
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

    /// Ends it, and with it a server that has not been reached yet. Waits for a moment, so that
    /// nothing of it is left when we go.
    pub(crate) fn end(mut self) {
        // A call that can be answered is not asking for a password.
        let patience = match self.transcript.is_reachable() {
            true => LEAVE_WITHIN,
            false => Duration::ZERO,
        };
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

    /// Lets it go after the session: there is nothing left for it to do.
    pub(crate) fn release(mut self) {
        self.ssh.close_input();
    }

    /// True when the command has ended and ssh has not: then others use its connection.
    fn is_shared(&mut self) -> bool {
        let mut bytes = Zeroizing::new([0; BYTES_AT_ONCE]);
        for _ in 0..BYTES_PER_TURN / BYTES_AT_ONCE {
            match self.ssh.read(Stream::Output, bytes.as_mut_slice()) {
                Ok(Transfer::Bytes(_)) => {}
                Ok(Transfer::WouldBlock) => return false,
                Ok(Transfer::Closed) | Err(_) => return true,
            }
        }
        false
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

#[cfg(test)]
mod tests {
    use fulmar_core::Capabilities;

    use super::*;
    use crate::bootstrap::offer::{Offer, Opening};

    /// A call of a far side that does this.
    fn call(script: &str) -> Call {
        let opening = Opening {
            start: None,
            fallback: None,
            offer: Offer::of(Capabilities::ALL),
        };
        let line = ["sh", "-c", script].map(OsString::from);
        let block = opening.block().expect("it is short");
        Call::start(&line, "host".to_owned(), block).expect("there is a shell")
    }

    /// Waits until it says something, and takes it.
    fn next(call: &mut Call) -> Turn {
        let mut list = PollList::new();
        let slots = call.enlist(&mut list);
        list.wait(None).expect("poll works");
        let ready = Call::ready(&list, slots);
        call.turn(ready)
    }

    const CONNECT: &str = "echo MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg";

    #[test]
    fn a_far_side_that_writes_without_end_is_read_up_to_its_bound() {
        let mut call = call(&format!("{CONNECT}; exec yes x"));
        let trouble =
            std::iter::repeat_with(|| next(&mut call).trouble).find_map(|trouble| trouble);
        assert_eq!(trouble, Some(Trouble::TooMuchText));
        let mut list = PollList::new();
        let slots = call.enlist(&mut list);
        assert!(slots.output.is_none() && slots.errors.is_some());
        let ready = Ready {
            output: true,
            errors: true,
        };
        let turn = call.turn(ready);
        assert!(turn.said.is_empty() && turn.trouble.is_none());
        call.ssh.end_at_once();
    }

    #[test]
    fn of_messages_in_a_session_a_bounded_part_is_passed_on() {
        let mut call = call(&format!("{CONNECT}; exec yes x >&2"));
        let mut printed = 0;
        let mut unsaid = 0;
        while unsaid < 3 {
            let text = next(&mut call).printed;
            printed += text.len();
            unsaid = match text.is_empty() {
                true if call.late_bytes > 0 => unsaid + 1,
                _ => 0,
            };
        }
        assert!(printed <= LATE_BYTES_MAX + BYTES_PER_TURN, "{printed}");
        call.ssh.end_at_once();
    }
}
