//! Both ends on one machine.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use fulmar_core::Names;
use zeroize::Zeroizing;

use crate::bootstrap::line_splitter::LineSplitter;
use crate::bootstrap::lines::{Invitation, Line, Malformed};
use crate::cli::Records;
use crate::client::{Desk, farewell};
use crate::errors::{Failure, while_doing};
use crate::settings::Sources;
use crate::{log, report};

/// Opens a session on this machine with `command`, or with a shell, and returns the status to leave
/// with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(command: &[OsString], sources: &Sources) -> Result<u8, Failure> {
    let desk = Desk::prepare(sources)?;
    let records = &desk.settings().records;
    let Invitation { port, key } = start_server(command, records, desk.colors())?;
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Ok(farewell(desk.hold(key, server), Names::Own))
}

/// Starts a server that only this machine can reach. It goes to the background by itself.
fn start_server(
    command: &[OsString],
    records: &Records,
    colors: i32,
) -> Result<Invitation, Failure> {
    let mut server = ourselves().map_err(while_doing("finding our own program"))?;
    server.args(["server", "-i", "127.0.0.1", "-c", &colors.to_string()]);
    for (option, file) in [("--trace", &records.trace), ("--log", &records.log)] {
        if let Some(file) = file {
            server.arg(option).arg(log::beside(file));
        }
    }
    server.arg("--").args(command);
    let mut server = server
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(while_doing("starting a server"))?;
    let told = server.stdout.take().map(|stdout| {
        invitation(stdout, |line| {
            let line = report::escaped(&String::from_utf8_lossy(line));
            report::print_to_stderr(&format!("{line}\n"));
        })
    });
    let status = server
        .wait()
        .map_err(while_doing("waiting for the server"))?;
    let invitation = told
        .transpose()
        .map_err(while_doing("listening to the server"))?;
    match invitation.flatten() {
        Some(invitation) => Ok(invitation),
        // It has printed why.
        None if status.code().is_some_and(|code| code != 0) => Err(Failure::Told),
        None => Err(Failure::LocalServer),
    }
}

/// Reads up to the invitation, and gives the lines before it to `other`. `None` if there is none
/// within bounds.
fn invitation(
    mut input: impl io::Read,
    mut other: impl FnMut(&[u8]),
) -> io::Result<Option<Invitation>> {
    let mut splitter = LineSplitter::new();
    let mut bytes = Zeroizing::new([0; 4096]);
    loop {
        let count = match input.read(bytes.as_mut_slice()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome?,
        };
        let mut rest = bytes.get(..count).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        while !rest.is_empty() {
            let Ok(line) = splitter.take(&mut rest) else {
                return Ok(None);
            };
            let Some(line) = line else { continue };
            match line.parse() {
                Ok(Some(Line::Invitation(invitation))) => return Ok(Some(invitation)),
                Ok(None) => other(line.bytes()),
                Ok(Some(_)) | Err(Malformed) => {}
            }
        }
    }
}

/// Returns an order to start this very program, also if its file is gone since.
fn ourselves() -> io::Result<Command> {
    let file = std::env::current_exe()?;
    let program = match file.exists() {
        true => file,
        false => PathBuf::from("/proc/self/exe"),
    };
    let mut command = Command::new(program);
    // The name decides which program we are.
    command.arg0("fulmar");
    Ok(command)
}
