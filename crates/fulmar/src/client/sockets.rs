//! A client's datagrams, between its sockets and the core.

use std::io;

use fulmar_base::{Hint, PathId, SendError, Time};
use fulmar_core::{ChosenWays, Client, Way, Ways};
use fulmar_login::CandidateAddresses;
use fulmar_platform::Transfer;
use fulmar_platform::udp::{IcmpErrors, UdpOptions};
use fulmar_transport::{Arrival, Transmit};

use crate::net::udp::{Batch, DATAGRAMS_PER_TURN, TurnBudget};
use crate::net::{ClientSockets, FIRST_STREAM_PATH, Handled, PathHandler, Report, StreamPath};
use crate::reactor::Registry;
use crate::trace::Trace;

/// The open sockets of a client, and its path over ssh.
#[derive(Debug)]
pub(crate) struct Sockets {
    sockets: ClientSockets,
    ways: Ways,
    ssh: Option<StreamPath>,
    /// The number of paths over ssh that there were.
    ssh_paths: u64,
    /// The newest path over UDP.
    udp: Option<PathId>,
    /// That path, if the core has no use for it.
    kept: Option<PathId>,
    was_cut_off: bool,
    /// The bytes that are being sent.
    buffer: Vec<u8>,
    trace: Trace,
}

impl Sockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(candidates: CandidateAddresses, ways: Ways, trace: Trace) -> Sockets {
        let options = UdpOptions {
            icmp_errors: IcmpErrors::Reported,
            ..UdpOptions::default()
        };
        let budget = TurnBudget::of(DATAGRAMS_PER_TURN);
        Sockets {
            sockets: ClientSockets::new(candidates, options, budget),
            ways,
            ssh: None,
            ssh_paths: 0,
            udp: None,
            kept: None,
            was_cut_off: false,
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
        if self.ways.has_used_ssh() {
            self.sockets.allow_more();
        }
        let path = self.sockets.open()?;
        self.udp = Some(path);
        if let Some(kept) = self.kept.take() {
            self.sockets.close(kept);
        }
        Ok(path)
    }

    /// Closes a path, but for the newest over UDP as long as there is one over ssh: it is tried once in a while.
    pub(crate) fn close(&mut self, path: PathId) {
        if self.ssh.is_none() || self.udp != Some(path) {
            self.sockets.close(path);
        } else {
            self.kept = Some(path);
        }
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
        let (trace, ways) = (&mut self.trace, &mut self.ways);
        self.sockets.resume(&mut Session {
            now,
            client,
            trace,
            ways,
        });
    }

    /// Hands over what has come on the socket at that place, within the budget of the turn.
    pub(crate) fn receive(&mut self, now: Time, index: usize, client: &mut Client) {
        let (trace, ways) = (&mut self.trace, &mut self.ways);
        let mut session = Session {
            now,
            client,
            trace,
            ways,
        };
        self.sockets.receive(index, &mut session);
    }

    /// Ends a turn: closes what was only needed as long as the server could be anywhere.
    pub(crate) fn end_turn(&mut self) {
        self.sockets.end_turn();
    }

    /// Tells if datagrams wait for the next turn that the system does not know of any more.
    pub(crate) fn has_more(&self) -> bool {
        self.sockets.has_more() || self.ssh.as_ref().is_some_and(StreamPath::has_more)
    }

