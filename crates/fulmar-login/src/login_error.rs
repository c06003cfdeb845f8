//! The failures between `[user@]host` and a server that waits.

use std::ffi::OsString;
use std::fmt;

use crate::install_advice::install_advice;
use crate::ssh::DestinationError;
use crate::ssh_error::SshError;

/// The reason why a login came to nothing. Hosts are as the user wrote them.
///
/// Its text says what happened and to whom, [`advice`](LoginError::advice) what to try.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The text given as host would be refused by ssh, or be something else to it.
    #[error("\"{}\" cannot be a host: {why}", text.display())]
    Destination {
        /// As the user wrote it.
        text: OsString,
        /// The fault of the text.
        why: DestinationError,
    },
    /// There is no ssh here.
    #[error("cannot start {}: {error}", program.display())]
    NoSsh {
        /// As it was named.
        program: OsString,
        /// The system's error.
        error: String,
        /// The advice, where the system has too little of something.
        remedy: Option<&'static str>,
    },
    /// ssh has ended before it got in, or before a server was there. Its own words were shown.
    #[error("{}", ssh_ended(host, *status, *got_in))]
    SshEnded {
        /// The host.
        host: String,
        /// The status with which it ended.
        status: SshExit,
        /// The complaint that its words seem to be.
        error: SshError,
        /// True if the remote side had said something.
        got_in: bool,
    },
    /// The command that starts the server has ended.
    #[error("no server was started on {host}: the command there has ended with {status}")]
    CommandEnded {
        /// The host.
        host: String,
        /// The status with which it ended.
        status: SshExit,
        /// True if the command was the user's.
        is_chosen: bool,
        /// The place where `fulmar` was found there.
        program: Option<String>,
    },
    /// There is no server of any make, or none that runs.
    #[error("{}", no_server(host, known(system), unusable.as_deref()))]
    NoServer {
        /// The host.
        host: String,
        /// The kind of system that it is.
        system: String,
        /// The `fulmar` there that does not run.
        unusable: Option<String>,
        /// The command that copies this program there, if its file is known.
        copying: Option<String>,
    },
    /// There is a server of stock's, which cannot be given the command.
    #[error(
        "mosh-server on {host} cannot be given a command with tabs or line ends in it, or one that is so long"
    )]
    NotForStock {
        /// The host.
        host: String,
    },
    /// The server has said why it does not serve.
    #[error("the server on {host} says: {what}")]
    Refused {
        /// The host.
        host: String,
        /// Its words.
        what: String,
        /// Its advice, in lines.
        advice: Vec<String>,
        /// The place where `fulmar` was found there.
        program: Option<String>,
    },
    /// The server has said that it cannot run the program.
    #[error("the server on {host} says: {what}")]
    ProgramMissing {
        /// The host.
        host: String,
        /// Its words.
        what: String,
        /// Its advice, in lines.
        advice: Vec<String>,
    },
    /// The server waits for what we have written, twice.
    #[error("the server on {host} has not confirmed for 15 seconds that our request arrived")]
    NoAnswer {
        /// The host.
        host: String,
    },
    /// Much has come that is not for us.
    #[error("more than 64 KiB of other text came from {host} before the server's answer")]
    TooMuchText {
        /// The host that has sent it.
        host: String,
    },
    /// A line begins like one of ours.
    #[error("{host} has sent a line that begins like a server's and makes no sense")]
    Malformed {
        /// The host that has sent it.
        host: String,
    },
    /// A server of sessions answers where a copy is wanted.
    #[error("{host} begins a session where a copy was asked for")]
    SessionServer {
        /// The host.
        host: String,
    },
    /// The server is of another time.
    #[error(
        "the server on {host} speaks version {version} of the login, and this client version 1"
    )]
    Version {
        /// The host.
        host: String,
        /// The version that it speaks.
        version: u32,
    },
    /// Two keys, of which one at most is right.
    #[error("two servers were started on {host}, and we cannot tell which one is ours")]
    TwoServers {
        /// The host.
        host: String,
    },
    /// The server there knows only of sessions that it begins.
    #[error("the fulmar on {host} is of a version whose sessions stay with their clients")]
    NoAttach {
        /// The host.
        host: String,
    },
    /// There is a server of stock's, whose sessions nobody can take.
    #[error(
        "there is no fulmar on {host}, only mosh-server, whose sessions stay with their clients"
    )]
    NoSessionsOfStock {
        /// The host.
        host: String,
    },
    /// The server waits, and we do not know where.
    #[error("the server on {host} waits on UDP port {port}, but no address of it is known{}", family(*of_family))]
    NoAddress {
        /// The host.
        host: String,
        /// Its port.
        port: u16,
        /// True if only addresses of one family were wanted.
        of_family: bool,
    },
}

