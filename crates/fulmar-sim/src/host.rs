//! A host: its addresses and its link to the network.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::datagram::{Datagram, SendFailure};
use crate::nat::Translator;
use crate::path::Path;

/// One direction of a host's link, as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the host into the network.
    Up,
    /// From the network to the host.
    Down,
}

/// What reached a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    Datagram(Datagram),
    SendFailure(SendFailure),
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
    /// How many addresses it has moved on to of its own accord.
    pub(crate) moves: u16,
}

impl Host {
    pub(crate) fn path(&mut self, way: Way) -> &mut Path {
        match way {
            Way::Up => &mut self.up,
            Way::Down => &mut self.down,
        }
    }

    /// Tells whether the network brings datagrams to this address here.
    pub(crate) fn is_reached_at(&self, address: SocketAddr) -> bool {
        match &self.nat {
            Some(nat) => nat.has_address(address),
            None => self.addresses.contains(&address),
        }
    }
}
