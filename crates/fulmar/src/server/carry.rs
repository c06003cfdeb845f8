//! The process that stays with a login: it tells of the server that the login has started, and carries the datagrams of the
//! session over ssh if the client wants that.
//!
//! ```text
//!  ssh ── records ──► standard input ──► carrier ──► the session's socket
//!      ◄───────────── standard output ◄─────┴◄──────────────┘
//! ```
//!
//! Source: docs/protocol.md §2.12.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use fulmar_core::CompatMode;
use fulmar_login::{OVER_SSH_LINE, SERVER_STATUS_NO_PROGRAM, SessionName};
use fulmar_platform::{Interest, Poller};
use fulmar_settings::Environment;

use super::announce;
use super::error::ServerError;
use crate::environment;
use crate::login_parent::{Leave, LoginParent};
use crate::offer_input::Input;
use crate::reactor::Token;
use crate::sessions::{Directory, SessionsError};

/// The bytes that are carried at once: what one end has written in one go is usually one packet of ssh.
const BYTES_AT_ONCE: usize = 64 * 1024;

/// Stays with a login as long as that is of use, and returns the status to leave with.
///
/// # Errors
///
/// When the login or the server has ended too early.
pub(super) fn attend(mut parent: LoginParent, mut input: Input) -> Result<u8, ServerError> {
    loop {
        match parent.attend(&mut input)? {
            Leave::Heard => {
                announce::heard();
                // A client that knows what else ssh can do ends the login itself.
                if parent.carries().is_none() {
                    return Ok(0);
                }
            }
            Leave::Carried => {}
            Leave::OverSsh(early) => {
                let session = parent.carries().map(open);
                match session {
                    Some(Ok(session)) => {
                        // How it ends does not matter: the path is gone.
                        let ended = carry(input, &early, session);
                        tracing::info!(?ended, "ssh carries nothing any more");
                        return Ok(0);
                    }
                    Some(Err(failure)) => announce::warning(&failure.to_string()),
                    None => {}
                }
            }
            Leave::Failed => return Ok(CompatMode::Fulmar.failure_status()),
            Leave::NoProgram => return Ok(SERVER_STATUS_NO_PROGRAM),
            Leave::LoginEnded if parent.is_independent() => return Ok(0),
            Leave::LoginEnded => return Err(ServerError::LoginEnded),
            Leave::DaemonEnded => return Err(ServerError::ServerEnded),
        }
    }
}

/// Returns a connection to that session.
fn open(name: &SessionName) -> Result<UnixStream, SessionsError> {
    let environment = environment::current();
    let client = client_address(&environment);
    Directory::choose(&environment, Some(name))?.carry(client)
}

/// Returns the address from which ssh has come.
pub(super) fn client_address(environment: &Environment) -> Option<IpAddr> {
    let connection = environment.get("SSH_CONNECTION")?.to_str()?;
    connection.split(' ').next()?.parse().ok()
}

/// Carries bytes both ways until either side ends. What one side does not take holds up the other, which loses datagrams
/// then; the session itself waits for nobody.
fn carry(mut input: Input, early: &[u8], mut session: UnixStream) -> io::Result<()> {
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    output.write_all(OVER_SSH_LINE.as_bytes())?;
    session.write_all(early)?;
    let mut poller = Poller::new();
    let mut bytes = vec![0; BYTES_AT_ONCE];
    loop {
        poller.wait(None, |registry| {
            registry.add(Token::SessionServer, &session, Interest::Read);
            registry.add(Token::Input, &input, Interest::Read);
        })?;
        let is_ready = |wanted| poller.ready().any(|(token, _)| token == wanted);
        let (has_answer, has_input) = (is_ready(Token::SessionServer), is_ready(Token::Input));
        if has_answer {
            let mut from = &session;
            if pass(&mut from, &mut output, &mut bytes)?.is_none() {
                return Ok(());
            }
        }
        if has_input && pass(&mut input, &mut session, &mut bytes)?.is_none() {
            return Ok(());
        }
    }
}

/// Passes on what has come; `None` at the end.
fn pass(from: &mut impl Read, to: &mut impl io::Write, bytes: &mut [u8]) -> io::Result<Option<()>> {
    let count = match from.read(bytes) {
        Err(error) if is_passing(&error) => return Ok(Some(())),
        outcome => outcome?,
    };
    to.write_all(bytes.get(..count).unwrap_or_default())?;
    Ok((count > 0).then_some(()))
}

/// Whoever gave us standard input may have made it non-blocking.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}
