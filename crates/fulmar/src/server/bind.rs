//! Finding a port to listen on.
//!
//! Source: docs/protocol.md §2.6.

use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;

use fulmar_core::CompatMode;
use fulmar_datagram::limits::{DATAGRAM_BYTES_IPV4, DATAGRAM_BYTES_IPV6};
use fulmar_login::{BindAddress, PortRange};
use fulmar_platform::UdpSocket;
use fulmar_platform::udp::{IpStack, UdpOptions};
use fulmar_settings::Environment;

use super::error::ServerError;
use crate::address;
use crate::process_title::PortHolder;

/// The sockets of a server, all on one port.
#[derive(Debug)]
pub(crate) struct Bound {
    /// One, or one for each address family.
    pub(crate) sockets: Vec<UdpSocket>,
    /// Their port.
    pub(crate) port: u16,
    /// The options that could not be met.
    pub(crate) complaints: Vec<String>,
}

impl Bound {
    /// Returns the longest datagram that may be sent on any of the sockets.
    pub(crate) fn datagram_bytes(&self) -> usize {
        let is_v4 = |socket: &UdpSocket| socket.local_address().is_ok_and(|at| at.is_ipv4());
        if self.sockets.iter().all(is_v4) {
            DATAGRAM_BYTES_IPV4
        } else {
            DATAGRAM_BYTES_IPV6
        }
    }
}

/// Binds where it was asked for, or else on all addresses.
///
/// # Errors
///
/// When no port is free on any address.
pub(crate) fn bind(
    wish: &BindAddress,
    ports: PortRange,
    environment: &Environment,
    compat: CompatMode,
) -> Result<Bound, ServerError> {
    bind_with(wish, ports, environment, compat, UdpOptions::default())
}

/// The same for sockets that are set up so.
///
/// # Errors
///
/// As for [`bind`].
pub(crate) fn bind_with(
    wish: &BindAddress,
    ports: PortRange,
    environment: &Environment,
    compat: CompatMode,
    options: UdpOptions,
) -> Result<Bound, ServerError> {
    let mut complaints = Vec::new();
    let requested = requested(wish, environment, &mut complaints);
    if let Some(address) = requested {
        match first_free(ports, |port| bind_one(with_port(address, port), options)) {
            Ok(socket) => return bound(vec![socket], complaints),
            Err(error) => complaints.push(format!(
                "cannot listen on {} at UDP {ports}: {error}; trying all addresses",
                address.ip()
            )),
        }
    }
    let sockets = match compat {
        CompatMode::Fulmar => first_free(ports, |port| bind_both_families(port, options)),
        CompatMode::Mosh => first_free(ports, |port| {
            bind_any(port, options).map(|socket| vec![socket])
        }),
    };
    let sockets = sockets.map_err(|error| busy(ports, error))?;
    bound(sockets, complaints)
}

fn busy(ports: PortRange, error: io::Error) -> ServerError {
    let port = ports.single().filter(|_| is_taken(&error));
    ServerError::PortsBusy {
        ports,
        error,
        holder: port.and_then(PortHolder::at),
    }
}

fn bound(sockets: Vec<UdpSocket>, complaints: Vec<String>) -> Result<Bound, ServerError> {
    let port = sockets
        .first()
        .map_or(Ok(0), |socket| socket.local_address().map(|at| at.port()))
        .map_err(crate::system::while_doing(
            "asking for the port of a socket",
        ))?;
    Ok(Bound {
        sockets,
        port,
        complaints,
    })
}

/// Returns the address to try first, with port 0.
fn requested(
    wish: &BindAddress,
    environment: &Environment,
    complaints: &mut Vec<String>,
) -> Option<SocketAddr> {
    let text = match wish {
        BindAddress::Any => return None,
        BindAddress::Address(text) => text.clone(),
        BindAddress::SshConnection => match environment.get("SSH_CONNECTION") {
            None => {
                complaints.push("SSH_CONNECTION is not set; listening on all addresses".to_owned());
                return None;
            }
            Some(connection) => server_word(connection),
        },
    };
    let parsed = address::parse(&text, 0);
    if parsed.is_none() {
        let text = text.display();
        complaints.push(format!(
            "no numeric address: {text:?}; listening on all addresses"
        ));
    }
    parsed
}

/// Returns the third word of `SSH_CONNECTION`, the address that the client reached; empty if there
/// is none. IPv4 addresses that come as IPv6 are written as what they are.
pub(super) fn server_word(connection: &OsStr) -> OsString {
    let mut words = connection
        .as_bytes()
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let word = words.nth(2).unwrap_or_default();
    let plain = match word.split_at_checked(7) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case(b"::ffff:") => rest,
        _ => word,
    };
    OsStr::from_bytes(plain).to_owned()
}

fn with_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

