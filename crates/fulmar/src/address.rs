//! Numeric addresses: what is accepted never asks a name server.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

/// Reads an IPv4 or IPv6 address; a scope (`fe80::1%eth0`) is a number or the name of an interface.
pub(crate) fn parse(text: &OsStr, port: u16) -> Option<SocketAddr> {
    let text = text.to_str()?;
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, port));
    }
    let (address, _) = text.split_once('%')?;
    address.parse::<Ipv6Addr>().ok()?;
    // The system resolves the name of the interface; the address itself is numeric by now.
    (text, port).to_socket_addrs().ok()?.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbers() {
        let read = |text: &str| parse(OsStr::new(text), 7).map(|address| address.to_string());
        assert_eq!(read("192.0.2.7").as_deref(), Some("192.0.2.7:7"));
        assert_eq!(read("2001:db8::7").as_deref(), Some("[2001:db8::7]:7"));
        assert_eq!(read("fe80::1%1").as_deref(), Some("[fe80::1%1]:7"));
        assert_eq!(read("localhost"), None);
        assert_eq!(read("example.org%1"), None);
        assert_eq!(read("192.0.2"), None);
        assert_eq!(read(""), None);
    }
}
