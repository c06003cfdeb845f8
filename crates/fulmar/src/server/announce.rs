//! The line by which a client can find the server.
//!
//! Source: docs/protocol.md §2.6.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

use fulmar_datagram::Key;
use fulmar_platform::tty::is_terminal;
use zeroize::Zeroizing;

use crate::bootstrap::lines::invitation_text;

/// Prints port and key on standard output.
///
/// # Errors
///
/// When nobody can read them: then nobody can come.
pub(crate) fn announce(port: u16, key: &Key) -> io::Result<()> {
    let lines = lines(port, key, is_terminal(io::stdin()));
    // Past the buffer of the standard library, which would keep a copy of the key.
    let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    stdout.write_all(lines.as_bytes())
}

/// Returns what is printed. On a terminal what was typed ahead may stand in the line already.
fn lines(port: u16, key: &Key, on_terminal: bool) -> Zeroizing<String> {
    let start = if on_terminal { "\r\n\n" } else { "" };
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let mut lines = Zeroizing::new(String::with_capacity(64));
    lines.push_str(start);
    lines.push_str(&invitation_text(port, key));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_what_wrappers_look_for() {
        let text = "c68K8iLyuCr1oEM7Hszyjg";
        let key = Key::from_base64(text).unwrap();
        let line = format!("MOSH CONNECT 60001 {text}\n");
        assert_eq!(*lines(60001, &key, false), line);
        assert_eq!(*lines(60001, &key, true), format!("\r\n\n{line}"));
    }
}
