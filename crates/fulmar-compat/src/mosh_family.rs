//! Decides which addresses of a host are tried, and in which order.
//!
//! Stock asks for the canonical name first and resolves that; the addresses are the same, so ours
//! asks once.
//!
//! Source: docs/protocol.md §2.4.

use std::ffi::OsStr;
use std::net::SocketAddr;

use fulmar_base::AddressFamily;
use fulmar_login::AddressPreference;

/// The meaning of a word of `--family`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoshFamily {
    /// These addresses.
    Preference(AddressPreference),
    /// All, if they are of one family.
    Auto,
}

impl MoshFamily {
    /// Reads a word of `--family`. As with stock, a word that means nothing is `auto`.
    pub fn of_word(word: &OsStr) -> MoshFamily {
        MoshFamily::Preference(match word.to_str() {
            Some("inet") => AddressPreference::Only(AddressFamily::Ipv4),
            Some("inet6") => AddressPreference::Only(AddressFamily::Ipv6),
            Some("prefer-inet") => AddressPreference::Prefer(AddressFamily::Ipv4),
            Some("prefer-inet6") => AddressPreference::Prefer(AddressFamily::Ipv6),
            Some("all") => AddressPreference::All,
            _ => return MoshFamily::Auto,
        })
    }

    /// Brings addresses into the order in which they are to be tried; `None` if they are of both
    /// families and that is not wished for.
    pub fn order(self, mut addresses: Vec<SocketAddr>) -> Option<Vec<SocketAddr>> {
        match self {
            MoshFamily::Preference(preference) => addresses
                .sort_by_key(|address| !preference.is_first(AddressFamily::of(address.ip()))),
            MoshFamily::Auto => {
                let ipv4_count = addresses.iter().filter(|address| address.is_ipv4()).count();
                if ipv4_count != 0 && ipv4_count != addresses.len() {
                    return None;
                }
            }
        }
        Some(addresses)
    }

    /// Returns the family that the resolver is asked for, if only one is wanted.
    pub fn only(self) -> Option<AddressFamily> {
        match self {
            MoshFamily::Preference(preference) => preference.only(),
            MoshFamily::Auto => None,
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
        let ordered = MoshFamily::of_word(OsStr::new(word)).order(addresses.collect())?;
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
            ("inet", Some(AddressFamily::Ipv4)),
            ("inet6", Some(AddressFamily::Ipv6)),
            ("prefer-inet", None),
            ("auto", None),
        ] {
            let wanted = MoshFamily::of_word(OsStr::new(word));
            assert_eq!(wanted.only(), family, "{word}");
        }
    }
}
