//! Datagrams: batches, congestion marks, the address that was asked.

mod inbox;
mod refusal;

pub use inbox::{Datagram, IcmpReport, Inbox, Received};

use fulmar_base::{Ecn, SendError};
use quinn_udp::{EcnCodepoint, UdpSocketState};
use refusal::Refusal;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The families that an IPv6 socket on the wildcard address is open to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpStack {
    /// IPv6 only: an IPv4 socket can have the same port.
    #[default]
    Single,
    /// Both; IPv4 peers have mapped addresses (`::ffff:a.b.c.d`).
    Dual,
}

/// The orders for a router with a datagram that is too long for the next link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fragmentation {
    /// Cut it up, as for stock Mosh; path MTU discovery is off, and what reports of it have left in the
    /// system's memory is not looked at: anybody can forge them.
    #[default]
    Allowed,
    /// Drop it, so that the path's own limit shows.
    Forbidden,
}

/// The use of ICMP errors about datagrams that the socket has sent.
///
/// Anybody on the way can forge them: they can explain a silence, and decide nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IcmpErrors {
    /// They are not asked for.
    #[default]
    Ignored,
    /// They come with [`Received`]. Linux only.
    Reported,
}

/// The settings of a socket. The default is what the stock wire wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpOptions {
    /// The addresses that an IPv6 socket takes.
    pub stack: IpStack,
    /// The permission to fragment datagrams on their way.
    pub fragmentation: Fragmentation,
    /// The use of ICMP errors.
    pub icmp_errors: IcmpErrors,
}

/// One datagram to send, or several that differ in their bytes only.
#[derive(Clone, Copy, Debug)]
pub struct Transmit<'a> {
    /// The address to send it to.
    pub destination: SocketAddr,
    /// The address of ours that it is to come from; otherwise the system chooses.
    pub source: Option<IpAddr>,
    /// The congestion mark.
    pub ecn: Ecn,
    /// The payload, or several payloads one after the other.
    pub bytes: &'a [u8],
    /// The length of each payload but the last, which may be shorter. `None` is one datagram.
    pub segment: Option<usize>,
}

/// The most tries for a datagram that an ICMP error of another may have kept from leaving. Each such error
/// keeps one try.
///
/// Chosen by eye: while 100 000 forged errors come in a second, a try that takes 5 µs meets one with a
/// probability of one half at most, and 8 of them in a row once in several minutes of typing.
const ATTEMPTS_MAX: usize = 8;

/// The longest payload of a UDP datagram over IPv4: 65 535 less 20 bytes of IP and 8 of UDP.
///
/// Source: RFC 768, RFC 791 §3.1.
const PAYLOAD_MAX: usize = 65_507;

/// A bound UDP socket that never waits.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    options: UdpOptions,
    state: UdpSocketState,
    /// The most datagrams that the system cuts from one buffer.
    segments_max: usize,
}

