//! The server's side of UDP: bound sockets, and the paths on which somebody genuine was heard.

use std::net::IpAddr;

use fulmar_base::{PathId, SendError};
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{IcmpReport, Inbox};
use fulmar_platform::{Interest, UdpSocket};

use super::listening::Listening;
use super::path_handler::{PathHandler, Report, arrival};
use super::path_table::{PathAddresses, PathTable};
use super::udp::{self, Batch, TurnBudget};
use crate::reactor::{Registry, Token};

/// The sockets of a server, and who was heard of on which.
#[derive(Debug)]
pub(crate) struct ServerSockets {
    sockets: Vec<Listening>,
    inbox: Inbox,
    /// The socket on which the datagrams came that an earlier turn has left in the inbox.
    waiting: Option<usize>,
    budget: TurnBudget,
    paths: PathTable,
    /// The address at which the peer was heard last.
    peer: Option<IpAddr>,
}

impl ServerSockets {
    /// Takes over bound sockets.
    pub(crate) fn new(sockets: Vec<UdpSocket>, budget: TurnBudget) -> ServerSockets {
        sockets.iter().for_each(udp::make_room);
        ServerSockets {
            sockets: sockets.into_iter().map(Listening::to).collect(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            waiting: None,
            budget,
            paths: PathTable::default(),
            peer: None,
        }
    }

    /// Listens on further sockets, too.
    pub(crate) fn add(&mut self, sockets: Vec<UdpSocket>) {
        sockets.iter().for_each(udp::make_room);
        self.sockets.extend(sockets.into_iter().map(Listening::to));
    }

    /// Registers the sockets, which are waited for until there is room if something waits for that.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>, usual: Interest) {
        for (index, one) in self.sockets.iter().enumerate() {
            registry.add(Token::Socket(index), &one.socket, one.interest(usual));
        }
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.budget.refill();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, handler: &mut impl PathHandler) {
        if let Some(index) = self.waiting.take() {
            self.hand_over(index, handler);
        }
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, index: usize, handler: &mut impl PathHandler) {
        while self.waiting.is_none()
            && let Some(listening) = self.sockets.get_mut(index)
            && let Some(received) = listening.receive(&mut self.inbox, &mut self.budget.datagrams)
        {
            if let Some(IcmpReport { error, reporter }) = received.icmp {
                handler.handle_report(Report {
                    path: None,
                    error,
                    is_of_peer: self.peer.is_some() && reporter == self.peer,
                    is_of_this_machine: false,
                    is_of_all: false,
                });
            }
            if received.datagrams > 0 {
                handler.note_arrival();
                self.hand_over(index, handler);
            }
            if !received.has_more {
                break;
            }
        }
    }

    /// Returns what is left of the budget of this turn.
    pub(crate) fn budget(&self) -> &TurnBudget {
        &self.budget
    }

    /// Returns the same, to be used by other paths.
    pub(crate) fn budget_mut(&mut self) -> &mut TurnBudget {
        &mut self.budget
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends on a path.
    ///
    /// # Errors
    ///
    /// When the path is not known any more, or the system refuses.
    pub(crate) fn send(&mut self, batch: &Batch<'_>) -> Result<(), SendError> {
        let addresses = self.paths.use_path(batch.path);
        let addresses = addresses.ok_or(SendError::Unreachable)?;
        let listening = self.sockets.get_mut(addresses.socket);
        let Listening { socket, .. } = listening.ok_or(SendError::Unreachable)?;
        udp::send(socket, addresses.remote, addresses.local, batch)
    }

    /// Returns the address at the other end of a path.
    pub(crate) fn address(&self, path: PathId) -> Option<IpAddr> {
        self.paths.find(path).map(|addresses| addresses.remote.ip())
    }

    /// Returns the paths that were proven.
    #[cfg(test)]
    pub(crate) fn paths(&self) -> &PathTable {
        &self.paths
    }

    /// Hands over what is in the inbox, as much as the budget allows.
    fn hand_over(&mut self, index: usize, handler: &mut impl PathHandler) {
        while self.budget.has_work()
            && let Some(datagram) = self.inbox.pop()
        {
            let addresses = PathAddresses::of(index, &datagram);
            let path = self.paths.number(&addresses);
            let handled = handler.handle_datagram(arrival(path, &datagram));
            self.budget.spend(handled.work);
            // The protocol may name its path from now on. What is overtaken or repeated proves nothing, even if
            // nobody can tell any more what it was about.
            if handled.is_fresh {
                self.peer = Some(datagram.source.ip());
                self.paths
                    .prove(path, addresses, |path| handler.remembers(path));
            }
        }
        self.waiting = self.inbox.has_more().then_some(index);
    }
}
