//! The operands on the command line of a copy: files here, files there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use fulmar_login::{Destination, DestinationError};

/// A file, as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// `-`: standard input or output.
    Stdio,
    /// On this machine.
    Local(OsString),
    /// `[user@]host:path`.
    Remote(Remote),
}

/// A file on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    /// `[user@]host` as ssh takes it, without the brackets of an IPv6 address.
    pub(crate) destination: OsString,
    /// The text behind the colon; empty for the home folder.
    pub(crate) path: OsString,
}

/// The reason why an operand names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadOperand {
    /// It is the empty word.
    #[error("it is empty")]
    Empty,
    /// It is a URI, whose port goes elsewhere here.
    #[error("it is written as a URI; here it is [user@]host:path")]
    Uri,
    /// ssh would not take the host.
    #[error("{0}")]
    Host(DestinationError),
}

impl Operand {
    /// Reads an operand as scp does: what has a colon before any slash is on another machine, and an
    /// address that has colons itself stands in brackets.
    ///
    /// # Errors
    ///
    /// When it names nothing.
    pub(crate) fn parse(text: &OsStr) -> Result<Operand, BadOperand> {
        let bytes = text.as_bytes();
        match bytes {
            b"" => return Err(BadOperand::Empty),
            b"-" => return Ok(Operand::Stdio),
            _ if is_uri(bytes) => return Err(BadOperand::Uri),
            _ => {}
        }
        let Some(colon) = colon(bytes) else {
            return Ok(Operand::Local(text.to_owned()));
        };
        let (host, path) = bytes.split_at(colon);
        let destination = OsString::from(OsStr::from_bytes(&without_brackets(host)));
        Destination::parse(&destination).map_err(BadOperand::Host)?;
        Ok(Operand::Remote(Remote {
            destination,
            path: OsStr::from_bytes(path.get(1..).unwrap_or_default()).to_owned(),
        }))
    }
}

/// Returns where the path of a file on another machine begins, if it is one: behind the colon.
pub(crate) fn remote_path_at(text: &OsStr) -> Option<usize> {
    let bytes = text.as_bytes();
    let at = if is_uri(bytes) { None } else { colon(bytes) };
    at.map(|colon| colon + 1)
}

fn is_uri(bytes: &[u8]) -> bool {
    let schemes: [&[u8]; 3] = [b"scp://", b"sftp://", b"ssh://"];
    schemes.iter().any(|scheme| bytes.starts_with(scheme))
}

/// Returns where the colon is that parts host and path.
fn colon(bytes: &[u8]) -> Option<usize> {
    bracketed_colon(bytes).or_else(|| plain_colon(bytes))
}

fn bracketed_colon(bytes: &[u8]) -> Option<usize> {
    let bracket = bytes.iter().position(|&byte| byte == b'[')?;
    let (before, rest) = bytes.split_at(bracket);
    let is_at_start = before.is_empty() || before.ends_with(b"@");
    let end = rest.windows(2).position(|pair| pair == b"]:")?;
    let has_slash = before
        .iter()
        .chain(rest.get(..end)?)
        .any(|&byte| byte == b'/');
    (is_at_start && !has_slash).then_some(bracket + end + 1)
}

fn plain_colon(bytes: &[u8]) -> Option<usize> {
    let at = bytes.iter().position(|byte| matches!(byte, b':' | b'/'))?;
    // A name that begins with a colon is a file's.
    (at > 0 && bytes.get(at) == Some(&b':')).then_some(at)
}

fn without_brackets(host: &[u8]) -> Vec<u8> {
    let at = host.iter().rposition(|&byte| byte == b'@');
    let start = at.map_or(0, |at| at + 1);
    let (user, host) = host.split_at(start);
    let inner = host
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"));
    [user, inner.unwrap_or(host)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(destination: &str, path: &str) -> Operand {
        Operand::Remote(Remote {
            destination: destination.into(),
            path: path.into(),
        })
    }

    #[test]
    fn what_has_a_colon_before_a_slash_is_remote() {
        for (text, operand) in [
            ("host:", remote("host", "")),
            ("host:a b'c\"", remote("host", "a b'c\"")),
            ("ada@host:/x:y", remote("ada@host", "/x:y")),
            ("ada@host:~/x", remote("ada@host", "~/x")),
            ("[::1]:path", remote("::1", "path")),
            ("ada@[fe80::1%eth0]:p", remote("ada@fe80::1%eth0", "p")),
            ("[host]:p", remote("host", "p")),
            ("host:a[1]:b", remote("host", "a[1]:b")),
            ("a", Operand::Local("a".into())),
            ("./a:b", Operand::Local("./a:b".into())),
            ("/x/[::1]:y", Operand::Local("/x/[::1]:y".into())),
            (":a", Operand::Local(":a".into())),
            ("a[1]", Operand::Local("a[1]".into())),
            ("./-", Operand::Local("./-".into())),
            ("-", Operand::Stdio),
        ] {
            assert_eq!(Operand::parse(OsStr::new(text)), Ok(operand), "{text}");
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        let parse = |text: &str| Operand::parse(OsStr::new(text));
        assert_eq!(parse(""), Err(BadOperand::Empty));
        assert_eq!(parse("scp://host/x"), Err(BadOperand::Uri));
        for text in ["-oProxyCommand=x:y", "a b:c", "[-x]:y", "@:x", "ada@:x"] {
            assert!(matches!(parse(text), Err(BadOperand::Host(_))), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let text = OsStr::from_bytes(b"host:\xFF\n");
        let Ok(Operand::Remote(remote)) = Operand::parse(text) else {
            panic!("it has a colon");
        };
        assert_eq!(remote.path.as_bytes(), b"\xFF\n");
    }
}
