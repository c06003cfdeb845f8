//! Calls ssh, and reads what it says of itself.
//!
//! ssh is left alone: nothing of the user's configuration is replaced. What is added only makes a
//! command possible, whatever the configuration says of commands.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;

use fulmar_base::AddressFamily;

use crate::shell_words::quoted;

/// Options against settings of the user's configuration that would leave no room for a command and its input, each
/// with the first release that knows it.
const ROOM_FOR_A_COMMAND: [(&str, SshVersion); 5] = [
    ("RemoteCommand=none", SshVersion::new(7, 6)),
    ("SessionType=default", SshVersion::new(8, 7)),
    ("ForkAfterAuthentication=no", SshVersion::new(8, 7)),
    ("StdinNull=no", SshVersion::new(8, 7)),
    ("ClearAllForwardings=yes", SshVersion::new(3, 0)),
];

/// A release of OpenSSH. What an older one does not know it cannot have in its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SshVersion {
    major: u32,
    minor: u32,
}

impl SshVersion {
    const fn new(major: u32, minor: u32) -> SshVersion {
        SshVersion { major, minor }
    }
}

/// The maker of the program that is used as ssh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshImplementation {
    /// OpenSSH, of that release.
    OpenSsh(SshVersion),
    /// Dropbear's `dbclient`, a wrapper, anything. It gets what all of them know.
    Other,
}

impl SshImplementation {
    /// The likeliest, which is assumed until it is known.
    pub(crate) const LIKELY: SshImplementation =
        SshImplementation::OpenSsh(SshVersion::new(u32::MAX, 0));

    /// Reads what `ssh -V` says, on either stream: `OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19`, or
    /// `OpenSSH_for_Windows_9.5p1`.
    pub(crate) fn of_version_text(text: &[u8]) -> SshImplementation {
        let text = String::from_utf8_lossy(text);
        let Some((_, rest)) = text.split_once("OpenSSH_") else {
            return SshImplementation::Other;
        };
        let rest = rest.strip_prefix("for_Windows_").unwrap_or(rest);
        let number = |text: &str| {
            let digits = text.chars().take_while(char::is_ascii_digit).count();
            text.get(..digits).and_then(|digits| digits.parse().ok())
        };
        let version = rest.split_once('.').and_then(|(major, minor)| {
            Some(SshVersion {
                major: number(major)?,
                minor: number(minor)?,
            })
        });
        version.map_or(SshImplementation::Other, SshImplementation::OpenSsh)
    }

    /// Tells if the other implementation is called with the same words.
    pub(crate) fn is_called_like(self, other: SshImplementation) -> bool {
        self.options().eq(other.options())
    }

    /// Tells if `ssh -G` says what the configuration means. Others would log in.
    pub(crate) fn tells_settings(self) -> bool {
        matches!(self, SshImplementation::OpenSsh(version) if version >= SshVersion::new(6, 8))
    }

    fn options(self) -> impl Iterator<Item = &'static str> {
        ROOM_FOR_A_COMMAND
            .into_iter()
            .filter_map(move |(option, since)| match self {
                SshImplementation::OpenSsh(version) if version >= since => Some(option),
                _ => None,
            })
    }
}

/// The user's ssh, and whom it is to reach.
#[derive(Clone, Debug)]
pub struct SshCommand {
    /// The program, and words that come first; not empty.
    pub words: Vec<OsString>,
    /// The host to reach.
    pub destination: Destination,
    /// The only family of the addresses to reach it by; `None` for what ssh's configuration says.
    pub family: Option<AddressFamily>,
}

