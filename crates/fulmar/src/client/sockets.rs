//! A client's datagrams, between its sockets and the core.

use std::io;

use fulmar_base::{PathId, SendError, Time};
use fulmar_core::Client;
use fulmar_login::CandidateAddresses;
use fulmar_platform::udp::{IcmpErrors, UdpOptions};
use fulmar_transport::Arrival;

use crate::net::udp::{Batch, DATAGRAMS_PER_TURN, TurnBudget};
use crate::net::{ClientSockets, Handled, PathHandler, Report};
use crate::reactor::Registry;
use crate::trace::Trace;

/// The open sockets of a client.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: ClientSockets,
    /// The bytes that are being sent.
    buffer: Vec<u8>,
    trace: Trace,
}

impl Sockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(candidates: CandidateAddresses, trace: Trace) -> Sockets {
        let options = UdpOptions {
            icmp_errors: IcmpErrors::Reported,
            ..UdpOptions::default()
        };
        let budget = TurnBudget::of(DATAGRAMS_PER_TURN);
        Sockets {
            sockets: ClientSockets::new(candidates, options, budget),
            buffer: Vec::new(),
            trace,
        }
    }

    /// Returns where the server may be, or is.
    pub(crate) fn candidates(&self) -> &CandidateAddresses {
        self.sockets.candidates()
    }

    /// Opens a path from a local port that was not used before.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses that the
    /// server may be reached in.
    pub(crate) fn open(&mut self) -> io::Result<PathId> {
        self.sockets.open()
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.sockets.close(path);
    }

    /// Registers the sockets.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.sockets.register(registry, None);
    }

    /// Begins a turn, which has a budget of its own.
    pub(crate) fn begin_turn(&mut self) {
        self.sockets.begin_turn();
    }

    /// Hands over what an earlier turn has left.
    pub(crate) fn resume(&mut self, now: Time, client: &mut Client) {
        let trace = &mut self.trace;
        self.sockets.resume(&mut Session { now, client, trace });
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, now: Time, index: usize, client: &mut Client) {
        let trace = &mut self.trace;
        self.sockets
            .receive(index, &mut Session { now, client, trace });
    }

    /// Ends a turn: closes what was only needed as long as the server could be anywhere.
    pub(crate) fn end_turn(&mut self) {
        self.sockets.end_turn();
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.sockets.has_more()
    }

    /// Sends what there is to send, and returns whether anything has left.
    pub(crate) fn transmit(&mut self, now: Time, client: &mut Client) -> bool {
        let mut has_sent = false;
        while let Some(transmit) = client.poll_transmit(now, &mut self.buffer) {
            match self.sockets.send(&Batch::of(&transmit, &self.buffer)) {
                Ok(0) => client.handle_withheld(),
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
}

/// The core, in one turn.
struct Session<'a> {
    now: Time,
    client: &'a mut Client,
    trace: &'a mut Trace,
}

impl PathHandler for Session<'_> {
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        let (path, length) = (arrival.path, arrival.bytes.len());
        let received = self.client.handle_datagram(self.now, arrival);
        self.trace.received(self.now, path, length, &received);
        Handled {
            // What has a number was genuine.
            is_genuine: received.sequence.is_some(),
            is_fresh: received.is_fresh(),
            work: received.work,
        }
    }

    fn handle_report(&mut self, report: Report) {
        let Some(path) = report.path else { return };
        self.trace.send_failed(self.now, path, report.error);
        if report.is_of_all {
            self.client.handle_report(self.now, path, report.error);
        }
    }
}

#[cfg(test)]
mod tests;
