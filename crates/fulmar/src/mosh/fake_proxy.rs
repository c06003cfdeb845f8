//! Carrying ssh's bytes to the server, as its `ProxyCommand`, and telling which address that is.
//!
//! Source: docs/protocol.md §2.4.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::thread;

use fulmar_compat::MoshFamily;
use fulmar_platform::process::redirect_stdio_to_null;
use fulmar_platform::resolve::numeric;

use super::error::MoshError;
use super::resolve::addresses;
use crate::report;
use crate::system::while_doing;

/// More than the longest message of ssh.
///
/// Chosen by eye.
const BUFFER_BYTES: usize = 64 * 1024;

/// Connects to the first address of `host` that answers, prints it on standard error, and carries
/// bytes until both sides have ended. Returns the status to leave with.
///
/// # Errors
///
/// When there is no address, or none answers.
pub(crate) fn run(host: &OsStr, service: &OsStr, family: &OsStr) -> Result<u8, MoshError> {
    let addresses = addresses(host, service, MoshFamily::of_word(family))?;
    let (stream, address) = connect(&addresses).map_err(|(address, error)| MoshError::NoTcp {
        host: host.to_owned(),
        address,
        error,
    })?;
    report::print_to_stderr(&format!("MOSH IP {}\n", numeric(address)));
    relay(&stream).map_err(while_doing("carrying bytes between ssh and the server"))?;
    Ok(0)
}

/// Tries each address in turn. There is at least one.
fn connect(
    addresses: &[SocketAddr],
) -> Result<(TcpStream, SocketAddr), (Option<SocketAddr>, io::Error)> {
    let mut last = (None, io::ErrorKind::AddrNotAvailable.into());
    for &address in addresses {
        match TcpStream::connect(address) {
            Ok(stream) => return Ok((stream, address)),
            Err(error) => last = (Some(address), error),
        }
    }
    Err(last)
}

/// Carries bytes both ways. The end of one way is passed on, and the other way goes on.
fn relay(stream: &TcpStream) -> io::Result<()> {
    // ssh writes whole messages.
    stream.set_nodelay(true)?;
    let mut from_ssh = own(io::stdin())?;
    let mut to_ssh = own(io::stdout())?;
    // When these are closed, nothing of ssh's is held open.
    redirect_stdio_to_null()?;
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, move || {
            // Whatever has ended this way, there is no more to come.
            let _ = carry(&mut from_ssh, &mut { stream });
            let _ = stream.shutdown(Shutdown::Write);
        })?;
        let _ = carry(&mut { stream }, &mut to_ssh);
        drop(to_ssh);
        Ok(())
    })
}

/// Copies bytes until their end.
///
/// The library's own copy has the kernel move bytes between pipe and socket. At the other end of
/// such a pipe `poll` was seen to promise bytes that `read` then waited for.
fn carry(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome?,
        };
        match buffer.get(..count) {
            Some([]) | None => return Ok(()),
            Some(bytes) => to.write_all(bytes)?,
        }
    }
}

fn own(stream: impl AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    fn listen() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[test]
    fn addresses_are_tried_until_one_answers() {
        let (dead, nobody_there) = listen();
        drop(dead);
        let (_first, address) = listen();
        let (_second, another) = listen();
        let (stream, reached) = connect(&[nobody_there, address, another]).unwrap();
        assert_eq!(reached, address);
        assert_eq!(stream.peer_addr().unwrap(), address);
        let (last, error) = connect(&[nobody_there]).unwrap_err();
        assert_eq!(last, Some(nobody_there));
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn bytes_are_carried_to_their_end() {
        let bytes: Vec<u8> = (0..BUFFER_BYTES * 3 + 7).map(|index| index as u8).collect();
        let mut carried = Vec::new();
        carry(&mut bytes.as_slice(), &mut carried).unwrap();
        assert!(carried == bytes);
    }
}
