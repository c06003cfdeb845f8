//! The client's side of the network: one server, and a socket for each local port in use.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use fulmar_core::Client;
use fulmar_datagram::Time;
use fulmar_datagram::limits::{DATAGRAM_BYTES_IPV4, DATAGRAM_BYTES_IPV6, DATAGRAM_BYTES_MAX};
use fulmar_platform::udp::{IcmpErrors, Inbox, UdpOptions};
use fulmar_platform::{Interest, PollList, PollSlot, UdpSocket};
use fulmar_transport::{Arrival, PathId, SendError};

use crate::trace::Trace;
use crate::udp;

/// The open sockets of a client; each is a path to the server.
#[derive(Debug)]
pub(crate) struct Sockets {
    server: SocketAddr,
    open: Vec<Open>,
    next: u64,
    inbox: Inbox,
    /// What is being sent.
    buffer: Vec<u8>,
    trace: Trace,
}

#[derive(Debug)]
struct Open {
    path: PathId,
    socket: UdpSocket,
    /// Receiving fails for good. It is not tried again, for it would be ready at once for ever.
    is_deaf: bool,
}

impl Sockets {
    /// Returns sockets to that server, none of them open yet.
    pub(crate) fn new(server: SocketAddr, trace: Trace) -> Sockets {
        Sockets {
            server,
            open: Vec::new(),
            next: 0,
            inbox: Inbox::new(DATAGRAM_BYTES_MAX),
            buffer: Vec::new(),
            trace,
        }
    }

    /// Returns the longest datagram that may be sent.
    pub(crate) fn datagram_bytes(&self) -> usize {
        match self.server {
            SocketAddr::V4(_) => DATAGRAM_BYTES_IPV4,
            SocketAddr::V6(_) => DATAGRAM_BYTES_IPV6,
        }
    }

    /// Opens a path from a local port that was not used before.
    ///
    /// # Errors
    ///
    /// When the system has no port or descriptor left, or not that family of addresses.
    pub(crate) fn open(&mut self) -> io::Result<PathId> {
        let anywhere: IpAddr = match self.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let options = UdpOptions {
            icmp_errors: IcmpErrors::Reported,
            ..UdpOptions::default()
        };
        let socket = UdpSocket::bind((anywhere, 0).into(), options)?;
        let path = PathId::new(self.next);
        self.next += 1;
        self.open.push(Open {
            path,
            socket,
            is_deaf: false,
        });
        Ok(path)
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.open.retain(|open| open.path != path);
    }

    /// Puts the sockets on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) -> Vec<PollSlot> {
        let interest = |open: &Open| match open.is_deaf {
            true => Interest::Nothing,
            false => Interest::Read,
        };
        self.open
            .iter()
            .map(|open| list.add(&open.socket, interest(open)))
            .collect()
    }

    /// Hands over what has come, within the budget of one turn.
    pub(crate) fn receive(&mut self, now: Time, ready: &[bool], client: &mut Client) {
        let mut budget = udp::DATAGRAMS_PER_TURN;
        for (place, open) in self.open.iter_mut().enumerate() {
            let is_ready = ready.get(place).copied().unwrap_or(false);
            while is_ready && !open.is_deaf && budget > 0 {
                let received = match open.socket.receive(&mut self.inbox, budget) {
                    Ok(received) => received,
                    Err(error) => {
                        tracing::error!(%error, "receiving");
                        open.is_deaf = true;
                        break;
                    }
                };
                if let Some(report) = received.icmp {
                    let error = udp::send_error(report.error);
                    self.trace.send_failed(now, open.path, error);
                    client.handle_send_error(now, open.path, error);
                }
                if received.datagrams == 0 {
                    break;
                }
                budget = budget.saturating_sub(received.datagrams);
                for datagram in self.inbox.datagrams() {
                    let arrival = Arrival {
                        path: open.path,
                        ecn: udp::ecn(datagram.ecn),
                        bytes: datagram.bytes,
                    };
                    let verdict = client.handle_datagram(now, arrival);
                    let length = datagram.bytes.len();
                    self.trace.received(now, open.path, length, &verdict);
                }
            }
        }
    }

    /// Sends what there is to send.
    pub(crate) fn transmit(&mut self, now: Time, client: &mut Client) {
        while let Some(transmit) = client.poll_transmit(now, &mut self.buffer) {
            let open = self.open.iter_mut().find(|open| open.path == transmit.path);
            let outcome = match open {
                Some(Open { socket, .. }) => {
                    udp::send(socket, self.server, None, &transmit, &self.buffer)
                }
                None => Err(SendError::Unreachable),
            };
            match outcome {
                Ok(()) => self.trace.sent(now, &transmit),
                Err(error) => {
                    tracing::debug!(?error, "sending");
                    self.trace.send_failed(now, transmit.path, error);
                    client.handle_send_error(now, transmit.path, error);
                }
            }
        }
        self.trace.flush();
    }
}
