//! The files on another machine, where ssh has an open connection to it that others may share.
//!
//! It asks for nothing and opens no connection: to complete a word is not to log in.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::process::{ChildStdout, Command as Order, Stdio};
use std::time::Duration;

use clap::Parser as _;
use fulmar_login::{Destination, SshCommand, listed};
use fulmar_platform::{Interest, boot_time, wait_for};
use fulmar_settings::SettingSources;

use crate::cli::{Cli, Command};
use crate::copy::{CopyArgs, Operand};
use crate::environment;
use crate::settings;

/// The time that ssh has for an answer. Chosen by eye: nobody waits longer for a word.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// The most that is read of an answer. Chosen by eye: some ten thousand names.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Returns operands that begin as `last` does, whose path begins behind so many bytes of it.
pub(super) fn paths_with_prefix(before: &[OsString], last: &str, path_at: usize) -> Vec<String> {
    let (host, path) = last.split_at(path_at);
    let found = ssh_for(before, host).and_then(|ssh| {
        ask(&ssh.master_query())?;
        ask(&ssh.listing(path))
    });
    let paths = listed(path, &found.unwrap_or_default());
    paths.iter().map(|path| format!("{host}{path}")).collect()
}

/// Returns the ssh that the copy would use.
fn ssh_for(before: &[OsString], host: &str) -> Option<SshCommand> {
    let arguments = copy_arguments(before, host)?;
    let Ok(Operand::Remote(remote)) = Operand::parse(OsStr::new(host)) else {
        return None;
    };
    let destination = Destination::parse(&remote.destination).ok()?;
    let sources = SettingSources::own(
        arguments.flags.0.clone(),
        arguments.file.path.clone(),
        Some(destination.host()),
    );
    let settings = settings::resolve(&sources, &environment::current()).ok()?;
    let mut words = settings.login.ssh;
    words.extend(arguments.ssh.words());
    Some(SshCommand {
        words,
        destination,
        family: None,
    })
}

/// Reads the words before, as if the command line ended with what is being typed and a file.
fn copy_arguments(before: &[OsString], host: &str) -> Option<CopyArgs> {
    let mut line = vec![OsString::from("fulmar")];
    line.extend_from_slice(before);
    line.extend([host, "."].map(OsString::from));
    match Cli::try_parse_from(line).ok()?.command? {
        Command::Cp(arguments) => Some(arguments),
        _ => None,
    }
}

/// Returns what a program writes, if it ends well and in time.
fn ask(line: &[OsString]) -> Option<Vec<u8>> {
    let (program, arguments) = line.split_first()?;
    let mut child = Order::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take();
    let answer = output.and_then(|output| read(output, boot_time() + ANSWER_WITHIN));
    if answer.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    answer.filter(|_| status.success())
}

fn read(mut output: ChildStdout, until: Duration) -> Option<Vec<u8>> {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while answer.len() < ANSWER_BYTES_MAX {
        let left = until.checked_sub(boot_time())?;
        if !wait_for(&output, Interest::Read, Some(left))
            .ok()?
            .is_ready()
        {
            continue;
        }
        match output.read(&mut buffer).ok()? {
            0 => return Some(answer),
            count => answer.extend_from_slice(buffer.get(..count)?),
        }
    }
    None
}
