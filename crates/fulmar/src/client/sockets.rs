//! The client's side of the network: sockets for each local port in use, and a server that may be
//! at one of several addresses.

use std::io;
use std::net::SocketAddr;

use fulmar_base::{PathId, SendError, Time};
use fulmar_core::Client;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, IcmpErrors, Inbox, Received, UdpOptions};
use fulmar_platform::{Interest, UdpSocket};
use fulmar_transport::{Arrival, Transmit};

use crate::net::destinations::Destinations;
use crate::net::local_ports::LocalPorts;
use crate::net::udp::{self, TurnBudget};
use crate::reactor::Registry;
use crate::trace::Trace;

/// The open sockets of a client. Each of its paths is a local port, or one of each family as long
/// as it is not known in which the server answers.
#[derive(Debug)]
pub(crate) struct Sockets {
    destinations: Destinations,
    ports: LocalPorts,
    inbox: Inbox,
    /// The path on which the datagrams came that an earlier turn has left in the inbox.
    waiting: Option<PathId>,
    /// What is left of the budget of this turn.
    budget: TurnBudget,
    /// True if it is known since this turn where the server is.
    is_settled: bool,
    /// The bytes that are being sent.
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
            waiting: None,
            budget: TurnBudget::new(),
            is_settled: false,
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

    /// Registers the sockets.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.ports.register(registry, |_| Interest::Read);
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.budget = TurnBudget::new();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, now: Time, client: &mut Client) {
        if let Some(path) = self.waiting.take() {
            self.hand_over(now, path, client);
        }
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, now: Time, place: usize, client: &mut Client) {
        while self.waiting.is_none()
            && let Some((path, received)) = self.receive_at(place)
        {
            if let Some(report) = received.icmp {
                let error = report.error;
                self.trace.send_failed(now, path, error);
                if let Some(error) = self.destinations.note_report(report.reporter, error) {
                    client.handle_report(now, path, error);
                }
            }
            if received.datagrams == 0 {
                break;
            }
            self.hand_over(now, path, client);
        }
    }

    /// Ends a turn: closes what was only needed as long as the server could be anywhere.
    pub(crate) fn end_turn(&mut self) {
        if std::mem::take(&mut self.is_settled)
            && let Some(peer) = self.destinations.peer()
        {
            tracing::info!(%peer, "the server has answered");
            self.ports.settle(peer);
        }
    }

    /// Fills the inbox from the port at that place, and returns which path it is.
    fn receive_at(&mut self, place: usize) -> Option<(PathId, Received)> {
        let open = self.ports.at(place)?;
        let received = open
            .listening
            .receive(&mut self.inbox, &mut self.budget.datagrams)?;
        Some((open.path, received))
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.waiting.is_some()
    }

    /// Hands over what is in the inbox, as much as the budget allows.
    fn hand_over(&mut self, now: Time, path: PathId, client: &mut Client) {
        while self.budget.has_work()
            && let Some(datagram) = self.inbox.pop()
        {
            let received = client.handle_datagram(now, arrival(path, &datagram));
            self.budget.spend(&received);
            let length = datagram.bytes.len();
            self.trace.received(now, path, length, &received);
            // What has a number was genuine.
            if received.sequence.is_some() {
                self.is_settled |= self.destinations.heard_from(datagram.source);
            }
        }
        self.waiting = self.inbox.has_more().then_some(path);
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
                    match error {
                        // Of UDP this is never the system's own word.
                        SendError::Refused => {
                            client.handle_report(now, transmit.path, error);
                        }
                        _ => client.handle_send_error(now, transmit.path, error),
                    }
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
    let socket = UdpSocket::bind(anywhere, options)?;
    udp::make_room(&socket);
    Ok(socket)
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
