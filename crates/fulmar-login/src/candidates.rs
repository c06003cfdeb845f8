//! To which addresses the first datagrams go, and in what order.

use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

use fulmar_base::AddressFamily;

use crate::address_preference::AddressPreference;

/// The source of the server's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// Our own resolution, put in order by what the server says.
    Proxy,
    /// Our own resolution.
    Local,
    /// The server.
    Remote,
}

/// The most addresses that are tried.
///
/// Source: docs/threat-model.md §6.
pub(crate) const CANDIDATES_MAX: usize = 8;

/// Returns where to send, in order and each address once. `resolved` are the addresses of the host's
/// name, `reported` is the address that ssh was reached at, by the server's account; `source` says which of
/// them are used.
///
/// Source: docs/threat-model.md §9.
pub(crate) fn candidates(
    resolved: &[SocketAddr],
    reported: Option<IpAddr>,
    port: u16,
    preference: AddressPreference,
    source: AddressSource,
) -> Vec<SocketAddr> {
    let reported = reported.map(unmapped);
    let mut found: Vec<SocketAddr> = match source {
        AddressSource::Remote => Vec::new(),
        AddressSource::Proxy | AddressSource::Local => resolved
            .iter()
            .map(|address| plain(*address, port))
            .collect(),
    };
    if found.is_empty() && source != AddressSource::Local {
        // An address of the link says nothing without one of our links.
        let usable = reported.filter(|address| !is_of_a_link(*address));
        found.extend(usable.map(|address| SocketAddr::new(address, port)));
    }
    found.retain(|address| is_admitted(preference, address.ip()));
    let mut each_once: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !each_once.contains(&address) {
            each_once.push(address);
        }
    }
    // Stable: what is equal in this stays in the order of the resolver.
    each_once.sort_by_key(|address| rank(preference, address.ip(), reported));
    each_once.truncate(CANDIDATES_MAX);
    each_once
}

fn is_admitted(preference: AddressPreference, address: IpAddr) -> bool {
    preference
        .only()
        .is_none_or(|family| family == AddressFamily::of(address))
}

/// Returns the place in the order: what ssh reached comes first, then the family that the user
/// prefers, then the family that ssh used.
fn rank(
    preference: AddressPreference,
    address: IpAddr,
    reported: Option<IpAddr>,
) -> (bool, bool, bool) {
    let family = AddressFamily::of(address);
    let is_preferred = preference.is_first(family);
    let is_reported = reported == Some(address);
    let is_like_reported = reported.is_some_and(|reported| AddressFamily::of(reported) == family);
    (!is_reported, !is_preferred, !is_like_reported)
}

/// Returns the address with the session's port, unmapped, and with nothing but its zone.
fn plain(address: SocketAddr, port: u16) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) if v6.ip().to_ipv4_mapped().is_none() => {
            SocketAddrV6::new(*v6.ip(), port, 0, v6.scope_id()).into()
        }
        other => SocketAddr::new(unmapped(other.ip()), port),
    }
}

