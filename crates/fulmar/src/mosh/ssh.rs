//! Starting ssh, or on this machine the server itself, and listening to it.
//!
//! Source: docs/protocol.md §2.3, §2.5.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, PipeReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use fulmar_compat::{MoshLoginError, MoshOptions, MoshRoute, ssh_words};
use fulmar_platform::Signal;
use fulmar_platform::process::send_signal;

use super::error::MoshError;
use crate::system::{cannot_start, while_doing};

/// The process that starts a server, ssh or a shell, and all that it prints, on either stream.
pub(crate) struct LoginProcess {
    child: Child,
    output: Option<PipeReader>,
}

impl LoginProcess {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// When there is no such program.
    pub(crate) fn spawn(mut command: Command) -> Result<LoginProcess, MoshError> {
        let (output, input) = io::pipe().map_err(while_doing("making a pipe"))?;
        let as_well = input.try_clone().map_err(while_doing("making a pipe"))?;
        let child = command.stdout(input).stderr(as_well).spawn();
        let child = child.map_err(cannot_start(command.get_program()))?;
        Ok(LoginProcess {
            child,
            output: Some(output),
        })
    }

    /// Lets `hear` listen, and waits for the program's end; when `hear` has failed, the program is
    /// asked to end, which lets it put a terminal back that it asked a password on.
    ///
    /// # Errors
    ///
    /// Those of `hear`.
    pub(crate) fn listen(
        mut self,
        hear: impl FnOnce(BufReader<PipeReader>) -> Result<(), MoshError>,
    ) -> Result<(), MoshError> {
        let outcome = self
            .output
            .take()
            .map_or(Ok(()), |output| hear(BufReader::new(output)));
        if outcome.is_err() {
            // It may have ended by itself.
            let _ = send_signal(self.child.id(), Signal::Terminate);
        }
        // How it has ended says nothing: what counts is what it has printed.
        let _ = self.child.wait();
        outcome
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
