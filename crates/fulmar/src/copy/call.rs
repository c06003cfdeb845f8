//! ssh at work for a copy: what the far side says, and later the frames that it carries.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use fulmar_platform::{Piped, PollList};

use super::transcript::{Said, Transcript, Trouble};
use crate::errors::{CopyFailure, Failure, LoginFailure, ended_with};
use crate::login::{Hearing, SshProcess, SshReady, SshSlots};

/// How long a far end is given to end that has done its work. Chosen by eye: some round trips.
const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// A call of ssh.
pub(super) struct Call {
    ssh: SshProcess,
    /// Where it goes, as the user wrote it.
    host: String,
    transcript: Transcript,
    /// Whether the far side has said what cannot be, or speaks in frames: the rest is not read here.
    is_deaf: bool,
    /// What has come of frames before somebody reads them.
    early: Vec<u8>,
}

/// What one turn has brought.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What the far side says.
    pub(super) said: Vec<Said>,
    /// What ssh itself has printed, harmless by now.
    pub(super) printed: String,
    /// Why it cannot go on, if it cannot.
    pub(super) trouble: Option<Trouble>,
}

impl Call {
    /// Starts ssh to that host with this command line, and writes `bytes` to the far side.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(super) fn start(line: &[OsString], host: String, bytes: Vec<u8>) -> io::Result<Call> {
        Ok(Call {
            ssh: SshProcess::start(line, bytes)?,
            host,
            transcript: Transcript::new(),
            is_deaf: false,
            early: Vec::new(),
        })
    }

    /// Returns where it goes, as the user wrote it.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns what the far side has said.
    pub(super) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Returns the same, to take something out of it.
    pub(super) fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Returns how ssh has ended, if it has. All that it wrote has been read then.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.ssh.status()
    }

    /// Puts its pipes on the list.
    pub(super) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> SshSlots {
        self.ssh.enlist(list, !self.is_deaf)
    }

    /// The same when frames are read and written.
    pub(super) fn enlist_frames<'fd>(
        &'fd self,
        list: &mut PollList<'fd>,
        reads: bool,
        writes: bool,
    ) -> SshSlots {
        self.ssh.enlist_pipes(list, reads, writes)
    }

    /// Reads what has come, and writes what there is to write.
    pub(super) fn turn(&mut self, ready: SshReady) -> Turn {
        let mut turn = Turn::default();
        if ready.output {
            self.read_output(&mut turn);
        }
        if ready.errors {
            turn.printed += &self.ssh.read_errors();
        }
        if self.ssh.look_for_end().is_some() {
            self.read_output(&mut turn);
            turn.printed += &self.ssh.read_errors();
            self.end_transcript(&mut turn);
        }
        self.ssh.write();
        turn
    }

    fn read_output(&mut self, turn: &mut Turn) {
        if self.is_deaf {
            return;
        }
        let (transcript, is_deaf, early) =
            (&mut self.transcript, &mut self.is_deaf, &mut self.early);
        let has_ended = self.ssh.read_output(|_, mut bytes| {
            turn.trouble = transcript.read(&mut bytes, &mut turn.said).err();
            early.extend_from_slice(bytes);
            *is_deaf = turn.trouble.is_some() || turn.said.last() == Some(&Said::OverSsh);
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

    /// Writes to the far side.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.ssh.append(bytes, usize::MAX);
        self.ssh.write();
    }

    /// Returns what has come of frames by now, once.
    pub(super) fn take_early(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.early)
    }

    /// Returns the pipes themselves, for frames.
    pub(super) fn pipes(&mut self) -> &mut Piped {
        self.ssh.pipes()
    }

    /// Looks if ssh has ended, and returns what it has printed, when its output is read elsewhere.
    pub(super) fn look(&mut self, ready: SshReady) -> String {
        let mut printed = String::new();
        if self.ssh.look_for_end().is_some() || ready.errors {
            printed += &self.ssh.read_errors();
        }
        printed
    }

    /// Returns as a failure what has come out of ssh.
    pub(super) fn failure_of(&self, trouble: Trouble) -> Failure {
        let host = self.host.clone();
        match trouble {
            Trouble::Version(version) => Failure::Copy(CopyFailure::Version {
                host,
                version,
                ours: super::COPY_VERSION,
            }),
            other => Failure::Login(other.failure(host)),
        }
    }

    /// Returns as a failure that ssh has ended before the far end could be reached. OpenSSH says by a
    /// status of its own that it was not the command that has failed.
    pub(super) fn failure_of_end(&self, status: ExitStatus, is_open_ssh: bool) -> Failure {
        let host = self.host.clone();
        if let Some(refusal) = self.transcript.remarks().refusal(&host) {
            return Failure::Login(refusal);
        }
        if let Some(system) = self.transcript.remarks().missing() {
            let system = system.to_owned();
            return Failure::Copy(CopyFailure::NoFulmar { host, system });
        }
        let of_ssh = match is_open_ssh {
            true => status.code().is_none_or(|code| code == 255),
            false => !self.transcript.has_said_anything(),
        };
        match of_ssh && !self.transcript.is_begun() {
            true => Failure::Login(LoginFailure::SshEnded {
                host,
                status,
                complaint: self.ssh.complaint(),
            }),
            false => Failure::Copy(CopyFailure::NoCopyServer {
                host,
                status: ended_with(status),
            }),
        }
    }

    /// Ends it, and with it a far end that has not been reached yet.
    pub(super) fn end(self) {
        self.ssh.leave(self.transcript.is_invited());
    }

    /// Ends it after a copy that it has carried, of which the far end knows.
    pub(super) fn finish(self) {
        self.ssh.end(FINISH_WITHIN);
    }

    /// Lets it go: there is nothing left for it to do.
    pub(super) fn release(self) {
        self.ssh.release();
    }
}
