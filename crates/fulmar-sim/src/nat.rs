//! Address translation at the near end of a host's link.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::datagram::Datagram;

/// The first outside port that is handed out; later ones count up from it. Chosen by eye: high
/// enough never to be confused with a port that a test binds.
const PORT_FIRST: u16 = 40_000;

/// A translator between a host and the network.
///
/// ```text
///   host 10.0.0.2:50000 ──► [ 10.0.0.2:50000 = 198.51.100.9:40000 ] ──► up ──► network
///                       ◄── [ known? from whom? still alive?      ] ◄── down ◄─┘
/// ```
///
/// One mapping serves all destinations, and only what the host sends keeps it alive: the least that
/// RFC 4787 (REQ-1, REQ-6) asks of a translator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nat {
    outside: IpAddr,
    expires_after: Option<Duration>,
    filter: Filter,
}

/// The senders whose datagrams a mapping lets in.
///
/// Source: RFC 4787 §5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Anybody's.
    Open,
    /// Those of addresses that the host has sent to, from any port.
    Address,
    /// Those of addresses and ports that the host has sent to.
    AddressAndPort,
}

impl Nat {
    /// A translator with this address outside, with mappings that live for ever and let in whom the
    /// host has sent to.
    #[must_use]
    pub fn at(outside: IpAddr) -> Self {
        Self {
            outside,
            expires_after: None,
            filter: Filter::AddressAndPort,
        }
    }

    /// Forgets a mapping over which the host has sent nothing for longer than this.
    #[must_use]
    pub fn expiring_after(self, idle: Duration) -> Self {
        Self {
            expires_after: Some(idle),
            ..self
        }
    }

    /// Lets in whom this filter lets in.
    #[must_use]
    pub fn filtering(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }
}

/// A translator with its mappings.
#[derive(Debug)]
pub(crate) struct Translator {
    setting: Nat,
    /// By inside address.
    mappings: BTreeMap<SocketAddr, Mapping>,
    next_port: u16,
}

#[derive(Debug)]
struct Mapping {
    outside_port: u16,
    last_sent: Duration,
    sent_to: BTreeSet<SocketAddr>,
}

impl Translator {
    pub(crate) fn new(setting: Nat) -> Self {
        Self {
            setting,
            mappings: BTreeMap::new(),
            next_port: PORT_FIRST,
        }
    }

    /// Tells whether datagrams to this address come to this translator.
    pub(crate) fn has_address(&self, address: SocketAddr) -> bool {
        address.ip() == self.setting.outside
    }

    /// Forgets all mappings; the next datagram out gets a new port.
    pub(crate) fn rebind(&mut self) {
        self.mappings.clear();
    }

    /// Changes the outside address and forgets all mappings.
    pub(crate) fn move_to(&mut self, outside: IpAddr) {
        self.setting.outside = outside;
        self.rebind();
    }

    /// Rewrites the source of a datagram that leaves the host.
    pub(crate) fn translate_out(&mut self, now: Duration, datagram: &mut Datagram) {
        let inside = datagram.source;
        self.forget_expired(now);
        if !self.mappings.contains_key(&inside) {
            let outside_port = self.unused_port();
            let mapping = Mapping {
                outside_port,
                last_sent: now,
                sent_to: BTreeSet::new(),
            };
            self.mappings.insert(inside, mapping);
        }
        if let Some(mapping) = self.mappings.get_mut(&inside) {
            mapping.last_sent = now;
            mapping.sent_to.insert(datagram.destination);
            datagram.source = SocketAddr::new(self.setting.outside, mapping.outside_port);
        }
    }

    /// Rewrites the destination of a datagram that comes in, or returns false where it is not let in.
    pub(crate) fn translate_in(&mut self, now: Duration, datagram: &mut Datagram) -> bool {
        self.forget_expired(now);
        let port = datagram.destination.port();
        let known = self
            .mappings
            .iter()
            .find(|(_, mapping)| mapping.outside_port == port);
        match known {
            Some((inside, mapping)) if self.lets_in(mapping, datagram.source) => {
                datagram.destination = *inside;
                true
            }
            Some(_) | None => false,
        }
    }

    fn lets_in(&self, mapping: &Mapping, source: SocketAddr) -> bool {
        match self.setting.filter {
            Filter::Open => true,
            Filter::Address => mapping
                .sent_to
                .iter()
                .any(|known| known.ip() == source.ip()),
            Filter::AddressAndPort => mapping.sent_to.contains(&source),
        }
    }

