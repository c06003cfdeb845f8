//! The local end's datagrams, between its sockets and QUIC.

use std::io;
use std::net::SocketAddr;

use fulmar_base::{PathId, SendError, Time};
use fulmar_login::CandidateAddresses;
use fulmar_platform::udp::{Fragmentation, IcmpErrors, UdpOptions};
use fulmar_quic::{Connection, DatagramVerdict, Transmit};
use fulmar_transport::Arrival;

use super::DATAGRAMS_PER_TURN;
use super::outgoing::{Outgoing, batch};
use super::unreachable_detector::UnreachableDetector;
use crate::clock::now;
use crate::net::udp::TurnBudget;
use crate::net::{ClientSockets, Handled, PathHandler, Report};
use crate::reactor::Registry;

/// The sockets of a local end.
#[derive(Debug)]
pub(super) struct LocalSockets {
    sockets: ClientSockets,
    outgoing: Outgoing,
    /// The last transmission, if that is known.
    last: Option<(Transmit, Vec<u8>)>,
    refusals: u64,
    unreachable: UnreachableDetector,
}

impl LocalSockets {
    /// Returns sockets to that remote end, none of them open yet.
    pub(super) fn new(candidates: CandidateAddresses) -> LocalSockets {
        let options = UdpOptions {
            icmp_errors: IcmpErrors::Reported,
            // Datagrams of QUIC must not be fragmented (RFC 9000 §14).
            fragmentation: Fragmentation::Forbidden,
            ..UdpOptions::default()
        };
        let budget = TurnBudget::of(DATAGRAMS_PER_TURN);
        LocalSockets {
            sockets: ClientSockets::new(candidates, options, budget),
            outgoing: Outgoing::default(),
            last: None,
            refusals: 0,
            unreachable: UnreachableDetector::default(),
        }
    }

    /// Returns where the remote end has answered from, once it has.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.sockets.candidates().peer()
    }

    /// Returns the remote end as users are told of it.
    pub(super) fn label(&self) -> String {
        self.sockets.candidates().label()
    }

    /// Returns how often somebody refused to carry or take a datagram.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Tells if the remote end has gone, as its system says.
    pub(super) fn is_peer_gone(&self) -> bool {
        self.unreachable.is_unreachable()
    }

    /// Tells if the remote end's system has refused something since anything genuine has come.
    pub(super) fn is_peer_refusing(&self) -> bool {
        self.unreachable.is_refused()
    }

    /// Sends what there is to send, and remembers the last of it.
    pub(super) fn transmit_last(&mut self, now: Time, connection: &mut Connection) {
        // Nobody needs it any more, and whoever waits for answers would wait for room instead.
        self.outgoing.give_up();
        let mut bytes = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, &mut bytes) {
            let _ = self.sockets.send(&batch(&transmit, &bytes));
            self.last = Some((transmit, bytes.clone()));
        }
    }

    /// Sends that once more.
    pub(super) fn repeat(&mut self) {
        if let Some((last, bytes)) = &self.last {
            // It may be lost anyway.
            let _ = self.sockets.send(&batch(last, bytes));
        }
    }

    /// Opens a path from a local port that was not used before, and closes those before the last.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses.
    pub(super) fn open(&mut self) -> io::Result<PathId> {
        self.sockets.close_older();
        self.sockets.open()
    }

    /// Registers the sockets.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.sockets.register(registry, self.outgoing.waits_on());
    }

    /// Begins a turn, which has a budget of its own.
    pub(super) fn begin_turn(&mut self) {
        self.sockets.begin_turn();
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(super) fn receive(&mut self, index: usize, connection: &mut Connection) {
        let mut copy = Copy {
            received_at: now(),
            connection,
            unreachable: &mut self.unreachable,
            refusals: &mut self.refusals,
        };
        self.sockets.receive(index, &mut copy);
    }

    /// Ends a turn: closes what was only needed as long as the remote end could be anywhere. Returns whether there may
    /// be more to receive.
    pub(super) fn end_turn(&mut self) -> bool {
        self.sockets.end_turn()
    }

    /// Sends what there is to send. Returns whether anything has left: then streams may have room again.
    pub(super) fn transmit(&mut self, connection: &mut Connection) -> bool {
        let sockets = &mut self.sockets;
        self.outgoing
            .transmit(connection, |batch| sockets.send(batch).map(|_| ()))
    }
}

/// The connection, in one turn.
struct Copy<'a> {
    received_at: Time,
    connection: &'a mut Connection,
    unreachable: &'a mut UnreachableDetector,
    refusals: &'a mut u64,
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
        *self.refusals = self.refusals.saturating_add(1);
        // Only the remote end's own host can know that nobody listens. It may be forged, so alone it
        // ends nothing (docs/threat-model.md §7).
        if report.error == SendError::Refused && report.is_of_peer {
            self.unreachable.handle_refusal(now());
        }
    }
}

/// Hands a datagram to QUIC.
pub(super) fn handle_datagram(
    now: Time,
    connection: &mut Connection,
    arrival: Arrival<'_>,
) -> Handled {
    let Arrival { path, ecn, bytes } = arrival;
    let verdict = connection.handle_datagram(now, path, ecn, bytes);
    let is_genuine = verdict == DatagramVerdict::Genuine;
    Handled {
        is_genuine,
        is_fresh: is_genuine,
        work: 0,
    }
}
