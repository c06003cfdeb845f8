//! The client's side of the network: sockets for each local port in use, and a server that may be
//! at one of several addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fulmar_core::Client;
use fulmar_datagram::Time;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, IcmpErrors, Inbox, UdpOptions};
use fulmar_platform::{Interest, PollList, PollSlot, UdpSocket};
use fulmar_transport::{Arrival, PathId, SendError, Transmit};

use super::destinations::Destinations;
use crate::listening::Listening;
use crate::trace::Trace;
use crate::udp;

/// The open sockets of a client. Each of its paths is a local port, or one of each family as long
/// as it is not known in which the server answers.
#[derive(Debug)]
pub(crate) struct Sockets {
    destinations: Destinations,
    open: Vec<Open>,
    next: u64,
    inbox: Inbox,
    /// What is being sent.
    buffer: Vec<u8>,
    trace: Trace,
}

#[derive(Debug)]
struct Open {
    path: PathId,
    is_ipv6: bool,
    listening: Listening,
}

impl Sockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(destinations: Destinations, trace: Trace) -> Sockets {
        Sockets {
            destinations,
            open: Vec::new(),
            next: 0,
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            buffer: Vec::new(),
            trace,
        }
    }

    /// Returns where the server may be, or is.
    pub(crate) fn destinations(&self) -> &Destinations {
        &self.destinations
    }

    /// Opens a path from a local port that was not used before.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses that the
    /// server may be reached in.
    pub(crate) fn open(&mut self) -> io::Result<PathId> {
        let path = PathId::new(self.next);
        let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
        for is_ipv6 in [false, true] {
            let is_family = |address: &SocketAddr| address.is_ipv6() == is_ipv6;
            if !self.destinations.uses_family(is_family) {
                continue;
            }
            match bind(is_ipv6) {
                Ok(socket) => {
                    outcome = Ok(path);
                    self.open.push(Open {
                        path,
                        is_ipv6,
                        listening: Listening::to(socket),
                    });
                }
                Err(error) if outcome.is_err() => outcome = Err(error),
                Err(error) => tracing::info!(%error, is_ipv6, "no socket of that family"),
            }
        }
        self.next += 1;
        outcome
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.open.retain(|open| open.path != path);
    }

    /// Puts the sockets on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Vec<PollSlot> {
        let sockets = self.open.iter().map(|open| &open.listening);
        sockets
            .map(|one| list.add(&one.socket, one.interest(Interest::Read)))
            .collect()
    }

    /// Hands over what has come, within the budget of one turn.
    pub(crate) fn receive(&mut self, now: Time, ready: &[bool], client: &mut Client) {
        let mut budget = udp::DATAGRAMS_PER_TURN;
        let mut is_settled = false;
        for (place, open) in self.open.iter_mut().enumerate() {
            let is_ready = ready.get(place).copied().unwrap_or(false);
            while is_ready
                && let Some(received) = open.listening.receive(&mut self.inbox, &mut budget)
            {
                if let Some(report) = received.icmp {
                    let error = udp::send_error(report.error);
                    self.trace.send_failed(now, open.path, error);
                    if let Some(error) = self.destinations.note_report(report.reporter, error) {
                        client.handle_send_error(now, open.path, error);
                    }
                }
                if received.datagrams == 0 {
                    break;
                }
                for datagram in self.inbox.datagrams() {
                    let verdict = client.handle_datagram(now, arrival(open.path, &datagram));
                    let length = datagram.bytes.len();
                    self.trace.received(now, open.path, length, &verdict);
                    // What has a number was genuine.
                    if verdict.sequence.is_some() {
                        is_settled |= self.destinations.heard_from(datagram.source);
                    }
                }
            }
        }
        if is_settled {
            self.settle();
        }
    }

    /// Closes what was only needed as long as the server could be anywhere.
    fn settle(&mut self) {
        let Some(peer) = self.destinations.peer() else {
            return;
        };
        tracing::info!(%peer, "the server has answered");
        self.open.retain(|open| open.is_ipv6 == peer.is_ipv6());
    }

    /// Sends what there is to send, and returns whether anything has left.
    pub(crate) fn transmit(&mut self, now: Time, client: &mut Client) -> bool {
        let mut has_sent = false;
        while let Some(transmit) = client.poll_transmit(now, &mut self.buffer) {
            match self.send(&transmit) {
                Ok(0) => {}
                Ok(_) => {
                    has_sent = true;
                    self.trace.sent(now, &transmit);
                }
                Err(error) => {
                    tracing::debug!(?error, "sending");
                    self.trace.send_failed(now, transmit.path, error);
                    client.handle_send_error(now, transmit.path, error);
                }
            }
        }
        for (at, decision) in client.take_decisions() {
            self.trace.decided(at, &decision);
        }
        self.trace.flush();
        has_sent
    }

    /// Sends the same datagrams to every address that the server may have, and returns to how many
    /// they have left. It is an error only if all of those that may have more have failed.
    fn send(&mut self, transmit: &Transmit) -> Result<usize, SendError> {
        let mut sent = 0;
        let mut failed = None;
        for address in self.destinations.next(transmit.datagrams()) {
            let is_way =
                |open: &&mut Open| open.path == transmit.path && open.is_ipv6 == address.is_ipv6();
            let outcome = match self.open.iter_mut().find(is_way) {
                Some(open) => udp::send(
                    &mut open.listening.socket,
                    address,
                    None,
                    transmit,
                    &self.buffer,
                ),
                None => Err(SendError::Unreachable),
            };
            self.destinations.note_sent(address, outcome);
            match outcome {
                Ok(()) => sent += 1,
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if sent == 0 => Err(error),
            _ => Ok(sent),
        }
    }
}

fn bind(is_ipv6: bool) -> io::Result<UdpSocket> {
    let anywhere: IpAddr = match is_ipv6 {
        false => Ipv4Addr::UNSPECIFIED.into(),
        true => Ipv6Addr::UNSPECIFIED.into(),
    };
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        ..UdpOptions::default()
    };
    UdpSocket::bind((anywhere, 0).into(), options)
}

fn arrival<'a>(path: PathId, datagram: &Datagram<'a>) -> Arrival<'a> {
    Arrival {
        path,
        ecn: udp::ecn(datagram.ecn),
        bytes: datagram.bytes,
    }
}

#[cfg(test)]
mod tests;
