//! The addresses that a client's datagrams go to: every address that the server may have, until it answers from one.
//!
//! Source: docs/threat-model.md §6, §7, §9.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::{AddressFamily, SendError};
use fulmar_datagram::limits::{DATAGRAM_BYTES_IPV4, DATAGRAM_BYTES_IPV6};

/// The most datagrams that an address gets without ever having answered.
///
/// Source: docs/threat-model.md §6.
const UNANSWERED_MAX: usize = 20;

/// The datagrams that an address gets with each later try.
///
/// Source: docs/threat-model.md §6.
const MORE_DATAGRAMS: usize = 4;

/// The source of the word that the server is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressSource {
    /// The user's, who gave it in numbers.
    User,
    /// The resolver's, or the server's.
    Login,
}

/// An address that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedAddress {
    /// The address.
    pub address: SocketAddr,
    /// The number of datagrams that went there.
    pub datagrams: usize,
    /// The error that last kept one from going or arriving there, as far as anybody told.
    pub error: Option<SendError>,
}

/// The addresses of a server, and the one that it has answered from.
#[derive(Clone, Debug)]
pub struct CandidateAddresses {
    tried: Vec<TriedAddress>,
    peer: Option<SocketAddr>,
    source: AddressSource,
}

impl CandidateAddresses {
    /// Returns the one address that the user named.
    pub fn named(server: SocketAddr) -> CandidateAddresses {
        CandidateAddresses::new([server], AddressSource::User)
    }

    /// Returns addresses that were found out, the likeliest first.
    pub fn found(candidates: impl IntoIterator<Item = SocketAddr>) -> CandidateAddresses {
        CandidateAddresses::new(candidates, AddressSource::Login)
    }

    fn new(
        addresses: impl IntoIterator<Item = SocketAddr>,
        source: AddressSource,
    ) -> CandidateAddresses {
        let tried = addresses.into_iter().map(|address| TriedAddress {
            address,
            datagrams: 0,
            error: None,
        });
        CandidateAddresses {
            tried: tried.collect(),
            peer: None,
            source,
        }
    }

    /// Returns where the server has answered from, once it has.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns the one that most likely is the server's.
    pub fn likeliest(&self) -> Option<SocketAddr> {
        self.tried.first().map(|tried| tried.address)
    }

    /// Returns all that was tried, the likeliest first.
    pub fn tried(&self) -> &[TriedAddress] {
        &self.tried
    }

    /// Returns how many datagrams were sent without an answer, to the address that got most.
    pub fn unanswered(&self) -> usize {
        let counts = self.tried.iter().map(|tried| tried.datagrams);
        counts.max().unwrap_or(0)
    }

    /// Returns the longest datagram that goes to all of them.
    pub fn datagram_bytes(&self) -> usize {
        if self.uses_family(AddressFamily::Ipv6) {
            DATAGRAM_BYTES_IPV6
        } else {
            DATAGRAM_BYTES_IPV4
        }
    }

    /// Returns the server's port.
    pub fn port(&self) -> u16 {
        self.tried.first().map_or(0, |tried| tried.address.port())
    }

    /// Tells if there is an address of that family to send to.
    pub fn uses_family(&self, family: AddressFamily) -> bool {
        let is_family = |address: &SocketAddr| AddressFamily::of(address.ip()) == family;
        match &self.peer {
            Some(peer) => is_family(peer),
            None => self.tried.iter().any(|tried| is_family(&tried.address)),
        }
    }

    /// Lets addresses that have never answered have a few more datagrams. The server itself was heard by another way, so that
    /// a network which has opened is to be found.
    ///
    /// Source: docs/threat-model.md §6.
    pub fn allow_more(&mut self) {
        for tried in &mut self.tried {
            tried.datagrams = tried.datagrams.min(UNANSWERED_MAX - MORE_DATAGRAMS);
        }
    }

    /// Returns where the next datagrams go, and counts them. An address that has had enough of them
    /// is left out.
    pub fn next(&mut self, datagrams: usize) -> Vec<SocketAddr> {
        if let Some(peer) = self.peer {
            return vec![peer];
        }
        let source = self.source;
        // Nobody else can have us send to what the user has written out (docs/threat-model.md §9).
        let has_room = |tried: &&mut TriedAddress| {
            source == AddressSource::User
                || tried.datagrams.saturating_add(datagrams) <= UNANSWERED_MAX
        };
        let open = self.tried.iter_mut().filter(has_room);
        open.map(|tried| {
            tried.datagrams = tried.datagrams.saturating_add(datagrams);
            tried.address
        })
        .collect()
    }

