//! The offer of a client for its session, and its text.
//!
//! Source: docs/protocol.md §2.9.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use fulmar_core::Capabilities;
use fulmar_terminal::{ScrollbackLimits, Size};

use super::other_shell::becoming;
use super::{COMMAND_BYTES_MAX, REQUEST_BYTES_MAX, WIRE_VERSION, percent};
use crate::ports::PortRange;
use crate::session_name::SessionName;
use crate::session_task::SessionTask;

/// The beginning of an offer; the version and the capabilities follow.
pub(crate) const BEGIN: &str = "FULMAR OFFER ";

/// The end of an offer.
pub(crate) const END: &str = "FULMAR END";

/// A session as the client wishes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The version of the bootstrap.
    pub version: u32,
    /// The capabilities of the client beyond the stock protocol, as far as we know them, too.
    pub capabilities: Capabilities,
    /// The window's size.
    pub size: Option<Size>,
    /// The number of colours of the terminal.
    pub colors: Option<u32>,
    /// The most history that is kept, if not the usual.
    pub history: Option<ScrollbackLimits>,
    /// The address to listen on.
    pub bind: Option<BindAddress>,
    /// The ports to choose from.
    pub ports: Option<PortRange>,
    /// Locale variables for a program whose environment has no UTF-8 locale.
    pub locale: Vec<(OsString, OsString)>,
    /// The program and its arguments; empty for the user's shell.
    pub command: Vec<OsString>,
    /// The name of a new session, if not of the server's choice.
    pub name: Option<SessionName>,
    /// A wish about sessions that are there, in place of a new one.
    pub task: Option<SessionTask>,
}

/// The address on which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindAddress {
    /// On all addresses.
    Any,
    /// On the address that ssh was reached at.
    SshConnection,
    /// On this one, still unchecked.
    Address(OsString),
}

impl Offer {
    /// Returns an offer of those capabilities and without wishes.
    pub fn of(capabilities: Capabilities) -> Offer {
        Offer {
            version: WIRE_VERSION,
            capabilities,
            size: None,
            colors: None,
            history: None,
            bind: None,
            ports: None,
            locale: Vec::new(),
            command: Vec::new(),
            name: None,
            task: None,
        }
    }

    /// Tells if it says where the server is to listen, so that another place than the first may come.
    fn may_move(&self) -> bool {
        self.bind.is_some() || self.ports.is_some()
    }

    /// Returns its text, from `FULMAR OFFER` up to the end of the line `FULMAR END`.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Text::default();
        let first = format!("{BEGIN}{} {}", self.version, self.capabilities);
        text.line(&first);
        if let Some(size) = self.size {
            text.line(&format!("size {} {}", size.columns(), size.rows()));
        }
        if let Some(colors) = self.colors {
            text.line(&format!("colors {colors}"));
        }
        if let Some(limits) = self.history {
            text.line(&format!("history {} {}", limits.lines, limits.bytes));
        }
        match &self.bind {
            None => {}
            Some(BindAddress::Any) => text.line("bind any"),
            Some(BindAddress::SshConnection) => text.line("bind ssh"),
            Some(BindAddress::Address(address)) => text.value("bind", &[address]),
        }
        if let Some(ports) = self.ports {
            text.line(&format!("port {}", ports.as_option()));
        }
        for (name, value) in &self.locale {
            text.value("locale", &[name, OsStr::new("="), value]);
        }
        for word in &self.command {
            text.value("word", &[word]);
        }
        if let Some(name) = &self.name {
            text.line(&format!("name {name}"));
        }
        if let Some(task) = &self.task {
            text.line(&task.line());
        }
        text.line(END);
        text.0
    }
}

/// Lines that are being written.
#[derive(Default)]
struct Text(Vec<u8>);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.extend_from_slice(line.as_bytes());
        self.0.push(b'\n');
    }

    /// Writes a line with a value of any bytes.
    fn value(&mut self, key: &str, parts: &[&OsStr]) {
        self.0.extend_from_slice(key.as_bytes());
        self.0.push(b' ');
        for part in parts {
            percent::encode(part.as_bytes(), &mut self.0);
        }
        self.0.push(b'\n');
    }
}

/// Splits `NAME=VALUE`; a word without `=` sets nothing.
pub fn split_assignment(word: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = word.as_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=')?;
    let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let (name, value) = bytes.split_at_checked(equals)?;
    Some((part(name), part(value.get(1..)?)))
}

