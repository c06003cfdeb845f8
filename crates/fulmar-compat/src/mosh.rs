//! The options of `mosh`, and what they ask for.
//!
//! Source: docs/protocol.md §2.2.

use std::ffi::{OsStr, OsString};

use fulmar_login::{PortRange, PortRangeError};
use fulmar_settings::Environment;

use crate::command_line::{self, Known, OptionValue, Order, Takes};

/// The help text of `mosh`.
pub const MOSH_USAGE: &str = "\
Usage: mosh [options] [--] [user@]host [command...]

  --client=PATH            the client on this machine [our own]
  --server=COMMAND         the command line that starts the server [mosh-server]
  --ssh=COMMAND            the ssh program, with options of its own [ssh]
  --no-ssh-pty             do not let ssh make a terminal for the server

  --predict=MODE           when to show the effect of keys before the server has
                           answered: adaptive, always, never, experimental
                           [adaptive]
  -a, -n                   short for --predict=always, --predict=never
  -o, --predict-overwrite  such keys overwrite the text that is there

  --family=FAMILY          addresses to try: inet, inet6, all, auto (if there is
                           only one kind), prefer-inet, prefer-inet6 [prefer-inet]
  -4, -6                   short for --family=inet, --family=inet6
  -p, --port=PORT[:PORT2]  the server's UDP port, or a range for it to choose from
  --bind-server=WHERE      where the server listens: ssh (the address that ssh
                           reached), any, or an address [ssh]
  --experimental-remote-ip=WAY
                           how the server's address is found: proxy (we connect for
                           ssh), local (we resolve the name here), remote (we ask
                           the other machine) [proxy]

  --no-init                do not use the terminal's alternate screen
  --local                  start the server on this machine, without ssh; the host
                           is an address
  --help, --version        print this text, or the version
";

/// Returns the text for `mosh --version`. Scripts recognise its first line; the others say who we really are.
pub fn mosh_version_text() -> String {
    format!(
        "mosh 1.4.0 [build mosh 1.4.0]\n{}",
        crate::program::STAND_IN_TEXT
    )
}

/// The request of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoshRequest {
    /// A session.
    Session(Box<MoshOptions>),
    /// To carry ssh's bytes to a server, for another process of ours.
    FakeProxy {
        /// A name or an address.
        host: OsString,
        /// A port, in numbers or by its name.
        service: OsString,
        /// The family of its addresses.
        family: OsString,
    },
    /// To print a help text.
    Help,
    /// To print which version this is.
    Version,
}

/// The user's wishes for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoshOptions {
    /// `[user@]host`, as the user has it.
    pub host: OsString,
    /// The command that runs over there; a shell if empty.
    pub command: Vec<OsString>,
    /// The client; our own if nobody says.
    pub client: Option<OsString>,
    /// The beginning of a shell command line.
    pub server: OsString,
    /// A command line with which ssh begins.
    pub ssh: OsString,
    /// True if ssh is to make a terminal for the server.
    pub has_tty: bool,
    /// The prediction mode, which decides when keys are shown early: `adaptive`, `always`, `never` or `experimental`.
    pub prediction: String,
    /// True if predictions overwrite.
    pub overwrites: bool,
    /// True if the client may use the terminal's second screen.
    pub initializes: bool,
    /// The family of addresses, in lower case; any word will do.
    pub family: OsString,
    /// The server's UDP ports, checked, as they were written.
    pub ports: Option<String>,
    /// The address on which the server listens.
    pub bind: MoshBind,
    /// The way in which the server's address is found.
    pub route: MoshRoute,
}

/// The address on which the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoshBind {
    /// The address that ssh came to.
    Ssh,
    /// All addresses.
    Any,
    /// This one.
    Address(OsString),
}

/// The way in which the server is started and its address is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoshRoute {
    /// There is no ssh, and the host is the address.
    ThisMachine,
    /// We connect for ssh, and see where to.
    Proxy,
    /// We resolve the name, and ssh gets the address.
    Resolved,
    /// The remote side says where ssh came to.
    SshConnection,
}

/// The reason why a command line with good options asks for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// The options make no sense.
    #[error(transparent)]
    CommandLine(#[from] command_line::CommandLineError),
    /// There is no such prediction mode.
    #[error("unknown prediction mode {0}")]
    Prediction(String),
    /// There is no such way to the server's address.
    #[error("unknown way to the address {0}: there are proxy, local and remote")]
    Route(String),
    /// The ports are none.
    #[error("{text} is no UDP port or range of ports: {error}")]
    Ports {
        /// As they were written.
        text: String,
        /// The reason why they are none.
        error: PortRangeError,
    },
    /// There is no operand.
    #[error("no host was given")]
    NoHost,
    /// Less than two operands follow `--fake-proxy`.
    #[error("--fake-proxy needs a host and a port")]
    NoPort,
}

