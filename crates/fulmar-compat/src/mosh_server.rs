//! The command line of `mosh-server`, as stock reads it.
//!
//! It is read by hand because stock's rules are unlike those of any library: an unknown option
//! prints a usage and is otherwise ignored, the word `new` comes before all options, and older
//! forms without it still work.
//!
//! Source: docs/protocol.md §2.6.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use fulmar_login::{BindAddress, PortRange, ServerOptions, TerminalColors, split_assignment};

/// The request of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoshServerRequest {
    /// To start, after some complaints on standard error.
    Start {
        /// The options of the server to start.
        options: ServerOptions,
        /// Lines about what was ignored.
        complaints: String,
    },
    /// To print a text on standard output and leave with 0.
    Print(String),
    /// Nothing that can be done: complain on standard error and leave with 1.
    Refuse(String),
}

const USAGE: &str = "Usage: mosh-server new [-s] [-v] [-i LOCALADDR] [-p PORT[:PORT2]] \
    [-c COLORS] [-l NAME=VALUE] [-- COMMAND...]\n";

/// Returns the text for `--version`. Scripts recognise its first line; the others say who we really are.
pub fn mosh_server_version_text() -> String {
    format!(
        "mosh-server (mosh 1.4.0) [build mosh 1.4.0]\n{}",
        crate::program::STAND_IN_TEXT
    )
}

impl MoshServerRequest {
    /// Reads the words after the program's name.
    pub fn parse(words: &[OsString]) -> MoshServerRequest {
        let end = words.iter().position(|word| word == "--");
        let (words, command) = match end {
            Some(end) => (&words[..end], &words[end + 1..]),
            None => (words, &[][..]),
        };
        if words.iter().any(|word| word == "--help" || word == "-h") {
            return MoshServerRequest::Print(USAGE.to_owned());
        }
        if words.iter().any(|word| word == "--version") {
            return MoshServerRequest::Print(mosh_server_version_text());
        }
        let request = match words {
            [first, options @ ..] if first == "new" => parse_options(options),
            [] => start(ServerOptions::default()),
            [address] => start(bound_to(address)),
            [address, port] => match PortRange::parse(&port.to_string_lossy()) {
                Ok(ports) => start(ServerOptions {
                    ports,
                    ..bound_to(address)
                }),
                Err(error) => bad_ports(port, &error.to_string()),
            },
            _ => MoshServerRequest::Refuse(USAGE.to_owned()),
        };
        with_command(request, command)
    }
}

fn start(options: ServerOptions) -> MoshServerRequest {
    MoshServerRequest::Start {
        options,
        complaints: String::new(),
    }
}

fn bound_to(address: &OsStr) -> ServerOptions {
    ServerOptions {
        bind: BindAddress::Address(address.to_owned()),
        ..ServerOptions::default()
    }
}

fn with_command(request: MoshServerRequest, command: &[OsString]) -> MoshServerRequest {
    match request {
        MoshServerRequest::Start {
            options,
            complaints,
        } => MoshServerRequest::Start {
            options: ServerOptions {
                command: command.to_vec(),
                ..options
            },
            complaints,
        },
        other => other,
    }
}

fn bad_ports(ports: &OsStr, why: &str) -> MoshServerRequest {
    // `mosh` looks for the words "Bad UDP port": docs/protocol.md §2.4.
    MoshServerRequest::Refuse(format!(
        "mosh-server: Bad UDP port range ({}): {why}\n{USAGE}",
        ports.display()
    ))
}

fn bad_colors(colors: &OsStr) -> MoshServerRequest {
    MoshServerRequest::Refuse(format!(
        "mosh-server: Bad number of colors ({})\n{USAGE}",
        colors.display()
    ))
}

/// Reads what comes after `new`. Options may be joined (`-sv`), have their argument joined
/// (`-p60500`) or after them, and stand between words that mean nothing.
fn parse_options(words: &[OsString]) -> MoshServerRequest {
    let mut options = ServerOptions::default();
    let mut complaints = String::new();
    let mut ports: Option<OsString> = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(mut letters) = word.as_bytes().strip_prefix(b"-") else {
            continue;
        };
        while let Some((&letter, joined)) = letters.split_first() {
            letters = joined;
            match letter {
                b's' => options.bind = BindAddress::SshConnection,
                b'v' => options.verbosity = options.verbosity.saturating_add(1),
                b'i' | b'p' | b'c' | b'l' | b'@' => {
                    let argument = match joined {
                        [] => rest.next().cloned(),
                        joined => Some(OsStr::from_bytes(joined).to_owned()),
                    };
                    letters = &[];
                    match (letter, argument) {
                        (_, None) => {
                            let letter = char::from(letter);
                            complain(&mut complaints, &format!("-{letter} needs an argument"));
                        }
                        (b'i', Some(address)) => options.bind = BindAddress::Address(address),
                        (b'p', Some(argument)) => ports = Some(argument),
                        (b'c', Some(colors)) => match count(&colors) {
                            Some(count) => options.colors = TerminalColors::of_count(count),
                            None => return bad_colors(&colors),
                        },
                        (b'l', Some(word)) => options.locale.extend(split_assignment(&word)),
                        // `-@` swallows its argument.
                        (_, Some(_)) => {}
                    }
                }
                unknown => {
                    let unknown = char::from(unknown).escape_default();
                    complain(&mut complaints, &format!("unknown option -{unknown}"));
                }
            }
        }
    }
    // Ports are judged last: a bad number of colours is told first wherever it stands.
    if let Some(text) = ports {
        match PortRange::parse(&text.to_string_lossy()) {
            Ok(ports) => options.ports = ports,
            Err(error) => return bad_ports(&text, &error.to_string()),
        }
    }
    MoshServerRequest::Start {
        options,
        complaints,
    }
}

