//! From the command line to the part of the program that it asks for.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use fulmar_compat::{MoshClientRequest, MoshServerRequest, Program};
use fulmar_core::CompatMode;
use fulmar_login::{STATUS_NO_PROGRAM, SessionInfo, SessionName, SessionTask};
use fulmar_settings::{FlagSet, SettingSources, instead_of};

use crate::advice::Advice as _;
use crate::cli::{
    Cli, ClientArgs, Command, ConfigArgs, completion, destination_and_command, hints, manual,
};
use crate::client::ClientError;
use crate::copy::CopyError;
use crate::environment;
use crate::errors::FulmarError;
use crate::login::{
    AttachArgs, KillArgs, LsArgs, MachineArgs, RenameArgs, SessionError, SessionWish, session_table,
};
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
    let mut cli = match Cli::parse_words(words) {
        Ok(cli) => cli,
        Err(error) => return refuse_words(error, words),
    };
    let verbosity = cli.login.verbosity();
    match cli.command.take() {
        None if cli.local => {
            let sources = SettingSources::own(cli.login.flags.0, cli.login.file.path, None);
            let wish = SessionWish {
                name: cli.name,
                task: None,
                way: Vec::new(),
            };
            Ok(local::run(
                command_of(&cli.words),
                wish,
                &sources,
                verbosity,
            )?)
        }
        None => log_in(cli),
        Some(command) => run_subcommand(cli.before(command)?),
    }
}

/// Returns the command that these words are: one empty word is none, as with ssh.
fn command_of(words: &[OsString]) -> &[OsString] {
    match words {
        [word] if word.is_empty() => &[],
        words => words,
    }
}

fn log_in(cli: Cli) -> Result<u8, FulmarError> {
    let named = destination_and_command(&cli.words);
    let (destination, command) = named.ok_or(FulmarError::NothingToDo)?;
    let host = login::host_of(destination).map_err(SessionError::from)?;
    let (ssh_words, verbosity) = (cli.login.ssh_words(), cli.login.verbosity());
    let way = cli.login.way_words();
    let port = cli
        .login
        .flags
        .0
        .find("port")
        .map(|given| given.text.clone());
    let sources = SettingSources::own(cli.login.flags.0, cli.login.file.path, Some(&host));
    let wish = SessionWish {
        name: cli.name,
        task: None,
        way,
    };
    let command = command_of(command);
    let outcome = login::run(destination, ssh_words, command, wish, &sources, verbosity);
    let hint = outcome.as_ref().map_or_else(
        |failure| failure_hint(failure, destination, command, port.as_deref()),
        |status| missing_command_hint(*status, destination, command),
    );
    match (outcome, hint) {
        (Err(failure), Some(hint)) => {
            let failure = Box::new(failure);
            Err(FulmarError::Hinted { failure, hint })
        }
        (Err(failure), None) => Err(failure.into()),
        (Ok(status), hint) => {
            if let Some(hint) = hint {
                report::complain("fulmar", hint);
            }
            Ok(status)
        }
    }
}

/// Returns what may have been meant by the words of a login that has failed.
fn failure_hint(
    failure: &SessionError,
    destination: &OsStr,
    command: &[OsString],
    port: Option<&OsStr>,
) -> Option<String> {
    if failure.is_of_unknown_host() {
        return hints::of_unknown_host(destination, command);
    }
    if failure.is_unreached()
        && let Some(hint) = port.and_then(|port| hints::of_port(port, destination))
    {
        return Some(hint);
    }
    missing_command_hint(failure.status(CompatMode::Fulmar), destination, command)
}

/// The same of one whose command has ended with that status.
fn missing_command_hint(status: u8, destination: &OsStr, command: &[OsString]) -> Option<String> {
    let is_missing = status == STATUS_NO_PROGRAM;
    hints::of_missing_command(destination, command).filter(|_| is_missing)
}

fn run_subcommand(command: Command) -> Result<u8, FulmarError> {
    Ok(match command {
        Command::Attach(arguments) => attach(arguments)?,
        Command::Ls(arguments) => list_sessions(arguments)?,
        Command::Kill(KillArgs { machine, words }) => match machine.split(&words, 1..=1) {
            Some((host, [name])) => {
                let ended = ask(&machine, host, SessionTask::End(named(name)?))?;
                tell_names(&ended, "was told to end")
            }
            _ => return Err(operands("kill", login::KILL_USAGE)),
        },
        Command::Rename(RenameArgs { machine, words }) => match machine.split(&words, 2..=2) {
            Some((host, [from, to])) => {
                let (from, to) = (named(from)?, named(to)?);
                let what = format!("was called {from}");
                let renamed = ask(&machine, host, SessionTask::Rename { from, to })?;
                tell_names(&renamed, &what)
            }
            _ => return Err(operands("rename", login::RENAME_USAGE)),
        },
        Command::Server(arguments) if arguments.is_new() => {
            server::run(arguments.into_wishes().alone(), CompatMode::Fulmar)?
        }
        Command::Server(arguments) => server::run_as_offered(arguments.into_wishes())?,
        Command::Client(arguments) => own_client(arguments)?,
        Command::Cp(arguments) => copy::run(&arguments.expanded())?,
        Command::CopyServer(arguments) => copy::run_copy_server(&arguments)?,
        Command::Config(arguments) => print_settings(arguments)?,
        Command::Man { page } => print(&manual::page(page))?,
        Command::Completions { shell } => print(shell.script())?,
        Command::Complete(arguments) => print(&completion::answer(&arguments))?,
    })
}

fn operands(command: &'static str, usage: &'static str) -> FulmarError {
    FulmarError::Operands { command, usage }
}

