//! The lines of a server that a login understands, printed and read in one place.
//!
//! Source: docs/protocol.md §2.4, §2.9.

use fulmar_core::{Agreement, Capabilities, Capability};
use fulmar_datagram::{Key, KeyError};
use fulmar_quic::Secret;
use zeroize::Zeroizing;

use super::offer_reader::{named, number};
use super::{LINE_BYTES_MAX, WIRE_VERSION};
use crate::session_info::SessionInfo;
use crate::session_name::SessionName;
use crate::text::escaped;

const HELLO: &str = "FULMAR HELLO ";
const WARNING: &str = "FULMAR WARNING ";
const ERROR: &str = "FULMAR ERROR ";
const NONE: &str = "FULMAR NONE";
const CONNECT: &str = "FULMAR CONNECT ";
const AGREED: &str = "FULMAR AGREED";
const HEARD: &str = "FULMAR HEARD";
const NAME: &str = "FULMAR NAME ";
const SESSION: &str = "FULMAR SESSION ";
const COPY: &str = "FULMAR COPY ";
const OVER_SSH: &str = "FULMAR OVER SSH";
const SSH_CONNECTION: &str = "MOSH SSH_CONNECTION ";
const MOSH_CONNECT: &str = "MOSH CONNECT ";

/// The beginnings of the lines that have a key or a secret.
pub(super) const LINES_WITH_KEYS: [&str; 2] = [MOSH_CONNECT, COPY];

/// Reads the text of a key into memory of the reader's choice.
pub type ReadKey = fn(&str) -> Result<Key, KeyError>;

/// The content of the line `MOSH CONNECT`: the port and the key that a client needs to find its server.
pub struct MoshConnect {
    /// The server's UDP port.
    pub port: u16,
    /// The session's key.
    pub key: Key,
}

/// The capabilities of a server, which it announces before it has read the client's offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The version of the bootstrap.
    pub version: u32,
    /// The names of its capabilities as they were written: a later version has some more.
    names: String,
    /// The server's own version.
    server: String,
}

impl Announcement {
    /// Returns that of this program.
    pub fn ours() -> Announcement {
        Announcement {
            version: WIRE_VERSION,
            names: Capabilities::ALL.to_string(),
            server: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Returns the capabilities, as far as we know them, too.
    fn capabilities(&self) -> Capabilities {
        Capabilities::parse(&self.names)
    }

    /// Tells if the server has that capability.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities().has(capability)
    }

    /// Reads the line, without its end; `None` if it is another one.
    pub fn parse(line: &str) -> Option<Announcement> {
        announcement(line.strip_prefix(CONNECT)?)
    }

    /// Returns the line with its end, exactly as it is printed: the digest covers it.
    pub fn line(&self) -> String {
        format!("{CONNECT}{} {} {}\n", self.version, self.names, self.server)
    }

    /// Returns what is agreed on with a client whose offer has these capabilities and this text.
    pub fn agreement_on(&self, offered: Capabilities, offer: &[u8]) -> Agreement {
        let both = self.capabilities().and(offered);
        Agreement::of(offer, self.line().as_bytes(), both)
    }
}

/// A line that a login understands.
pub enum BootstrapLine {
    /// The server reads its offer now.
    Hello {
        /// The server's version.
        server: String,
    },
    /// The four words of `SSH_CONNECTION`: the client's address and port, the server's.
    SshConnection([String; 4]),
    /// Something that the user is to know, in one line.
    Warning(String),
    /// The reason why there is no server; of several such lines the first says what happened, the others what
    /// to try.
    Error(String),
    /// There is no server of ours, on a system of that kind.
    Missing {
        /// The system, in the words of `uname` and `/etc/os-release`.
        system: String,
    },
    /// The capabilities of a server of ours; the way to reach it follows.
    Announcement(Announcement),
    /// The way to reach the server.
    MoshConnect(MoshConnect),
    /// The server has read an offer, and all that can go wrong has gone well.
    Agreed,
    /// The server has heard the client.
    Heard,
    /// The name of the session.
    Name(SessionName),
    /// One of the sessions that are there.
    Session(SessionInfo),
    /// The way to reach the remote end of a copy.
    Copy(CopyParams),
    /// The bytes that follow are a copy's, in frames, or a session's datagrams, in records.
    OverSsh,
}

/// The things that the local end of a copy needs to find its remote end.
pub struct CopyParams {
    /// The version of copying that the remote end speaks.
    pub version: u32,
    /// Its UDP port.
    pub port: u16,
    /// The secret that only the two ends know.
    pub secret: Secret,
}

/// A line that begins as one of ours and goes on otherwise. It may hold half a key, so it is not to
/// be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedLine;

impl BootstrapLine {
    /// Reads a line, which comes without its end, and a key in it with `read_key`. `None` for one of another kind.
    ///
    /// # Errors
    ///
    /// When it is malformed.
    pub fn parse(line: &[u8], read_key: ReadKey) -> Result<Option<BootstrapLine>, MalformedLine> {
        let Some((kind, rest)) = KINDS
            .iter()
            .find_map(|(start, kind)| Some((kind, line.strip_prefix(start.as_bytes())?)))
        else {
            return Ok(None);
        };
        let rest = str::from_utf8(rest).map_err(|_| MalformedLine)?;
        kind(rest, read_key).map(Some).ok_or(MalformedLine)
    }