/// The prediction modes, which decide when keys are shown before the server has seen them.
const PREDICTION_MODES: [&str; 4] = ["adaptive", "always", "never", "experimental"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Client,
    Server,
    Predict,
    PredictAlways,
    PredictNever,
    PredictOverwrite,
    Family,
    Inet,
    Inet6,
    Port,
    BindServer,
    Ssh,
    SshPty,
    Init,
    Local,
    RemoteIp,
    FakeProxy,
    Help,
    Version,
}

const TABLE: [Known<Flag>; 19] = [
    known(Flag::Client, &["client"], Takes::Value),
    known(Flag::Server, &["server"], Takes::Value),
    known(Flag::Predict, &["predict"], Takes::Value),
    known(Flag::PredictAlways, &["a"], Takes::Nothing),
    known(Flag::PredictNever, &["n"], Takes::Nothing),
    known(
        Flag::PredictOverwrite,
        &["predict-overwrite", "o"],
        Takes::Negation,
    ),
    known(Flag::Family, &["family"], Takes::Value),
    known(Flag::Inet, &["4"], Takes::Nothing),
    known(Flag::Inet6, &["6"], Takes::Nothing),
    known(Flag::Port, &["port", "p"], Takes::Value),
    known(Flag::BindServer, &["bind-server"], Takes::Value),
    known(Flag::Ssh, &["ssh"], Takes::Value),
    known(Flag::SshPty, &["ssh-pty"], Takes::Negation),
    known(Flag::Init, &["init"], Takes::Negation),
    known(Flag::Local, &["local"], Takes::Nothing),
    known(Flag::RemoteIp, &["experimental-remote-ip"], Takes::Value),
    known(Flag::FakeProxy, &["fake-proxy"], Takes::Negation),
    known(Flag::Help, &["help"], Takes::Nothing),
    known(Flag::Version, &["version"], Takes::Nothing),
];

const fn known(id: Flag, names: &'static [&'static str], takes: Takes) -> Known<Flag> {
    Known { id, names, takes }
}

impl MoshRequest {
    /// Reads the words after the program's name.
    ///
    /// # Errors
    ///
    /// When they make no sense, or the environment's prediction mode does not.
    pub fn parse(words: &[OsString], environment: &Environment) -> Result<MoshRequest, UsageError> {
        let order = match environment.get_filled("POSIXLY_CORRECT") {
            Some(_) => Order::First,
            None => Order::Anywhere,
        };
        let line = command_line::cut(words, &TABLE, order)?;
        let given = GivenOptions(line.options);
        // Before any value is judged: help is printed beside wrong ones, too (docs/protocol.md
        // §2.2).
        if given.is_set(Flag::Help) {
            return Ok(MoshRequest::Help);
        }
        if given.is_set(Flag::Version) {
            return Ok(MoshRequest::Version);
        }
        let prediction = given.prediction(environment)?;
        let route = given.route()?;
        let ports = given.ports()?;
        let family = given.family();
        let mut operands = line.operands.into_iter();
        if given.is_set(Flag::FakeProxy) {
            return match (operands.next(), operands.next()) {
                (Some(host), Some(service)) => Ok(MoshRequest::FakeProxy {
                    host,
                    service,
                    family,
                }),
                _ => Err(UsageError::NoPort),
            };
        }
        let wishes = MoshOptions {
            host: operands.next().ok_or(UsageError::NoHost)?,
            command: operands.collect(),
            client: given.word(Flag::Client).cloned(),
            server: given.word_or(Flag::Server, "mosh-server"),
            ssh: given.word_or(Flag::Ssh, "ssh"),
            has_tty: given.is_on(Flag::SshPty).unwrap_or(true),
            prediction,
            overwrites: given.is_set(Flag::PredictOverwrite),
            initializes: given.is_on(Flag::Init).unwrap_or(true),
            family,
            ports,
            bind: given.bind(),
            route,
        };
        Ok(MoshRequest::Session(Box::new(wishes)))
    }
}

/// The options of a command line, in order. Of several that contradict each other the last counts.
struct GivenOptions(Vec<(Flag, OptionValue)>);