impl SshCommand {
    /// Returns the command line that logs in and runs `command`.
    pub(crate) fn login(&self, implementation: SshImplementation, command: &str) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.push("-T".into());
        self.push_options(implementation, &mut line);
        line.push(self.destination.word().to_owned());
        line.push(command.into());
        line
    }

    /// Returns the command line that runs the command of these words as ssh itself would.
    pub fn command_line(&self, words: &[OsString]) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.extend(self.family_option().map(OsString::from));
        line.extend(self.destination.port_option());
        line.push(self.destination.word().to_owned());
        line.push(shell_line(words));
        line
    }

    /// Returns the command line that asks what the configuration means for this destination.
    pub(crate) fn settings_query(&self, implementation: SshImplementation) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.extend(["-G", "-T"].map(OsString::from));
        self.push_options(implementation, &mut line);
        line.push(self.destination.word().to_owned());
        line
    }

    /// Returns the command line that asks for the program's version. It names no host, so that
    /// nobody logs in who does not understand it.
    pub(crate) fn version_query(&self) -> Vec<OsString> {
        let mut line = self.words.clone();
        line.push("-V".into());
        line
    }

    fn family_option(&self) -> Option<&'static str> {
        self.family.map(|family| match family {
            AddressFamily::Ipv4 => "-4",
            AddressFamily::Ipv6 => "-6",
        })
    }

    fn push_options(&self, implementation: SshImplementation, line: &mut Vec<OsString>) {
        for option in implementation.options() {
            line.extend(["-o", option].map(OsString::from));
        }
        line.extend(self.destination.port_option());
        // Others may not know `--`, and a destination does not begin with a dash anyway.
        if let SshImplementation::OpenSsh(_) = implementation {
            let family = self.family_option();
            line.extend(family.into_iter().chain(["--"]).map(OsString::from));
        }
    }
}

/// Returns the line by which a remote shell runs the command of these words: one word is a line already, several are a
/// program and its arguments, each as it is.
fn shell_line(words: &[OsString]) -> OsString {
    let [line] = words else {
        let words: Vec<OsString> = words.iter().map(|word| quoted(word)).collect();
        return words.join(OsStr::new(" "));
    };
    let mut text = OsString::new();
    if line.as_bytes().starts_with(b"-") {
        // ssh looks for options behind the host as well.
        text.push(" ");
    }
    text.push(line);
    text
}

/// `[user@]host` or `ssh://[user@]host[:port]`, as the user wrote it; OpenSSH would take it, but for an IPv6 address in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    text: OsString,
    host: Range<usize>,
    /// The same without brackets, and the port that is no part of it then.
    bracketless: Option<(OsString, Option<OsString>)>,
}

/// The reason why a destination is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// There is no host.
    #[error("it names no host")]
    NoHost,
    /// There is an `@`, and no user before it.
    #[error("it names no user before the @")]
    NoUser,
    /// There is a port behind the host, as in a URI.
    #[error("a port cannot follow the host like this")]
    Port,
    /// The host would be an option, or part of a command, to some program on the way.
    #[error(
        "a host name does not begin with -, and has no blanks, quotes or other characters that shells treat specially"
    )]
    Host,
    /// The same of the user.
    #[error(
        "a user name does not begin with -, and has no quotes or other characters that shells treat specially"
    )]
    User,
}

/// The beginning of a destination that may have a port.
const SCHEME: &[u8] = b"ssh://";

impl Destination {
    /// Reads a destination, by the rules of OpenSSH: names are handed to shells by ProxyCommand and
    /// Match exec.
    ///
    /// Source: docs/threat-model.md §9.
    ///
    /// # Errors
    ///
    /// When OpenSSH would refuse it.
    pub fn parse(text: &OsStr) -> Result<Destination, DestinationError> {
        let bytes = text.as_bytes();
        let is_uri = bytes.starts_with(SCHEME);
        let begin = if is_uri { SCHEME.len() } else { 0 };
        let named = bytes.get(begin..).unwrap_or_default();
        let at = named.iter().rposition(|&byte| byte == b'@');
        let (user, host_at) = match at {
            Some(at) => (named.get(..at), begin + at + 1),
            None => (None, begin),
        };
        let place = bytes.get(host_at..).unwrap_or_default();
        let is_bracketed = is_in_brackets(place);
        let host = if is_uri || is_bracketed {
            host_of_uri(place)
        } else {
            0..place.len()
        };
        if host.is_empty() {
            return Err(DestinationError::NoHost);
        }
        if !is_host(place) {
            return Err(DestinationError::Host);
        }
        if user.is_some_and(<[u8]>::is_empty) {
            return Err(DestinationError::NoUser);
        }
        if !user.is_none_or(is_user) {
            return Err(DestinationError::User);
        }
        let behind = place.get(host.end..).unwrap_or_default();
        let port = behind.strip_prefix(b"]:").filter(|_| is_bracketed);
        if !is_uri && (has_port(place) || port.is_some()) {
            return Err(DestinationError::Port);
        }
        let bracketless = is_bracketed.then(|| {
            let before = bytes.get(begin..host_at).unwrap_or_default();
            let address = place.get(host.clone()).unwrap_or_default();
            let port = port.map(|port| port.strip_suffix(b"/").unwrap_or(port));
            let port = port.map(|port| OsStr::from_bytes(port).to_owned());
            let word = [before, address].concat();
            (OsStr::from_bytes(&word).to_owned(), port)
        });
        Ok(Destination {
            text: text.to_owned(),
            host: host_at + host.start..host_at + host.end,
            bracketless,
        })
    }