    /// Takes note of a genuine datagram. The first one settles where the server is; returns whether
    /// this was it.
    ///
    /// A server that answers from an address that was not asked is believed only where there was a
    /// choice: the user's own word stands, and so does the only address that was found.
    pub fn heard_from(&mut self, source: SocketAddr) -> bool {
        if self.peer.is_some() {
            return false;
        }
        let asked = self.tried.iter().map(|tried| tried.address);
        let known = asked.clone().find(|&address| is_same(address, source));
        let peer = match (known, self.tried.as_slice()) {
            (Some(known), _) => known,
            (None, [only]) => only.address,
            (None, _) => source,
        };
        self.peer = Some(peer);
        true
    }

    /// Takes note of an error that somebody on the path has reported of what was sent. Returns it when
    /// it is all that is left: then every path is closed, as far as anybody told.
    pub fn note_report(&mut self, reporter: Option<IpAddr>, error: SendError) -> Option<SendError> {
        let of_another = |peer: SocketAddr| {
            let mut others = self.tried.iter().map(|tried| tried.address.ip());
            Some(peer.ip()) != reporter && others.any(|ip| Some(ip) == reporter)
        };
        if self.peer.is_some_and(of_another) {
            return None;
        }
        if self.peer.is_some() || self.tried.len() == 1 {
            self.tried
                .iter_mut()
                .for_each(|tried| tried.error = Some(error));
            return Some(error);
        }
        // Whom a router means it does not say; a host means itself.
        let of_reporter = |tried: &&mut TriedAddress| Some(tried.address.ip()) == reporter;
        for tried in self.tried.iter_mut().filter(of_reporter) {
            tried.error = Some(error);
        }
        self.tried
            .iter()
            .all(|tried| tried.error.is_some())
            .then_some(error)
    }

    /// Takes note of what came of sending to one of the addresses.
    pub fn note_sent(&mut self, address: SocketAddr, outcome: Result<(), SendError>) {
        let tried = self.tried.iter_mut().find(|tried| tried.address == address);
        if let (Some(tried), Err(error)) = (tried, outcome) {
            tried.error = Some(error);
        }
    }

    /// Returns the server as users are told of it.
    pub fn label(&self) -> String {
        if let Some(peer) = self.peer {
            return format!("{}, UDP port {}", peer.ip(), peer.port());
        }
        let ip = |tried: &TriedAddress| tried.address.ip().to_string();
        let (addresses, port) = match self.tried.as_slice() {
            [] => return "the server".to_owned(),
            [only] => (ip(only), only.address.port()),
            [first, second] => (
                format!("{} or {}", ip(first), ip(second)),
                first.address.port(),
            ),
            [first, rest @ ..] => {
                let others = format!("{} or {} others", ip(first), rest.len());
                (others, first.address.port())
            }
        };
        format!("{addresses}, UDP port {port}")
    }
}