impl GivenOptions {
    fn word(&self, flag: Flag) -> Option<&OsString> {
        self.0.iter().rev().find_map(|(given, said)| match said {
            OptionValue::Word(word) if *given == flag => Some(word),
            _ => None,
        })
    }

    fn word_or(&self, flag: Flag, usual: &str) -> OsString {
        self.word(flag)
            .map_or_else(|| usual.into(), OsString::clone)
    }

    /// Tells what was said last of something that can be negated.
    fn is_on(&self, flag: Flag) -> Option<bool> {
        let last = self.0.iter().rev().find(|(given, _)| *given == flag);
        last.map(|(_, said)| *said != OptionValue::No)
    }

    fn is_set(&self, flag: Flag) -> bool {
        self.is_on(flag) == Some(true)
    }

    fn prediction(&self, environment: &Environment) -> Result<String, UsageError> {
        let said = self
            .0
            .iter()
            .rev()
            .find_map(|(given, said)| match (given, said) {
                (Flag::PredictAlways, _) => Some("always".into()),
                (Flag::PredictNever, _) => Some("never".into()),
                (Flag::Predict, OptionValue::Word(word)) => Some(word.clone()),
                _ => None,
            });
        let from_environment = || {
            environment
                .get("MOSH_PREDICTION_DISPLAY")
                .map(OsStr::to_owned)
        };
        let mode = said.or_else(from_environment);
        let mode = mode.map_or_else(
            || "adaptive".into(),
            |mode| mode.to_string_lossy().into_owned(),
        );
        if PREDICTION_MODES.contains(&mode.as_str()) {
            Ok(mode)
        } else {
            Err(UsageError::Prediction(mode))
        }
    }

    fn route(&self) -> Result<MoshRoute, UsageError> {
        let word = self.word_or(Flag::RemoteIp, "proxy");
        let route = match word.to_str() {
            Some("proxy") => MoshRoute::Proxy,
            Some("local") => MoshRoute::Resolved,
            Some("remote") => MoshRoute::SshConnection,
            _ => return Err(UsageError::Route(word.to_string_lossy().into_owned())),
        };
        Ok(if self.is_set(Flag::Local) {
            MoshRoute::ThisMachine
        } else {
            route
        })
    }

    fn family(&self) -> OsString {
        let said = self
            .0
            .iter()
            .rev()
            .find_map(|(given, said)| match (given, said) {
                (Flag::Inet, _) => Some("inet".into()),
                (Flag::Inet6, _) => Some("inet6".into()),
                (Flag::Family, OptionValue::Word(word)) => Some(word.to_ascii_lowercase()),
                _ => None,
            });
        said.unwrap_or_else(|| "prefer-inet".into())
    }

    fn ports(&self) -> Result<Option<String>, UsageError> {
        let Some(word) = self.word(Flag::Port) else {
            return Ok(None);
        };
        let text = word.to_string_lossy().into_owned();
        let checked = if text.is_empty() {
            // To the server it would mean any port.
            Err(PortRangeError::NotANumber)
        } else {
            PortRange::parse(&text).map(|_| ())
        };
        match checked {
            Ok(()) => Ok(Some(text)),
            Err(error) => Err(UsageError::Ports { text, error }),
        }
    }

