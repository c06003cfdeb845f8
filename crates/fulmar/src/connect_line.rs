//! Reading the line by which a server tells its port and its key.
//!
//! Source: docs/protocol.md §2.4.

use std::io;

use fulmar_datagram::Key;
use zeroize::Zeroizing;

/// The longest line that is looked at.
///
/// Source: docs/threat-model.md §6.
const LINE_BYTES_MAX: usize = 1024;

/// What may come before the line that counts.
///
/// Source: docs/threat-model.md §6.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// What a client needs to find its server.
pub(crate) struct Invitation {
    /// The server's UDP port.
    pub(crate) port: u16,
    /// The session's key.
    pub(crate) key: Key,
}

/// Reads up to the line that counts, and gives all lines before it to `other`. `None` if there is no
/// such line within bounds.
///
/// # Errors
///
/// When `input` cannot be read.
pub(crate) fn read(
    mut input: impl io::Read,
    mut other: impl FnMut(&[u8]),
) -> io::Result<Option<Invitation>> {
    let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX));
    let mut byte = [0];
    // Byte by byte: nothing beyond the line is ours to take.
    for _ in 0..TEXT_BYTES_MAX {
        let count = match input.read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome?,
        };
        let [byte] = byte;
        if count > 0 && byte != b'\n' {
            if line.len() == LINE_BYTES_MAX {
                return Ok(None);
            }
            line.push(byte);
            continue;
        }
        if let Some(invitation) = parse(&line) {
            return Ok(Some(invitation));
        }
        if count == 0 {
            return Ok(None);
        }
        other(&line);
        line.clear();
    }
    Ok(None)
}

/// Reads `MOSH CONNECT <port> <key>`; blanks and a carriage return may follow.
fn parse(line: &[u8]) -> Option<Invitation> {
    let rest = str::from_utf8(line).ok()?.strip_prefix("MOSH CONNECT ")?;
    let (port, key) = rest.trim_ascii_end().split_once(' ')?;
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    Some(Invitation {
        port: port.parse().ok().filter(|&port| is_number && port > 0)?,
        key: Key::from_base64(key).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";

    fn port_in(text: &str) -> (Option<u16>, Vec<String>, usize) {
        let mut input = text.as_bytes();
        let mut others = Vec::new();
        let other = |line: &[u8]| others.push(String::from_utf8_lossy(line).into_owned());
        let invitation = read(&mut input, other).unwrap();
        (
            invitation.map(|invitation| invitation.port),
            others,
            input.len(),
        )
    }

    #[test]
    fn the_line_is_found_among_others_and_nothing_after_it_is_read() {
        let text = format!("\r\n\nhello\nMOSH CONNECT 60001 {KEY} \r\nrest");
        let (port, others, left) = port_in(&text);
        assert_eq!(port, Some(60001));
        assert_eq!(others, ["\r", "", "hello"]);
        assert_eq!(left, 4);
        assert_eq!(port_in(&format!("MOSH CONNECT 7 {KEY}")).0, Some(7));
    }

    #[test]
    fn a_malformed_line_is_one_of_the_others() {
        for text in [
            "MOSH CONNECT 60001 short\n".to_owned(),
            format!("MOSH CONNECT 70000 {KEY}\n"),
            format!("MOSH CONNECT +7 {KEY}\n"),
            format!("MOSH CONNECT 0 {KEY}\n"),
            format!(" MOSH CONNECT 60001 {KEY}\n"),
            format!("MOSH CONNECT 60001 {KEY} x\n"),
        ] {
            let (port, others, _) = port_in(&text);
            assert_eq!((port, others.len()), (None, 1), "{text}");
        }
    }

    #[test]
    fn what_is_read_has_bounds() {
        let long_line = "x".repeat(LINE_BYTES_MAX + 1);
        assert_eq!(
            port_in(&format!("{long_line}\nMOSH CONNECT 7 {KEY}\n")).0,
            None
        );
        let (port, others, _) = port_in(&"x\n".repeat(TEXT_BYTES_MAX));
        assert_eq!((port, others.len()), (None, TEXT_BYTES_MAX / 2));
    }
}