    fn forget_expired(&mut self, now: Duration) {
        if let Some(idle_max) = self.setting.expires_after {
            self.mappings
                .retain(|_, mapping| now.saturating_sub(mapping.last_sent) <= idle_max);
        }
    }

    fn unused_port(&mut self) -> u16 {
        loop {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(PORT_FIRST);
            if self
                .mappings
                .values()
                .all(|mapping| mapping.outside_port != port)
            {
                return port;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{address, ms, secs};

    const INSIDE: &str = "10.0.0.2:50000";
    const SERVER: &str = "203.0.113.1:60001";

    fn translator(setting: fn(Nat) -> Nat) -> Translator {
        Translator::new(setting(Nat::at(address("198.51.100.9:0").ip())))
    }

    /// Sends one out and returns the source that the server sees.
    fn out(nat: &mut Translator, now: Duration, inside: &str) -> SocketAddr {
        let mut datagram = Datagram::new(address(inside), address(SERVER), [0]);
        nat.translate_out(now, &mut datagram);
        datagram.source
    }

    /// Sends one in and returns where it went.
    fn back(nat: &mut Translator, now: Duration, from: &str, to: SocketAddr) -> Option<SocketAddr> {
        let mut datagram = Datagram::new(address(from), to, [0]);
        nat.translate_in(now, &mut datagram)
            .then_some(datagram.destination)
    }

    #[test]
    fn what_goes_out_can_be_answered() {
        let mut nat = translator(|nat| nat);
        let seen = out(&mut nat, ms(0), INSIDE);
        assert_eq!(seen, address("198.51.100.9:40000"));
        assert_eq!(back(&mut nat, ms(1), SERVER, seen), Some(address(INSIDE)));
    }

    #[test]
    fn two_inside_addresses_get_two_ports() {
        let mut nat = translator(|nat| nat);
        let first = out(&mut nat, ms(0), INSIDE);
        let second = out(&mut nat, ms(0), "10.0.0.2:50001");
        assert_ne!(first, second);
        assert_eq!(back(&mut nat, ms(0), SERVER, first), Some(address(INSIDE)));
    }

    #[test]
    fn filters_differ_in_whom_they_let_in() {
        let lets_in = |setting, from| {
            let mut nat = translator(setting);
            let seen = out(&mut nat, ms(0), INSIDE);
            back(&mut nat, ms(0), from, seen).is_some()
        };
        let (other_port, stranger) = ("203.0.113.1:60002", "203.0.113.2:60001");
        assert!(!lets_in(|nat| nat, other_port));
        assert!(lets_in(|nat| nat.filtering(Filter::Address), other_port));
        assert!(!lets_in(|nat| nat.filtering(Filter::Address), stranger));
        assert!(lets_in(|nat| nat.filtering(Filter::Open), stranger));
    }

    #[test]
    fn a_mapping_lives_as_long_as_the_host_sends() {
        let mut nat = translator(|nat| nat.expiring_after(secs(30)));
        let seen = out(&mut nat, secs(0), INSIDE);
        assert_eq!(out(&mut nat, secs(30), INSIDE), seen);
        assert!(back(&mut nat, secs(60), SERVER, seen).is_some());
        assert!(back(&mut nat, secs(60) + ms(1), SERVER, seen).is_none());
        assert_ne!(out(&mut nat, secs(61), INSIDE), seen);
    }

    #[test]
    fn an_answer_does_not_keep_it_alive() {
        let mut nat = translator(|nat| nat.expiring_after(secs(30)));
        let seen = out(&mut nat, secs(0), INSIDE);
        assert!(back(&mut nat, secs(29), SERVER, seen).is_some());
        assert!(back(&mut nat, secs(31), SERVER, seen).is_none());
    }

    #[test]
    fn rebinding_closes_the_old_port_and_opens_another() {
        let mut nat = translator(|nat| nat);
        let old = out(&mut nat, ms(0), INSIDE);
        nat.rebind();
        assert!(back(&mut nat, ms(1), SERVER, old).is_none());
        let new = out(&mut nat, ms(2), INSIDE);
        assert_ne!(new, old);
        assert_eq!(back(&mut nat, ms(3), SERVER, new), Some(address(INSIDE)));
    }

    #[test]
    fn ports_are_used_again_after_the_last_but_never_twice_at_once() {
        let mut nat = translator(|nat| nat);
        let kept = out(&mut nat, ms(0), INSIDE);
        for port in 1..=30_000_u16 {
            let other = SocketAddr::new(address(INSIDE).ip(), port);
            let seen = out(&mut nat, ms(0), &other.to_string());
            assert_ne!(seen, kept);
            nat.mappings.remove(&other);
        }
    }
}
