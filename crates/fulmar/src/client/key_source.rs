//! Takes a client's key from the environment, or from standard input.
//!
//! Source: docs/protocol.md §2.8, docs/threat-model.md §9.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::str;

use fulmar_datagram::{Key, KeyError};
use fulmar_platform::take_env_secret;
use zeroize::Zeroizing;

use super::error::ClientError;
use crate::session_key;
use crate::system::{SystemError, while_doing};

/// The longest line that is read for a key. A key has 22 characters; a few more let us say that
/// there are too many.
///
/// Chosen by eye.
const LINE_BYTES_MAX: usize = 128;

/// The text of a key that was not checked yet.
pub(crate) type KeyText = Zeroizing<Vec<u8>>;

/// Takes the key out of the environment, where other programs of the user could read it.
///
/// # Errors
///
/// When that cannot be done any more because other threads run.
pub(crate) fn from_environment() -> Result<Option<KeyText>, SystemError> {
    take_env_secret("MOSH_KEY").map_err(while_doing("taking MOSH_KEY out of the environment"))
}

/// Reads a line from standard input, and nothing beyond it.
///
/// # Errors
///
/// When standard input cannot be read, or ends before there is anything.
pub(crate) fn from_stdin() -> Result<KeyText, ClientError> {
    // Past the buffer of the standard library, which would keep a copy of the key.
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    let read = stdin.and_then(|stdin| read_line(File::from(stdin)));
    let line = read.map_err(while_doing("reading the key from standard input"))?;
    if line.is_empty() {
        return Err(ClientError::KeyMissing);
    }
    Ok(line)
}

/// Reads up to the end of the line, of the input, or of what a key could be.
fn read_line(mut input: impl io::Read) -> io::Result<KeyText> {
    let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX));
    let mut byte = Zeroizing::new([0]);
    while line.len() < LINE_BYTES_MAX {
        match input.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = line.trim_ascii_end().len();
    line.truncate(length);
    Ok(line)
}

/// Reads the text of a key.
///
/// # Errors
///
/// When it is not one. Nothing of it is repeated.
pub(crate) fn parse(text: &KeyText) -> Result<Key, ClientError> {
    let text = str::from_utf8(text).map_err(|_| ClientError::BadKey(KeyError::NotBase64))?;
    session_key::read(text).map_err(ClientError::BadKey)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    #[test]
    fn a_line_is_read_and_what_follows_is_left_alone() {
        let mut input = format!("{KEY} \r\nrest").into_bytes();
        let mut input = input.as_mut_slice() as &[u8];
        assert_eq!(*read_line(&mut input).unwrap(), KEY.as_bytes());
        assert_eq!(input, b"rest");
        assert_eq!(*read_line(KEY.as_bytes()).unwrap(), KEY.as_bytes());
        assert!(read_line(&b""[..]).unwrap().is_empty());
        assert_eq!(read_line(io::repeat(b'x')).unwrap().len(), LINE_BYTES_MAX);
    }

    #[test]
    fn only_a_key_is_a_key() {
        let parsed = |text: &[u8]| parse(&Zeroizing::new(text.to_vec()));
        assert!(parsed(KEY.as_bytes()).is_ok());
        for bad in [&b""[..], b"abc", b"c68K8iLyuCr1oEM7Hszyjh", &[0xFF; 22]] {
            assert!(
                matches!(parsed(bad), Err(ClientError::BadKey(_))),
                "{bad:?}"
            );
        }
    }
}