/// Tells if both are one address. The zone is left out where one of them has none.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    let zones = match (one, other) {
        (SocketAddr::V6(one), SocketAddr::V6(other)) => (one.scope_id(), other.scope_id()),
        _ => (0, 0),
    };
    let is_same_zone = zones.0 == zones.1 || zones.0 == 0 || zones.1 == 0;
    one.ip() == other.ip() && one.port() == other.port() && is_same_zone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn found(addresses: &[&str]) -> CandidateAddresses {
        CandidateAddresses::found(addresses.iter().map(|text| address(text)))
    }

    const BOTH: [&str; 2] = ["192.0.2.1:7", "[2001:db8::1]:7"];

    #[test]
    fn all_are_tried_until_one_answers() {
        let mut candidates = found(&BOTH);
        assert_eq!(candidates.next(1), BOTH.map(address));
        assert!(candidates.uses_family(AddressFamily::Ipv4));
        assert!(candidates.heard_from(address(BOTH[1])));
        assert!(!candidates.heard_from(address(BOTH[0])), "it is settled");
        assert_eq!(candidates.next(1), [address(BOTH[1])]);
        assert!(!candidates.uses_family(AddressFamily::Ipv4));
    }

    #[test]
    fn an_address_that_never_answers_gets_twenty_datagrams() {
        let mut candidates = found(&BOTH);
        let mut counts = [0; 2];
        for turn in 0..100 {
            // Some of several datagrams.
            let datagrams = 1 + turn % 3;
            let next = candidates.next(datagrams);
            for (count, address) in counts.iter_mut().zip(BOTH.map(address)) {
                *count += next.iter().filter(|&&next| next == address).count() * datagrams;
            }
        }
        assert_eq!(counts, [UNANSWERED_MAX; 2]);
        assert_eq!(candidates.unanswered(), UNANSWERED_MAX);
        candidates.heard_from(address(BOTH[0]));
        assert_eq!(candidates.next(1), [address(BOTH[0])]);
    }

    #[test]
    fn a_try_of_udp_is_worth_four_datagrams_to_an_address_that_never_answered() {
        let mut candidates = found(&BOTH);
        while !candidates.next(1).is_empty() {}
        for _ in 0..3 {
            candidates.allow_more();
            candidates.allow_more();
            let sent = std::iter::repeat_with(|| candidates.next(1));
            assert_eq!(
                sent.take_while(|next| !next.is_empty()).count(),
                MORE_DATAGRAMS
            );
        }
        let mut fresh = found(&BOTH);
        fresh.allow_more();
        let sent = std::iter::repeat_with(|| fresh.next(1));
        assert_eq!(
            sent.take_while(|next| !next.is_empty()).count(),
            UNANSWERED_MAX
        );
    }

    #[test]
    fn what_the_user_names_is_tried_for_as_long_as_the_user_waits() {
        let mut candidates = CandidateAddresses::named(address(BOTH[0]));
        for _ in 0..100 {
            assert_eq!(candidates.next(1), [address(BOTH[0])]);
        }
    }

    #[test]
    fn an_answer_from_elsewhere_counts_only_where_there_was_a_choice() {
        let elsewhere = address("198.51.100.9:7");
        let mut one = found(&BOTH[..1]);
        one.heard_from(elsewhere);
        assert_eq!(one.peer(), Some(address(BOTH[0])));
        let mut two = found(&BOTH);
        two.heard_from(elsewhere);
        assert_eq!(two.peer(), Some(elsewhere));
    }

    #[test]
    fn a_zone_that_only_one_side_knows_makes_no_difference() {
        let mut candidates = found(&["192.0.2.1:7", "[fe80::1%3]:7"]);
        candidates.heard_from(address("[fe80::1%3]:7"));
        assert_eq!(candidates.peer(), Some(address("[fe80::1%3]:7")));
        assert!(is_same(address("[fe80::1]:7"), address("[fe80::1%3]:7")));
        assert!(!is_same(address("[fe80::1%4]:7"), address("[fe80::1%3]:7")));
        assert!(!is_same(address("[fe80::1%3]:8"), address("[fe80::1%3]:7")));
    }

    #[test]
    fn a_report_is_told_when_no_address_is_left_without_one() {
        let mut candidates = found(&BOTH);
        let [one, other] = BOTH.map(|text| Some(address(text).ip()));
        let refused = SendError::Refused;
        assert_eq!(candidates.note_report(one, refused), None);
        assert_eq!(candidates.note_report(None, refused), None, "a router's");
        assert_eq!(candidates.note_report(other, refused), Some(refused));
        candidates.heard_from(address(BOTH[1]));
        let late = candidates.note_report(one, refused);
        assert_eq!(late, None, "of an address that is not used");
        assert_eq!(candidates.note_report(other, refused), Some(refused));
        assert_eq!(candidates.note_report(None, refused), Some(refused));
        let mut named = CandidateAddresses::named(address(BOTH[0]));
        assert_eq!(named.note_report(None, refused), Some(refused));
    }

    #[test]
    fn datagrams_are_short_enough_for_all() {
        assert_eq!(found(&BOTH).datagram_bytes(), DATAGRAM_BYTES_IPV6);
        assert_eq!(found(&BOTH[..1]).datagram_bytes(), DATAGRAM_BYTES_IPV4);
    }

    #[test]
    fn the_label_names_few_addresses() {
        let mut addresses = vec!["192.0.2.1:7"];
        assert_eq!(found(&addresses).label(), "192.0.2.1, UDP port 7");
        addresses.push("[2001:db8::1]:7");
        assert_eq!(
            found(&addresses).label(),
            "192.0.2.1 or 2001:db8::1, UDP port 7"
        );
        addresses.push("192.0.2.2:7");
        let mut three = found(&addresses);
        assert_eq!(three.label(), "192.0.2.1 or 2 others, UDP port 7");
        three.heard_from(address("192.0.2.2:7"));
        assert_eq!(three.label(), "192.0.2.2, UDP port 7");
    }
}
