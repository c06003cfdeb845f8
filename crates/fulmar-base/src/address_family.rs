//! The families of IP addresses.

use std::net::IpAddr;

/// A family of IP addresses. Where either will do, it is an `Option`, and `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFamily {
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

impl AddressFamily {
    /// Both.
    pub const ALL: [AddressFamily; 2] = [AddressFamily::Ipv4, AddressFamily::Ipv6];

    /// Returns the family of an address. An IPv4 address that is written as an IPv6 one is of IPv6.
    pub const fn of(address: IpAddr) -> AddressFamily {
        match address {
            IpAddr::V4(_) => AddressFamily::Ipv4,
            IpAddr::V6(_) => AddressFamily::Ipv6,
        }
    }
}