/// Everything that a client writes, at once, before it has read anything: for the remote shell, and
/// for the server that it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapRequest {
    /// A shell command line that the user wants to start the server with, if any: it is for a shell
    /// that asks for it.
    pub start: Option<OsString>,
    /// The shell command line to run where there is no server of ours.
    pub fallback: Option<OsString>,
    /// The offer for a server of ours.
    pub offer: Offer,
}

/// The reason why a request cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapRequestError {
    /// A shell command line has a line end, or another control character.
    #[error("a control character in a shell command line")]
    ControlCharacter,
    /// The command is longer than a shell there may get.
    #[error("the command is {0} bytes long; {COMMAND_BYTES_MAX} are possible")]
    LongCommand(usize),
    /// Longer than a server reads.
    #[error("the command and its settings are {0} bytes long; {REQUEST_BYTES_MAX} are possible")]
    TooLong(usize),
}

/// The text of a request, which docs/protocol.md §2.9 calls the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    bytes: Vec<u8>,
    offer: Range<usize>,
    capabilities: Capabilities,
    may_move: bool,
}

impl BootstrapRequest {
    /// Returns the text for whoever runs the server already, behind an empty line.
    ///
    /// # Errors
    ///
    /// When a reader could not make of it what we mean.
    pub fn encode(&self) -> Result<EncodedRequest, BootstrapRequestError> {
        self.encode_behind(b"\n")
    }

    /// Returns the text for a remote side on which ssh is to run `command`, whichever shell reads it there.
    ///
    /// # Errors
    ///
    /// As for [`encode`](BootstrapRequest::encode).
    pub fn encode_for(&self, command: &str) -> Result<EncodedRequest, BootstrapRequestError> {
        let told = self.encode_behind(b"")?;
        self.encode_behind(&becoming(command, told.bytes()))
    }

    /// Returns the text behind these lines.
    fn encode_behind(&self, lines: &[u8]) -> Result<EncodedRequest, BootstrapRequestError> {
        let length: usize = self.offer.command.iter().map(|word| word.len() + 1).sum();
        if length > COMMAND_BYTES_MAX {
            return Err(BootstrapRequestError::LongCommand(length));
        }
        let mut bytes = lines.to_vec();
        append_shell_line("FULMAR START ", self.start.as_deref(), &mut bytes)?;
        append_shell_line("FULMAR MOSH ", self.fallback.as_deref(), &mut bytes)?;
        let start = bytes.len();
        bytes.append(&mut self.offer.text());
        let offer = start..bytes.len();
        match bytes.len() {
            ..=REQUEST_BYTES_MAX => Ok(EncodedRequest {
                bytes,
                offer,
                capabilities: self.offer.capabilities,
                may_move: self.offer.may_move(),
            }),
            length => Err(BootstrapRequestError::TooLong(length)),
        }
    }
}

fn append_shell_line(
    start: &str,
    line: Option<&OsStr>,
    bytes: &mut Vec<u8>,
) -> Result<(), BootstrapRequestError> {
    let Some(line) = line.map(OsStrExt::as_bytes) else {
        return Ok(());
    };
    if line.iter().any(u8::is_ascii_control) {
        return Err(BootstrapRequestError::ControlCharacter);
    }
    for part in [start.as_bytes(), line, b"\n"] {
        bytes.extend_from_slice(part);
    }
    Ok(())
}

impl EncodedRequest {
    /// Returns what to write at once.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offer in it, which the digest covers, and which is written once more when the
    /// server says that it reads.
    pub fn offer(&self) -> &[u8] {
        self.bytes.get(self.offer.clone()).unwrap_or_default()
    }

