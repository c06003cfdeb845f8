//! A server's datagrams, between its sockets and the core.

use std::net::IpAddr;
use std::os::unix::net::UnixStream;

use fulmar_base::{PathId, SendError, Time};
use fulmar_core::Server;
use fulmar_platform::{Interest, UdpSocket};
use fulmar_transport::{Arrival, Transmit};

use super::carriers::Carriers;
use crate::net::udp::{Batch, DATAGRAMS_PER_TURN, TurnBudget};
use crate::net::{Handled, PathHandler, Report, ServerSockets};
use crate::reactor::Registry;
use crate::trace::Trace;

/// The sockets of a server.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: ServerSockets,
    carriers: Carriers,
    /// The bytes that are being sent.
    buffer: Vec<u8>,
    trace: Trace,
    has_heard: bool,
}

impl Sockets {
    /// Takes over bound sockets.
    pub(crate) fn new(sockets: Vec<UdpSocket>, trace: Trace) -> Sockets {
        Sockets {
            sockets: ServerSockets::new(sockets, TurnBudget::of(DATAGRAMS_PER_TURN)),
            carriers: Carriers::default(),
            buffer: Vec::new(),
            trace,
            has_heard: false,
        }
    }

    /// Listens on further sockets, too. Paths on them are told apart from those on the others.
    pub(crate) fn add(&mut self, sockets: Vec<UdpSocket>) {
        self.sockets.add(sockets);
    }

    /// Takes a process that carries datagrams over ssh, by the connection to it, for a client at that address.
    pub(crate) fn carry(&mut self, now: Time, stream: UnixStream, client: Option<IpAddr>) {
        self.carriers.open(now, stream, client);
    }

    /// Registers the sockets.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.sockets.register(registry, Interest::Read);
        self.carriers.register(registry);
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.sockets.begin_turn();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, now: Time, server: &mut Server) {
        let mut session = Session {
            now,
            server,
            trace: &mut self.trace,
            has_heard: &mut self.has_heard,
        };
        self.sockets.resume(&mut session);
        self.carriers
            .resume(now, self.sockets.budget_mut(), &mut session);
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, now: Time, index: usize, server: &mut Server) {
        let mut session = Session {
            now,
            server,
            trace: &mut self.trace,
            has_heard: &mut self.has_heard,
        };
        self.sockets.receive(index, &mut session);
    }

    /// The same for the carrier at that place.
    pub(crate) fn receive_carried(&mut self, now: Time, index: usize, server: &mut Server) {
        let mut session = Session {
            now,
            server,
            trace: &mut self.trace,
            has_heard: &mut self.has_heard,
        };
        self.carriers
            .receive(now, index, self.sockets.budget_mut(), &mut session);
    }

    /// Returns how much work the program's output may make after the datagrams of this turn.
    pub(crate) fn output_work(&self) -> u64 {
        self.sockets.budget().output_work()
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.sockets.has_more() || self.carriers.has_more()
    }

    /// Sends what there is to send.
    pub(crate) fn transmit(&mut self, now: Time, server: &mut Server) {
        while let Some(transmit) = server.poll_transmit(now, &mut self.buffer) {
            match self.send(now, &transmit) {
                Ok(()) => self.trace.sent(now, &transmit),
                Err(error) => {
                    tracing::debug!(?error, "sending");
                    self.trace.send_failed(now, transmit.path, error);
                    server.handle_send_error(now, transmit.path, error);
                }
            }
        }
        self.carriers.flush();
        self.trace.flush();
    }

    /// Sends on the path that is meant, and over ssh as well if the client may hear that only.
    fn send(&mut self, now: Time, transmit: &Transmit) -> Result<(), SendError> {
        let batch = Batch::of(transmit, &self.buffer);
        if let Some(outcome) = self.carriers.send(&batch) {
            return outcome;
        }
        let is_copied = self.carriers.copy(now, &batch);
        match self.sockets.send(&batch) {
            Err(_) if is_copied => Ok(()),
            outcome => outcome,
        }
    }

    /// Tells if a genuine datagram has ever come.
    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// Returns the address at the other end of a path.
    pub(crate) fn address(&self, path: PathId) -> Option<IpAddr> {
        self.carriers
            .client(path)
            .or_else(|| self.sockets.address(path))
    }
}

/// The core, in one turn.
struct Session<'a> {
    now: Time,
    server: &'a mut Server,
    trace: &'a mut Trace,
    has_heard: &'a mut bool,
}

impl PathHandler for Session<'_> {
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        let (path, length) = (arrival.path, arrival.bytes.len());
        let Some(received) = self.server.handle_datagram(self.now, arrival) else {
            return Handled::NOTHING;
        };
        self.trace.received(self.now, path, length, &received);
        // What has a number was genuine.
        let is_genuine = received.sequence.is_some();
        *self.has_heard |= is_genuine;
        Handled {
            is_genuine,
            is_fresh: received.is_fresh(),
            work: received.work,
        }
    }

    /// Its sockets do not ask for any.
    fn handle_report(&mut self, _report: Report) {}

    fn remembers(&self, path: PathId) -> bool {
        self.server.remembers(path)
    }
}

#[cfg(test)]
mod tests;