    /// Returns the line with its end.
    pub fn text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::new());
        let mut append = |parts: &[&str]| parts.iter().for_each(|part| text.push_str(part));
        match self {
            BootstrapLine::Hello { server } => append(&[HELLO, server]),
            BootstrapLine::SshConnection(words) => append(&[SSH_CONNECTION, &words.join(" ")]),
            BootstrapLine::Warning(what) => append(&[WARNING, &one_line(what, WARNING)]),
            BootstrapLine::Error(what) => append(&[ERROR, &one_line(what, ERROR)]),
            BootstrapLine::Missing { system } => append(&[NONE, " ", system]),
            BootstrapLine::Announcement(announcement) => append(&[announcement.line().trim_end()]),
            BootstrapLine::MoshConnect(connect) => {
                return mosh_connect_line(connect.port, &connect.key);
            }
            BootstrapLine::Agreed => append(&[AGREED]),
            BootstrapLine::Heard => append(&[HEARD]),
            BootstrapLine::Name(name) => append(&[NAME, name.as_str()]),
            BootstrapLine::Session(info) => append(&[SESSION, &info.words()]),
            BootstrapLine::Copy(params) => return copy_text(params),
            BootstrapLine::OverSsh => append(&[OVER_SSH]),
        }
        text.push('\n');
        text
    }
}

/// Returns the line by which a client can find a server, with its end.
pub fn mosh_connect_line(port: u16, key: &Key) -> Zeroizing<String> {
    let key = key.to_base64();
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let mut text = Zeroizing::new(String::with_capacity(64));
    for part in [MOSH_CONNECT, &port.to_string(), " ", &key, "\n"] {
        text.push_str(part);
    }
    text
}

/// Returns the line by which a copy's remote end is found, with its end.
fn copy_text(params: &CopyParams) -> Zeroizing<String> {
    let CopyParams {
        version,
        port,
        secret,
    } = params;
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let mut text = Zeroizing::new(String::with_capacity(128));
    for part in [COPY, &version.to_string(), " ", &port.to_string(), " "] {
        text.push_str(part);
    }
    text.push_str(&secret.to_base64());
    text.push('\n');
    text
}

type Kind = fn(&str, ReadKey) -> Option<BootstrapLine>;

/// The beginnings of the lines, and the functions that read the rest of each.
const KINDS: [(&str, Kind); 13] = [
    (HELLO, |rest, _| {
        let server = version(rest)?;
        Some(BootstrapLine::Hello { server })
    }),
    (SSH_CONNECTION, |rest, _| {
        let words: Vec<String> = rest.split_ascii_whitespace().map(str::to_owned).collect();
        words.try_into().ok().map(BootstrapLine::SshConnection)
    }),
    (WARNING, |rest, _| {
        Some(BootstrapLine::Warning(rest.to_owned()))
    }),
    (ERROR, |rest, _| Some(BootstrapLine::Error(rest.to_owned()))),
    (NONE, |rest, _| {
        let system = rest.trim_ascii().to_owned();
        Some(BootstrapLine::Missing { system })
    }),
    (CONNECT, |rest, _| {
        announcement(rest).map(BootstrapLine::Announcement)
    }),
    (MOSH_CONNECT, |rest, read_key| {
        mosh_connect(rest, read_key).map(BootstrapLine::MoshConnect)
    }),
    (AGREED, |rest, _| {
        rest.is_empty().then_some(BootstrapLine::Agreed)
    }),
    (HEARD, |rest, _| {
        rest.is_empty().then_some(BootstrapLine::Heard)
    }),
    (NAME, |rest, _| {
        SessionName::parse(rest).ok().map(BootstrapLine::Name)
    }),
    (SESSION, |rest, _| {
        SessionInfo::parse(rest).map(BootstrapLine::Session)
    }),
    (COPY, |rest, _| copy_params(rest).map(BootstrapLine::Copy)),
    (OVER_SSH, |rest, _| {
        rest.is_empty().then_some(BootstrapLine::OverSsh)
    }),
];