    /// Returns the capabilities that are offered.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Tells if the server may have to listen elsewhere once it has read the offer.
    pub fn may_move(&self) -> bool {
        self.may_move
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Offer {
        Offer {
            size: Size::new(24, 80),
            colors: Some(256),
            history: Some(ScrollbackLimits {
                lines: 500,
                bytes: 4096,
            }),
            bind: Some(BindAddress::Address("fe80::1%eth0".into())),
            ports: PortRange::parse("60001:60999").ok(),
            locale: vec![("LANG".into(), "en_US.UTF-8".into())],
            command: vec!["vim".into(), "a\nb".into(), "".into()],
            name: SessionName::parse("work").ok(),
            task: Some(SessionTask::List),
            ..Offer::of(Capabilities::ALL)
        }
    }

    #[test]
    fn a_block_has_the_lines_of_the_protocol() {
        let request = BootstrapRequest {
            start: Some("env A=b fulmar server".into()),
            fallback: Some("'mosh-server' 'new'".into()),
            offer: full(),
        };
        let encoded = request.encode().unwrap();
        let text = "\nFULMAR START env A=b fulmar server\nFULMAR MOSH 'mosh-server' 'new'\n\
            FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\nsize 80 24\ncolors 256\nhistory 500 4096\nbind fe80::1%25eth0\nport 60001:60999\n\
            locale LANG=en_US.UTF-8\nword vim\nword a%0Ab\nword \nname work\nsessions\nFULMAR END\n";
        assert_eq!(String::from_utf8_lossy(encoded.bytes()), text);
        let offer = encoded.offer();
        assert!(
            offer.starts_with(
                b"FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\n"
            ) && offer.ends_with(b"\nFULMAR END\n")
        );
        assert_eq!(offer, full().text());
    }

    #[test]
    fn a_shell_that_reads_it_becomes_the_command() {
        let request = BootstrapRequest {
            start: None,
            fallback: None,
            offer: Offer::of(Capabilities::NONE),
        };
        let encoded = request.encode_for("sh -c 'x y'").unwrap();
        let text = String::from_utf8_lossy(encoded.bytes());
        let told = "FULMAR OFFER 1 -\nFULMAR END\n";
        assert!(
            text.ends_with(&format!("\nexec sh -c 'x y'\n{told}")),
            "{text}"
        );
        assert_eq!(encoded.offer(), b"FULMAR OFFER 1 -\nFULMAR END\n");
    }

    #[test]
    fn without_wishes_there_is_little_to_write() {
        let request = BootstrapRequest {
            start: None,
            fallback: None,
            offer: Offer::of(Capabilities::NONE),
        };
        let encoded = request.encode().unwrap();
        let text = "\nFULMAR OFFER 1 -\nFULMAR END\n";
        assert_eq!(String::from_utf8_lossy(encoded.bytes()), text);
    }

    #[test]
    fn a_shell_line_of_several_lines_is_refused() {
        for line in ["a\nb", "a\rb", "\0", "\x1b[m"] {
            for (start, fallback) in [(Some(line.into()), None), (None, Some(line.into()))] {
                let offer = Offer::of(Capabilities::NONE);
                let request = BootstrapRequest {
                    start,
                    fallback,
                    offer,
                };
                assert_eq!(
                    request.encode(),
                    Err(BootstrapRequestError::ControlCharacter)
                );
            }
        }
    }

    #[test]
    fn what_no_server_would_read_is_refused() {
        let request = |word: String, variable: String| {
            let mut offer = Offer::of(Capabilities::NONE);
            offer.command = vec![word.into()];
            offer.locale = vec![("LANG".into(), variable.into())];
            BootstrapRequest {
                start: None,
                fallback: None,
                offer,
            }
        };
        // Each byte of it becomes three.
        let longest = "\n".repeat(COMMAND_BYTES_MAX - 1);
        let length = request(longest.clone(), String::new())
            .encode()
            .unwrap()
            .bytes()
            .len();
        let room = REQUEST_BYTES_MAX - length;
        let full = request(longest.clone(), "x".repeat(room)).encode();
        assert_eq!(full.unwrap().bytes().len(), REQUEST_BYTES_MAX);
        let more = request(longest.clone(), "x".repeat(room + 1)).encode();
        assert_eq!(
            more,
            Err(BootstrapRequestError::TooLong(REQUEST_BYTES_MAX + 1))
        );
        let longer = request(longest + "x", String::new()).encode();
        let length = COMMAND_BYTES_MAX + 1;
        assert_eq!(longer, Err(BootstrapRequestError::LongCommand(length)));
    }

    #[test]
    fn an_assignment_is_split_at_its_first_equals_sign() {
        let split = |word: &str| split_assignment(OsStr::new(word));
        let pair = |name: &str, value: &str| Some((name.into(), value.into()));
        assert_eq!(split("LANG=C.UTF-8"), pair("LANG", "C.UTF-8"));
        assert_eq!(split("A=b=c"), pair("A", "b=c"));
        assert_eq!(split("A="), pair("A", ""));
        assert_eq!(split("A"), None);
    }
}
