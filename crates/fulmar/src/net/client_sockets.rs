//! The client's side of UDP: sockets for each local port in use, and a server that may be at one of several
//! addresses.

use std::net::{IpAddr, SocketAddr};
use std::{io, mem};

use fulmar_base::{PathId, SendError};
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_login::CandidateAddresses;
use fulmar_platform::udp::{IcmpReport, Inbox, Received, UdpOptions};
use fulmar_platform::{Interest, UdpSocket};

use super::local_ports::LocalPorts;
use super::path_handler::{PathHandler, Report, arrival};
use super::udp::{self, Batch, TurnBudget};
use crate::reactor::Registry;

/// The open sockets of a client. Each of its paths is a local port, or one of each family as long
/// as it is not known in which the server answers.
#[derive(Debug)]
pub(crate) struct ClientSockets {
    candidates: CandidateAddresses,
    options: UdpOptions,
    ports: LocalPorts,
    inbox: Inbox,
    /// The path on which the datagrams came that an earlier turn has left in the inbox.
    waiting: Option<PathId>,
    budget: TurnBudget,
    /// True if it is known since this turn where the server is.
    is_settled: bool,
}

impl ClientSockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(
        candidates: CandidateAddresses,
        options: UdpOptions,
        budget: TurnBudget,
    ) -> ClientSockets {
        ClientSockets {
            candidates,
            options,
            ports: LocalPorts::default(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            waiting: None,
            budget,
            is_settled: false,
        }
    }

    /// Returns where the server may be, or is.
    pub(crate) fn candidates(&self) -> &CandidateAddresses {
        &self.candidates
    }

    /// Lets addresses that have never answered have a few more datagrams.
    pub(crate) fn allow_more(&mut self) {
        self.candidates.allow_more();
    }

    /// Opens a path from a local port that was not used before.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses that the
    /// server may be reached in.
    pub(crate) fn open(&mut self) -> io::Result<PathId> {
        let options = self.options;
        self.ports
            .open(&self.candidates, |anywhere| bind(anywhere, options))
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.ports.close(path);
    }

    /// Closes all paths but the last.
    pub(crate) fn close_older(&mut self) {
        self.ports.close_older();
    }

    /// Registers the sockets. Those of a path on which something waits for room are waited for until there is some.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>, sends_on: Option<PathId>) {
        self.ports.register(registry, |path| {
            if sends_on == Some(path) {
                Interest::ReadWrite
            } else {
                Interest::Read
            }
        });
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.budget.refill();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, handler: &mut impl PathHandler) {
        if let Some(path) = self.waiting.take() {
            self.hand_over(path, handler);
        }
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, index: usize, handler: &mut impl PathHandler) {
        while self.waiting.is_none()
            && let Some((path, received)) = self.receive_at(index)
        {
            if let Some(report) = received.icmp {
                handler.handle_report(self.report(path, report));
            }
            if received.datagrams > 0 {
                handler.note_arrival();
                self.hand_over(path, handler);
            }
            if !received.has_more {
                break;
            }
        }
    }

    /// Returns the budget of the turn, to be used by other paths.
    pub(crate) fn budget_mut(&mut self) -> &mut TurnBudget {
        &mut self.budget
    }

    /// Ends a turn: closes what was only needed as long as the server could be anywhere. Returns whether there may
    /// be more to receive than the turn has taken.
    pub(crate) fn end_turn(&mut self) -> bool {
        // Not sooner: within a turn sockets are known by their places.
        if mem::take(&mut self.is_settled)
            && let Some(peer) = self.candidates.peer()
        {
            tracing::info!(%peer, "the server has answered");
            self.ports.settle(peer);
        }
        self.budget.is_spent()
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends the same datagrams to every address that the server may have, and returns to how many they have left.
    ///
    /// # Errors
    ///
    /// When those that may have more have failed, all of them.
    pub(crate) fn send(&mut self, batch: &Batch<'_>) -> Result<usize, SendError> {
        let mut sent = 0;
        let mut failed = None;
        for address in self.candidates.next(batch.datagrams()) {
            let outcome = match self.ports.socket(batch.path, address) {
                Some(socket) => udp::send(socket, address, None, batch),
                None => Err(SendError::Unreachable),
            };
            self.candidates.note_sent(address, outcome);
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

    /// Returns the open ports.
    #[cfg(test)]
    pub(crate) fn open_ports(&self) -> &[super::local_ports::Open] {
        &self.ports.open
    }

    /// Fills the inbox from the port at that place, and returns which path it is.
    fn receive_at(&mut self, index: usize) -> Option<(PathId, Received)> {
        let open = self.ports.at(index)?;
        let received = open
            .listening
            .receive(&mut self.inbox, &mut self.budget.datagrams)?;
        Some((open.path, received))
    }

    fn report(&mut self, path: PathId, report: IcmpReport) -> Report {
        let IcmpReport { error, reporter } = report;
        let peer = self.candidates.peer().map(|peer| peer.ip());
        Report {
            path: Some(path),
            error,
            is_of_peer: peer.is_some() && reporter == peer,
            is_of_this_machine: reporter.is_some_and(is_own),
            is_of_all: self.candidates.note_report(reporter, error).is_some(),
        }
    }

    /// Hands over what is in the inbox, as much as the budget allows.
    fn hand_over(&mut self, path: PathId, handler: &mut impl PathHandler) {
        while self.budget.has_work()
            && let Some(datagram) = self.inbox.pop()
        {
            let handled = handler.handle_datagram(arrival(path, &datagram));
            self.budget.spend(handled.work);
            if handled.is_genuine {
                self.is_settled |= self.candidates.heard_from(datagram.source);
            }
        }
        self.waiting = self.inbox.has_more().then_some(path);
    }
}

/// Tells whether an address is one of this machine.
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(address, 0), UdpOptions::default()).is_ok()
}

fn bind(anywhere: SocketAddr, options: UdpOptions) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(anywhere, options)?;
    udp::make_room(&socket);
    Ok(socket)
}
