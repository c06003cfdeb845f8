//! Prints a server's lines for the one who started it.
//!
//! Source: docs/protocol.md §2.6, §2.9.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;

use fulmar_core::CompatMode;
use fulmar_datagram::Key;
use fulmar_login::{Announcement, BootstrapLine, CopyParams, SessionName, mosh_connect_line};
use fulmar_platform::tty::is_terminal;
use fulmar_settings::Environment;
use zeroize::Zeroizing;

use crate::advice::Advice;
use crate::session_key;

/// The most warnings that are printed.
///
/// Source: docs/protocol.md §2.9.
const WARNINGS_MAX: usize = 8;

/// Prints port and key on standard output, and nothing else, as stock does.
///
/// # Errors
///
/// When nobody can read them: then nobody can come.
pub(crate) fn announce(port: u16, key: &Key) -> io::Result<()> {
    print(&stock_lines(port, key, is_terminal(io::stdin())))
}

/// Greets a client that is to say what session it wants.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn greet(environment: &Environment) -> io::Result<()> {
    let ssh_connection = environment.get("SSH_CONNECTION");
    print(&greeting(ssh_connection, is_terminal(io::stdin())))
}

/// Prints what a server of ours can do, and then port and key.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn introduce(announcement: &Announcement, port: u16, key: &Key) -> io::Result<()> {
    print(&announcement.line())?;
    print_mosh_connect(port, key)
}

/// Prints port and key, of a server of ours that has introduced itself.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn print_mosh_connect(port: u16, key: &Key) -> io::Result<()> {
    print(&mosh_connect_line(port, key))
}

/// Prints where ssh came from, if that is known, and how the remote end of a copy is reached.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn print_copy_params(environment: &Environment, copy: CopyParams) -> io::Result<()> {
    let connection = ssh_line(environment.get("SSH_CONNECTION")).unwrap_or_default();
    let params = BootstrapLine::Copy(copy).text();
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let mut text = Zeroizing::new(String::with_capacity(connection.len() + params.len()));
    text.push_str(&connection);
    text.push_str(&params);
    print(&text)
}

/// Prints what the user is to know, and that all is well.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn agreed(warnings: &[String]) -> io::Result<()> {
    let mut text = String::new();
    for warning in warnings.iter().take(WARNINGS_MAX) {
        text.push_str(&BootstrapLine::Warning(warning.clone()).text());
    }
    text.push_str(&BootstrapLine::Agreed.text());
    print(&text)
}

/// Prints the name of the session.
///
/// # Errors
///
/// When nobody can read it.
pub(crate) fn name(name: &SessionName) -> io::Result<()> {
    lines([BootstrapLine::Name(name.clone())])
}

/// Prints these lines.
///
/// # Errors
///
/// When nobody can read them.
pub(crate) fn lines(lines: impl IntoIterator<Item = BootstrapLine>) -> io::Result<()> {
    let text: String = lines
        .into_iter()
        .map(|line| line.text().to_string())
        .collect();
    print(&text)
}

/// Prints something that the user is to know. Whoever has gone meanwhile does not miss it.
pub(crate) fn warning(what: &str) {
    let _ = print(&BootstrapLine::Warning(what.to_owned()).text());
}

/// Prints that the client was heard. Whoever has gone meanwhile does not miss it.
pub(crate) fn heard() {
    let _ = print(&BootstrapLine::Heard.text());
}

/// Prints why there is no session, and what to try.
pub(crate) fn failure(failure: &dyn Advice) {
    let advice = failure.advice(CompatMode::Fulmar).unwrap_or_default();
    let told = failure.told();
    let lines = told.iter().map(String::as_str).chain(advice.lines());
    let text: String = lines
        .map(|line| BootstrapLine::Error(line.to_owned()).text().to_string())
        .collect();
    let _ = print(&text);
}

/// Past the buffer of the standard library, which would keep a copy of the key.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    stdout.write_all(text.as_bytes())
}

/// Returns what a client is greeted with. A terminal may have echoed a part of a line before it was made raw.
fn greeting(ssh_connection: Option<&OsStr>, on_terminal: bool) -> String {
    let server = env!("CARGO_PKG_VERSION").to_owned();
    let mut text = if on_terminal { "\r\n" } else { "" }.to_owned();
    text.push_str(&BootstrapLine::Hello { server }.text());
    if let Some(line) = ssh_line(ssh_connection) {
        text.push_str(&line);
    }
    text
}

/// Returns the line that says where ssh came from, if that is known.
fn ssh_line(ssh_connection: Option<&OsStr>) -> Option<Zeroizing<String>> {
    let line = [b"MOSH SSH_CONNECTION ", ssh_connection?.as_bytes()].concat();
    Some(BootstrapLine::parse(&line, session_key::read).ok()??.text())
}

/// Returns what stock prints. On a terminal what was typed ahead may stand in the line already.
fn stock_lines(port: u16, key: &Key, on_terminal: bool) -> Zeroizing<String> {
    let start = if on_terminal { "\r\n\n" } else { "" };
    // Enough room from the start: a longer buffer would leave the shorter one behind.
    let mut lines = Zeroizing::new(String::with_capacity(64));
    lines.push_str(start);
    lines.push_str(&mosh_connect_line(port, key));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_what_mosh_looks_for() {
        let text = "c68K8iLyuCr1oEM7Hszyjg";
        let key = Key::from_base64(text).unwrap();
        let line = format!("MOSH CONNECT 60001 {text}\n");
        assert_eq!(*stock_lines(60001, &key, false), line);
        assert_eq!(*stock_lines(60001, &key, true), format!("\r\n\n{line}"));
    }

    #[test]
    fn a_greeting_says_where_ssh_came_from_if_that_is_known() {
        let hello = concat!("FULMAR HELLO ", env!("CARGO_PKG_VERSION"), "\n");
        let words = "192.0.2.1 5022 192.0.2.7 22";
        let both = format!("{hello}MOSH SSH_CONNECTION {words}\n");
        assert_eq!(greeting(Some(OsStr::new(words)), false), both);
        assert_eq!(
            greeting(Some(OsStr::new(words)), true),
            format!("\r\n{both}")
        );
        for other in ["", "a b", "1 2 3 4 5", "1 2 3 4\nFULMAR HEARD"] {
            assert_eq!(greeting(Some(OsStr::new(other)), false), hello, "{other:?}");
        }
        assert_eq!(
            greeting(Some(OsStr::from_bytes(b"\xFF 2 3 4")), false),
            hello
        );
        assert_eq!(greeting(None, false), hello);
    }
}
