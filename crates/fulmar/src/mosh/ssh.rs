//! Starting ssh, or on this machine the server itself, and listening to it.
//!
//! Source: docs/protocol.md §2.3, §2.5.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use fulmar_base::Time;
use fulmar_compat::{MoshLoginError, MoshOptions, MoshRoute, ssh_words};
use fulmar_platform::process::send_signal;
use fulmar_platform::{Interest, Signal};

use super::error::MoshError;
use crate::clock::now;
use crate::reactor::{Reactor, ReactorEvent, Token};
use crate::report;
use crate::system::{cannot_start, while_doing};

/// The pause after which a program that has not ended is asked again.
///
/// Chosen by eye.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// The number of times that a program is asked to end before it is killed.
///
/// Chosen by eye: a second in all.
const ASK_TIMES: u32 = 10;

/// The signals that end us while we listen.
const ENDING: [Signal; 4] = [
    Signal::HangUp,
    Signal::Interrupt,
    Signal::Quit,
    Signal::Terminate,
];

/// The process that starts a server, ssh or a shell, and all that it prints, on either stream.
pub(crate) struct LoginProcess {
    child: Child,
    output: LoginOutput,
}

/// The output of the process, which can be read until a signal asks us to end.
struct LoginOutput {
    reactor: Reactor,
    pipe: PipeReader,
    signal: Option<Signal>,
}

impl LoginProcess {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// When there is no such program.
    pub(crate) fn spawn(mut command: Command) -> Result<LoginProcess, MoshError> {
        let (pipe, input) = io::pipe().map_err(while_doing("making a pipe"))?;
        let as_well = input.try_clone().map_err(while_doing("making a pipe"))?;
        // Before there is a child that a signal could leave behind.
        let signals = [ENDING.as_slice(), &[Signal::Child]].concat();
        let reactor = Reactor::new(&signals).map_err(while_doing("watching for signals"))?;
        let child = command.stdout(input).stderr(as_well).spawn();
        let child = child.map_err(cannot_start(command.get_program()))?;
        let output = LoginOutput {
            reactor,
            pipe,
            signal: None,
        };
        Ok(LoginProcess { child, output })
    }

    /// Lets `hear` listen, and waits for the program's end; when `hear` has failed, or a signal has come, the program is
    /// asked to end, which lets it put a terminal back that it asked a password on.
    ///
    /// # Errors
    ///
    /// Those of `hear`, and the signal.
    pub(crate) fn listen(
        mut self,
        hear: impl FnOnce(&mut dyn BufRead) -> Result<(), MoshError>,
    ) -> Result<(), MoshError> {
        let outcome = hear(&mut BufReader::new(&mut self.output));
        let outcome = match self.output.signal {
            Some(signal) => {
                report::begin_line_after(signal);
                Err(MoshError::Interrupted(signal))
            }
            None => outcome,
        };
        if outcome.is_err() {
            self.end();
        }
        // How it has ended says nothing: what counts is what it has printed.
        let _ = self.child.wait();
        outcome
    }

    /// Asks the program to end until it does: ssh does not notice a signal that comes between its question and its
    /// reading of the answer.
    fn end(&mut self) {
        for _ in 0..ASK_TIMES {
            // It may have ended by itself.
            let _ = send_signal(self.child.id(), Signal::Terminate);
            if self.has_ended_by(now() + ASK_AGAIN) {
                return;
            }
        }
        let _ = self.child.kill();
    }

    /// Waits for the program's end, but no longer than until then; whether it has come.
    fn has_ended_by(&mut self, deadline: Time) -> bool {
        loop {
            // An error says that there is nothing to wait for.
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            let reactor = &mut self.output.reactor;
            if reactor.wait(Some(deadline), |_| {}).is_err() || reactor.is_due() {
                return false;
            }
            while reactor.poll_event().is_some() {}
        }
    }
}

impl Read for LoginOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Self { reactor, pipe, .. } = self;
            reactor.wait(None, |registry| {
                registry.add(Token::SshOutput, pipe, Interest::Read);
            })?;
            let mut is_readable = false;
            while let Some(event) = reactor.poll_event() {
                match event {
                    ReactorEvent::Signal(signal) if ENDING.contains(&signal) => {
                        self.signal = Some(signal);
                        return Err(io::Error::other("a signal has come"));
                    }
                    ReactorEvent::Signal(_) | ReactorEvent::Hint(_) => {}
                    ReactorEvent::Ready(..) => is_readable = true,
                }
            }
            if is_readable {
                return self.pipe.read(buffer);
            }
        }
    }
}

/// Returns ssh with all of its words, as [`ssh_words`] takes them.
///
/// # Errors
///
/// As for [`ssh_words`].
pub(crate) fn ssh(
    wishes: &MoshOptions,
    host: &OsStr,
    ourselves: &[OsString],
    server: &OsStr,
) -> Result<Command, MoshLoginError> {
    let words = ssh_words(wishes, host, ourselves, server)?;
    let (program, words) = words.split_first().ok_or(MoshLoginError::NoSshCommand)?;
    let mut command = Command::new(program);
    command.args(words);
    if wishes.route == MoshRoute::Proxy {
        // ssh runs the proxy with the user's shell, which may not be a POSIX one.
        command.env("SHELL", "/bin/sh");
    }
    Ok(command)
}

/// Returns a shell that runs the server on this machine. It starts from the home folder, and does
/// not know by which ssh this machine may have been reached.
pub(crate) fn server_here(server: &OsStr, home: Option<&OsStr>) -> Command {
    let mut command = Command::new("/bin/sh");
    // Under the name by which it complains when stock starts it.
    command
        .arg0("sh")
        .arg("-c")
        .arg(server)
        .env_remove("SSH_CONNECTION");
    if let Some(home) = home.filter(|home| std::path::Path::new(home).is_dir()) {
        command.current_dir(home);
    }
    command
}
