//! The near end's side of the network: sockets for each local port in use, and a far end that may be
//! at one of several addresses.

use std::io;
use std::net::SocketAddr;

use fulmar_base::{PathId, SendError, Time};
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Fragmentation, IcmpErrors, Inbox, UdpOptions};
use fulmar_platform::{Interest, UdpSocket};
use fulmar_quic::{Connection, Transmit, Verdict};

use super::DATAGRAMS_PER_TURN;
use super::absence::Absence;
use super::outgoing::Outgoing;
use crate::clock::now;
use crate::net::destinations::Destinations;
use crate::net::local_ports::LocalPorts;
use crate::net::udp;
use crate::reactor::Registry;

/// The sockets. Each path is a local port, or one of each family as long as it is not known in which the
/// far end answers.
#[derive(Debug)]
pub(super) struct NearSockets {
    destinations: Destinations,
    ports: LocalPorts,
    inbox: Inbox,
    /// The datagrams that this turn may still take.
    budget: usize,
    /// True if it is known since this turn where the far end is.
    is_settled: bool,
    outgoing: Outgoing,
    /// What was sent last, if that is known.
    last: Option<(Transmit, Vec<u8>)>,
    refusals: u64,
    absence: Absence,
}

impl NearSockets {
    /// Returns sockets to that far end, none of them open yet.
    pub(super) fn new(destinations: Destinations) -> NearSockets {
        NearSockets {
            destinations,
            ports: LocalPorts::default(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            budget: DATAGRAMS_PER_TURN,
            is_settled: false,
            outgoing: Outgoing::default(),
            last: None,
            refusals: 0,
            absence: Absence::default(),
        }
    }

    /// Returns where the far end has answered from, once it has.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.destinations.peer()
    }

    /// Returns the far end as users are told of it.
    pub(super) fn label(&self) -> String {
        self.destinations.label()
    }

    /// Returns how often somebody refused to carry or take a datagram.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Tells if the far end has gone, as its system says.
    pub(super) fn is_peer_gone(&self) -> bool {
        self.absence.is_certain()
    }

    /// Tells if the far end's system has refused something since anything genuine has come.
    pub(super) fn is_peer_refusing(&self) -> bool {
        self.absence.is_said()
    }

    /// Sends what there is to send, and remembers the last of it.
    pub(super) fn transmit_last(&mut self, now: Time, connection: &mut Connection) {
        // Nobody needs it any more, and whoever waits for answers would wait for room instead.
        self.outgoing.give_up();
        let mut bytes = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, &mut bytes) {
            let _ = send(&mut self.ports, &mut self.destinations, &transmit, &bytes);
            self.last = Some((transmit, bytes.clone()));
        }
    }

    /// Sends that once more.
    pub(super) fn repeat(&mut self) {
        if let Some((last, bytes)) = &self.last {
            // It may be lost anyway.
            let _ = send(&mut self.ports, &mut self.destinations, last, bytes);
        }
    }

    /// Opens a path from a local port that was not used before, and closes those before the last.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses.
    pub(super) fn open(&mut self) -> io::Result<PathId> {
        self.ports.close_older();
        self.ports.open(&self.destinations, bind)
    }

    /// Registers the sockets.
    pub(super) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        let waits_on = self.outgoing.waits_on();
        self.ports.register(registry, |path| {
            if waits_on == Some(path) {
                Interest::ReadWrite
            } else {
                Interest::Read
            }
        });
    }

    /// Begins a turn, which has a budget of its own.
    pub(super) fn begin_turn(&mut self) {
        self.budget = DATAGRAMS_PER_TURN;
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(super) fn receive(&mut self, place: usize, connection: &mut Connection) {
        let Some(open) = self.ports.at(place) else {
            return;
        };
        while let Some(received) = open.listening.receive(&mut self.inbox, &mut self.budget) {
            // Others may have had the processor since the last time was taken: round trips are told by
            // these.
            let now = now();
            if let Some(report) = received.icmp {
                self.refusals = self.refusals.saturating_add(1);
                let error = report.error;
                self.destinations.note_report(report.reporter, error);
                let peer = self.destinations.peer().map(|peer| peer.ip());
                if error == SendError::Refused && report.reporter == peer {
                    self.absence.refused(now);
                }
            }
            if received.datagrams == 0 {
                break;
            }
            for datagram in self.inbox.datagrams() {
                let ecn = datagram.ecn;
                let verdict = connection.handle_datagram(now, open.path, ecn, datagram.bytes);
                if verdict == Verdict::Genuine {
                    self.absence.heard();
                    self.is_settled |= self.destinations.heard_from(datagram.source);
                }
            }
        }
    }

    /// Ends a turn: closes what was only needed as long as the far end could be anywhere. Returns whether there may
    /// be more to receive.
    pub(super) fn end_turn(&mut self) -> bool {
        if std::mem::take(&mut self.is_settled)
            && let Some(peer) = self.destinations.peer()
        {
            tracing::info!(%peer, "the far end has answered");
            self.ports.settle(peer);
        }
        self.budget == 0
    }

    /// Sends what there is to send. Returns whether anything has left: then lanes may have room again.
    pub(super) fn transmit(&mut self, connection: &mut Connection) -> bool {
        let (ports, destinations) = (&mut self.ports, &mut self.destinations);
        self.outgoing.transmit(connection, |transmit, bytes| {
            send(ports, destinations, transmit, bytes)
        })
    }
}

/// Sends the same datagrams to every address that the far end may have. It is an error only if all
/// have failed.
fn send(
    ports: &mut LocalPorts,
    destinations: &mut Destinations,
    transmit: &Transmit,
    bytes: &[u8],
) -> Result<(), SendError> {
    let mut failed = Ok(());
    let mut has_sent = false;
    for address in destinations.next(transmit.datagrams()) {
        let outcome = match ports.socket(transmit.path, address) {
            Some(socket) => super::send(socket, address, None, transmit, bytes),
            None => Err(SendError::Unreachable),
        };
        destinations.note_sent(address, outcome);
        has_sent |= outcome.is_ok();
        failed = failed.and(outcome);
    }
    if has_sent { Ok(()) } else { failed }
}

fn bind(anywhere: SocketAddr) -> io::Result<UdpSocket> {
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        fragmentation: Fragmentation::Forbidden,
        ..UdpOptions::default()
    };
    let socket = UdpSocket::bind(anywhere, options)?;
    udp::make_room(&socket);
    Ok(socket)
}
