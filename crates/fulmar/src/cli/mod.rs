//! The command line, and what it prints about us.

mod command_line;
pub(crate) mod completion;
pub(crate) mod hints;
pub(crate) mod manual;

use std::ffi::OsString;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum, ValueHint};
use fulmar_login::{PartialServerOptions, SessionName, TerminalColors, split_assignment};
use fulmar_settings::FlagSet;

use self::completion::{CompleteArgs, CompletedShell};
use crate::copy::{CopyArgs, CopyServerArgs};
use crate::login::{AttachArgs, KillArgs, LoginArgs, LsArgs, RenameArgs, session_name};
use crate::server::listen_args::ListenArgs;
use crate::settings::{ClientFlags, ConfigArg, LoginFlags, RecordArgs};

/// The ways to call the program.
const USAGE: &str = "\
fulmar [OPTIONS] [USER@]HOST [COMMAND...]
       fulmar [OPTIONS] --local [COMMAND...]
       fulmar attach|ls|kill|rename [OPTIONS] [USER@]HOST [NAME...]
       fulmar cp [OPTIONS] SOURCE... TARGET
       fulmar mosh [OPTIONS OF MOSH] [USER@]HOST [COMMAND...]
       fulmar server|client|config|man|completions|help ...";

/// Command lines, and what they do.
pub(crate) const EXAMPLES: [(&str, &str); 9] = [
    ("fulmar ada@example.org", "Log in"),
    (
        "fulmar example.org htop",
        "Run a program there instead of a shell",
    ),
    (
        "fulmar -p 60001 example.org",
        "Log in where only one UDP port is open",
    ),
    (
        "fulmar -P 2222 ada@example.org",
        "Log in where ssh has another port; also ssh://ada@example.org:2222",
    ),
    (
        "fulmar attach example.org",
        "Come back to a session that was left, from any machine",
    ),
    (
        "fulmar attach --or-new example.org work",
        "Come back to the session work, or begin it",
    ),
    ("fulmar --local", "Open a session on this machine"),
    (
        "fulmar cp -r photos example.org:",
        "Copy a folder to the home directory there",
    ),
    (
        "fulmar config example.org",
        "List the settings for a host, and where each comes from",
    ),
];

/// A configuration file.
pub(crate) const EXAMPLE_FILE: &str = r#"predict = "adaptive"

[[host]]
match = "*.example.org !bastion.example.org"
port = "60000:60010"
ssh = "ssh -o ServerAliveInterval=10""#;

/// A remote shell that survives bad networks.
///
/// Logs in to HOST with your own ssh, with its configuration, keys and agent, and opens a session
/// there that survives lost packets, new addresses and sleep. HOST can be ssh://USER@HOST:PORT, with
/// ssh's port. The words after HOST are the command to run there; options of fulmar go before HOST. If a
/// host has the name of a subcommand, write two dashes before it: fulmar -- server.
#[derive(Debug, Parser)]
#[command(
    name = "fulmar",
    version = env!("FULMAR_VERSION"),
    override_usage = USAGE,
    after_help = "All options: fulmar --help. The manual: fulmar man | man -l -",
    after_long_help = examples_text()
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Open a session on this machine, with a server of its own
    #[arg(long, help_heading = "Login")]
    pub(crate) local: bool,
    /// The name of the session, for fulmar attach [default: one made of the machine's]
    #[arg(long, value_name = "NAME", value_parser = session_name, help_heading = "Login")]
    pub(crate) name: Option<SessionName>,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
    /// Accepted because ssh has them, without effect
    #[arg(short = 't', short_alias = 'C', hide = true, action = clap::ArgAction::Count)]
    _accepted: u8,
    /// The host, and a command to run there; with --local only the command
    #[arg(
        trailing_var_arg = true,
        value_name = "HOST",
        value_hint = ValueHint::Hostname,
        help_heading = None::<&'static str>
    )]
    pub(crate) words: Vec<OsString>,
}

/// A flag before a subcommand that cannot use it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flag} means nothing to fulmar {command}")]
pub(crate) struct MisplacedFlag {
    /// The flag.
    pub(crate) flag: String,
    /// The subcommand.
    pub(crate) command: &'static str,
}

impl Cli {
    /// Parses a command line.
    ///
    /// # Errors
    ///
    /// When it makes no sense, or asks for help.
    pub(crate) fn parse_words(words: &[OsString]) -> Result<Cli, clap::Error> {
        let mut words = words.to_vec();
        let mut command = Cli::command();
        command.build();
        // What a local session runs may be called as one of our subcommands.
        let behind_name = words.get(1..).unwrap_or_default();
        if let Some(at) = command_line::local_command_at(&command, behind_name) {
            words.insert(at + 1, "--".into());
        }
        Cli::try_parse_from(words)
    }