    /// Sends what there is to send, and returns whether anything has left.
    pub(crate) fn transmit(&mut self, now: Time, client: &mut Client) -> bool {
        let mut has_sent = false;
        while let Some(transmit) = client.poll_transmit(now, &mut self.buffer) {
            if let Some(patience) = client.patience() {
                self.ways.set_patience(patience);
            }
            match self.send(now, &transmit) {
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

impl Sockets {
    /// Returns the ways over which it sends.
    pub(crate) fn ways(&self) -> &Ways {
        &self.ways
    }

    /// Returns the same, to be told.
    pub(crate) fn ways_mut(&mut self) -> &mut Ways {
        &mut self.ways
    }

    /// Opens a path over ssh.
    pub(crate) fn open_ssh(&mut self, now: Time, client: &mut Client) {
        let path = PathId::new(FIRST_STREAM_PATH.saturating_add(self.ssh_paths));
        self.ssh_paths += 1;
        self.ssh = Some(StreamPath::new(path, &[]));
        self.ways.handle_ssh_opened();
        self.use_ssh(now, client);
        // What was sent before may have been in vain.
        client.handle_hint(now, Hint::LinkUp);
    }

    /// Has the path over ssh be the one to send on, if it is the way.
    pub(crate) fn use_ssh(&mut self, now: Time, client: &mut Client) {
        if let Some(ssh) = self.ssh.as_ref().filter(|_| self.ways.in_use() == Way::Ssh) {
            client.handle_path_opened(now, ssh.path());
        }
    }

    /// Takes what has come over ssh before anybody read it for us.
    pub(crate) fn take_early(&mut self, bytes: &[u8]) {
        if let Some(ssh) = &mut self.ssh {
            ssh.take(bytes);
        }
    }

    /// Hands over what has come over ssh, as `read` gives it, within the budget of the turn.
    pub(crate) fn receive_over_ssh(
        &mut self,
        now: Time,
        client: &mut Client,
        read: impl FnMut(&mut [u8]) -> io::Result<Transfer>,
    ) {
        let (trace, ways) = (&mut self.trace, &mut self.ways);
        let mut session = Session {
            now,
            client,
            trace,
            ways,
        };
        if let Some(ssh) = &mut self.ssh {
            ssh.receive(self.sockets.budget_mut(), &mut session, read);
        }
    }

    /// Writes to ssh what was sent over it.
    pub(crate) fn flush_over_ssh(&mut self, write: impl FnMut(&[u8]) -> io::Result<Transfer>) {
        if let Some(ssh) = self.ssh.as_mut().filter(|ssh| ssh.wants_room()) {
            ssh.flush(write);
            self.was_cut_off |= ssh.is_gone();
        }
    }

    /// Tells if something waits for room in the pipe to ssh.
    pub(crate) fn wants_room_over_ssh(&self) -> bool {
        self.ssh.as_ref().is_some_and(StreamPath::wants_room)
    }

    /// Tells if something was written to an ssh that does not read any more since this was asked last: a signal tells of
    /// that, too.
    pub(crate) fn take_cut_off(&mut self) -> bool {
        std::mem::take(&mut self.was_cut_off)
    }

    /// Tells if the path over ssh has broken.
    pub(crate) fn is_ssh_gone(&self) -> bool {
        self.ssh.as_ref().is_some_and(StreamPath::is_gone)
    }

    /// Does without ssh from now on.
    pub(crate) fn close_ssh(&mut self, now: Time, client: &mut Client) {
        if self.ssh.take().is_some()
            && self.ways.handle_ssh_closed(now)
            && let Some(udp) = self.udp
        {
            client.handle_path_opened(now, udp);
            client.handle_hint(now, Hint::LinkUp);
        }
    }

    /// Sends over the ways that are chosen, and returns to how many addresses that has left.
    fn send(&mut self, now: Time, transmit: &Transmit) -> Result<usize, SendError> {
        let batch = Batch::of(transmit, &self.buffer);
        let own = way_of(transmit.path);
        let chosen = if batch.is_whole {
            // It is about its path.
            ChosenWays {
                udp: own == Way::Udp,
                ssh: own == Way::Ssh,
            }
        } else {
            self.ways
                .choose(now, transmit.cause, transmit.numbers.instruction.target)
        };
        let mut outcome = Err(SendError::Unreachable);
        let path = Some(batch.path).filter(|_| own == Way::Udp).or(self.udp);
        if chosen.udp && chosen.ssh && self.ways.has_used_ssh() {
            self.sockets.allow_more();
        }
        if let Some(path) = path.filter(|_| chosen.udp) {
            outcome = self.sockets.send(&Batch { path, ..batch });
        }
        if let Some(ssh) = self.ssh.as_mut().filter(|_| chosen.ssh) {
            let over_ssh = ssh.send(&batch).map(|()| 1);
            outcome = match (outcome, over_ssh) {
                (Ok(sent), Ok(more)) => Ok(sent + more),
                (Err(_), over_ssh) => over_ssh,
                (sent, Err(_)) => sent,
            };
        }
        outcome
    }
}

fn way_of(path: PathId) -> Way {
    if path.get() < FIRST_STREAM_PATH {
        Way::Udp
    } else {
        Way::Ssh
    }
}

/// The core, in one turn.
struct Session<'a> {
    now: Time,
    client: &'a mut Client,
    trace: &'a mut Trace,
    ways: &'a mut Ways,
}

impl PathHandler for Session<'_> {
    fn handle_datagram(&mut self, arrival: Arrival<'_>) -> Handled {
        let (path, length) = (arrival.path, arrival.bytes.len());
        let received = self.client.handle_datagram(self.now, arrival);
        self.trace.received(self.now, path, length, &received);
        // What has a number was genuine.
        let is_genuine = received.sequence.is_some();
        let is_fresh = received.is_fresh();
        let way = way_of(path);
        let sequence = received.sequence;
        let is_proof = sequence.is_some_and(|sequence| self.ways.is_proof(way, sequence));
        let instruction = received.instruction.as_ref();
        let acknowledged = instruction.map(|instruction| instruction.numbers.acknowledged);
        if is_proof
            && self
                .ways
                .handle_heard(self.now, way, is_fresh, acknowledged)
        {
            self.client.handle_path_opened(self.now, path);
        }
        Handled {
            is_genuine,
            is_fresh,
            work: received.work,
        }
    }

    fn handle_report(&mut self, report: Report) {
        let Some(path) = report.path else { return };
        self.trace.send_failed(self.now, path, report.error);
        if !report.is_of_all {
            return;
        }
        if report.error == SendError::Unreachable && report.is_of_this_machine {
            self.client.handle_silent_next_hop(self.now, path);
        } else {
            self.client.handle_report(self.now, path, report.error);
        }
    }
}

#[cfg(test)]
mod tests;