    /// Returns the word by which ssh knows it.
    pub fn word(&self) -> &OsStr {
        self.bracketless
            .as_ref()
            .map_or(&self.text, |(word, _)| word)
    }

    /// Returns the option by which ssh knows the port, if that word has to do without.
    pub(crate) fn port_option(&self) -> impl Iterator<Item = OsString> {
        let bracketless = self.bracketless.as_ref();
        let port = bracketless.and_then(|(_, port)| port.clone());
        port.into_iter().flat_map(|port| ["-p".into(), port])
    }

    /// Returns it as the user wrote it.
    pub fn text(&self) -> &OsStr {
        &self.text
    }

    /// Returns the host, as the user wrote it.
    pub fn host(&self) -> &OsStr {
        let bytes = self.text.as_bytes().get(self.host.clone());
        OsStr::from_bytes(bytes.unwrap_or_default())
    }
}

/// True for an IPv6 address in brackets, whatever is behind it. ssh takes one in no destination, although its own words for a URI have it.
fn is_in_brackets(place: &[u8]) -> bool {
    let address = place.strip_prefix(b"[");
    let mut parts = address.unwrap_or_default().split(|&byte| byte == b']');
    let is_address = parts.next().is_some_and(|address| address.contains(&b':'));
    is_address
        && parts
            .next()
            .is_some_and(|behind| behind.is_empty() || b":/".contains(&behind[0]))
}

/// Returns where the host is in `host[:port][/]`, whose host is in brackets if it is an IPv6 address.
fn host_of_uri(place: &[u8]) -> Range<usize> {
    if place.starts_with(b"[") {
        let end = place.iter().position(|&byte| byte == b']');
        return 1..end.unwrap_or(place.len());
    }
    let end = place.iter().position(|byte| b":/".contains(byte));
    0..end.unwrap_or(place.len())
}

