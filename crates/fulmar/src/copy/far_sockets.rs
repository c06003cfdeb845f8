//! The far end's side of the network.

use std::net::IpAddr;

use fulmar_base::{SendError, Time};
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, Inbox};
use fulmar_platform::{Interest, UdpSocket};
use fulmar_quic::{Connection, Verdict};

use super::DATAGRAMS_PER_TURN;
use super::absence::Absence;
use super::outgoing::Outgoing;
use crate::clock::now;
use crate::net::listening::Listening;
use crate::net::path_table::{PathTable, Way};
use crate::net::udp;
use crate::reactor::{Registry, Token};

/// The sockets of a far end, and who was heard of on which.
#[derive(Debug)]
pub(super) struct FarSockets {
    sockets: Vec<Listening>,
    inbox: Inbox,
    /// The datagrams that this turn may still take.
    budget: usize,
    paths: PathTable,
    outgoing: Outgoing,
    /// Where the near end was heard last.
    peer: Option<IpAddr>,
    absence: Absence,
}

impl FarSockets {
    /// Takes over bound sockets.
    pub(super) fn new(sockets: Vec<UdpSocket>) -> FarSockets {
        let listening = |socket: UdpSocket| {
            udp::make_room(&socket);
            Listening::to(socket)
        };
        FarSockets {
            sockets: sockets.into_iter().map(listening).collect(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            budget: DATAGRAMS_PER_TURN,
            paths: PathTable::default(),
            outgoing: Outgoing::default(),
            peer: None,
            absence: Absence::default(),
        }
    }

    /// Tells if the near end has gone, as its system says.
    pub(super) fn is_peer_gone(&self) -> bool {
        self.absence.is_certain()
    }

    /// Registers the sockets.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        let usual = match self.outgoing.waits_on() {
            Some(_) => Interest::ReadWrite,
            None => Interest::Read,
        };
        for (place, one) in self.sockets.iter().enumerate() {
            registry.add(Token::Socket(place), &one.socket, one.interest(usual));
        }
    }

    /// Begins a turn, which has a budget of its own.
    pub(super) fn begin_turn(&mut self) {
        self.budget = DATAGRAMS_PER_TURN;
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(super) fn receive(&mut self, place: usize, connection: &mut Connection) {
        let Some(listening) = self.sockets.get_mut(place) else {
            return;
        };
        while let Some(received) = listening.receive(&mut self.inbox, &mut self.budget) {
            // Others may have had the processor since the last time was taken: round trips are told by
            // these.
            let now = now();
            if let Some(report) = received.icmp
                && report.error == SendError::Refused
                && report.reporter == self.peer
            {
                self.absence.refused(now);
            }
            if received.datagrams == 0 {
                break;
            }
            for datagram in self.inbox.datagrams() {
                if hand_over(now, place, &datagram, connection, &mut self.paths) {
                    self.peer = Some(datagram.source.ip());
                    self.absence.heard();
                }
            }
        }
    }

    /// Tells if there may be more to receive than this turn has taken.
    pub(super) fn has_more(&self) -> bool {
        self.budget == 0
    }

    /// Sends what there is to send. Returns whether anything has left: then lanes may have room again.
    pub(super) fn transmit(&mut self, connection: &mut Connection) -> bool {
        self.outgoing.transmit(connection, |transmit, bytes| {
            let way = self.paths.way_to(transmit.path);
            let way = way.ok_or(SendError::Unreachable)?;
            let listening = self.sockets.get_mut(way.socket);
            let listening = listening.ok_or(SendError::Unreachable)?;
            let socket = &mut listening.socket;
            super::send(socket, way.remote, way.local, transmit, bytes)
        })
    }
}

/// Hands a datagram over; a genuine one proves where it came from. Returns whether it is one.
fn hand_over(
    now: Time,
    socket: usize,
    datagram: &Datagram<'_>,
    connection: &mut Connection,
    paths: &mut PathTable,
) -> bool {
    let way = Way::of(socket, datagram);
    let path = paths.number(&way);
    let ecn = datagram.ecn;
    let is_genuine = connection.handle_datagram(now, path, ecn, datagram.bytes) == Verdict::Genuine;
    if is_genuine {
        paths.prove(path, way, |_| false);
    }
    is_genuine
}
