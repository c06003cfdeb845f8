//! A call of ssh that is to lead to a server: what is written to it, and what the far side says.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};

use fulmar_platform::PollList;

pub(crate) use super::process::Ready;
use super::process::{Hearing, Slots, SshProcess};
use super::transcript::{Said, Transcript, Trouble};
use crate::bootstrap::offer::Block;
use crate::errors::{Failure, LoginFailure};

/// What is passed on of ssh's messages once the server can be reached: they only go to a log.
///
/// Source: docs/threat-model.md §6.
const LATE_BYTES_MAX: usize = 64 * 1024;

/// A call of ssh.
pub(crate) struct Call {
    ssh: SshProcess,
    /// Where it goes, as the user wrote it.
    host: String,
    block: Block,
    transcript: Transcript,
    is_heard: bool,
    /// Whether the far side has said what cannot be: the rest is left unread, so that one that writes
    /// without end keeps nobody busy but itself.
    is_deaf: bool,
    /// How much ssh has printed since the server can be reached.
    late_bytes: usize,
    was_cut_off: bool,
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
        let ssh = SshProcess::start(line, block.bytes().to_vec())?;
        Ok(Call::over(ssh, host, block))
    }

    /// Starts anything else that leads to a server in its stead.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn of(command: &mut Command, host: String, block: Block) -> io::Result<Call> {
        let ssh = SshProcess::of(command, block.bytes().to_vec())?;
        Ok(Call::over(ssh, host, block))
    }

    fn over(ssh: SshProcess, host: String, block: Block) -> Call {
        Call {
            ssh,
            host,
            transcript: Transcript::of(&block),
            block,
            is_heard: false,
            is_deaf: false,
            late_bytes: 0,
            was_cut_off: false,
        }
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
        Failure::Login(trouble.failure(self.host.clone()))
    }

    /// Returns as a failure why the server will not be what it is to be, if it has said so.
    pub(crate) fn refusal(&self) -> Option<LoginFailure> {
        self.transcript.remarks().refusal(&self.host)
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
            complaint: self.ssh.complaint(),
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

    /// Tells if anything was ever written to nobody: a SIGPIPE may come of it yet.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.was_cut_off
    }

    /// Tells if the server has said that it has heard us.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// Returns how ssh has ended, if it has. All that it wrote has been read then.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.ssh.status()
    }

    /// Puts its pipes on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Slots {
        self.ssh.enlist(list, !self.is_deaf)
    }

    /// Reads the answer of the list.
    pub(crate) fn ready(list: &PollList<'_>, slots: Slots) -> Ready {
        SshProcess::ready(list, slots)
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
        if self.ssh.look_for_end().is_some() {
            self.read_output(&mut turn);
            self.read_errors(&mut turn);
            self.end_transcript(&mut turn);
        }
        turn.was_cut_off = self.ssh.write();
        self.was_cut_off |= turn.was_cut_off;
        turn
    }

    fn read_output(&mut self, turn: &mut Turn) {
        if self.is_deaf {
            return;
        }
        let (transcript, block) = (&mut self.transcript, &self.block);
        let (is_deaf, is_heard) = (&mut self.is_deaf, &mut self.is_heard);
        let has_ended = self.ssh.read_output(|ssh, bytes| {
            let first = turn.said.len();
            turn.trouble = transcript.read(bytes, &mut turn.said).err();
            *is_deaf = turn.trouble.is_some();
            let heard = turn.said.get(first..).unwrap_or_default();
            *is_heard |= heard.contains(&Said::Heard);
            repeat(ssh, block, heard);
            match *is_deaf {
                true => Hearing::Stop,
                false => Hearing::GoOn,
            }
        });
        if has_ended {
            self.end_transcript(turn);
        }
    }

    fn end_transcript(&mut self, turn: &mut Turn) {
        if !self.is_deaf {
            turn.trouble = self.transcript.end(&mut turn.said).err();
            self.is_deaf = turn.trouble.is_some();
        }
    }

    fn read_errors(&mut self, turn: &mut Turn) {
        let printed = self.ssh.read_errors();
        if self.transcript.is_reachable() {
            // It goes on being read: ssh may carry others' sessions, too.
            self.late_bytes = self.late_bytes.saturating_add(printed.len());
        }
        if self.late_bytes <= LATE_BYTES_MAX {
            turn.printed += &printed;
        }
    }

    /// Ends it, and with it a server that has not been reached yet. Waits for a moment, so that
    /// nothing of it is left when we go.
    pub(crate) fn end(self) {
        self.ssh.leave(self.transcript.is_reachable());
    }

    /// Lets it go after the session: there is nothing left for it to do.
    pub(crate) fn release(self) {
        self.ssh.release();
    }
}

/// Writes again what a start-up file may have taken.
fn repeat(ssh: &mut SshProcess, block: &Block, heard: &[Said]) {
    // Whoever asks for more than both, once each, gets no more.
    let limit = 4 * block.bytes().len();
    if heard.contains(&Said::Ready) {
        ssh.append(block.bytes(), limit);
    }
    if heard.contains(&Said::Hello) {
        ssh.append(block.offer(), limit);
    }
}

#[cfg(test)]
mod tests {
    use fulmar_core::Capabilities;

    use super::super::process::BYTES_PER_TURN;
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
        assert!(!slots.listens_to_output());
        let ready = Ready {
            output: true,
            errors: true,
        };
        let turn = call.turn(ready);
        assert!(turn.said.is_empty() && turn.trouble.is_none());
        call.ssh.end_at_once();
    }

    #[test]
    fn what_was_written_to_nobody_is_not_forgotten() {
        let mut call = call("exec <&-; echo FULMAR READY; exec tail -f /dev/null");
        while !next(&mut call).was_cut_off {}
        let nothing = Ready {
            output: false,
            errors: false,
        };
        assert!(!call.turn(nothing).was_cut_off);
        assert!(call.was_cut_off());
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