/// The status of a shell that finds no such program.
const STATUS_NOT_FOUND: SshExit = SshExit::Status(127);

impl LoginError {
    /// Says what to try next.
    pub fn advice(&self) -> Option<String> {
        Some(match self {
            LoginError::Destination { text, why: DestinationError::Port } => {
                let text = text.to_string_lossy();
                let (host, port) = text.rsplit_once(':').unwrap_or((&text, "22"));
                format!("give ssh's port with fulmar -P {port} {host}, or fulmar ssh://{text}")
            }
            LoginError::Destination { .. } => {
                "it is [user@]host, as for ssh, or ssh://[user@]host[:port]".to_owned()
            }
            LoginError::NoSsh { remedy, .. } => remedy
                .unwrap_or("install OpenSSH's client, or name another program with --ssh")
                .to_owned(),
            LoginError::SshEnded {
                host, error, ..
            } => error.advice(host),
            LoginError::CommandEnded { is_chosen, status, .. }
                if *is_chosen && *status == STATUS_NOT_FOUND =>
            {
                "name the program by its path, as a command there may have another PATH: --server '~/.local/bin/fulmar server'"
                    .to_owned()
            }
            LoginError::CommandEnded { is_chosen, .. } if *is_chosen => {
                "check --server: it must be a command such as fulmar server".to_owned()
            }
            LoginError::CommandEnded { host, program, .. } => {
                try_by_itself(host, program.as_deref())
            }
            LoginError::NoServer {
                system,
                unusable,
                copying,
                ..
            } => {
                let stock = match package_command(system) {
                    Some(command) => format!("or install Mosh: {command}"),
                    None => "or install Mosh, with the system's packages".to_owned(),
                };
                // A copy of this program may not run there either.
                let copying = copying.as_deref().filter(|_| unusable.is_none());
                let ours = install_advice(system, copying);
                let chosen = "if there is one already, say where: --server '/path/to/fulmar server'";
                [&ours, &stock, chosen].join("\n")
            }
            LoginError::NotForStock { .. } => {
                "put the command into a script there, or install Fulmar there".to_owned()
            }
            // Its words are not ours.
            LoginError::Refused { host, advice, .. }
            | LoginError::ProgramMissing { host, advice, .. }
                if !advice.is_empty() =>
            {
                let quoted = |line| format!("{host} suggests: {line}");
                let lines: Vec<String> = advice.iter().map(quoted).collect();
                lines.join("\n")
            }
            LoginError::Refused { host, program, .. } => try_by_itself(host, program.as_deref()),
            LoginError::ProgramMissing { host, .. } => try_by_itself(host, None),
            LoginError::NoAnswer { .. } => {
                "something else may read our request: look for a wrapper around ssh, or a start-up file of the \
                 shell there"
                    .to_owned()
            }
            LoginError::TooMuchText { .. } => {
                "a start-up file of the shell there prints it (.bashrc, .profile, .cshrc, config.fish); \
                 let it print only to a terminal: [ -t 1 ]"
                    .to_owned()
            }
            LoginError::Malformed { .. } => {
                "look with --log at what came before; something there may print during the login".to_owned()
            }
            LoginError::SessionServer { .. } => {
                "the key may have `fulmar server` as its forced command there: use another key (-i)".to_owned()
            }
            LoginError::Version { .. } => "install the same version at both ends".to_owned(),
            LoginError::TwoServers { .. } => {
                "look for what starts another server: a start-up file of the shell there, a forced \
                 command, --server"
                    .to_owned()
            }
            LoginError::NoAttach { .. } => "install this version there, too".to_owned(),
            LoginError::NoSessionsOfStock { .. } => {
                "install Fulmar there: what it begins from then on can be attached to".to_owned()
            }
            LoginError::NoAddress { of_family, .. } if *of_family => {
                "try it without -4, -6 or --family".to_owned()
            }
            LoginError::NoAddress { .. } => {
                "use --remote-ip proxy, or name the host by an address, or by a name that has one here"
                    .to_owned()
            }
        })
    }
}

/// The end of ssh, or of the command that it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshExit {
    /// By itself, with that status.
    Status(i32),
    /// By that signal.
    Signal(i32),
}

impl fmt::Display for SshExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SshExit::Status(status) => write!(f, "status {status}"),
            SshExit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl SshExit {
    /// Returns the status, if it ended by itself.
    pub fn code(self) -> Option<i32> {
        match self {
            SshExit::Status(status) => Some(status),
            SshExit::Signal(_) => None,
        }
    }
}

fn ssh_ended(host: &str, status: SshExit, got_in: bool) -> String {
    if got_in {
        format!("ssh to {host} has ended with {status} before a server could be reached")
    } else {
        format!("ssh did not get in to {host}: it has ended with {status}")
    }
}