/// Reads `<wire version> <capabilities> <server version>`, with one blank between two: such a line
/// has one text only.
fn announcement(rest: &str) -> Option<Announcement> {
    let (wire, rest) = rest.split_once(' ')?;
    let (names, server) = rest.split_once(' ')?;
    let is_canonical = wire == "0" || !wire.starts_with('0');
    Some(Announcement {
        version: number(wire).filter(|_| is_canonical)?,
        names: named(names).map(|_| names.to_owned())?,
        server: version(server)?,
    })
}

/// Reads `<port> <key>`; blanks may follow.
fn mosh_connect(rest: &str, read_key: ReadKey) -> Option<MoshConnect> {
    let (port, key) = rest.trim_ascii_end().split_once(' ')?;
    Some(MoshConnect {
        port: number(port).filter(|&port| port > 0)?,
        key: read_key(key).ok()?,
    })
}

/// Reads `<version> <port> <secret>`; a later version may say more.
fn copy_params(rest: &str) -> Option<CopyParams> {
    let mut words = rest.split_ascii_whitespace();
    let (version, port) = (words.next()?, words.next()?);
    Some(CopyParams {
        version: number(version)?,
        port: number(port).filter(|&port| port > 0)?,
        secret: Secret::from_base64(words.next()?).ok()?,
    })
}

/// Reads a version: one word of printable ASCII.
fn version(text: &str) -> Option<String> {
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    (is_word && text.len() <= LINE_BYTES_MAX / 4).then(|| text.to_owned())
}

