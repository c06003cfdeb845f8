//! From the command line to the part of the program that it asks for.

use std::ffi::{OsStr, OsString};

use clap::Parser as _;
use clap::error::ErrorKind;
use fulmar_compat::{MoshClientRequest, MoshServerRequest, Program};
use fulmar_core::CompatMode;
use fulmar_settings::SettingSources;

use crate::cli::{
    Cli, ClientArgs, Command, ConfigArgs, completion, destination_and_command, manual,
};
use crate::client::ClientError;
use crate::environment;
use crate::errors::FulmarError;
use crate::login::SessionError;
use crate::server::ServerError;
use crate::system::{SystemError, while_doing};
use crate::{client, copy, local, login, mosh, report, server, settings};

/// Does what the words ask for, and returns the status to leave with.
pub(crate) fn run(words: impl Iterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.collect();
    let (argv0, rest) = match words.split_first() {
        Some((argv0, rest)) => (argv0.as_os_str(), rest),
        None => (OsStr::new(""), &[][..]),
    };
    let (program, rest) = match (Program::of_argv0(argv0), rest) {
        (Program::Fulmar, [first, rest @ ..]) if first == mosh::SUBCOMMAND => (Program::Mosh, rest),
        found => found,
    };
    let outcome = match program {
        Program::Fulmar => own(&words),
        Program::Mosh => mosh::run(argv0, rest).map_err(FulmarError::from),
        Program::MoshServer => mosh_server(rest).map_err(FulmarError::from),
        Program::MoshClient => mosh_client(rest).map_err(FulmarError::from),
    };
    outcome
        .unwrap_or_else(|failure| report::failure(&failure, program.name(), program.compat_mode()))
}

fn own(words: &[OsString]) -> Result<u8, FulmarError> {
    // What scp says to a command line that makes no sense.
    let refused = if words.get(1).is_some_and(|word| word == "cp") {
        1
    } else {
        CompatMode::Fulmar.failure_status()
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return Ok(tell(&error, refused)?),
    };
    Ok(match cli.command {
        Some(Command::Server(arguments)) if arguments.is_new() => {
            server::run(arguments.into_wishes().alone(), CompatMode::Fulmar)?
        }
        Some(Command::Server(arguments)) => server::run_as_offered(arguments.into_wishes())?,
        Some(Command::Client(arguments)) => own_client(arguments)?,
        Some(Command::Cp(arguments)) => copy::run(&arguments)?,
        Some(Command::CopyServer(arguments)) => copy::run_far_end(&arguments)?,
        Some(Command::Config(arguments)) => print_settings(arguments)?,
        Some(Command::Man { page }) => print(&manual::page(page))?,
        Some(Command::Completions { shell }) => print(shell.script())?,
        Some(Command::Complete(arguments)) => print(&completion::answer(&arguments))?,
        None if cli.local => {
            let sources = SettingSources::own(cli.flags.0, cli.file.path, None);
            local::run(&cli.words, &sources)?
        }
        None => {
            let named = destination_and_command(&cli.words);
            let (destination, command) = named.ok_or(FulmarError::NothingToDo)?;
            let host = login::host_of(destination).map_err(SessionError::from)?;
            let sources = SettingSources::own(cli.flags.0, cli.file.path, Some(&host));
            login::run(destination, command, &sources)?
        }
    })
}

fn print(text: &str) -> Result<u8, SystemError> {
    report::try_print(text).map_err(while_doing(report::PRINTING))?;
    Ok(0)
}

fn print_settings(arguments: ConfigArgs) -> Result<u8, FulmarError> {
    let host = arguments.host.as_deref();
    let sources = SettingSources::own(arguments.flags.0, arguments.file.path, host);
    let environment = environment::current();
    let layers = settings::layers(&sources, &environment)?;
    print(&layers.listing())?;
    // What makes no sense is listed as it is, and then told.
    layers.settings()?;
    Ok(0)
}

fn own_client(arguments: ClientArgs) -> Result<u8, FulmarError> {
    if arguments.colors {
        return Ok(client::print_colors(CompatMode::Fulmar)?);
    }
    let (Some(address), Some(port)) = (arguments.address, arguments.port) else {
        return Err(FulmarError::NothingToDo);
    };
    let (flags, file) = (arguments.flags.0, arguments.file.path);
    let sources = SettingSources::own(flags, file, Some(&address));
    Ok(client::run(address, port, &sources)?)
}

/// Prints help, or what is wrong with the command line, and returns the status to leave with.
fn tell(error: &clap::Error, refused: u8) -> Result<u8, SystemError> {
    let is_asked_for = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let printed = report::unless_unwanted(error.print());
    if is_asked_for {
        printed.map(|()| 0).map_err(while_doing(report::PRINTING))
    } else {
        Ok(refused)
    }
}

fn mosh_server(words: &[OsString]) -> Result<u8, ServerError> {
    match MoshServerRequest::parse(words) {
        MoshServerRequest::Start {
            options,
            complaints,
        } => {
            report::print_to_stderr(&complaints);
            server::run(options, CompatMode::Mosh)
        }
        MoshServerRequest::Print(text) => {
            report::print_to_stdout(&text);
            Ok(0)
        }
        MoshServerRequest::Refuse(text) => Ok(refuse(&text)),
    }
}

fn mosh_client(words: &[OsString]) -> Result<u8, ClientError> {
    match MoshClientRequest::parse(words) {
        MoshClientRequest::Connect { address, port } => {
            client::run(address, port, &SettingSources::stock())
        }
        MoshClientRequest::Colors => client::print_colors(CompatMode::Mosh),
        MoshClientRequest::Print(text) => {
            report::print_to_stdout(&text);
            Ok(0)
        }
        MoshClientRequest::Refuse(text) => Ok(refuse(&text)),
    }
}

/// Prints what is wrong with a command line of stock's, and returns the status to leave with.
fn refuse(text: &str) -> u8 {
    report::print_to_stderr(text);
    CompatMode::Mosh.failure_status()
}
