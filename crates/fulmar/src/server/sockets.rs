//! The server's side of the network.

use std::net::IpAddr;

use fulmar_base::{PathId, SendError, Time};
use fulmar_core::Server;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Datagram, Inbox};
use fulmar_platform::{Interest, UdpSocket};
use fulmar_transport::Arrival;

use crate::net::listening::Listening;
use crate::net::path_table::{PathTable, Way};
use crate::net::udp::{self, TurnBudget};
use crate::reactor::{Registry, Token};
use crate::trace::Trace;

/// The sockets of a server, and who was heard of on which.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: Vec<Listening>,
    inbox: Inbox,
    /// The socket on which the datagrams came that an earlier turn has left in the inbox.
    waiting: Option<usize>,
    /// What is left of the budget of this turn.
    budget: TurnBudget,
    paths: PathTable,
    /// The bytes that are being sent.
    buffer: Vec<u8>,
    trace: Trace,
    has_heard: bool,
}

impl Sockets {
    /// Takes over bound sockets.
    pub(crate) fn new(sockets: Vec<UdpSocket>, trace: Trace) -> Sockets {
        sockets.iter().for_each(udp::make_room);
        Sockets {
            sockets: sockets.into_iter().map(Listening::to).collect(),
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            waiting: None,
            budget: TurnBudget::new(),
            paths: PathTable::default(),
            buffer: Vec::new(),
            trace,
            has_heard: false,
        }
    }

    /// Registers the sockets.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        for (place, one) in self.sockets.iter().enumerate() {
            let interest = one.interest(Interest::Read);
            registry.add(Token::Socket(place), &one.socket, interest);
        }
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.budget = TurnBudget::new();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, now: Time, server: &mut Server) {
        if let Some(socket) = self.waiting.take() {
            self.hand_over(now, socket, server);
        }
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, now: Time, place: usize, server: &mut Server) {
        while self.waiting.is_none()
            && let Some(listening) = self.sockets.get_mut(place)
            && let Some(received) = listening.receive(&mut self.inbox, &mut self.budget.datagrams)
            && received.datagrams > 0
        {
            self.hand_over(now, place, server);
        }
    }

    /// Returns how much work the program's output may make after the datagrams of this turn.
    pub(crate) fn output_work(&self) -> u64 {
        self.budget.output_work()
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.waiting.is_some()
    }

    /// Hands over what is in the inbox, as much as the budget allows.
    fn hand_over(&mut self, now: Time, socket: usize, server: &mut Server) {
        while self.budget.has_work()
            && let Some(datagram) = self.inbox.pop()
        {
            let (paths, trace) = (&mut self.paths, &mut self.trace);
            let budget = &mut self.budget;
            let is_genuine = hand_over(now, socket, &datagram, server, paths, trace, budget);
            self.has_heard |= is_genuine;
        }
        self.waiting = self.inbox.has_more().then_some(socket);
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
    budget: &mut TurnBudget,
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
    budget.spend(&received);
    // The core may name its path from now on. What is overtaken or repeated proves nothing, even if
    // nobody can tell any more what it was about.
    if received.is_fresh() {
        paths.prove(path, way, |path| server.remembers(path));
    }
    trace.received(now, path, datagram.bytes.len(), &received);
    received.sequence.is_some()
}

#[cfg(test)]
mod tests;
