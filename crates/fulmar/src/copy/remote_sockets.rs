//! The remote end's datagrams, between its sockets and QUIC.

use fulmar_base::{SendError, Time};
use fulmar_platform::{Interest, UdpSocket};
use fulmar_quic::Connection;
use fulmar_transport::Arrival;

use super::DATAGRAMS_PER_TURN;
use super::local_sockets::handle_datagram;
use super::outgoing::Outgoing;
use super::unreachable_detector::UnreachableDetector;
use crate::clock::now;
use crate::net::udp::TurnBudget;
use crate::net::{Handled, PathHandler, Report, ServerSockets};
use crate::reactor::Registry;

/// The sockets of a remote end.
#[derive(Debug)]
pub(super) struct RemoteSockets {
    sockets: ServerSockets,
    outgoing: Outgoing,
    unreachable: UnreachableDetector,
}

impl RemoteSockets {
    /// Takes over bound sockets.
    pub(super) fn new(sockets: Vec<UdpSocket>) -> RemoteSockets {
        RemoteSockets {
            sockets: ServerSockets::new(sockets, TurnBudget::of(DATAGRAMS_PER_TURN)),
            outgoing: Outgoing::default(),
            unreachable: UnreachableDetector::default(),
        }
    }

    /// Tells if the local end has gone, as its system says.
    pub(super) fn is_peer_gone(&self) -> bool {
        self.unreachable.is_unreachable()
    }

    /// Registers the sockets.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        let usual = match self.outgoing.waits_on() {
            Some(_) => Interest::ReadWrite,
            None => Interest::Read,
        };
        self.sockets.register(registry, usual);
    }

    /// Begins a turn, which has a budget of its own.
    pub(super) fn begin_turn(&mut self) {
        self.sockets.begin_turn();
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(super) fn receive(&mut self, index: usize, connection: &mut Connection) {
        let unreachable = &mut self.unreachable;
        let mut copy = Copy {
            received_at: now(),
            connection,
            unreachable,
        };
        self.sockets.receive(index, &mut copy);
    }

    /// Tells if there may be more to receive than this turn has taken.
    pub(super) fn has_more(&self) -> bool {
        self.sockets.budget().is_spent()
    }

    /// Sends what there is to send. Returns whether anything has left: then streams may have room again.
    pub(super) fn transmit(&mut self, connection: &mut Connection) -> bool {
        let sockets = &mut self.sockets;
        self.outgoing
            .transmit(connection, |batch| sockets.send(batch))
    }
}

/// The connection, in one turn.
struct Copy<'a> {
    received_at: Time,
    connection: &'a mut Connection,
    unreachable: &'a mut UnreachableDetector,
}

impl PathHandler for Copy<'_> {
    fn note_arrival(&mut self) {
        // Others may have had the processor since the turn began: round trips are told by this time.
        self.received_at = now();
    }

    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        let handled = handle_datagram(self.received_at, self.connection, arrival);
        if handled.is_genuine {
            self.unreachable.handle_genuine();
        }
        handled
    }

    fn handle_report(&mut self, report: Report) {
        if report.error == SendError::Refused && report.is_of_peer {
            self.unreachable.handle_refusal(now());
        }
    }
}
