//! Receiving in batches, within a budget.

use super::{Fragmentation, IcmpErrors, Refusal, UdpSocket};
use fulmar_base::{Ecn, SendError};
use quinn_udp::{BATCH_SIZE, RecvMeta};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};

/// Room for one batch of datagrams. One serves all sockets of a loop.
#[derive(Debug)]
pub struct Inbox {
    /// One part of `stride` bytes for each datagram.
    bytes: Vec<u8>,
    arrivals: [RecvMeta; BATCH_SIZE],
    filled: usize,
    /// The number of datagrams of the last call that were popped.
    popped: usize,
    payload_max: usize,
    oversize: u64,
}

/// One datagram, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The address that sent it, as its header says.
    pub source: SocketAddr,
    /// The address of ours that it was sent to, where the system tells.
    pub local: Option<IpAddr>,
    /// The congestion mark.
    pub ecn: Ecn,
    /// The payload, never empty.
    pub bytes: &'a [u8],
}

/// The counts of one call that took datagrams from the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The number of datagrams taken, those included that are not handed on for their length.
    pub datagrams: usize,
    /// True if more may be waiting: as many were taken as one call may take.
    pub has_more: bool,
    /// The latest ICMP error, if the socket is set up to report them.
    pub icmp: Option<IcmpReport>,
}

/// An ICMP error about a datagram that we sent. It may be forged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpReport {
    /// The meaning of the error.
    pub error: SendError,
    /// The host or router that says so.
    pub reporter: Option<IpAddr>,
}

/// Pending errors that one call takes out of the way; a flood of them waits for the next turn.
const ERRORS_PER_CALL: usize = 16;

impl Inbox {
    /// The most datagrams that one call receives.
    pub const BATCH: usize = BATCH_SIZE;

    /// Makes room for a batch of datagrams of up to `payload_max` bytes each. Longer ones are
    /// counted and dropped.
    pub fn new(payload_max: usize) -> Self {
        Self {
            // The byte more is how a longer datagram shows: the system cuts it off there.
            bytes: vec![0; BATCH_SIZE * (payload_max + 1)],
            arrivals: [RecvMeta::default(); BATCH_SIZE],
            filled: 0,
            popped: 0,
            payload_max,
            oversize: 0,
        }
    }

    /// Returns the datagrams of the last call, oldest first.
    pub fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        let parts = self.bytes.chunks_exact(self.payload_max + 1);
        self.arrivals
            .iter()
            .zip(parts)
            .take(self.filled)
            .flat_map(|(arrival, part)| {
                let is_whole = arrival.len <= self.payload_max;
                let bytes = if is_whole { &part[..arrival.len] } else { &[] };
                // A system that coalesces in spite of our asking says so here. An empty datagram
                // has no part.
                bytes.chunks(arrival.stride.max(1)).map(|bytes| Datagram {
                    source: arrival.addr,
                    local: arrival.dst_ip,
                    ecn: arrival
                        .ecn
                        .map_or(Ecn::NotCapable, |mark| Ecn::from_traffic_class(mark as u8)),
                    bytes,
                })
            })
    }

    /// Returns the next datagram of the last call that was not popped yet, oldest first.
    pub fn pop(&mut self) -> Option<Datagram<'_>> {
        self.popped += 1;
        self.datagrams().nth(self.popped - 1)
    }

    /// Tells if a datagram of the last call was not popped yet. The next call forgets it.
    pub fn has_more(&self) -> bool {
        self.datagrams().nth(self.popped).is_some()
    }

    /// Returns how many datagrams were longer than the limit since the beginning.
    pub fn oversize(&self) -> u64 {
        self.oversize
    }

    pub(super) fn receive(&mut self, from: &UdpSocket, budget: usize) -> io::Result<Received> {
        (self.filled, self.popped) = (0, 0);
        let mut received = Received::default();
        for _ in 0..ERRORS_PER_CALL {
            match self.receive_batch(from, budget) {
                Ok(datagrams) => {
                    received.datagrams = datagrams;
                    received.has_more = datagrams > 0 && datagrams == budget.min(BATCH_SIZE);
                    return Ok(received);
                }
                Err(error) => match Refusal::of(&error) {
                    // It was ready for another reason, then: an error in its queue.
                    Refusal::WouldBlock => {
                        received.icmp = take_icmp_errors(from)?.or(received.icmp);
                        return Ok(received);
                    }
                    // An error about something we sent, which is out of the way by being told. The queue
                    // says who has reported it.
                    refusal if refusal.may_be_of_another() || refusal == Refusal::NoBuffers => {
                        let report = IcmpReport {
                            error: refusal.meaning(),
                            reporter: None,
                        };
                        let queued = take_icmp_errors(from)?.or(received.icmp);
                        received.icmp = queued.or(believable(from, report));
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(received)
    }

    fn receive_batch(&mut self, from: &UdpSocket, budget: usize) -> io::Result<usize> {
        let wanted = budget.min(BATCH_SIZE);
        if wanted == 0 {
            return Ok(0);
        }
        let mut parts = self.bytes.chunks_exact_mut(self.payload_max + 1);
        let mut buffers: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(parts.next().unwrap_or_default()));
        let socket = (&from.socket).into();
        self.filled = from
            .state
            .recv(socket, &mut buffers[..wanted], &mut self.arrivals)?;
        let is_oversize = |arrival: &&RecvMeta| arrival.len > self.payload_max;
        self.oversize += self.arrivals[..self.filled]
            .iter()
            .filter(is_oversize)
            .count() as u64;
        Ok(self.filled)
    }
}

/// Empties the socket's queue of errors, within limits, and returns the newest. It is empty unless the socket is set
/// up to report them.
fn take_icmp_errors(from: &UdpSocket) -> io::Result<Option<IcmpReport>> {
    let mut newest = None;
    if from.options.icmp_errors == IcmpErrors::Ignored {
        return Ok(newest);
    }
    for _ in 0..ERRORS_PER_CALL {
        let Some(report) = from.state.recv_transport_error((&from.socket).into())? else {
            break;
        };
        let reporter = report.addr.map(|address| address.ip());
        let report = IcmpReport {
            error: Refusal::of_errno(report.raw_errno).meaning(),
            reporter,
        };
        newest = believable(from, report).or(newest);
    }
    Ok(newest)
}

/// Returns a report unless it cannot be true: what may be cut up on its way is too long for nobody.
fn believable(from: &UdpSocket, report: IcmpReport) -> Option<IcmpReport> {
    let is_lie =
        report.error == SendError::TooBig && from.options.fragmentation == Fragmentation::Allowed;
    (!is_lie).then_some(report)
}