fn no_server(host: &str, system: &str, unusable: Option<&str>) -> String {
    match unusable {
        Some(program) => {
            format!("{program} does not run on {host} ({system}), and there is no mosh-server")
        }
        None => format!("there is neither fulmar nor mosh-server on {host} ({system})"),
    }
}

fn try_by_itself(host: &str, program: Option<&str>) -> String {
    let program = program.unwrap_or("fulmar");
    format!(
        "run ssh {host} {program} server, with the options for ssh that you gave here, to see why"
    )
}

fn known(system: &str) -> &str {
    if system.is_empty() {
        "an unknown system"
    } else {
        system
    }
}

fn family(is_one: bool) -> &'static str {
    if is_one {
        " in the family that you asked for"
    } else {
        ""
    }
}

/// Returns how stock's server is installed on a system, by the kernel's name and the `ID` of
/// os-release.
fn package_command(system: &str) -> Option<&'static str> {
    let words: Vec<&str> = system.split_whitespace().collect();
    let by_id = match words.get(2..).unwrap_or_default().first().copied() {
        Some("debian" | "ubuntu" | "raspbian" | "linuxmint" | "pop" | "kali" | "devuan") => {
            Some("sudo apt install mosh")
        }
        Some("fedora" | "rhel" | "centos" | "rocky" | "almalinux" | "amzn" | "ol") => {
            Some("sudo dnf install mosh")
        }
        Some("arch" | "manjaro" | "endeavouros") => Some("sudo pacman -S mosh"),
        Some("alpine") => Some("doas apk add mosh"),
        Some("gentoo") => Some("emerge net-misc/mosh"),
        Some("void") => Some("sudo xbps-install mosh"),
        Some("nixos") => Some("nix-env -iA nixos.mosh"),
        Some(id) if id.starts_with("opensuse") || id == "sles" => Some("sudo zypper install mosh"),
        _ => None,
    };
    by_id.or(match words.first().copied() {
        Some("Darwin") => Some("brew install mosh"),
        Some("FreeBSD" | "DragonFly") => Some("pkg install mosh"),
        Some("OpenBSD") => Some("pkg_add mosh"),
        Some("NetBSD") => Some("pkgin install mosh"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(system: &str) -> String {
        let failure = LoginError::NoServer {
            host: "host".to_owned(),
            system: system.to_owned(),
            unusable: None,
            copying: None,
        };
        failure.advice().unwrap()
    }

    #[test]
    fn the_hint_fits_the_system() {
        for (system, words) in [
            ("Linux x86_64 debian", "apt install mosh"),
            ("Linux aarch64 fedora", "dnf install mosh"),
            ("Linux x86_64 opensuse-leap", "zypper install mosh"),
            ("Darwin arm64", "brew install mosh"),
            ("FreeBSD amd64 freebsd", "pkg install mosh"),
            ("Linux x86_64", "the system's packages"),
            ("", "the system's packages"),
        ] {
            let hint = hint(system);
            assert!(hint.contains(words), "{system}: {hint}");
            assert!(hint.contains("cargo build"), "{hint}");
        }
    }

    #[test]
    fn a_program_of_the_users_that_is_not_found_is_to_be_named_by_its_path() {
        let advice = |status| {
            let failure = LoginError::CommandEnded {
                host: "host".to_owned(),
                status: SshExit::Status(status),
                is_chosen: true,
                program: None,
            };
            failure.advice().unwrap()
        };
        assert!(advice(127).contains("--server '~/.local/bin/fulmar server'"));
        assert!(advice(1).contains("a command such as fulmar server"));
    }

    #[test]
    fn a_port_behind_a_host_is_put_where_it_belongs() {
        let failure = LoginError::Destination {
            text: "ada@host:2222".into(),
            why: DestinationError::Port,
        };
        assert_eq!(
            failure.advice().unwrap(),
            "give ssh's port with fulmar -P 2222 ada@host, or fulmar ssh://ada@host:2222"
        );
    }

    #[test]
    fn a_server_that_gives_advice_is_quoted() {
        let refused = |advice: &[&str]| LoginError::Refused {
            host: "host".to_owned(),
            what: "no port is free".to_owned(),
            advice: advice.iter().map(|&line| line.to_owned()).collect(),
            program: Some("/opt/fulmar".to_owned()),
        };
        let failure = refused(&["name others with -p"]);
        assert!(failure.to_string().contains("no port is free"));
        assert_eq!(
            failure.advice().unwrap(),
            "host suggests: name others with -p"
        );
        let advice = refused(&[]).advice().unwrap();
        assert!(advice.contains("ssh host /opt/fulmar server"), "{advice}");
    }
}