    /// Hands what stands before a subcommand on to it.
    ///
    /// # Errors
    ///
    /// When it has no use for that.
    pub(crate) fn before(self, command: Command) -> Result<Command, MisplacedFlag> {
        let name = command.name();
        let misplaced = |flag: String| MisplacedFlag {
            flag,
            command: name,
        };
        if self.name.is_some() {
            return Err(misplaced("--name".to_owned()));
        }
        let mut command = command;
        if let Some(later) = command.login_mut() {
            let earlier = self.login;
            *later = earlier
                .followed_by(std::mem::take(later))
                .map_err(misplaced)?;
            return Ok(command);
        }
        let LoginArgs {
            flags,
            ssh,
            user,
            verbose,
            file,
        } = self.login;
        if user.is_some() {
            return Err(misplaced("-l".to_owned()));
        }
        if verbose > 0 && !matches!(command, Command::Cp(_)) {
            return Err(misplaced("-v".to_owned()));
        }
        let flags = flags.0;
        match command {
            Command::Cp(mut arguments) => {
                let later = arguments.flags.0;
                arguments.flags.0 = flags.followed_by(later, FlagSet::Copy).map_err(misplaced)?;
                arguments.ssh = ssh.followed_by(arguments.ssh);
                arguments.file.path = arguments.file.path.or(file.path);
                arguments.wishes.verbose += verbose;
                Ok(Command::Cp(arguments))
            }
            Command::Config(mut arguments) => {
                let later = arguments.flags.0;
                arguments.flags.0 = flags
                    .followed_by(later, FlagSet::Login)
                    .map_err(misplaced)?;
                arguments.file.path = arguments.file.path.or(file.path);
                Ok(Command::Config(arguments))
            }
            Command::Client(mut arguments) => {
                let later = arguments.flags.0;
                arguments.flags.0 = flags
                    .followed_by(later, FlagSet::Client)
                    .map_err(misplaced)?;
                arguments.file.path = arguments.file.path.or(file.path);
                Ok(Command::Client(arguments))
            }
            other => {
                let ssh = ssh.first();
                let file = file.path.map(|_| "--config".to_owned());
                match flags.first().map(str::to_owned).or(ssh).or(file) {
                    Some(flag) => Err(misplaced(flag)),
                    None => Ok(other),
                }
            }
        }
    }
}

fn examples_text() -> String {
    let lines = EXAMPLES.map(|(line, what)| format!("  {line:40} {what}\n"));
    format!("Examples:\n{}", lines.concat())
}

/// Splits the words that are no options into a host and the words of a command, which two dashes
/// may part.
pub(crate) fn destination_and_command(words: &[OsString]) -> Option<(&OsString, &[OsString])> {
    let (destination, words) = words.split_first()?;
    let command = match words.split_first() {
        Some((dashes, command)) if dashes == "--" => command,
        _ => words,
    };
    Some((destination, command))
}

/// The commands beside logging in.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take a session that is there, from whichever machine it was begun
    Attach(AttachArgs),
    /// List the sessions on a machine: who has each, since when, and when it ends
    Ls(LsArgs),
    /// End a session
    Kill(KillArgs),
    /// Give a session another name
    Rename(RenameArgs),
    /// Start a server for one client: with new at once, otherwise when a client asks over ssh
    Server(ServerArgs),
    /// Connect to a server, with the key from MOSH_KEY or standard input
    Client(ClientArgs),
    /// Copy files to or from another machine, over UDP
    Cp(CopyArgs),
    /// The far end of a copy, as ssh starts it
    #[command(hide = true)]
    CopyServer(CopyServerArgs),
    /// Print the settings for a host, or for all hosts, and where each comes from
    Config(ConfigArgs),
    /// Print the manual; to read it: fulmar man | man -l -
    Man {
        /// The part of the program
        #[arg(value_enum, default_value_t = Page::Fulmar)]
        page: Page,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: CompletedShell,
    },
    /// Print what could come next on a command line, for a completion script
    #[command(hide = true)]
    Complete(CompleteArgs),
}

impl Command {
    /// Returns the options of its login, if it has all that a session's login has.
    fn login_mut(&mut self) -> Option<&mut LoginArgs> {
        match self {
            Command::Attach(arguments) => Some(&mut arguments.machine.login),
            Command::Ls(arguments) => Some(&mut arguments.machine.login),
            Command::Kill(arguments) => Some(&mut arguments.machine.login),
            Command::Rename(arguments) => Some(&mut arguments.machine.login),
            _ => None,
        }
    }

