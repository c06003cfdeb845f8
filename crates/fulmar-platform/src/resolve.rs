//! Asking the system for the addresses of a name.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use fulmar_base::AddressFamily;

/// The reason why there is no address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The system's resolver says no, in the words of the C library.
    #[error("{0}")]
    Resolver(String),
    /// The resolver could not do its work.
    #[error("{0}")]
    System(io::Error),
    /// A name with a zero byte in it.
    #[error("a name cannot have a zero byte")]
    ZeroByte,
}

/// Returns the addresses of `host`, a name or an address in numbers, in the system's order, with
/// the port of `service`, a number or a name. Waits for name servers. The system is told if only one family is
/// wanted, so that it need not wait for answers that nobody wants.
///
/// # Errors
///
/// When there are none: the list is not empty.
pub fn resolve(
    host: &OsStr,
    service: &OsStr,
    family: Option<AddressFamily>,
) -> Result<Vec<SocketAddr>, ResolveError> {
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(|_| ResolveError::ZeroByte);
    let (host, service) = (text(host)?, text(service)?);
    // SAFETY: zeroes are valid in every field: numbers, and pointers that are not looked at.
    let mut hints: libc::addrinfo = unsafe { MaybeUninit::zeroed().assume_init() };
    hints.ai_family = match family {
        None => libc::AF_UNSPEC,
        Some(AddressFamily::Ipv4) => libc::AF_INET,
        Some(AddressFamily::Ipv6) => libc::AF_INET6,
    };
    // One entry for each address, not one for each protocol.
    hints.ai_socktype = libc::SOCK_STREAM;
    let mut list = ptr::null_mut();
    // SAFETY: both names end with a zero byte, and all four pointers are to live memory.
    let status = unsafe { libc::getaddrinfo(host.as_ptr(), service.as_ptr(), &hints, &mut list) };
    if status != 0 {
        return Err(failure(status));
    }
    // SAFETY: the call has succeeded, so `list` is a list of its making; it is freed once, and
    // `addresses` keeps nothing of it.
    let found = unsafe {
        let found = addresses(list);
        libc::freeaddrinfo(list);
        found
    };
    if found.is_empty() {
        Err(failure(libc::EAI_NONAME))
    } else {
        Ok(found)
    }
}

/// Reads a list of `getaddrinfo`.
///
/// # Safety
///
/// `entry` is null, or the beginning of such a list that was not freed.
unsafe fn addresses(mut entry: *const libc::addrinfo) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    // SAFETY: as the caller promises, each entry is null or valid.
    while let Some(info) = unsafe { entry.as_ref() } {
        // SAFETY: the address of an entry is as long as its family says.
        found.extend(unsafe { address(info) });
        entry = info.ai_next;
    }
    found
}

/// Reads the address of one entry; `None` if it is of a family that is not IP.
///
/// # Safety
///
/// `info` is an entry of a list of `getaddrinfo`.
unsafe fn address(info: &libc::addrinfo) -> Option<SocketAddr> {
    let length = info.ai_addrlen as usize;
    match info.ai_family {
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: it is long enough, and the C library aligns it.
            let address = unsafe { info.ai_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Some((ip, u16::from_be(address.sin_port)).into())
        }
        libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above.
            let address = unsafe { info.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            let (port, scope) = (u16::from_be(address.sin6_port), address.sin6_scope_id);
            Some(SocketAddrV6::new(ip, port, 0, scope).into())
        }
        _ => None,
    }
}

fn failure(status: libc::c_int) -> ResolveError {
    if status == libc::EAI_SYSTEM {
        return ResolveError::System(io::Error::last_os_error());
    }
    // SAFETY: the C library has a text for every number, and the text stays.
    let text = unsafe { CStr::from_ptr(libc::gai_strerror(status)) };
    ResolveError::Resolver(text.to_string_lossy().into_owned())
}

/// Returns an address in numbers, with the interface by name if it is good on one link only.
pub fn numeric(address: SocketAddr) -> String {
    let zone = match address {
        SocketAddr::V6(address) if address.scope_id() != 0 => address.scope_id(),
        _ => return address.ip().to_string(),
    };
    let ip: IpAddr = address.ip();
    match interface_name(zone) {
        Some(name) => format!("{ip}%{name}"),
        None => format!("{ip}%{zone}"),
    }
}

fn interface_name(number: u32) -> Option<String> {
    let mut name = [0; libc::IF_NAMESIZE];
    // SAFETY: the array has the size that the call asks for.
    let found = unsafe { libc::if_indextoname(number, name.as_mut_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the call has succeeded, so there is a name in the array with a zero byte behind it.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    name.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        host: &str,
        service: &str,
        family: Option<AddressFamily>,
    ) -> Result<Vec<SocketAddr>, ResolveError> {
        resolve(OsStr::new(host), OsStr::new(service), family)
    }

    #[test]
    fn numbers_are_their_own_addresses() {
        let read = |host, family| found(host, "22", family).unwrap();
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 22));
        assert_eq!(read("127.0.0.1", None), [loopback]);
        assert_eq!(read("127.0.0.1", Some(AddressFamily::Ipv4)), [loopback]);
        let loopback = SocketAddr::from((Ipv6Addr::LOCALHOST, 22));
        assert_eq!(read("::1", Some(AddressFamily::Ipv6)), [loopback]);
    }

    #[test]
    fn a_family_that_a_number_is_not_of_is_told() {
        for (host, family) in [
            ("127.0.0.1", Some(AddressFamily::Ipv6)),
            ("::1", Some(AddressFamily::Ipv4)),
        ] {
            let told = found(host, "22", family).unwrap_err();
            assert!(matches!(told, ResolveError::Resolver(text) if !text.is_empty()));
        }
        let told = found("a\0b", "22", None).unwrap_err();
        assert!(matches!(told, ResolveError::ZeroByte));
    }

    #[test]
    fn an_address_of_one_link_keeps_its_interface() {
        // The name of the loopback interface differs between systems, its number does not.
        let address = found("fe80::1%1", "7", None).unwrap()[0];
        let text = numeric(address);
        assert!(text.starts_with("fe80::1%"), "{text}");
        assert_eq!(found(&text, "7", None).unwrap(), [address]);
        assert_eq!(
            numeric("[fe80::1%4000000000]:7".parse().unwrap()),
            "fe80::1%4000000000"
        );
        assert_eq!(numeric("192.0.2.7:1".parse().unwrap()), "192.0.2.7");
    }
}