fn complain(complaints: &mut String, what: &str) {
    complaints.push_str("mosh-server: ");
    complaints.push_str(what);
    complaints.push('\n');
    complaints.push_str(USAGE);
}

/// Reads a number; as with stock, an empty text is 0.
fn count(text: &OsStr) -> Option<i64> {
    match text.to_str()? {
        "" => Some(0),
        text => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> MoshServerRequest {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        MoshServerRequest::parse(&words)
    }

    fn options(line: &str) -> ServerOptions {
        match parsed(line) {
            MoshServerRequest::Start {
                options,
                complaints,
            } if complaints.is_empty() => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn complaints(line: &str) -> usize {
        match parsed(line) {
            MoshServerRequest::Start { complaints, .. } => complaints.matches("Usage: ").count(),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn ports(text: &str) -> PortRange {
        PortRange::parse(text).unwrap()
    }

    #[test]
    fn the_command_line_of_mosh_is_understood() {
        let line = "new -c 256 -s -p 60500:60510 -l LANG=en_US.UTF-8 -l LC_ALL= -- vim a -b";
        assert_eq!(
            options(line),
            ServerOptions {
                bind: BindAddress::SshConnection,
                ports: ports("60500:60510"),
                colors: TerminalColors::Palette,
                locale: vec![
                    ("LANG".into(), "en_US.UTF-8".into()),
                    ("LC_ALL".into(), "".into())
                ],
                command: vec!["vim".into(), "a".into(), "-b".into()],
                ..ServerOptions::default()
            }
        );
    }

    #[test]
    fn options_may_be_joined_and_the_last_of_a_kind_counts() {
        let joined = options("new -sv -vp60500 -p 60501 -c8 -c256 -i 10.0.0.1");
        assert_eq!(joined.bind, BindAddress::Address("10.0.0.1".into()));
        assert_eq!(joined.ports, ports("60501"));
        assert_eq!(joined.colors, TerminalColors::Palette);
        assert_eq!(joined.verbosity, 2);
    }

    #[test]
    fn the_older_forms_name_an_address_and_a_port() {
        assert_eq!(options(""), ServerOptions::default());
        assert_eq!(
            options("10.0.0.1").bind,
            BindAddress::Address("10.0.0.1".into())
        );
        let both = options("10.0.0.1 60500");
        assert_eq!(both.bind, BindAddress::Address("10.0.0.1".into()));
        assert_eq!(both.ports, ports("60500"));
        assert_eq!(options("-- echo").command, ["echo"]);
        assert!(matches!(
            parsed("10.0.0.1 60500 x"),
            MoshServerRequest::Refuse(_)
        ));
        // Without `new` an option is taken for the address.
        assert_eq!(options("-v").bind, BindAddress::Address("-v".into()));
    }

    #[test]
    fn an_unknown_option_is_told_and_ignored() {
        assert_eq!(complaints("new -x"), 1);
        assert_eq!(complaints("new --foo -p 60500"), 4);
        assert_eq!(complaints("new -p"), 1);
        assert_eq!(options("new extra -p 60500").ports, ports("60500"));
        assert_eq!(options("new -@ -s -p 60500").bind, BindAddress::Any);
        assert_eq!(options("new -").bind, BindAddress::Any);
    }

    #[test]
    fn bad_numbers_are_refused() {
        for line in ["new -p x", "new -p 0:5", "new -p 60510:60500", "10.0.0.1 x"] {
            let MoshServerRequest::Refuse(text) = parsed(line) else {
                panic!("{line} was accepted")
            };
            assert!(text.contains("Bad UDP port range ("), "{text}");
        }
        for line in ["new -c x", "new -p x -c 256x"] {
            let MoshServerRequest::Refuse(text) = parsed(line) else {
                panic!("{line} was accepted")
            };
            assert!(text.contains("Bad number of colors ("), "{text}");
        }
    }

    #[test]
    fn help_and_version_win_from_anywhere_before_the_command() {
        for line in ["--help", "new -p x -h", "bogus --help bogus"] {
            assert_eq!(
                parsed(line),
                MoshServerRequest::Print(USAGE.to_owned()),
                "{line}"
            );
        }
        let MoshServerRequest::Print(version) = parsed("new --version") else {
            panic!("no version")
        };
        let first = version.lines().next();
        assert_eq!(first, Some("mosh-server (mosh 1.4.0) [build mosh 1.4.0]"));
        assert_eq!(options("new -- --help").command, ["--help"]);
    }
}
