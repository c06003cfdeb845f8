//! A command whose input or output was redirected: ssh runs it, without a session.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use fulmar_login::{Destination, SshCommand, StandardStream};
use fulmar_platform::tty::is_terminal;
use fulmar_settings::{LoginSettings, quoted};

use super::error::SessionError;
use crate::report;
use crate::steps::Verbosity;
use crate::system::cannot_start;

/// Returns the standard stream that is no terminal, if one is not.
pub(crate) fn redirected_stream() -> Option<StandardStream> {
    if !is_terminal(io::stdout()) {
        Some(StandardStream::Output)
    } else if !is_terminal(io::stdin()) {
        Some(StandardStream::Input)
    } else {
        None
    }
}

/// Becomes ssh, which runs the command of these words at `destination`: its status is ours.
///
/// # Errors
///
/// When ssh does not start.
pub(super) fn become_ssh(
    settings: &LoginSettings,
    destination: Destination,
    words: &[OsString],
    verbosity: Verbosity,
) -> Result<Infallible, SessionError> {
    let ssh = SshCommand {
        words: settings.ssh.clone(),
        destination,
        family: settings.addresses.only(),
    };
    let line = ssh.command_line(words);
    if verbosity == Verbosity::Verbose {
        let line: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        report::complain(
            "fulmar",
            format_args!(
                "without a session, since not all of this is a terminal: {}",
                line.join(" ")
            ),
        );
    }
    let (program, arguments) = line.split_first().expect("ssh has a name");
    let error = Command::new(program).args(arguments).exec();
    Err(cannot_start(program)(error).into())
}
