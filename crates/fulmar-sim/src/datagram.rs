//! The datagrams that travel: bytes, two addresses and a congestion mark.

use std::fmt;
use std::net::SocketAddr;

use fulmar_base::{Ecn, SendError};

/// A host of the network, by the order in which hosts were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub usize);

/// The meaning of a [`Datagram`]'s bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Content {
    /// The payload of a UDP datagram; the network counts its headers besides.
    #[default]
    UdpPayload,
    /// A whole IP packet that holds UDP.
    UdpPacket,
    /// A whole IP packet that holds anything else.
    OtherPacket,
}

impl Content {
    /// Tells whether a firewall that stops UDP stops it.
    #[must_use]
    pub fn is_udp(self) -> bool {
        self != Self::OtherPacket
    }
}

/// One UDP payload on its way, or one packet where the hosts are real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The address it comes from, as the place it is at sees it: address translation rewrites it.
    pub source: SocketAddr,
    /// The address it goes to, as the place it is at sees it.
    pub destination: SocketAddr,
    /// The congestion mark in the IP header.
    pub ecn: Ecn,
    /// The UDP payload, unless `content` says otherwise.
    pub bytes: Vec<u8>,
    /// The meaning of the bytes.
    pub content: Content,
    /// The sender and the number, for the timeline and for errors that return to the sender.
    pub(crate) ticket: Ticket,
}

impl Datagram {
    /// Returns a datagram with no congestion mark.
    #[must_use]
    pub fn new(source: SocketAddr, destination: SocketAddr, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            source,
            destination,
            ecn: Ecn::NotCapable,
            bytes: bytes.into(),
            content: Content::UdpPayload,
            ticket: Ticket {
                sender: HostId(0),
                origin: source,
                serial: 0,
                is_copy: false,
            },
        }
    }

    /// Returns the length of the IP packet around it: payload, 8 bytes of UDP header (RFC 768) and
    /// 20 (RFC 791) or 40 (RFC 8200) bytes of IP header.
    ///
    /// Of what is a packet already it is the number of bytes. Rates, queues and MTUs of the simulator
    /// count these bytes.
    #[must_use]
    pub fn packet_len(&self) -> usize {
        if self.content != Content::UdpPayload {
            return self.bytes.len();
        }
        let headers = if self.destination.is_ipv4() { 28 } else { 48 };
        self.bytes.len() + headers
    }

    pub(crate) fn label(&self) -> Label {
        Label {
            source: self.source,
            destination: self.destination,
            len: self.bytes.len(),
            ticket: self.ticket,
        }
    }
}

/// A datagram without its bytes: what the timeline and errors tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) len: usize,
    pub(crate) ticket: Ticket,
}

/// Tells datagrams apart that hold equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) sender: HostId,
    /// The source that the sender gave it, whatever translators made of it.
    pub(crate) origin: SocketAddr,
    pub(crate) serial: u64,
    /// Made by the network, not by the sender.
    pub(crate) is_copy: bool,
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}{}", self.serial, if self.is_copy { "'" } else { "" })
    }
}

/// A [`SendError`] with the addresses and the payload length of the datagram it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendFailure {
    /// The address it was sent from, as the sender knows it.
    pub source: SocketAddr,
    /// The address it was sent to.
    pub destination: SocketAddr,
    /// The length of its payload in bytes.
    pub len: usize,
    /// The error.
    pub error: SendError,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::address;

    #[test]
    fn packet_len_counts_the_headers_of_the_family() {
        let v4 = address("192.0.2.1:1");
        let v6 = address("[2001:db8::1]:1");
        assert_eq!(Datagram::new(v4, v4, [0; 100]).packet_len(), 128);
        assert_eq!(Datagram::new(v6, v6, [0; 100]).packet_len(), 148);
    }

    #[test]
    fn packet_len_of_a_packet_is_its_length() {
        let v4 = address("192.0.2.1:1");
        for content in [Content::UdpPacket, Content::OtherPacket] {
            let mut packet = Datagram::new(v4, v4, [0; 100]);
            packet.content = content;
            assert_eq!(packet.packet_len(), 100);
        }
    }
}
