//! A host: its addresses and its link to the network.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use crate::datagram::{Datagram, SendFailure};
use crate::nat::Translator;
use crate::path::Path;

/// One direction of a host's link, as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkDirection {
    /// From the host into the network.
    Up,
    /// From the network to the host.
    Down,
}

/// A thing that reached a host, and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The instant, counted from the start.
    pub at: Duration,
    /// The thing that came.
    pub what: Arrived,
}

/// A thing that reached a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A datagram that was sent to it.
    Datagram(Datagram),
    /// Word that a datagram of its own was not carried.
    SendFailure {
        /// The failure, as its system reports it.
        failure: SendFailure,
        /// The datagram, as it was where it was stopped.
        datagram: Datagram,
    },
}

#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    /// In order of binding; the last is the default source.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) up: Path,
    pub(crate) down: Path,
    pub(crate) nat: Option<Translator>,
    pub(crate) is_awake: bool,
    /// Nothing enters or leaves it.
    pub(crate) is_cut: bool,
    pub(crate) arrivals: VecDeque<Arrival>,
    /// The number of addresses it has moved on to of its own accord.
    pub(crate) moves: u16,
}

impl Host {
    pub(crate) fn path(&mut self, way: LinkDirection) -> &mut Path {
        match way {
            LinkDirection::Up => &mut self.up,
            LinkDirection::Down => &mut self.down,
        }
    }

    /// Tells whether the address is one of the host's own. A host that has port 0 has them all.
    pub(crate) fn has(&self, address: SocketAddr) -> bool {
        let has = |own: &SocketAddr| {
            own.ip() == address.ip() && (own.port() == address.port() || own.port() == 0)
        };
        self.addresses.iter().any(has)
    }

    /// Tells whether the network brings datagrams to this address here.
    pub(crate) fn is_reached_at(&self, address: SocketAddr) -> bool {
        match &self.nat {
            Some(nat) => nat.has_address(address),
            None => self.has(address),
        }
    }
}
