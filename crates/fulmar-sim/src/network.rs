//! Hosts, each joined by its own link to one perfect core.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::change::Change;
use crate::datagram::{Datagram, HostId, SendFailure, Ticket};
use crate::host::{Arrival, Arrived, Host, LinkDirection};
use crate::impairment::{Fate, Impairment, LossCause, Stage};
use crate::nat::{Nat, Translator};
use crate::node::Transmit;
use crate::path::{Path, PathEvent, PathOutcome};
use crate::timeline::{Counts, Timeline};
use crate::units::address;
use fulmar_base::SendError;

/// The first host of [`Network::seeded`].
pub const CLIENT: HostId = HostId(0);

/// The second host of [`Network::seeded`].
pub const SERVER: HostId = HostId(1);

/// Hosts and the links between them.
///
/// ```text
///   client ──up──► [NAT] ─ stages ─►┐      ┌─► stages ─ [NAT] ──down──► server
///                                   ├ core ┤
///   client ◄─down─ [NAT] ◄ stages ──┘      └── stages ◄ [NAT] ◄──up──── server
/// ```
///
/// The core finds the host that has the destination address at that instant, takes no time and
/// loses nothing. Whether the host still has the address is looked at again when the datagram
/// reaches it.
///
/// A [`Simulation`](crate::Simulation) drives it in virtual time. Who has a clock and real packets
/// drives it by hand, each call with an instant that is not before the last: [`inject`](Self::inject)
/// and [`apply`](Self::apply) what has come, [`advance`](Self::advance), take each host's
/// [`poll_arrival`](Self::poll_arrival) until `None`, and come back at [`next_due`](Self::next_due).
pub struct Network {
    seed: u64,
    hosts: Vec<Host>,
    serial: u64,
    /// The events of the run.
    pub timeline: Timeline,
}