fn attach(arguments: AttachArgs) -> Result<u8, FulmarError> {
    let AttachArgs {
        or_new,
        machine,
        words,
    } = arguments;
    let (host, names) = machine
        .split(&words, 0..=1)
        .ok_or_else(|| operands("attach", login::ATTACH_USAGE))?;
    let name = names.first().map(|name| named(name)).transpose()?;
    let wish = SessionWish {
        name: None,
        task: Some(SessionTask::Attach { name, or_new }),
        way: machine.login.way_words(),
    };
    let (sources, verbosity) = (sources_of(&machine, host)?, machine.login.verbosity());
    Ok(match host {
        Some(host) => login::run(
            host,
            machine.login.ssh_words(),
            &[],
            wish,
            &sources,
            verbosity,
        )?,
        None => local::run(&[], wish, &sources, verbosity)?,
    })
}

fn list_sessions(arguments: LsArgs) -> Result<u8, FulmarError> {
    let LsArgs {
        json,
        detached,
        machine,
        words,
    } = arguments;
    let (host, _) = machine
        .split(&words, 0..=0)
        .ok_or_else(|| operands("ls", login::LS_USAGE))?;
    let mut sessions = ask(&machine, host, SessionTask::List)?;
    sessions.retain(|session| !detached || session.away.is_some() || session.is_silent);
    if json {
        return Ok(print(&session_table::json(&sessions))?);
    }
    if sessions.is_empty() {
        report::complain(
            "fulmar",
            if detached {
                "there are no sessions of yours without a client"
            } else {
                "there are no sessions of yours"
            },
        );
        return Ok(0);
    }
    Ok(print(&session_table::columns(&sessions))?)
}

/// Asks what a machine knows of its sessions; `None` for this one.
fn ask(
    machine: &MachineArgs,
    host: Option<&OsStr>,
    task: SessionTask,
) -> Result<Vec<SessionInfo>, FulmarError> {
    let sources = sources_of(machine, host)?;
    let sessions = login::ask(
        host,
        machine.login.ssh_words(),
        task,
        &sources,
        machine.login.verbosity(),
    )?;
    Ok(sessions)
}

fn sources_of(machine: &MachineArgs, host: Option<&OsStr>) -> Result<SettingSources, SessionError> {
    let name = host.map(login::host_of).transpose()?;
    let (flags, file) = (
        machine.login.flags.0.clone(),
        machine.login.file.path.clone(),
    );
    Ok(SettingSources::own(flags, file, name.as_deref()))
}

fn named(word: &OsStr) -> Result<SessionName, FulmarError> {
    Ok(SessionName::parse(&word.to_string_lossy())?)
}

fn tell_names(sessions: &[SessionInfo], what: &str) -> u8 {
    for session in sessions {
        report::complain("fulmar", format!("session {} {what}", session.name));
    }
    0
}

/// Says what is wrong with a command line, or prints the help that it asks for, and returns the status to leave with.
fn refuse_words(mut error: clap::Error, words: &[OsString]) -> Result<u8, FulmarError> {
    let is_copy = words.get(1).is_some_and(|word| word == "cp") || tells_usage_of_copy(&error);
    // What scp says to a command line that makes no sense.
    let (set, status) = if is_copy {
        (FlagSet::Copy, 1)
    } else {
        (FlagSet::Login, CompatMode::Fulmar.failure_status())
    };
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let (value, host) = hints::around_foreign_flag(flag, words)
        && let Some(instead) = instead_of(set, flag, value.as_deref(), host)
    {
        let flag = flag.clone();
        return Err(FulmarError::ForeignFlag {
            flag,
            instead,
            status,
        });
    }
    let are_operands_missing = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues
    );
    if is_copy && are_operands_missing && names_operands(&error) {
        return Err(CopyError::NothingNamed.into());
    }
    // Clap's guesses are of words that look alike, such as zsh for tcsh, and that a flag is meant as a host.
    error.remove(ContextKind::SuggestedValue);
    error.remove(ContextKind::Suggested);
    Ok(tell(&error, status)?)
}

/// Tells if an error comes with how a copy is written: flags may stand before the name of the command.
fn tells_usage_of_copy(error: &clap::Error) -> bool {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => return false,
    };
    usage
        .trim_start_matches("Usage:")
        .trim_start()
        .starts_with("fulmar cp ")
}

/// Tells if an error about a copy's command line is about files, rather than about the value of a flag.
fn names_operands(error: &clap::Error) -> bool {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.starts_with('<'),
        Some(ContextValue::Strings(arguments)) => {
            arguments.iter().all(|argument| argument.starts_with('<'))
        }
        _ => false,
    }
}

fn print(text: &str) -> Result<u8, SystemError> {
    report::try_print(text).map_err(while_doing(report::PRINTING))?;
    Ok(0)
}

fn print_settings(arguments: ConfigArgs) -> Result<u8, FulmarError> {
    let host = arguments.host.as_deref().map(login::host_of).transpose();
    let host = host.map_err(SessionError::from)?;
    let sources = SettingSources::own(arguments.flags.0, arguments.file.path, host.as_deref());
    let environment = environment::current();
    let layers = settings::layers(&sources, &environment)?;
    print(&layers.listing())?;
    // What makes no sense is listed as it is, and then told.
    let settings = layers.settings()?;
    if let Some(doubt) = client::scrollback_doubt(&settings, &environment) {
        print(&format!("\nscrollback: off in this terminal: {doubt}\n"))?;
    }
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
    if is_asked_for {
        let printed = report::unless_unwanted(error.print());
        return printed.map(|()| 0).map_err(while_doing(report::PRINTING));
    }
    // It begins as all of our errors do.
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    report::print_to_stderr(&format!("fulmar: {text}"));
    Ok(refused)
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
