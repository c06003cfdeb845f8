//! Decides which addresses of a host are tried, and in which order.
//!
//! Stock asks for the canonical name first and resolves that; the addresses are the same, so ours
//! asks once.
//!
//! Source: docs/protocol.md §2.4.

use std::ffi::OsStr;
use std::net::SocketAddr;

use fulmar_login::OnlyFamily;

/// A wish for a family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPreference {
    /// Only these.
    Only(OnlyFamily),
    /// These first.
    First(OnlyFamily),
    /// All, in the resolver's order.
    All,
    /// All, if they are of one family.
    One,
}

impl AddressPreference {
    /// Reads a word of `--family`. As with stock, a word that means nothing is `auto`.
    pub fn of_word(word: &OsStr) -> AddressPreference {
        match word.to_str() {
            Some("inet") => AddressPreference::Only(OnlyFamily::Inet),
            Some("inet6") => AddressPreference::Only(OnlyFamily::Inet6),
            Some("prefer-inet") => AddressPreference::First(OnlyFamily::Inet),
            Some("prefer-inet6") => AddressPreference::First(OnlyFamily::Inet6),
            Some("all") => AddressPreference::All,
            _ => AddressPreference::One,
        }
    }

    /// Brings addresses into the order in which they are to be tried; `None` if they are of both
    /// families and that is not wished for.
    pub fn order(self, mut addresses: Vec<SocketAddr>) -> Option<Vec<SocketAddr>> {
        match self {
            AddressPreference::Only(_) | AddressPreference::All => {}
            AddressPreference::First(OnlyFamily::Inet) => {
                addresses.sort_by_key(SocketAddr::is_ipv6)
            }
            AddressPreference::First(_) => addresses.sort_by_key(SocketAddr::is_ipv4),
            AddressPreference::One => {
                let ipv4_count = addresses.iter().filter(|address| address.is_ipv4()).count();
                if ipv4_count != 0 && ipv4_count != addresses.len() {
                    return None;
                }
            }
        }
        Some(addresses)
    }

    /// Returns the family that the resolver is asked for.
    pub fn family(self) -> OnlyFamily {
        match self {
            AddressPreference::Only(family) => family,
            _ => OnlyFamily::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(word: &str, addresses: &[&str]) -> Option<Vec<String>> {
        let addresses = addresses
            .iter()
            .map(|ip| SocketAddr::new(ip.parse().unwrap(), 22));
        let ordered = AddressPreference::of_word(OsStr::new(word)).order(addresses.collect())?;
        Some(
            ordered
                .iter()
                .map(|address| address.ip().to_string())
                .collect(),
        )
    }

    #[test]
    fn addresses_are_in_the_order_that_is_wished_for() {
        const BOTH: &[&str] = &["::2", "192.0.2.1", "::1", "192.0.2.2"];
        let list = |addresses: &[&str]| Some(addresses.iter().map(|&ip| ip.to_owned()).collect());
        assert_eq!(
            ordered("prefer-inet", BOTH),
            list(&["192.0.2.1", "192.0.2.2", "::2", "::1"])
        );
        assert_eq!(
            ordered("prefer-inet6", BOTH),
            list(&["::2", "::1", "192.0.2.1", "192.0.2.2"])
        );
        assert_eq!(ordered("all", BOTH), list(BOTH));
        for word in ["auto", "nonsense", ""] {
            assert_eq!(ordered(word, BOTH), None);
            assert_eq!(ordered(word, &BOTH[..1]), list(&BOTH[..1]));
            assert_eq!(ordered(word, &BOTH[1..2]), list(&BOTH[1..2]));
        }
    }

    #[test]
    fn one_family_is_asked_of_the_resolver_if_only_that_counts() {
        for (word, family) in [
            ("inet", OnlyFamily::Inet),
            ("inet6", OnlyFamily::Inet6),
            ("prefer-inet", OnlyFamily::Any),
            ("auto", OnlyFamily::Any),
        ] {
            let preference = AddressPreference::of_word(OsStr::new(word));
            assert_eq!(preference.family(), family, "{word}");
        }
    }
}