    /// Returns its name.
    fn name(&self) -> &'static str {
        match self {
            Command::Attach(_) => "attach",
            Command::Ls(_) => "ls",
            Command::Kill(_) => "kill",
            Command::Rename(_) => "rename",
            Command::Server(_) => "server",
            Command::Client(_) => "client",
            Command::Cp(_) => "cp",
            Command::CopyServer(_) => "copy-server",
            Command::Config(_) => "config",
            Command::Man { .. } => "man",
            Command::Completions { .. } => "completions",
            Command::Complete(_) => "complete",
        }
    }
}

/// A page of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Page {
    /// The program as a whole
    Fulmar,
    /// fulmar attach
    Attach,
    /// fulmar ls
    Ls,
    /// fulmar kill
    Kill,
    /// fulmar rename
    Rename,
    /// fulmar server
    Server,
    /// fulmar client
    Client,
    /// fulmar cp
    Cp,
    /// fulmar config
    Config,
}

impl Page {
    /// Returns the subcommand that it is about.
    pub(crate) fn subcommand(self) -> Option<&'static str> {
        match self {
            Page::Fulmar => None,
            Page::Attach => Some("attach"),
            Page::Ls => Some("ls"),
            Page::Kill => Some("kill"),
            Page::Rename => Some("rename"),
            Page::Server => Some("server"),
            Page::Client => Some("client"),
            Page::Cp => Some("cp"),
            Page::Config => Some("config"),
        }
    }
}

/// The settings that are asked for.
#[derive(Debug, Args)]
#[command(override_usage = "fulmar config [OPTIONS] [[USER@]HOST]")]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    pub(crate) flags: LoginFlags,
    #[command(flatten)]
    pub(crate) file: ConfigArg,
    /// The host, as for a login
    #[arg(value_name = "[USER@]HOST", value_hint = ValueHint::Hostname)]
    pub(crate) host: Option<OsString>,
}

/// The options of the server: those of mosh-server, and ours.
#[derive(Debug, Args)]
#[command(override_usage = "fulmar server [OPTIONS] [new] [-- COMMAND...]")]
pub(crate) struct ServerArgs {
    /// Start at once, as mosh-server does, and print the port and the key
    #[arg(value_parser = ["new"])]
    new: Option<String>,
    #[command(flatten)]
    listen: ListenArgs,
    /// The number of colours of the client's terminal [default: 256]
    #[arg(short = 'c', value_name = "COLORS")]
    colors: Option<i64>,
    /// A locale variable, in case there is no UTF-8 locale here
    #[arg(short = 'l', value_name = "NAME=VALUE")]
    locale: Vec<OsString>,
    /// Keep the standard streams open and log to them
    #[arg(short = 'v', action = clap::ArgAction::Count)]
    verbosity: u8,
    /// Ignored, with its argument
    #[arg(short = '@', hide = true, value_name = "ANYTHING")]
    _ignored: Option<OsString>,
    #[command(flatten)]
    records: RecordArgs,
    /// The program to run instead of your shell
    #[arg(last = true)]
    command: Vec<OsString>,
}

impl ServerArgs {
    /// True when the server is to start without being told anything on standard input.
    pub(crate) fn is_new(&self) -> bool {
        self.new.is_some()
    }

    /// Returns what the command line asks for.
    pub(crate) fn into_wishes(self) -> PartialServerOptions {
        let locale = self.locale.iter();
        PartialServerOptions {
            bind: self.listen.bind(),
            ports: self.listen.ports,
            colors: self.colors.map(TerminalColors::of_count),
            locale: locale.filter_map(|word| split_assignment(word)).collect(),
            verbosity: self.verbosity,
            command: self.command,
            trace: self.records.trace,
            log: self.records.log,
        }
    }
}

/// The options of the client.
#[derive(Debug, Args)]
#[command(override_usage = "fulmar client [OPTIONS] ADDRESS PORT\n       fulmar client -c")]
pub(crate) struct ClientArgs {
    /// Print the number of colours of the terminal, and exit
    #[arg(short = 'c')]
    pub(crate) colors: bool,
    #[command(flatten)]
    pub(crate) flags: ClientFlags,
    #[command(flatten)]
    pub(crate) file: ConfigArg,
    /// The server's numeric address
    #[arg(required_unless_present = "colors")]
    pub(crate) address: Option<OsString>,
    /// The server's UDP port
    #[arg(required_unless_present = "colors", value_parser = port_of_server)]
    pub(crate) port: Option<u16>,
}