/// True for `host:22`. What has several colons is an IPv6 address.
fn has_port(host: &[u8]) -> bool {
    let mut parts = host.splitn(2, |&byte| byte == b':');
    match (parts.next(), parts.next()) {
        (Some(host), Some(port)) => {
            !host.is_empty() && !port.is_empty() && port.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn is_host(host: &[u8]) -> bool {
    let is_fine = |byte: &u8| {
        !byte.is_ascii_control() && !is_space(*byte) && !b"'`\"$\\;&<>|(){}".contains(byte)
    };
    !host.starts_with(b"-") && host.iter().all(is_fine)
}

fn is_user(user: &[u8]) -> bool {
    let is_fine = |byte: &u8| !byte.is_ascii_control() && !b"'`\";&<>|(){}".contains(byte);
    let looks_like_option = |pair: &[u8]| matches!(pair, &[blank, b'-'] if is_space(blank));
    !user.starts_with(b"-")
        && user.iter().all(is_fine)
        && !user.windows(2).any(looks_like_option)
        && !user.ends_with(b"\\")
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

/// The settings that `ssh -G` prints and that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SshSettings {
    /// The host to connect to, perhaps through others: a name or a numeric address.
    pub(crate) host_name: Option<String>,
    /// The only family of addresses that it is to be reached by, if it names one.
    pub(crate) family: Option<AddressFamily>,
}

impl SshSettings {
    /// Reads the output of `ssh -G`: a key and a value on each line.
    pub(crate) fn parse(text: &[u8]) -> SshSettings {
        let mut settings = SshSettings::default();
        for line in String::from_utf8_lossy(text).lines() {
            match line.split_once(' ') {
                Some(("hostname", name)) => settings.host_name = Some(name.to_owned()),
                Some(("addressfamily", "inet")) => settings.family = Some(AddressFamily::Ipv4),
                Some(("addressfamily", "inet6")) => settings.family = Some(AddressFamily::Ipv6),
                _ => {}
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(words: &[&str], family: AddressFamily) -> SshCommand {
        SshCommand {
            words: words.iter().map(OsString::from).collect(),
            destination: Destination::parse(OsStr::new("ada@host")).unwrap(),
            family: Some(family),
        }
    }

    fn spaced(line: Vec<OsString>) -> String {
        line.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn a_present_ssh_gets_room_for_a_command() {
        let ssh = ssh(&["ssh", "-F", "my config"], AddressFamily::Ipv6);
        let options = "-o RemoteCommand=none -o SessionType=default -o ForkAfterAuthentication=no \
                       -o StdinNull=no -o ClearAllForwardings=yes -6 --";
        assert_eq!(
            spaced(ssh.login(SshImplementation::LIKELY, "sh -c 'x'")),
            format!("ssh -F my config -T {options} ada@host sh -c 'x'")
        );
        assert_eq!(
            spaced(ssh.settings_query(SshImplementation::LIKELY)),
            format!("ssh -F my config -G -T {options} ada@host")
        );
        assert_eq!(spaced(ssh.version_query()), "ssh -F my config -V");
    }

    #[test]
    fn a_plain_command_is_run_as_ssh_runs_it() {
        let ssh = ssh(&["ssh", "-F", "my config"], AddressFamily::Ipv4);
        for (words, line) in [
            (&["hostname"][..], "hostname"),
            (&["ls | wc"], "ls | wc"),
            (&["-x; y"], " -x; y"),
            (&["printf", "%s", "it's"], r"'printf' '%s' 'it'\''s'"),
        ] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let all = ssh.command_line(&words);
            assert_eq!(all.last().unwrap(), line);
            assert_eq!(all.len(), 6);
            assert!(spaced(all).starts_with("ssh -F my config -4 ada@host "));
        }
    }

    #[test]
    fn an_older_ssh_gets_what_it_knows_and_others_hardly_anything() {
        let ssh = ssh(&["ssh"], AddressFamily::Ipv4);
        let login = |implementation| spaced(ssh.login(implementation, "x"));
        assert_eq!(
            login(SshImplementation::OpenSsh(SshVersion::new(8, 4))),
            "ssh -T -o RemoteCommand=none -o ClearAllForwardings=yes -4 -- ada@host x"
        );
        assert_eq!(
            login(SshImplementation::OpenSsh(SshVersion::new(6, 7))),
            "ssh -T -o ClearAllForwardings=yes -4 -- ada@host x"
        );
        assert_eq!(login(SshImplementation::Other), "ssh -T ada@host x");
    }

    #[test]
    fn the_make_is_read_from_the_version() {
        let version = |major, minor| SshImplementation::OpenSsh(SshVersion::new(major, minor));
        for (text, implementation) in [
            (
                "OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19",
                version(9, 2),
            ),
            ("noise\nOpenSSH_8.10p1, LibreSSL 2.7\n", version(8, 10)),
            ("OpenSSH_for_Windows_9.5p1, LibreSSL", version(9, 5)),
            ("OpenSSH_10.0", version(10, 0)),
            ("OpenSSH_x.y", SshImplementation::Other),
            ("OpenSSH_9", SshImplementation::Other),
            ("OpenSSH_99999999999.1", SshImplementation::Other),
            ("Dropbear v2022.83", SshImplementation::Other),
            ("", SshImplementation::Other),
        ] {
            assert_eq!(
                SshImplementation::of_version_text(text.as_bytes()),
                implementation,
                "{text}"
            );
        }
        assert!(SshImplementation::LIKELY.is_called_like(version(9, 2)));
        assert!(!SshImplementation::LIKELY.is_called_like(version(8, 6)));
        assert!(version(6, 8).tells_settings());
        assert!(!version(6, 7).tells_settings() && !SshImplementation::Other.tells_settings());
    }

    #[test]
    fn destinations_are_taken_and_refused_as_by_openssh() {
        for (text, host) in [
            ("host", "host"),
            ("ada@host.example.org", "host.example.org"),
            (r"DOM\user@host", "host"),
            ("user%x@gw@host", "host"),
            ("fe80::1%eth0", "fe80::1%eth0"),
            ("ada lovelace@192.0.2.7", "192.0.2.7"),
            ("a$b@höst", "höst"),
            ("::1", "::1"),
            ("ssh://ada@host:2222", "host"),
            ("ssh://host", "host"),
            ("ssh://[2001:db8::7]:22/", "2001:db8::7"),
            ("ada@[::1]", "::1"),
        ] {
            let parsed = Destination::parse(OsStr::new(text)).unwrap();
            assert_eq!(parsed.text(), text);
            assert_eq!(parsed.host(), host, "{text}");
        }
        for (text, why) in [
            ("", DestinationError::NoHost),
            ("ada@", DestinationError::NoHost),
            ("@srv", DestinationError::NoUser),
            ("ssh://@srv", DestinationError::NoUser),
            ("-oProxyCommand=x", DestinationError::Host),
            ("ada@-x", DestinationError::Host),
            ("a host", DestinationError::Host),
            ("ssh://", DestinationError::NoHost),
            ("ssh://ada@:22", DestinationError::NoHost),
            ("ssh://a;b", DestinationError::Host),
            ("ssh://-x", DestinationError::Host),
            ("host:22", DestinationError::Port),
            ("ada@192.0.2.7:2222", DestinationError::Port),
            ("[::1]:22", DestinationError::Port),
            ("host\n", DestinationError::Host),
            ("$(x)", DestinationError::Host),
            ("a'b", DestinationError::Host),
            ("-x@host", DestinationError::User),
            ("ada -x@host", DestinationError::User),
            ("ada;x@host", DestinationError::User),
            ("ada\\@host", DestinationError::User),
            ("a\x1b@host", DestinationError::User),
        ] {
            assert_eq!(Destination::parse(OsStr::new(text)), Err(why), "{text:?}");
        }
    }

    #[test]
    fn an_address_in_brackets_is_given_to_ssh_as_it_takes_one() {
        for (text, line) in [
            ("[::1]", "ssh ::1 x"),
            ("ada@[fe80::1%eth0]", "ssh ada@fe80::1%eth0 x"),
            ("ssh://[::1]", "ssh ::1 x"),
            ("ssh://ada@[::1]:2222/", "ssh -p 2222 ada@::1 x"),
            ("ssh://ada@host:2222", "ssh ssh://ada@host:2222 x"),
            ("[host]", "ssh [host] x"),
        ] {
            let ssh = SshCommand {
                words: vec!["ssh".into()],
                destination: Destination::parse(OsStr::new(text)).unwrap(),
                family: None,
            };
            assert_eq!(spaced(ssh.command_line(&["x".into()])), line);
            let login = spaced(ssh.login(SshImplementation::Other, "x"));
            assert_eq!(login.replace(" -T", ""), line);
        }
    }

    #[test]
    fn of_the_settings_host_name_and_family_count() {
        let settings = SshSettings::parse(
            b"host x\nuser ada\nhostname fe80::1%eth0\nport 22\naddressfamily inet6\nbroken\n",
        );
        assert_eq!(settings.host_name.as_deref(), Some("fe80::1%eth0"));
        assert_eq!(settings.family, Some(AddressFamily::Ipv6));
        let none = SshSettings::parse(b"addressfamily any\n\xff\xfe\n");
        assert_eq!(none, SshSettings::default());
    }
}
