//! The interface of a program that runs on a host.

use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{Ecn, Hint};

use crate::datagram::{Datagram, SendFailure};

/// A program on a host: a state machine without socket and clock.
///
/// `now` is the reading of the host's clock. Without jumps of that clock it is the time since the
/// start of the simulation. Each turn, what has arrived is handed over, then `poll_transmit` is
/// drained until `None`, then `next_timeout` is read.
pub trait Node {
    /// Takes a datagram that has reached the host.
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram);

    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Duration);

    /// Gives out the next datagram that can be sent now.
    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit>;

    /// Returns when, on the host's clock, `handle_timeout` is to be called next.
    fn next_timeout(&self) -> Option<Duration>;

    /// Returns why the next timeout is wanted, for the timeline.
    fn timeout_reason(&self) -> &'static str {
        ""
    }

    /// Gives out a line for the timeline; asked until `None` after each drain.
    fn poll_note(&mut self) -> Option<String> {
        None
    }

    /// Learns that the host's system could not send something, or that an error came back for it.
    fn handle_send_failure(&mut self, _now: Duration, _failure: SendFailure) {}

    /// Learns something from the host's system.
    fn handle_hint(&mut self, _now: Duration, _hint: Hint) {}
}

/// A datagram that a node wants sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The address to send from; the host's latest where there is none.
    pub source: Option<SocketAddr>,
    /// The address to send to.
    pub destination: SocketAddr,
    /// The congestion mark to send with.
    pub ecn: Ecn,
    /// The UDP payload.
    pub bytes: Vec<u8>,
    /// The reason for sending it, for the timeline.
    pub why: &'static str,
}

impl Transmit {
    /// Returns a datagram from the host's latest address, without a congestion mark.
    #[must_use]
    pub fn to(destination: SocketAddr, bytes: impl Into<Vec<u8>>) -> Self {
        let (ecn, why) = (Ecn::NotCapable, "");
        Self {
            source: None,
            destination,
            ecn,
            bytes: bytes.into(),
            why,
        }
    }

    /// Sends it from this address.
    #[must_use]
    pub fn from(self, source: SocketAddr) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Sends it with this congestion mark.
    #[must_use]
    pub fn ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    /// Says in the timeline why it is sent.
    #[must_use]
    pub fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }
}

impl<T: Node + ?Sized> Node for Box<T> {
    fn handle_datagram(&mut self, now: Duration, datagram: Datagram) {
        (**self).handle_datagram(now, datagram);
    }

    fn handle_timeout(&mut self, now: Duration) {
        (**self).handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Duration) -> Option<Transmit> {
        (**self).poll_transmit(now)
    }

    fn next_timeout(&self) -> Option<Duration> {
        (**self).next_timeout()
    }

    fn timeout_reason(&self) -> &'static str {
        (**self).timeout_reason()
    }

    fn poll_note(&mut self) -> Option<String> {
        (**self).poll_note()
    }

    fn handle_send_failure(&mut self, now: Duration, failure: SendFailure) {
        (**self).handle_send_failure(now, failure);
    }

    fn handle_hint(&mut self, now: Duration, hint: Hint) {
        (**self).handle_hint(now, hint);
    }
}

/// The programs of all hosts, in the order of the hosts: a tuple keeps their types.
pub trait Nodes {
    /// Returns how many there are.
    fn count(&self) -> usize;

    /// Returns the program of a host.
    fn node(&self, index: usize) -> Option<&dyn Node>;

    /// Returns the program of a host, to be driven.
    fn node_mut(&mut self, index: usize) -> Option<&mut dyn Node>;
}

impl<A: Node, B: Node> Nodes for (A, B) {
    fn count(&self) -> usize {
        2
    }

    fn node(&self, index: usize) -> Option<&dyn Node> {
        match index {
            0 => Some(&self.0),
            1 => Some(&self.1),
            _ => None,
        }
    }

    fn node_mut(&mut self, index: usize) -> Option<&mut dyn Node> {
        match index {
            0 => Some(&mut self.0),
            1 => Some(&mut self.1),
            _ => None,
        }
    }
}

impl<T: Node> Nodes for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn node(&self, index: usize) -> Option<&dyn Node> {
        self.get(index).map(|node| node as &dyn Node)
    }

    fn node_mut(&mut self, index: usize) -> Option<&mut dyn Node> {
        self.get_mut(index).map(|node| node as &mut dyn Node)
    }
}