fn port_of_server(word: &str) -> Result<u16, String> {
    match word.parse() {
        Ok(0) | Err(_) => Err("a port is a number from 1 to 65535".to_owned()),
        Ok(port) => Ok(port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_login::{BindAddress, PortRange, ServerOptions};

    fn parsed(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    fn server(line: &str) -> ServerOptions {
        match parsed(line).unwrap().command {
            Some(Command::Server(arguments)) => arguments.into_wishes().alone(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_port_of_the_client_that_is_none_is_told_in_words() {
        for port in ["abc", "0", "65536"] {
            let error = parsed(&format!("fulmar client 192.0.2.7 {port}")).unwrap_err();
            let told = error.to_string();
            assert!(
                told.contains("a port is a number from 1 to 65535"),
                "{told}"
            );
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_the_host_is_not_ours() {
        let cli = parsed("fulmar host ls -l --local").unwrap();
        assert!(!cli.local && cli.command.is_none());
        assert_eq!(cli.words, ["host", "ls", "-l", "--local"]);
    }

    #[test]
    fn dashes_may_part_the_host_from_the_command() {
        for (line, host, command) in [
            ("fulmar host", "host", &[] as &[&str]),
            ("fulmar -n host ls -l", "host", &["ls", "-l"]),
            ("fulmar host -- ls -l", "host", &["ls", "-l"]),
            ("fulmar host ls -- -l", "host", &["ls", "--", "-l"]),
            ("fulmar host -- -- x", "host", &["--", "x"]),
            ("fulmar -- host -- ls", "host", &["ls"]),
            ("fulmar -- server", "server", &[]),
            ("fulmar -- cp", "cp", &[]),
            ("fulmar -4 -- server", "server", &[]),
            ("fulmar ssh://ada@host:22 ls", "ssh://ada@host:22", &["ls"]),
        ] {
            let cli = parsed(line).unwrap();
            assert!(cli.command.is_none(), "{line}");
            let (is, words) = destination_and_command(&cli.words).unwrap();
            assert_eq!(is, host, "{line}");
            assert_eq!(words, command, "{line}");
        }
    }

    #[test]
    fn a_local_session_may_have_a_command() {
        let cli = parsed("fulmar --local --trace t -- vim -b").unwrap();
        assert!(cli.local && cli.command.is_none());
        assert_eq!(cli.words, ["vim", "-b"]);
        assert_eq!(cli.login.flags.0.find("trace").unwrap().text, "t");
        assert!(parsed("fulmar --local").unwrap().words.is_empty());
    }

    #[test]
    fn options_may_stand_before_a_subcommand() {
        let cli = parsed("fulmar -4 -p 7 -i key cp -p a h:").unwrap();
        assert_eq!(cli.login.flags.0.find("port").unwrap().text, "7");
        assert_eq!(cli.login.ssh_words(), ["-i", "key"]);
        assert!(matches!(cli.command, Some(Command::Cp(_))));
    }

    #[test]
    fn a_local_session_runs_also_what_is_called_as_a_subcommand() {
        for line in ["fulmar --local man ls", "fulmar --local -- man ls"] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let cli = Cli::parse_words(&words).unwrap();
            assert!(cli.command.is_none() && cli.local, "{line}");
            assert_eq!(cli.words, ["man", "ls"], "{line}");
        }
    }

    #[test]
    fn what_ssh_calls_its_own_goes_to_ssh() {
        let cli = parsed("fulmar -t -C -P 2222 -l ada -o A=b -J gw host").unwrap();
        let wanted = ["-p", "2222", "-J", "gw", "-o", "A=b", "-l", "ada"];
        assert_eq!(cli.login.ssh_words(), wanted);
        assert_eq!(cli.words, ["host"]);
    }

    #[test]
    fn the_server_takes_stocks_options_and_ours() {
        let options =
            server("fulmar server new -s -c 8 -p 60500:60510 -l LANG=C -@ x --log f -- vim -b");
        assert_eq!(
            options,
            ServerOptions {
                bind: BindAddress::SshConnection,
                ports: PortRange::parse("60500:60510").unwrap(),
                colors: TerminalColors::Few,
                locale: vec![("LANG".into(), "C".into())],
                command: vec!["vim".into(), "-b".into()],
                log: Some("f".into()),
                ..ServerOptions::default()
            }
        );
        assert_eq!(server("fulmar server new").colors, TerminalColors::Palette);
        assert_eq!(server("fulmar server -vv -i ::1").verbosity, 2);
    }

    #[test]
    fn unknown_options_and_bad_numbers_are_refused() {
        for line in [
            "fulmar --foo",
            "fulmar server --foo",
            "fulmar server -p 9:1",
            "fulmar server -c many",
            "fulmar client",
            "fulmar client 192.0.2.7",
            "fulmar client 192.0.2.7 70000",
            "fulmar client 192.0.2.7 0",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
        assert!(parsed("fulmar client -c").is_ok());
    }
}