    fn bind(&self) -> MoshBind {
        let word = self.word_or(Flag::BindServer, "ssh");
        match word.to_ascii_lowercase().to_str() {
            Some("ssh") => MoshBind::Ssh,
            Some("any") => MoshBind::Any,
            _ => MoshBind::Address(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed_in(line: &str, variables: &[(&str, &str)]) -> Result<MoshRequest, UsageError> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        MoshRequest::parse(&words, &variables.iter().copied().collect())
    }

    fn wishes(line: &str) -> MoshOptions {
        match parsed_in(line, &[]) {
            Ok(MoshRequest::Session(wishes)) => *wishes,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_host_is_enough() {
        let usual = MoshOptions {
            host: "ada@host".into(),
            command: Vec::new(),
            client: None,
            server: "mosh-server".into(),
            ssh: "ssh".into(),
            has_tty: true,
            prediction: "adaptive".to_owned(),
            overwrites: false,
            initializes: true,
            family: "prefer-inet".into(),
            ports: None,
            bind: MoshBind::Ssh,
            route: MoshRoute::Proxy,
        };
        assert_eq!(wishes("ada@host"), usual);
        assert_eq!(
            wishes("ada@host -- vim -b"),
            MoshOptions {
                command: vec!["vim".into(), "-b".into()],
                ..usual
            }
        );
    }

    #[test]
    fn each_option_has_its_effect_and_the_last_counts() {
        let line = "-a -n -o --family=INET6 -4 -p 1 -p 60500:60510 --bind-server=ANY --no-ssh-pty \
             --no-init --client=c --server=s --ssh=t host";
        let all = wishes(line);
        assert_eq!((all.prediction.as_str(), all.overwrites), ("never", true));
        assert_eq!(all.family, "inet");
        assert_eq!(all.ports.as_deref(), Some("60500:60510"));
        assert_eq!(all.bind, MoshBind::Any);
        assert!(!all.has_tty && !all.initializes);
        assert_eq!(all.client, Some("c".into()));
        assert_eq!((all.server, all.ssh), ("s".into(), "t".into()));
        assert_eq!(wishes("-4 --family=Foo host").family, "foo");
        assert_eq!(wishes("-n --predict=always host").prediction, "always");
        assert!(!wishes("-o --no-o host").overwrites);
        assert!(wishes("--no-init --init host").initializes);
        assert_eq!(
            wishes("--bind-server=::1 host").bind,
            MoshBind::Address("::1".into())
        );
    }

    #[test]
    fn ways_to_the_address_have_names() {
        let route = |option: &str| wishes(&format!("{option} 127.0.0.1")).route;
        assert_eq!(route("--experimental-remote-ip=proxy"), MoshRoute::Proxy);
        assert_eq!(route("--experimental-remote-ip=local"), MoshRoute::Resolved);
        assert_eq!(
            route("--experimental-remote-ip=remote"),
            MoshRoute::SshConnection
        );
        assert_eq!(route("--local"), MoshRoute::ThisMachine);
        assert_eq!(route("--local --e=remote"), MoshRoute::ThisMachine);
    }

    #[test]
    fn the_environment_says_a_prediction_mode_if_nobody_else_does() {
        let mode =
            |line: &str, mode: &str| match parsed_in(line, &[("MOSH_PREDICTION_DISPLAY", mode)]) {
                Ok(MoshRequest::Session(wishes)) => Some(wishes.prediction),
                _ => None,
            };
        assert_eq!(mode("host", "never").as_deref(), Some("never"));
        assert_eq!(mode("-a host", "never").as_deref(), Some("always"));
        assert_eq!(mode("-a host", "sometimes").as_deref(), Some("always"));
        assert_eq!(mode("host", "sometimes"), None);
        assert_eq!(mode("host", ""), None);
    }

    #[test]
    fn help_and_version_come_before_what_is_wrong_with_values() {
        assert_eq!(parsed_in("--help --predict=x", &[]), Ok(MoshRequest::Help));
        assert_eq!(parsed_in("--version --help", &[]), Ok(MoshRequest::Help));
        assert_eq!(parsed_in("host -v -p x", &[]), Ok(MoshRequest::Version));
        assert!(parsed_in("--help -x", &[]).is_err());
    }

    #[test]
    fn the_proxy_is_asked_for_with_host_and_port() {
        let fake_proxy = MoshRequest::FakeProxy {
            host: "host".into(),
            service: "22".into(),
            family: "inet6".into(),
        };
        assert_eq!(
            parsed_in("--family=inet6 --fake-proxy -- host 22", &[]),
            Ok(fake_proxy)
        );
        assert_eq!(
            parsed_in("--fake-proxy -- host", &[]),
            Err(UsageError::NoPort)
        );
    }

    #[test]
    fn nonsense_is_told() {
        for (line, word) in [
            ("-4", "no host"),
            ("--predict=NEVER host", "NEVER"),
            (
                "--experimental-remote-ip=Proxy host",
                "proxy, local and remote",
            ),
            ("-p 65536 host", "65536"),
            ("-p  host", "number"),
            ("-p 0:5 host", "port 0"),
            ("-p 5: host", "above"),
            ("--foo host", "foo"),
        ] {
            let told = parsed_in(line, &[]).unwrap_err().to_string();
            assert!(told.contains(word), "{line}: {told}");
        }
    }

    #[test]
    fn posix_order_can_be_asked_for() {
        let environment = [("POSIXLY_CORRECT", "1")];
        let Ok(MoshRequest::Session(wishes)) = parsed_in("-4 host ls -l", &environment) else {
            panic!("no session")
        };
        assert_eq!(wishes.command, ["ls", "-l"]);
        assert_eq!(wishes.route, MoshRoute::Proxy);
    }
}
