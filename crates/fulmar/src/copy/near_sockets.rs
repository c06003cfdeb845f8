//! The near end's side of the network: sockets for each local port in use, and a far end that may be
//! at one of several addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fulmar_datagram::Time;
use fulmar_datagram::limits::DATAGRAM_BYTES_MAX;
use fulmar_platform::udp::{Fragmentation, IcmpErrors, Inbox, UdpOptions};
use fulmar_platform::{Interest, PollList, PollSlot, UdpSocket};
use fulmar_quic::{Connection, Transmit, Verdict};
use fulmar_transport::{PathId, SendError};

use super::DATAGRAMS_PER_TURN;
use super::absence::Absence;
use crate::client::destinations::Destinations;
use crate::listening::Listening;
use crate::surroundings::now;
use crate::udp;

/// Room that is asked for in the kernel for what was not received yet. It grants less by itself.
pub(super) const RECEIVE_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// Transmissions of one turn, each of up to 40 datagrams.
const TRANSMITS_PER_TURN: usize = 16;

/// The sockets. Each path is a local port, or one of each family as long as it is not known in which the
/// far end answers.
#[derive(Debug)]
pub(super) struct NearSockets {
    destinations: Destinations,
    open: Vec<Open>,
    next: u64,
    inbox: Inbox,
    /// What is being sent.
    buffer: Vec<u8>,
    /// What the system had no room for: it is in the buffer.
    pending: Option<Transmit>,
    /// What was sent last, if that is known.
    last: Option<(Transmit, Vec<u8>)>,
    refusals: u64,
    absence: Absence,
}

#[derive(Debug)]
struct Open {
    path: PathId,
    is_ipv6: bool,
    listening: Listening,
}

impl NearSockets {
    /// Returns sockets to that far end, none of them open yet.
    pub(super) fn new(destinations: Destinations) -> NearSockets {
        NearSockets {
            destinations,
            open: Vec::new(),
            next: 0,
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            buffer: Vec::new(),
            pending: None,
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
        while let Some(transmit) = connection.poll_transmit(now, &mut self.buffer) {
            let _ = self.send(&transmit);
            self.last = Some((transmit, self.buffer.clone()));
        }
    }

    /// Sends that once more.
    pub(super) fn repeat(&mut self) {
        if let Some((last, bytes)) = self.last.take() {
            self.buffer.clone_from(&bytes);
            // It may be lost anyway.
            let _ = self.send(&last);
            self.last = Some((last, bytes));
        }
    }

    /// Opens a path from a local port that was not used before, and closes those before the last.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or none of the families of addresses.
    pub(super) fn open(&mut self) -> io::Result<PathId> {
        let path = PathId::new(self.next);
        let before = self.next.checked_sub(1).map(PathId::new);
        let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
        self.open.retain(|open| Some(open.path) == before);
        for is_ipv6 in [false, true] {
            let is_family = |address: &SocketAddr| address.is_ipv6() == is_ipv6;
            if !self.destinations.uses_family(is_family) {
                continue;
            }
            match bind(is_ipv6) {
                Ok(socket) => {
                    outcome = Ok(path);
                    self.open.push(Open {
                        path,
                        is_ipv6,
                        listening: Listening::to(socket),
                    });
                }
                Err(error) if outcome.is_err() => outcome = Err(error),
                Err(error) => tracing::info!(%error, is_ipv6, "no socket of that family"),
            }
        }
        self.next += 1;
        outcome
    }

    /// Puts the sockets on the list.
    pub(super) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Vec<PollSlot> {
        let waiting = self.pending.map(|pending| pending.path);
        let usual = |open: &Open| match waiting == Some(open.path) {
            true => Interest::ReadWrite,
            false => Interest::Read,
        };
        let interest = |open: &Open| open.listening.interest(usual(open));
        self.open
            .iter()
            .map(|open| list.add(&open.listening.socket, interest(open)))
            .collect()
    }

    /// Hands over what has come, within the budget of one turn. Returns whether there may be more.
    pub(super) fn receive(&mut self, ready: &[bool], connection: &mut Connection) -> bool {
        let mut budget = DATAGRAMS_PER_TURN;
        let mut is_settled = false;
        for (place, open) in self.open.iter_mut().enumerate() {
            let is_ready = ready.get(place).copied().unwrap_or(false);
            while is_ready
                && let Some(received) = open.listening.receive(&mut self.inbox, &mut budget)
            {
                // Others may have had the processor since the last time was taken: round trips are told by
                // these.
                let now = now();
                if let Some(report) = received.icmp {
                    self.refusals = self.refusals.saturating_add(1);
                    let error = udp::send_error(report.error);
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
                    let ecn = udp::ecn(datagram.ecn);
                    let verdict = connection.handle_datagram(now, open.path, ecn, datagram.bytes);
                    if verdict == Verdict::Genuine {
                        self.absence.heard();
                        is_settled |= self.destinations.heard_from(datagram.source);
                    }
                }
            }
        }
        if is_settled && let Some(peer) = self.destinations.peer() {
            tracing::info!(%peer, "the far end has answered");
            self.open.retain(|open| open.is_ipv6 == peer.is_ipv6());
        }
        budget == 0
    }

    /// Sends what there is to send. Returns whether anything has left: then lanes may have room again.
    pub(super) fn transmit(&mut self, connection: &mut Connection) -> bool {
        let mut has_sent = false;
        for _ in 0..TRANSMITS_PER_TURN {
            let transmit = match self.pending.take() {
                Some(pending) => Some(pending),
                None => connection.poll_transmit(now(), &mut self.buffer),
            };
            let Some(transmit) = transmit else { break };
            if let Err(SendError::NoRoom) = self.send(&transmit) {
                self.pending = Some(transmit);
                break;
            }
            has_sent = true;
        }
        has_sent
    }

    /// Sends the same datagrams to every address that the far end may have. It is an error only if all
    /// have failed.
    fn send(&mut self, transmit: &Transmit) -> Result<(), SendError> {
        let mut failed = Ok(());
        let mut has_sent = false;
        for address in self.destinations.next(transmit.datagrams()) {
            let is_way =
                |open: &&mut Open| open.path == transmit.path && open.is_ipv6 == address.is_ipv6();
            let outcome = match self.open.iter_mut().find(is_way) {
                Some(open) => super::send(
                    &mut open.listening.socket,
                    address,
                    None,
                    transmit,
                    &self.buffer,
                ),
                None => Err(SendError::Unreachable),
            };
            self.destinations.note_sent(address, outcome);
            has_sent |= outcome.is_ok();
            failed = failed.and(outcome);
        }
        match has_sent {
            true => Ok(()),
            false => failed,
        }
    }
}

fn bind(is_ipv6: bool) -> io::Result<UdpSocket> {
    let anywhere: IpAddr = match is_ipv6 {
        false => Ipv4Addr::UNSPECIFIED.into(),
        true => Ipv6Addr::UNSPECIFIED.into(),
    };
    let options = UdpOptions {
        icmp_errors: IcmpErrors::Reported,
        fragmentation: Fragmentation::Forbidden,
        ..UdpOptions::default()
    };
    let socket = UdpSocket::bind((anywhere, 0).into(), options)?;
    // What is granted will do.
    let _ = socket.set_receive_buffer(RECEIVE_BUFFER_BYTES);
    Ok(socket)
}