impl UdpSocket {
    /// Binds a socket to `address`; port 0 lets the system choose one.
    ///
    /// # Errors
    ///
    /// When the port is taken, the address is not ours, or the family is not there.
    pub fn bind(address: SocketAddr, options: UdpOptions) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
        if address.is_ipv6() {
            socket.set_only_v6(options.stack == IpStack::Single)?;
        }
        socket.bind(&address.into())?;
        let state = set_up(&socket, options)?;
        let segments_max = state.max_gso_segments();
        Ok(Self {
            socket,
            options,
            state,
            segments_max,
        })
    }

    /// Returns the address the socket is bound to, with the port that was chosen.
    ///
    /// # Errors
    ///
    /// None that the system documents for a socket of ours.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?;
        address
            .as_socket()
            .ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }

    /// Asks for room for `bytes` of datagrams that were not received yet, and returns how much was
    /// granted. Linux grants a process of root's what it wants, to others as much as `net.core.rmem_max`
    /// says, and either of them twice that, for what it keeps beside the bytes.
    ///
    /// # Errors
    ///
    /// None that the system documents for a socket of ours.
    pub fn set_receive_buffer(&self, bytes: usize) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        let is_forced =
            rustix::net::sockopt::set_socket_recv_buffer_size_force(self, bytes).is_ok();
        #[cfg(not(target_os = "linux"))]
        let is_forced = false;
        if !is_forced {
            self.socket.set_recv_buffer_size(bytes)?;
        }
        self.socket.recv_buffer_size()
    }

    /// Receives what has come into `inbox`, at most `budget` datagrams and at most
    /// [`Inbox::BATCH`]; what was there before is overwritten.
    ///
    /// ICMP errors that are pending are taken out of the way and never count as data: after a call
    /// the socket is readable only if there are further datagrams.
    ///
    /// # Errors
    ///
    /// When the socket itself does not work any more.
    pub fn receive(&self, inbox: &mut Inbox, budget: usize) -> io::Result<Received> {
        inbox.receive(self, budget)
    }

    /// Sends one datagram, or several at once where the system can cut them up by itself.
    ///
    /// If `source` is not ours any more, the system chooses another. Of several datagrams those
    /// before a failing one have left.
    ///
    /// # Errors
    ///
    /// What the system said, sorted by what it means for the sender. Nothing waits.
    pub fn send(&mut self, transmit: &Transmit<'_>) -> Result<(), SendError> {
        self.send_all(transmit).map_err(Refusal::meaning)
    }

    /// Sends one datagram that nobody on the way may cut up, whatever the options say of the others: it arrives whole, or
    /// not at all. [`SendError::TooBig`] says that it is too long for the first link. What reports have left in the
    /// system's memory is not looked at.
    ///
    /// Linux and Apple's systems only; elsewhere it is sent as all others are.
    ///
    /// # Errors
    ///
    /// As for [`send`](UdpSocket::send).
    pub fn send_whole(&mut self, transmit: &Transmit<'_>) -> Result<(), SendError> {
        let is_allowed = self.options.fragmentation == Fragmentation::Allowed;
        if is_allowed && forbid_fragmentation(&self.socket).is_err() {
            return Err(SendError::Other);
        }
        let outcome = self.send_once(transmit, None);
        if is_allowed && allow_fragmentation(&self.socket).is_err() {
            return Err(SendError::Other);
        }
        outcome.map_err(Refusal::meaning)
    }

    fn send_all(&mut self, transmit: &Transmit<'_>) -> Result<(), Refusal> {
        let segment = transmit.segment.unwrap_or(transmit.bytes.len()).max(1);
        if transmit.bytes.len() <= segment {
            return self.send_once(transmit, None);
        }
        let at_once = (PAYLOAD_MAX / segment).clamp(1, self.segments_max);
        for batch in transmit.bytes.chunks(segment * at_once) {
            let several = Transmit {
                bytes: batch,
                ..*transmit
            };
            match self.send_once(&several, Some(segment)) {
                Ok(()) => {}
                // The driver cannot cut (EIO), or the segment exceeds the link (EINVAL).
                Err(Refusal::Other(libc::EIO | libc::EINVAL)) if batch.len() > segment => {
                    self.segments_max = 1;
                    self.send_singly(&several, segment)?;
                }
                // The segment exceeds the link, which a single datagram may, or an error of another
                // datagram was told here.
                Err(Refusal::TooBig) if batch.len() > segment => {
                    self.send_singly(&several, segment)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send_singly(&mut self, transmit: &Transmit<'_>, segment: usize) -> Result<(), Refusal> {
        for bytes in transmit.bytes.chunks(segment) {
            self.send_once(&Transmit { bytes, ..*transmit }, None)?;
        }
        Ok(())
    }

    fn send_once(
        &mut self,
        transmit: &Transmit<'_>,
        segment: Option<usize>,
    ) -> Result<(), Refusal> {
        let mut attempt = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: EcnCodepoint::from_bits(transmit.ecn.bits()),
            contents: transmit.bytes,
            segment_size: segment,
            src_ip: transmit.source,
        };
        let mut outcome = self.try_send(&attempt);
        for _ in 1..ATTEMPTS_MAX {
            if !outcome.is_err_and(Refusal::may_be_of_another) {
                break;
            }
            // An ICMP error of an earlier datagram may have kept this one from leaving. It is out
            // of the way by now; `receive` reports it.
            outcome = self.try_send(&attempt);
        }
        let is_source_gone = |error| {
            matches!(
                error,
                Refusal::Unreachable | Refusal::SourceGone | Refusal::Other(libc::EINVAL)
            )
        };
        if attempt.src_ip.is_some() && outcome.is_err_and(is_source_gone) {
            attempt.src_ip = None;
            outcome = self.try_send(&attempt);
        }
        outcome
    }

    fn try_send(&mut self, attempt: &quinn_udp::Transmit<'_>) -> Result<(), Refusal> {
        let outcome = self.state.try_send((&self.socket).into(), attempt);
        let Err(error) = outcome else { return Ok(()) };
        let error = Refusal::of(&error);
        if let Refusal::Other(libc::EIO | libc::EINVAL) = error {
            // The library takes these for an old system's refusal of congestion marks, and would
            // not send any from then on. What was refused is the source or the cutting.
            self.state = set_up(&self.socket, self.options).map_err(|error| Refusal::of(&error))?;
        }
        Err(error)
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn set_up(socket: &Socket, options: UdpOptions) -> io::Result<UdpSocketState> {
    let state = UdpSocketState::new(socket.into())?;
    do_not_coalesce(socket);
    if options.fragmentation == Fragmentation::Allowed {
        allow_fragmentation(socket)?;
    }
    if options.icmp_errors == IcmpErrors::Reported {
        state.enable_transport_errors(socket.into())?;
    }
    Ok(state)
}

/// Has the kernel hand over datagrams one by one.
///
/// Coalesced, one buffer may hold 64 of them: a budget in datagrams could not be kept, and buffers
/// would have to be 64 KiB each. `recvmmsg` takes 32 datagrams in one call all the same.
fn do_not_coalesce(socket: &Socket) {
    #[cfg(target_os = "linux")]
    {
        // A kernel that refuses does not know coalescing, and so does not do it.
        let _ = set_option(socket, libc::SOL_UDP, libc::UDP_GRO, 0);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
}

#[cfg(target_os = "linux")]
fn allow_fragmentation(socket: &Socket) -> io::Result<()> {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    };
    let is_v6 = socket.domain()? == Domain::IPV6;
    // Of the values that clear DF, OMIT believes no report of a path's limit, remembered or new. Linux
    // before 3.15, and for IPv6 before 4.1, does not have it.
    if is_v6 {
        set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::OMIT)
            .or_else(|_| set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::DONT))?;
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG, 0)?;
    }
    // An IPv6 socket may send to mapped IPv4 addresses, with the options of IPv4.
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::OMIT)
        .or_else(|_| set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::DONT))?;
    Ok(())
}

/// Sets the options that [`UdpSocketState`] sets at first.
#[cfg(target_os = "linux")]
fn forbid_fragmentation(socket: &Socket) -> io::Result<()> {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    };
    if socket.domain()? == Domain::IPV6 {
        set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?;
    }
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn allow_fragmentation(socket: &Socket) -> io::Result<()> {
    set_do_not_fragment(socket, 0)
}

#[cfg(not(target_os = "linux"))]
fn forbid_fragmentation(socket: &Socket) -> io::Result<()> {
    set_do_not_fragment(socket, 1)
}

#[cfg(not(target_os = "linux"))]
fn set_do_not_fragment(socket: &Socket, value: libc::c_int) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    if socket.local_addr()?.is_ipv4() {
        return set_option(socket, libc::IPPROTO_IP, libc::IP_DONTFRAG, value);
    } else {
        return set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_DONTFRAG, value);
    }
    #[cfg(not(target_vendor = "apple"))]
    {
        let _ = (socket, value);
        Ok(())
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn set_option(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the pointer is to an int that outlives the call, and the length is its own.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests;
