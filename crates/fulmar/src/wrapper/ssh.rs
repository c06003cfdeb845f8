//! Starting ssh, or on this machine the server itself, and listening to it.
//!
//! Source: docs/protocol.md §2.3, §2.5.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, PipeReader};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use fulmar_login::shell_words::{quoted, split};
use fulmar_platform::Signal;
use fulmar_platform::process::send_signal;

use super::error::Failure;
use super::options::{MoshOptions, MoshRoute};
use super::starter_error::StarterError;
use crate::system::{cannot_start, while_doing};

/// A program that starts a server, and all that it prints, on either stream.
pub(crate) struct Starter {
    child: Child,
    output: Option<PipeReader>,
}

impl Starter {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// When there is no such program.
    pub(crate) fn spawn(mut command: Command) -> Result<Starter, Failure> {
        let (output, input) = io::pipe().map_err(while_doing("making a pipe"))?;
        let as_well = input.try_clone().map_err(while_doing("making a pipe"))?;
        let child = command.stdout(input).stderr(as_well).spawn();
        let child = child.map_err(cannot_start(command.get_program()))?;
        Ok(Starter {
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
        hear: impl FnOnce(BufReader<PipeReader>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
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

/// Returns ssh with all of its words. `host` is as ssh is to have it.
///
/// # Errors
///
/// When the user's line for ssh is not finished, or begins with no program.
pub(crate) fn ssh(
    wishes: &MoshOptions,
    host: &OsStr,
    ourselves: &[OsString],
    server: &OsStr,
) -> Result<Command, Failure> {
    let words = split(&wishes.ssh).map_err(StarterError::SshCommand)?;
    let (program, more) = words.split_first().ok_or(StarterError::NoSshCommand)?;
    let mut command = Command::new(program);
    command.args(more).arg("-n");
    if wishes.has_tty {
        command.arg("-tt");
    }
    match wishes.route {
        MoshRoute::Proxy => {
            // A master connection would make none of its own, and our proxy would see no address.
            command.args(["-S", "none", "-o"]);
            command.arg(proxy_option(ourselves, &wishes.family));
            // ssh runs it with the user's shell, which may not be a POSIX one.
            command.env("SHELL", "/bin/sh");
        }
        MoshRoute::SshConnection if wishes.family == "inet" => _ = command.arg("-4"),
        MoshRoute::SshConnection if wishes.family == "inet6" => _ = command.arg("-6"),
        MoshRoute::SshConnection | MoshRoute::Resolved | MoshRoute::ThisMachine => {}
    }
    command.arg(host).arg("--").arg(server);
    Ok(command)
}

/// Returns the option that makes us ssh's way to the server.
fn proxy_option(ourselves: &[OsString], family: &OsStr) -> OsString {
    let mut wish = OsString::from("--family=");
    wish.push(family);
    let mut option = OsString::from("ProxyCommand=");
    for word in ourselves.iter().chain([&wish]) {
        option.push(without_percent(&quoted(word)));
        option.push(" ");
    }
    option.push("--fake-proxy -- %h %p");
    option
}

/// Doubles percent signs, which mean something to ssh.
fn without_percent(word: &OsStr) -> OsString {
    let mut doubled = Vec::with_capacity(word.len());
    for &byte in word.as_bytes() {
        doubled.extend_from_slice(if byte == b'%' {
            b"%%"
        } else {
            std::slice::from_ref(&byte)
        });
    }
    OsString::from_vec(doubled)
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