impl Network {
    /// Returns a network of two hosts with clear links: [`CLIENT`], at 192.0.2.1:50000, and
    /// [`SERVER`], at 203.0.113.1:60001.
    ///
    /// Addresses are from the ranges for documentation (RFC 5737).
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let mut network = Self::without_hosts(seed);
        network.add_host("client", address("192.0.2.1:50000"));
        network.add_host("server", address("203.0.113.1:60001"));
        network
    }

    /// Returns a network to which hosts will be added.
    #[must_use]
    pub fn without_hosts(seed: u64) -> Self {
        Self {
            seed,
            hosts: Vec::new(),
            serial: 0,
            timeline: Timeline::new(seed),
        }
    }

    /// Adds a host with a clear link. An address with port 0 stands for all its ports.
    pub fn add_host(&mut self, name: &str, address: SocketAddr) -> HostId {
        let id = HostId(self.hosts.len());
        let number = u32::try_from(id.0).unwrap_or(u32::MAX) * 2;
        self.timeline.add_host(name);
        self.hosts.push(Host {
            name: name.to_owned(),
            addresses: vec![address],
            up: Path::clear(self.seed, number),
            down: Path::clear(self.seed, number + 1),
            nat: None,
            is_awake: true,
            is_cut: false,
            arrivals: VecDeque::new(),
            moves: 0,
        });
        id
    }

    /// Adds these to the path from the client into the network.
    #[must_use]
    pub fn up(self, impairments: impl IntoIterator<Item = Impairment>) -> Self {
        self.link(CLIENT, LinkDirection::Up, impairments)
    }

    /// Adds these to the path from the network to the client.
    #[must_use]
    pub fn down(self, impairments: impl IntoIterator<Item = Impairment>) -> Self {
        self.link(CLIENT, LinkDirection::Down, impairments)
    }

    /// Adds these to both paths of the client's link.
    #[must_use]
    pub fn both(self, impairments: impl IntoIterator<Item = Impairment>) -> Self {
        let impairments: Vec<_> = impairments.into_iter().collect();
        self.up(impairments.clone()).down(impairments)
    }

    /// Adds these to one path of a host's link.
    #[must_use]
    pub fn link(
        mut self,
        host: HostId,
        way: LinkDirection,
        impairments: impl IntoIterator<Item = Impairment>,
    ) -> Self {
        let path = self.host_mut(host).path(way);
        impairments
            .into_iter()
            .for_each(|impairment| path.add(impairment));
        self
    }

    /// Adds a stage of the test's own to one path of a host's link.
    #[must_use]
    pub fn stage(mut self, host: HostId, way: LinkDirection, stage: Box<dyn Stage>) -> Self {
        self.host_mut(host).path(way).add_stage(stage);
        self
    }

    /// Puts the client behind a translator.
    #[must_use]
    pub fn client_behind(mut self, nat: Nat) -> Self {
        self.host_mut(CLIENT).nat = Some(Translator::new(nat));
        self
    }

    /// Puts a host behind a translator.
    #[must_use]
    pub fn behind(mut self, host: HostId, nat: Nat) -> Self {
        self.host_mut(host).nat = Some(Translator::new(nat));
        self
    }

    /// Returns the seed of all chance here.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns how many hosts there are.
    #[must_use]
    pub(crate) fn host_count(&self) -> usize {
        self.hosts.len()
    }

    /// Returns the name of a host.
    #[must_use]
    pub fn name(&self, host: HostId) -> &str {
        &self.host(host).name
    }

    /// Returns the address that a host sends from if its node names none.
    ///
    /// # Panics
    ///
    /// Where the host has lost all its addresses.
    #[must_use]
    pub fn address(&self, host: HostId) -> SocketAddr {
        *self
            .host(host)
            .addresses
            .last()
            .expect("the host has an address")
    }

    /// Returns how often things happened to a host.
    #[must_use]
    pub fn counts(&self, host: HostId) -> Counts {
        self.timeline.counts(host)
    }

    /// Returns the addresses of a host, the one that it sends from if its node names none last.
    #[must_use]
    pub fn addresses(&self, host: HostId) -> &[SocketAddr] {
        &self.host(host).addresses
    }

    /// Gives a host one address in place of those it had. What is under way to them is lost.
    fn move_to(&mut self, host: HostId, address: SocketAddr) {
        self.host_mut(host).addresses = vec![address];
    }

    /// Gives a host another address of its own family: from 198.51.100.0/24 (RFC 5737) or
    /// 2001:db8:1::/48 (RFC 3849), with another port each time unless it has all of them.
    fn move_on(&mut self, host: HostId) -> SocketAddr {
        let is_v4 = self.address(host).is_ipv4();
        let known = self.host_mut(host);
        known.moves = known.moves % 50_000 + 1;
        let number = known.moves;
        let has_all_ports = known.addresses.last().is_some_and(|own| own.port() == 0);
        let ip = if is_v4 {
            let last = u8::try_from(number % 250).unwrap_or(0) + 1;
            IpAddr::V4(Ipv4Addr::new(198, 51, 100, last))
        } else {
            IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, number))
        };
        let to = SocketAddr::new(ip, if has_all_ports { 0 } else { 10_000 + number });
        self.move_to(host, to);
        to
    }

    /// Gives a host one more address, which becomes its default source.
    fn bind(&mut self, host: HostId, address: SocketAddr) {
        let addresses = &mut self.host_mut(host).addresses;
        addresses.retain(|&known| known != address);
        addresses.push(address);
    }

    fn unbind(&mut self, host: HostId, address: SocketAddr) {
        self.host_mut(host)
            .addresses
            .retain(|&known| known != address);
    }

    fn rebind_nat(&mut self, host: HostId) {
        if let Some(nat) = &mut self.host_mut(host).nat {
            nat.rebind();
        }
    }

    fn move_nat(&mut self, host: HostId, outside: IpAddr) {
        if let Some(nat) = &mut self.host_mut(host).nat {
            nat.move_to(outside);
        }
    }

    fn set(&mut self, now: Duration, host: HostId, way: LinkDirection, impairment: Impairment) {
        self.host_mut(host).path(way).set(now, impairment);
    }

    /// Makes a change. What is for a host's program alone, its clock and hints, is only noted.
    pub fn apply(&mut self, now: Duration, change: Change) {
        self.advance(now);
        self.timeline
            .host_note(now, change.host(), change.to_string());
        match change {
            Change::Set(host, way, impairment) => self.set(now, host, way, impairment),
            Change::Move(host, to) => self.move_to(host, to),
            Change::MoveOn(host) => {
                let to = self.move_on(host);
                self.timeline.host_note(now, host, format!("is at {to}"));
            }
            Change::Bind(host, address) => self.bind(host, address),
            Change::Unbind(host, address) => self.unbind(host, address),
            Change::RebindNat(host) => self.rebind_nat(host),
            Change::MoveNat(host, outside) => self.move_nat(host, outside),
            Change::Cut(host) => self.host_mut(host).is_cut = true,
            Change::Restore(host) => self.host_mut(host).is_cut = false,
            Change::Suspend(host) => self.host_mut(host).is_awake = false,
            Change::Wake(host) => self.host_mut(host).is_awake = true,
            Change::Jump(..) | Change::Hint(..) => {}
        }
    }

    /// Sends what a host's node gave out.
    pub(crate) fn send(&mut self, now: Duration, sender: HostId, transmit: Transmit) {
        let latest = self.host(sender).addresses.last().copied();
        let source = transmit.source.or(latest).unwrap_or(NOWHERE);
        let why = transmit.why;
        let mut datagram = Datagram::new(source, transmit.destination, transmit.bytes);
        datagram.ecn = transmit.ecn;
        self.put_in(now, sender, datagram, why);
    }

    /// Takes what a host has sent, from outside of any simulation.
    pub fn inject(&mut self, now: Duration, sender: HostId, datagram: Datagram) {
        self.advance(now);
        self.put_in(now, sender, datagram, "");
    }

    fn put_in(&mut self, now: Duration, sender: HostId, mut datagram: Datagram, why: &'static str) {
        self.serial += 1;
        datagram.ticket = Ticket {
            sender,
            origin: datagram.source,
            serial: self.serial,
            is_copy: false,
        };
        self.timeline.sent(now, &datagram, why);

        let host = self.host_mut(sender);
        if !host.has(datagram.source) {
            self.refuse(now, datagram, SendError::SourceGone);
        } else if host.is_cut {
            self.timeline
                .met(now, datagram.label(), Fate::Lost(LossCause::Outage));
        } else {
            if let Some(nat) = &mut host.nat {
                nat.translate_out(now, &mut datagram);
            }
            let mut events = Vec::new();
            host.up.take(now, datagram, &mut events);
            self.leave(events);
        }
    }

    /// Does all that is due up to and including `now`, in order of time.
    pub fn advance(&mut self, now: Duration) {
        while let Some((due, host, way)) = self.first_due()
            && due <= now
        {
            let mut events = Vec::new();
            self.host_mut(host).path(way).advance(due, &mut events);
            match way {
                LinkDirection::Up => self.leave(events),
                LinkDirection::Down => self.enter(host, events),
            }
        }
    }

    /// Returns the instant at which something will happen without anybody sending.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        self.first_due().map(|(due, ..)| due)
    }

    /// Takes the next thing that reached a host.
    pub fn poll_arrival(&mut self, host: HostId) -> Option<Arrival> {
        self.host_mut(host).arrivals.pop_front()
    }

    pub(crate) fn has_arrival(&self, host: HostId) -> bool {
        !self.host(host).arrivals.is_empty()
    }

    /// Returns the earliest thing due. Which of equal ones comes first is fixed but does not matter:
    /// a path that takes a datagram does what is due on it first.
    fn first_due(&self) -> Option<(Duration, HostId, LinkDirection)> {
        let dues = self.hosts.iter().enumerate().flat_map(|(index, host)| {
            let up = host
                .up
                .next_due()
                .map(|due| (due, HostId(index), LinkDirection::Up));
            let down = host
                .down
                .next_due()
                .map(|due| (due, HostId(index), LinkDirection::Down));
            [up, down].into_iter().flatten()
        });
        dues.min()
    }

    /// Brings what came out of a path into the network to where it belongs.
    fn leave(&mut self, events: Vec<PathEvent>) {
        for PathEvent { at, what } in events {
            match what {
                PathOutcome::Met(label, fate) => self.timeline.met(at, label, fate),
                PathOutcome::Refused(datagram, error) => self.refuse(at, datagram, error),
                PathOutcome::Passed(datagram) => self.route(at, datagram),
            }
        }
    }

    fn route(&mut self, at: Duration, datagram: Datagram) {
        let found = self
            .hosts
            .iter()
            .position(|host| host.is_reached_at(datagram.destination));
        let Some(index) = found else {
            self.timeline
                .met(at, datagram.label(), Fate::Lost(LossCause::Nobody));
            return;
        };
        let mut events = Vec::new();
        self.host_mut(HostId(index))
            .down
            .take(at, datagram, &mut events);
        self.enter(HostId(index), events);
    }

    /// Hands over what came out of a path to a host.
    fn enter(&mut self, id: HostId, events: Vec<PathEvent>) {
        for PathEvent { at, what } in events {
            match what {
                PathOutcome::Met(label, fate) => self.timeline.met(at, label, fate),
                PathOutcome::Refused(datagram, error) => self.refuse(at, datagram, error),
                PathOutcome::Passed(datagram) => self.deliver(at, id, datagram),
            }
        }
    }

    fn deliver(&mut self, at: Duration, id: HostId, mut datagram: Datagram) {
        let host = self.host_mut(id);
        if host.is_cut {
            self.timeline
                .met(at, datagram.label(), Fate::Lost(LossCause::Outage));
        } else if let Some(nat) = &mut host.nat
            && !nat.translate_in(at, &mut datagram)
        {
            self.timeline
                .met(at, datagram.label(), Fate::Lost(LossCause::Nat));
        } else if !host.has(datagram.destination) {
            self.timeline
                .met(at, datagram.label(), Fate::Lost(LossCause::Nobody));
        } else if !host.is_awake {
            self.timeline
                .met(at, datagram.label(), Fate::Lost(LossCause::Asleep));
        } else {
            self.timeline.delivered(at, id, &datagram);
            let what = Arrived::Datagram(datagram);
            self.host_mut(id).arrivals.push_back(Arrival { at, what });
        }
    }

    /// Loses a datagram and lets its sender know, if that is awake.
    fn refuse(&mut self, at: Duration, datagram: Datagram, error: SendError) {
        let label = datagram.label();
        self.timeline.met(at, label, Fate::Refused(error));
        let failure = SendFailure {
            source: label.ticket.origin,
            destination: label.destination,
            len: label.len,
            error,
        };
        let sender = self.host_mut(label.ticket.sender);
        if sender.is_awake {
            let what = Arrived::SendFailure { failure, datagram };
            sender.arrivals.push_back(Arrival { at, what });
        }
    }

    fn host(&self, host: HostId) -> &Host {
        self.hosts.get(host.0).expect("the network has this host")
    }

    fn host_mut(&mut self, host: HostId) -> &mut Host {
        self.hosts
            .get_mut(host.0)
            .expect("the network has this host")
    }
}

/// The address that stands for the source of a host without one.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
