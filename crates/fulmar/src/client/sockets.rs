//! The client's side of the network: sockets for each local port in use, and a server that may be
//! at one of several addresses.

use std::io;
use std::net::SocketAddr;

use fulmar_base::Time;
use fulmar_base::{PathId, SendError};
use fulmar_core::Client;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, IcmpErrors, Inbox, UdpOptions};
use fulmar_platform::{Interest, PollList, PollSlot, UdpSocket};
use fulmar_transport::{Arrival, Transmit};

use super::destinations::Destinations;
use super::local_ports::LocalPorts;
use crate::trace::Trace;
use crate::udp;

/// The open sockets of a client. Each of its paths is a local port, or one of each family as long
/// as it is not known in which the server answers.
#[derive(Debug)]
pub(crate) struct Sockets {
    destinations: Destinations,
    ports: LocalPorts,
    inbox: Inbox,
    /// What is being sent.
    buffer: Vec<u8>,
    trace: Trace,
}

impl Sockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(destinations: Destinations, trace: Trace) -> Sockets {
        Sockets {
            destinations,
            ports: LocalPorts::default(),
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
        self.ports.open(&self.destinations, bind)
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.ports.close(path);
    }

    /// Puts the sockets on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Vec<PollSlot> {
        self.ports.enlist(list, |_| Interest::Read)
    }

    /// Hands over what has come, within the budget of one turn.
    pub(crate) fn receive(&mut self, now: Time, ready: &[bool], client: &mut Client) {
        let mut budget = udp::DATAGRAMS_PER_TURN;
        let mut is_settled = false;
        for (place, open) in self.ports.iter_mut().enumerate() {
            let is_ready = ready.get(place).copied().unwrap_or(false);
            while is_ready
                && let Some(received) = open.listening.receive(&mut self.inbox, &mut budget)
            {
                if let Some(report) = received.icmp {
                    let error = report.error;
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
        if is_settled && let Some(peer) = self.destinations.peer() {
            tracing::info!(%peer, "the server has answered");
            self.ports.settle(peer);
        }
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
            let outcome = match self.ports.socket(transmit.path, address) {
                Some(socket) => udp::send(socket, address, None, transmit, &self.buffer),
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

fn bind(anywhere: SocketAddr) -> io::Result<UdpSocket> {
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        ..UdpOptions::default()
    };
    UdpSocket::bind(anywhere, options)
}

fn arrival<'a>(path: PathId, datagram: &Datagram<'a>) -> Arrival<'a> {
    Arrival {
        path,
        ecn: datagram.ecn,
        bytes: datagram.bytes,
    }
}

#[cfg(test)]
mod tests;