fn unmapped(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn is_of_a_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Reads an address of `SSH_CONNECTION`, which may have a zone: one of the remote machine, so it says
/// nothing here.
pub(crate) fn reported_address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(unmapped(address));
    }
    let (address, _) = text.split_once('%')?;
    address.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the candidates on port 7, without it.
    fn order(
        resolved: &[&str],
        reported: &str,
        preference: AddressPreference,
        source: AddressSource,
    ) -> Vec<String> {
        let resolved: Vec<SocketAddr> = resolved
            .iter()
            .map(|text| {
                text.parse::<SocketAddr>()
                    .unwrap_or_else(|_| SocketAddr::new(text.parse().unwrap(), 22))
            })
            .collect();
        let reported = reported_address(reported);
        candidates(&resolved, reported, 7, preference, source)
            .into_iter()
            .map(|address| {
                let text = address.to_string();
                let text = text.strip_suffix(":7").unwrap();
                text.trim_matches(['[', ']']).to_owned()
            })
            .collect()
    }

    const ADDRESSES: &[&str] = &["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"];

    #[test]
    fn what_ssh_reached_comes_first_then_its_family_then_the_resolvers_order() {
        let both = |reported| {
            order(
                ADDRESSES,
                reported,
                AddressPreference::All,
                AddressSource::Proxy,
            )
        };
        assert_eq!(
            both("192.0.2.2"),
            ["192.0.2.2", "192.0.2.1", "2001:db8::1", "2001:db8::2"]
        );
        assert_eq!(
            both("198.51.100.9"),
            ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"],
            "an address behind a translator only tells the family"
        );
        assert_eq!(both(""), ADDRESSES);
    }

    #[test]
    fn a_reported_address_counts_alone_only_if_nothing_resolves() {
        let from = |resolved, source| order(resolved, "192.0.2.9", AddressPreference::All, source);
        assert_eq!(from(&[], AddressSource::Proxy), ["192.0.2.9"]);
        assert_eq!(from(&["192.0.2.1"], AddressSource::Proxy), ["192.0.2.1"]);
        assert_eq!(from(&["192.0.2.1"], AddressSource::Remote), ["192.0.2.9"]);
        assert!(from(&[], AddressSource::Local).is_empty());
    }

    #[test]
    fn the_family_is_a_condition_or_a_preference() {
        let of = |preference| order(ADDRESSES, "", preference, AddressSource::Proxy);
        let (only, prefer) = (AddressPreference::Only, AddressPreference::Prefer);
        assert_eq!(of(only(AddressFamily::Ipv4)), ["192.0.2.1", "192.0.2.2"]);
        assert_eq!(
            of(only(AddressFamily::Ipv6)),
            ["2001:db8::1", "2001:db8::2"]
        );
        assert_eq!(of(prefer(AddressFamily::Ipv4))[0], "192.0.2.1");
        assert_eq!(of(prefer(AddressFamily::Ipv6))[0], "2001:db8::1");
        let reported = order(
            ADDRESSES,
            "2001:db8::2",
            prefer(AddressFamily::Ipv4),
            AddressSource::Proxy,
        );
        assert_eq!(
            reported[..2],
            ["2001:db8::2", "192.0.2.1"],
            "it is known to work"
        );
        assert!(
            order(
                &[],
                "192.0.2.9",
                only(AddressFamily::Ipv6),
                AddressSource::Proxy
            )
            .is_empty()
        );
    }

    #[test]
    fn mapped_addresses_are_plain_ones_and_each_is_there_once() {
        let resolved = ["::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"];
        assert_eq!(
            order(
                &resolved,
                "::FFFF:192.0.2.2",
                AddressPreference::All,
                AddressSource::Proxy
            ),
            ["192.0.2.2", "192.0.2.1"]
        );
    }

    #[test]
    fn a_zone_is_ours_and_never_the_servers() {
        let ours = ["[fe80::1%3]:22", "[fe80::1%4]:22"];
        assert_eq!(
            order(
                &ours,
                "fe80::1%eth0",
                AddressPreference::All,
                AddressSource::Proxy
            ),
            ["fe80::1%3", "fe80::1%4"]
        );
        assert!(
            order(
                &[],
                "fe80::1%eth0",
                AddressPreference::All,
                AddressSource::Proxy
            )
            .is_empty()
        );
        assert!(order(&[], "fe80::1", AddressPreference::All, AddressSource::Proxy).is_empty());
    }

    #[test]
    fn there_are_eight_at_most_and_the_reported_one_is_among_them() {
        let many: Vec<String> = (1..=20).map(|host| format!("192.0.2.{host}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let tried = order(
            &many,
            "192.0.2.20",
            AddressPreference::All,
            AddressSource::Proxy,
        );
        assert_eq!(tried.len(), CANDIDATES_MAX);
        assert_eq!(tried[..2], ["192.0.2.20", "192.0.2.1"]);
    }

    #[test]
    fn what_is_no_address_reports_nothing() {
        for text in ["", "host", "192.0.2", "192.0.2.1%eth0", "%eth0", "fe80::1%"] {
            let reported = reported_address(text);
            assert_eq!(reported.is_some(), text == "fe80::1%", "{text}");
        }
    }
}
