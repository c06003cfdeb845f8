//! What a server was asked to be.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::ports::PortRange;

/// The options of a server, whichever way they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Where to listen.
    pub(crate) bind: Bind,
    /// On which port.
    pub(crate) ports: PortRange,
    /// What the program is told of the terminal's colours.
    pub(crate) colors: Colors,
    /// Locale variables for a program whose environment has no UTF-8 locale, in the order given.
    pub(crate) locale: Vec<(OsString, OsString)>,
    /// How often `-v` was given: with any, the standard streams stay open and get a log.
    pub(crate) verbosity: u8,
    /// The program and its arguments; empty for the user's shell.
    pub(crate) command: Vec<OsString>,
    /// Where to write a line for each datagram.
    pub(crate) trace: Option<PathBuf>,
    /// Where to write a log.
    pub(crate) log: Option<PathBuf>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    /// On all addresses.
    Any,
    /// On the address that ssh was reached at.
    SshConnection,
    /// On this one, still unchecked.
    Address(OsString),
}

/// What the program is told of the terminal's colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colors {
    /// Eight or so.
    Few,
    /// 256.
    Palette,
}

impl Colors {
    /// Returns what a number of colours means.
    pub(crate) fn of_count(count: i64) -> Colors {
        match count {
            256 => Colors::Palette,
            _ => Colors::Few,
        }
    }

    /// Returns the `TERM` that goes with it: docs/protocol.md §2.6.
    pub(crate) fn term(self) -> &'static str {
        match self {
            Colors::Few => "xterm",
            Colors::Palette => "xterm-256color",
        }
    }
}

impl Default for Options {
    /// What `mosh-server` without any option does.
    fn default() -> Options {
        Options {
            bind: Bind::Any,
            ports: PortRange::DEFAULT,
            colors: Colors::Few,
            locale: Vec::new(),
            verbosity: 0,
            command: Vec::new(),
            trace: None,
            log: None,
        }
    }
}

/// Splits `NAME=VALUE`; a word without `=` sets nothing.
pub(crate) fn assignment(word: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = word.as_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=')?;
    let part = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    Some((part(&bytes[..equals]), part(&bytes[equals + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_split_at_its_first_equals_sign() {
        let split = |word: &str| assignment(OsStr::new(word));
        let pair = |name: &str, value: &str| Some((name.into(), value.into()));
        assert_eq!(split("LANG=C.UTF-8"), pair("LANG", "C.UTF-8"));
        assert_eq!(split("A=b=c"), pair("A", "b=c"));
        assert_eq!(split("A="), pair("A", ""));
        assert_eq!(split("A"), None);
    }
}
