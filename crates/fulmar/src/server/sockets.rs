//! The server's side of the network.

use std::net::IpAddr;

use fulmar_base::Time;
use fulmar_base::{PathId, SendError};
use fulmar_core::Server;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, Inbox};
use fulmar_platform::{Interest, PollList, PollSlot, UdpSocket};
use fulmar_transport::{Arrival, Verdict};

use crate::listening::Listening;
use crate::paths::{PathTable, Way};
use crate::trace::Trace;
use crate::udp;

/// The sockets of a server, and who was heard of on which.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: Vec<Listening>,
    inbox: Inbox,
    paths: PathTable,
    /// The bytes that are being sent.
    buffer: Vec<u8>,
    trace: Trace,
    has_heard: bool,
}

impl Sockets {
    /// Takes over bound sockets.
    pub(crate) fn new(sockets: Vec<UdpSocket>, trace: Trace) -> Sockets {
        Sockets {
            sockets: sockets.into_iter().map(Listening::to).collect(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            paths: PathTable::default(),
            buffer: Vec::new(),
            trace,
            has_heard: false,
        }
    }

    /// Puts the sockets on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Vec<PollSlot> {
        self.sockets
            .iter()
            .map(|one| list.add(&one.socket, one.interest(Interest::Read)))
            .collect()
    }

    /// Hands over what has come, within the budget of one turn.
    pub(crate) fn receive(&mut self, now: Time, ready: &[bool], server: &mut Server) {
        let mut budget = udp::DATAGRAMS_PER_TURN;
        for (place, listening) in self.sockets.iter_mut().enumerate() {
            let is_ready = ready.get(place).copied().unwrap_or(false);
            while is_ready
                && let Some(received) = listening.receive(&mut self.inbox, &mut budget)
                && received.datagrams > 0
            {
                for datagram in self.inbox.datagrams() {
                    let (paths, trace) = (&mut self.paths, &mut self.trace);
                    let is_genuine = hand_over(now, place, &datagram, server, paths, trace);
                    self.has_heard |= is_genuine;
                }
            }
        }
    }

    /// Sends what there is to send.
    pub(crate) fn transmit(&mut self, now: Time, server: &mut Server) {
        while let Some(transmit) = server.poll_transmit(now, &mut self.buffer) {
            let way = self.paths.way_to(transmit.path);
            let listening = way.and_then(|way| Some((way, self.sockets.get_mut(way.socket)?)));
            let outcome = match listening {
                Some((way, Listening { socket, .. })) => {
                    udp::send(socket, way.remote, way.local, &transmit, &self.buffer)
                }
                None => Err(SendError::Unreachable),
            };
            match outcome {
                Ok(()) => self.trace.sent(now, &transmit),
                Err(error) => {
                    tracing::debug!(?error, "sending");
                    self.trace.send_failed(now, transmit.path, error);
                    server.handle_send_error(now, transmit.path, error);
                }
            }
        }
        self.trace.flush();
    }

    /// Tells if a genuine datagram has ever come.
    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// Returns the address at the other end of a path.
    pub(crate) fn address(&self, path: PathId) -> Option<IpAddr> {
        self.paths.find(path).map(|way| way.remote.ip())
    }
}

/// Hands a datagram over, and tells if it was genuine.
fn hand_over(
    now: Time,
    socket: usize,
    datagram: &Datagram<'_>,
    server: &mut Server,
    paths: &mut PathTable,
    trace: &mut Trace,
) -> bool {
    let way = Way::of(socket, datagram);
    let path = paths.number(&way);
    let arrival = Arrival {
        path,
        ecn: datagram.ecn,
        bytes: datagram.bytes,
    };
    let Some(received) = server.handle_datagram(now, arrival) else {
        return false;
    };
    // Genuine, and not known to be old: the core may name its path from now on.
    if received.sequence.is_some() && received.verdict != Verdict::Late {
        paths.prove(path, way);
    }
    trace.received(now, path, datagram.bytes.len(), &received);
    received.sequence.is_some()
}