/// Tries ports from the lowest up.
fn first_free<T>(ports: PortRange, mut attempt: impl FnMut(u16) -> io::Result<T>) -> io::Result<T> {
    let mut last = io::ErrorKind::InvalidInput.into();
    for port in ports.iter() {
        match attempt(port) {
            Ok(bound) => return Ok(bound),
            // Not a matter of the port.
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => return Err(error),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bind_one(address: SocketAddr, options: UdpOptions) -> io::Result<UdpSocket> {
    UdpSocket::bind(address, options)
}

/// Binds to all addresses as stock does: IPv4 where there is such a thing, else IPv6.
fn bind_any(port: u16, options: UdpOptions) -> io::Result<UdpSocket> {
    bind_one((Ipv4Addr::UNSPECIFIED, port).into(), options).or_else(|error| {
        if is_taken(&error) {
            return Err(error);
        }
        let options = UdpOptions {
            stack: IpStack::Dual,
            ..options
        };
        UdpSocket::bind((Ipv6Addr::UNSPECIFIED, port).into(), options)
    })
}

/// The most times that the system may choose a port for IPv4 that is taken for IPv6. Chosen by eye.
const CHOICES_MAX: usize = 16;

/// Binds to all addresses of both families, on the same port, as far as the machine has them.
fn bind_both_families(port: u16, options: UdpOptions) -> io::Result<Vec<UdpSocket>> {
    let attempts = if port == 0 { CHOICES_MAX } else { 1 };
    let mut outcome = Err(io::ErrorKind::AddrInUse.into());
    for _ in 0..attempts {
        outcome = bind_pair(port, options);
        if !matches!(&outcome, Err(error) if is_taken(error)) {
            break;
        }
    }
    outcome
}

fn bind_pair(port: u16, options: UdpOptions) -> io::Result<Vec<UdpSocket>> {
    let v4 = match bind_one((Ipv4Addr::UNSPECIFIED, port).into(), options) {
        Err(error) if is_taken(&error) => return Err(error),
        outcome => outcome,
    };
    let port = match &v4 {
        Ok(socket) => socket.local_address()?.port(),
        Err(_) => port,
    };
    match (v4, bind_one((Ipv6Addr::UNSPECIFIED, port).into(), options)) {
        (_, Err(error)) if is_taken(&error) => Err(error),
        (Ok(v4), Ok(v6)) => Ok(vec![v4, v6]),
        (Ok(v4), Err(_)) => Ok(vec![v4]),
        (Err(_), Ok(v6)) => Ok(vec![v6]),
        (Err(error), Err(_)) => Err(error),
    }
}

fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_tells_the_address_that_the_client_reached() {
        for (connection, word) in [
            ("192.0.2.1 5022 192.0.2.7 22", "192.0.2.7"),
            ("192.0.2.1 5022 ::FFFF:192.0.2.7 22", "192.0.2.7"),
            ("::1 5022 fe80::1%eth0 22", "fe80::1%eth0"),
            ("a b", ""),
            ("", ""),
        ] {
            assert_eq!(server_word(OsStr::new(connection)), word, "{connection:?}");
        }
    }

    fn port_of(socket: &UdpSocket) -> u16 {
        socket.local_address().unwrap().port()
    }

    #[test]
    fn both_families_share_one_port() {
        let bound = bind(
            &BindAddress::Any,
            PortRange::parse("0").unwrap(),
            &Environment::default(),
            CompatMode::Fulmar,
        );
        let bound = bound.unwrap();
        assert!(bound.port != 0 && bound.complaints.is_empty());
        assert!(
            bound
                .sockets
                .iter()
                .all(|socket| port_of(socket) == bound.port)
        );
    }

    #[test]
    fn a_busy_port_is_an_error_and_in_a_range_the_next_one_is_taken() {
        let busy = bind_one((Ipv4Addr::UNSPECIFIED, 0).into(), UdpOptions::default()).unwrap();
        let low = port_of(&busy);
        let only = PortRange::parse(&low.to_string()).unwrap();
        for compat in [CompatMode::Fulmar, CompatMode::Mosh] {
            let outcome = bind(&BindAddress::Any, only, &Environment::default(), compat);
            assert!(
                matches!(outcome, Err(ServerError::PortsBusy { .. })),
                "{compat:?}"
            );
        }
        let range = PortRange::parse(&format!("{low}:65535")).unwrap();
        let bound = bind(
            &BindAddress::Any,
            range,
            &Environment::default(),
            CompatMode::Mosh,
        )
        .unwrap();
        assert!(bound.port > low);
    }

    #[test]
    fn an_address_that_is_not_ours_is_told_and_all_are_tried() {
        let ports = PortRange::parse("0").unwrap();
        let no_ssh = Environment::default();
        for wish in [
            BindAddress::Address("192.0.2.1".into()),
            BindAddress::Address("nonsense".into()),
            BindAddress::SshConnection,
        ] {
            let bound = bind(&wish, ports, &no_ssh, CompatMode::Mosh).unwrap();
            assert_eq!(bound.complaints.len(), 1, "{wish:?}");
            assert!(
                bound.sockets[0]
                    .local_address()
                    .unwrap()
                    .ip()
                    .is_unspecified()
            );
        }
        let ours = BindAddress::Address("127.0.0.1".into());
        let bound = bind(&ours, ports, &no_ssh, CompatMode::Mosh).unwrap();
        let address = bound.sockets[0].local_address().unwrap().ip();
        assert_eq!(address, Ipv4Addr::LOCALHOST);
        assert!(bound.complaints.is_empty());
    }
}