/// Returns `what` without control characters, cut to fit into a line that begins so.
fn one_line(what: &str, start: &str) -> String {
    let mut text = escaped(what);
    let mut end = text.len().min(LINE_BYTES_MAX - start.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    fn parsed(line: &str) -> Option<BootstrapLine> {
        BootstrapLine::parse(line.as_bytes(), Key::from_base64).unwrap()
    }

    /// The line again, after it was read; `None` if it is malformed or of another kind.
    fn again(line: &[u8]) -> Option<String> {
        let line = BootstrapLine::parse(line, Key::from_base64).ok()??;
        Some(line.text().to_string())
    }

    #[test]
    fn every_line_is_read_as_it_is_printed() {
        for line in [
            "FULMAR HELLO 0.1.0",
            "MOSH SSH_CONNECTION 192.0.2.1 5022 fe80::1%eth0 22",
            "FULMAR WARNING a b",
            "FULMAR ERROR cannot listen / elsewhere",
            "FULMAR NONE Linux x86_64 debian",
            "FULMAR CONNECT 1 exit 0.1.0",
            "FULMAR CONNECT 1 - 0.1.0-dev+g1",
            "FULMAR CONNECT 1 exit,unheard-of 0.1.0",
            &format!("MOSH CONNECT 60001 {KEY}"),
            "FULMAR AGREED",
            "FULMAR HEARD",
            "FULMAR COPY 2 60001 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
            "FULMAR OVER SSH",
            "FULMAR NAME far-1",
            "FULMAR SESSION name=work pid=12 age=100 away=7 command=vim%20-b",
        ] {
            assert_eq!(again(line.as_bytes()), Some(format!("{line}\n")));
        }
    }

    #[test]
    fn other_lines_are_of_another_kind() {
        for line in [
            "",
            "hello",
            " FULMAR HEARD",
            "FULMAR",
            "fulmar heard",
            "MOSH IP 192.0.2.7",
            "xMOSH CONNECT 1 2",
        ] {
            assert!(parsed(line).is_none(), "{line:?}");
        }
        assert!(
            BootstrapLine::parse(b"\xFF\xFE", Key::from_base64).is_ok_and(|line| line.is_none())
        );
    }

    #[test]
    fn a_line_that_begins_as_one_of_ours_has_to_be_one() {
        for line in [
            "FULMAR HELLO ",
            "FULMAR HELLO 1 2",
            "FULMAR HEARD 1",
            "FULMAR CONNECT 1",
            "FULMAR CONNECT 1 exit",
            "FULMAR CONNECT 1 exit  0.1.0",
            "FULMAR CONNECT 1 exit 0.1.0 ",
            "FULMAR CONNECT 01 exit 0.1.0",
            "FULMAR CONNECT +1 exit 0.1.0",
            "FULMAR CONNECT 1 EXIT 0.1.0",
            "FULMAR CONNECT 1 exit+ 0.1.0",
            "FULMAR AGREED on",
            "FULMAR CONNECT 4294967296 exit 0.1.0",
            "MOSH SSH_CONNECTION 192.0.2.1 5022 192.0.2.7",
            "MOSH CONNECT 60001 short",
            &format!("MOSH CONNECT 70000 {KEY}"),
            &format!("MOSH CONNECT +7 {KEY}"),
            &format!("MOSH CONNECT 0 {KEY}"),
            &format!("MOSH CONNECT 60001 {KEY} x"),
            &format!("MOSH CONNECT  60001 {KEY}"),
        ] {
            assert_eq!(
                BootstrapLine::parse(line.as_bytes(), Key::from_base64).err(),
                Some(MalformedLine),
                "{line:?}"
            );
        }
        assert_eq!(
            BootstrapLine::parse(b"FULMAR WARNING \xFF", Key::from_base64).err(),
            Some(MalformedLine)
        );
    }

    #[test]
    fn a_connect_line_may_have_blanks_behind_it() {
        let line = format!("MOSH CONNECT 60001 {KEY} \r");
        match parsed(&line) {
            Some(BootstrapLine::MoshConnect(connect)) => {
                assert_eq!(connect.port, 60001);
                assert_eq!(*connect.key.to_base64(), KEY);
            }
            _ => panic!("not read"),
        }
    }

    #[test]
    fn what_is_told_fits_into_one_line() {
        let text = BootstrapLine::Warning("a\nb\u{1b}[m".to_owned()).text();
        assert_eq!(*text, "FULMAR WARNING a\\nb\\u{1b}[m\n");
        let text = BootstrapLine::Error("ü".repeat(LINE_BYTES_MAX)).text();
        assert!(text.ends_with("ü\n"), "{}", &*text);
        assert!((LINE_BYTES_MAX..=LINE_BYTES_MAX + 1).contains(&text.len()));
    }

    #[test]
    fn our_announcement_is_a_line_and_a_later_ones_is_kept_as_it_was_written() {
        let line = Announcement::ours().line();
        assert_eq!(
            line,
            format!(
                "FULMAR CONNECT 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal {}\n",
                env!("CARGO_PKG_VERSION")
            )
        );
        let later = "FULMAR CONNECT 1 aaa,attach,challenge,events,exit,hints,history,idle,reports,rich,sizes,ssh,terminal 9.0\n";
        for line in [&line, later] {
            let Some(BootstrapLine::Announcement(read)) = parsed(line.trim_end()) else {
                panic!("not read: {line}");
            };
            assert_eq!(read.line(), line);
            let agreement = read.agreement_on(Capabilities::ALL, b"offer");
            let wanted = Agreement::of(b"offer", line.as_bytes(), Capabilities::ALL);
            assert_eq!(agreement, wanted);
            let none = read.agreement_on(Capabilities::NONE, b"offer");
            assert_eq!(none.capabilities, Capabilities::NONE);
        }
    }

    proptest! {
        #[test]
        fn an_announcement_that_was_read_is_printed_the_same(rest in "[0-9]{1,2} {1,2}(exit|-)(,[a-z]{1,3})? ?[!-~]{0,5} ?") {
            let line = format!("{CONNECT}{rest}");
            if let Some(again) = again(line.as_bytes()) {
                prop_assert_eq!(again, line + "\n");
            }
        }

        #[test]
        fn any_line_is_read_without_a_fault(
            start in prop::sample::select(KINDS.map(|(start, _)| start).to_vec()),
            rest in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let _ = BootstrapLine::parse(&[start.as_bytes(), &rest].concat(), Key::from_base64);
            let _ = BootstrapLine::parse(&rest, Key::from_base64);
        }
    }
}
