//! A stand-in for stock's `mosh`: it runs ssh, which runs a server, and becomes a client.
//!
//! Scripts and habits depend on what it does, so it does as stock in all that can be seen from
//! outside: words, environment, lines and statuses.
//!
//! Source: docs/protocol.md §2.2 to §2.5.

mod client;
mod error;
mod fake_proxy;
mod lines;
mod resolve;
mod ssh;

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use fulmar_compat::{
    MOSH_USAGE, MoshFamily, MoshLoginError, MoshLoginOutput, MoshOptions, MoshRequest, MoshRoute,
    Program, ServerAddress, UsageError, mosh_version_text, server_command,
};
use fulmar_core::CompatMode;
use fulmar_login::without_spoofing;
use fulmar_platform::resolve::numeric;
use fulmar_platform::tty::{begins_lines, is_terminal};
use fulmar_settings::Environment;

pub(crate) use self::error::MoshError;
use self::ssh::LoginProcess;
use crate::advice::Advice as _;
use crate::environment;
use crate::system::while_doing;
use crate::{login, report};

/// The subcommand that stands for the link: `fulmar mosh …` is `mosh …`.
pub(crate) const SUBCOMMAND: &str = "mosh";

/// Does what the words after the program's name ask for, and returns the status to leave with, if
/// this process has not become a client. `argv0` is what the program was started as.
///
/// # Errors
///
/// When there is no session.
pub(crate) fn run(argv0: &OsStr, words: &[OsString]) -> Result<u8, MoshError> {
    let environment = environment::current();
    match MoshRequest::parse(words, &environment) {
        Ok(MoshRequest::Session(wishes)) => match start(&wishes, argv0, words, &environment)? {},
        Ok(MoshRequest::FakeProxy {
            host,
            service,
            family,
        }) => {
            Ok(fake_proxy::run(&host, &service, &family)
                .unwrap_or_else(|failure| tell_ssh(&failure)))
        }
        Ok(MoshRequest::Help) => {
            report::print_to_stdout(MOSH_USAGE);
            Ok(0)
        }
        Ok(MoshRequest::Version) => {
            report::print_to_stdout(&mosh_version_text());
            Ok(0)
        }
        Err(UsageError::NoHost) => {
            report::print_to_stderr(&format!("{MOSH_USAGE}\n"));
            Err(MoshLoginError::Usage(UsageError::NoHost).into())
        }
        Err(mistake) => Err(MoshLoginError::Usage(mistake).into()),
    }
}

/// Says why ssh has no connection, and returns the status to leave with. The process that has started ssh shows it, and has the
/// last word: only that begins with our name.
fn tell_ssh(failure: &MoshError) -> u8 {
    let advice = failure.advice(CompatMode::Mosh).unwrap_or_default();
    let text = [failure.to_string()]
        .into_iter()
        .chain(advice.lines().map(|line| format!("  {line}")));
    report::print_to_stderr(&text.map(|line| line + "\n").collect::<String>());
    failure.status(CompatMode::Mosh)
}

/// Starts a server and becomes its client.
fn start(
    wishes: &MoshOptions,
    argv0: &OsStr,
    words: &[OsString],
    environment: &Environment,
) -> Result<Infallible, MoshError> {
    // Stock leaves that to ssh, where a dash at its beginning makes it an option, and a shell may
    // read what ssh puts into a proxy's command line.
    let name = login::host_of(&wishes.host)?;
    let colors = client::colors(wishes, environment)?;
    let server = server_command(wishes, &colors, environment);
    let mut known = None;
    let mut command = match wishes.route {
        MoshRoute::ThisMachine => {
            known = Some(wishes.host.to_string_lossy().into_owned());
            ssh::server_here(&server, environment.get_filled("HOME"))
        }
        MoshRoute::Resolved => {
            let (host, address) = resolved(wishes, &name)?;
            known = Some(address);
            ssh::ssh(wishes, &host, &[], &server)?
        }
        MoshRoute::SshConnection => ssh::ssh(wishes, &wishes.host, &[], &server)?,
        MoshRoute::Proxy => ssh::ssh(wishes, &wishes.host, &ourselves(argv0)?, &server)?,
    };
    let common = common_variables(wishes);
    command.envs(common.clone()).env_remove(client::PREDICTION);
    let process = LoginProcess::spawn(command)?;
    let mut output = MoshLoginOutput::new(known, lines::is_address);
    process.listen(|input| lines::listen(&mut output, input, show))?;
    let (address, server_line) = output.conclude(wishes)?;
    if let ServerAddress::Claimed(address) = &address {
        let what = format!("the far side calls itself {address}; that is where datagrams go");
        report::complain("mosh", what);
    }
    let (ServerAddress::Reached(address) | ServerAddress::Claimed(address)) = address;
    let command = client::command(wishes, words, &address, &server_line)?;
    Err(client::become_it(command, common))
}

/// Returns the host as ssh is to have it, with an address in place of its name, and the address.
fn resolved(wishes: &MoshOptions, name: &OsStr) -> Result<(OsString, String), MoshError> {
    let family = MoshFamily::of_word(&wishes.family);
    let found = resolve::addresses(name, OsStr::new("22"), family)?;
    // The list is not empty; if it were, ssh would say that the name is.
    let address = found
        .first()
        .map_or_else(String::new, |&first| numeric(first));
    let user = wishes.host.as_bytes().strip_suffix(name.as_bytes());
    let mut host = OsStr::from_bytes(user.unwrap_or_default()).to_owned();
    host.push(&address);
    Ok((host, address))
}

/// Returns what all programs that are started find in their environment.
fn common_variables(wishes: &MoshOptions) -> Vec<(&'static str, String)> {
    let mut variables = vec![("MOSH_CLIENT_PID", std::process::id().to_string())];
    if wishes.overwrites {
        variables.push(("MOSH_PREDICTION_OVERWRITE", "yes".to_owned()));
    }
    variables
}

/// Shows the user a line of ssh's or the server's, in words that no terminal obeys and nobody takes for ours.
fn show(line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    let parts: Vec<String> = text.split('\t').map(report::escaped).collect();
    let text = without_spoofing(&parts.join("\t"));
    // ssh has the terminal in raw mode by now.
    let is_raw = is_terminal(io::stdout()) && !begins_lines(io::stdout());
    let end = if is_raw { "\r\n" } else { "\n" };
    report::print_to_stdout(&(text + end));
}

/// Returns the words that start this very program as `mosh`, also if its file is gone since.
fn ourselves(argv0: &OsStr) -> Result<Vec<OsString>, MoshError> {
    let mut program = our_file()?.into_os_string();
    // A copy under the name of another program would be that: then the name that we were started
    // by will do again.
    if matches!(
        Program::of_argv0(&program),
        Program::MoshServer | Program::MoshClient
    ) {
        program = argv0.to_owned();
    }
    Ok(match Program::of_argv0(&program) {
        Program::Mosh => vec![program],
        _ => vec![program, SUBCOMMAND.into()],
    })
}

/// Returns the file that we are, under a name that other processes can use.
fn our_file() -> Result<PathBuf, MoshError> {
    let file = std::env::current_exe().map_err(while_doing("finding our own program"))?;
    Ok(if file.exists() {
        file
    } else {
        PathBuf::from(format!("/proc/{}/exe", std::process::id()))
    })
}
