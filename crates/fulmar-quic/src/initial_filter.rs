//! The initial filter: rejects datagrams before QUIC sees them, by their connection ids.
//!
//! QUIC answers people it does not know: with the versions it speaks, with resets, with a handshake.
//! None of that is for us (docs/threat-model.md §7.1). The filter looks at the few bytes of a datagram
//! that are in the clear and lets through what bears an id that was made with the secret.

use quinn_proto::ConnectionId;
use subtle::ConstantTimeEq as _;

use crate::connection_id::{ConnectionIdKey, FIRST_ID_BYTES, OWN_ID_BYTES};

/// Bytes of the longest datagram that is looked at (docs/threat-model.md §6).
const LENGTH_MAX: usize = 9216;

/// The least bytes that a client's first datagram may have. Source: RFC 9000 §14.1.
const FIRST_LENGTH_MIN: usize = 1200;

/// The least bytes of a packet with a short header: first byte, id, packet number and sample, tag.
///
/// Source: RFC 9001 §5.4.2: 4 bytes are assumed for the number, 16 for the sample.
const SHORT_LENGTH_MIN: usize = 1 + OWN_ID_BYTES + 4 + 16;

/// The one version that is spoken. Source: RFC 9000 §15.
const VERSION: u32 = 1;

/// The reason for which a datagram was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejected {
    /// Too short for what it says it is, or longer than any of ours.
    Length,
    /// The bit that all of our packets have is not set.
    NotQuic,
    /// A long header of another version, or a negotiation of versions.
    Version,
    /// A kind of packet that is never sent here: early data, a retry.
    Kind,
    /// An id that nobody who knows the secret has made.
    Id,
    /// A good first datagram of another connection than the one that is open.
    Second,
}

/// Counts rejected datagrams by reason. The numbers stop at their maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectedCounts {
    /// [`Rejected::Length`]
    pub length: u64,
    /// [`Rejected::NotQuic`]
    pub not_quic: u64,
    /// [`Rejected::Version`]
    pub version: u64,
    /// [`Rejected::Kind`]
    pub kind: u64,
    /// [`Rejected::Id`]
    pub id: u64,
    /// [`Rejected::Second`]
    pub second: u64,
}

impl RejectedCounts {
    fn count(&mut self, rejected: Rejected) {
        let counter = match rejected {
            Rejected::Length => &mut self.length,
            Rejected::NotQuic => &mut self.not_quic,
            Rejected::Version => &mut self.version,
            Rejected::Kind => &mut self.kind,
            Rejected::Id => &mut self.id,
            Rejected::Second => &mut self.second,
        };
        *counter = counter.saturating_add(1);
    }

    /// Returns how many there were in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        [
            self.length,
            self.not_quic,
            self.version,
            self.kind,
            self.id,
            self.second,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

/// Rejects what no one who knows the secret has sent to this end.
pub struct InitialFilter {
    /// Ids that this end gave out.
    own: ConnectionIdKey,
    /// Ids of first datagrams; only a server takes these.
    first: Option<ConnectionIdKey>,
    /// The id that the open connection began with, if one is open.
    begun: Option<[u8; FIRST_ID_BYTES]>,
    /// One of our ids that was recognised lately: the next datagram bears it as a rule.
    recent: [u8; OWN_ID_BYTES],
    counts: RejectedCounts,
}

/// The clear bytes that matter.
enum Header<'a> {
    /// First packet of a handshake, from the client or from the server.
    First(&'a [u8]),
    Handshake(&'a [u8]),
    Short(&'a [u8]),
}

impl InitialFilter {
    /// Returns the filter of a client: accepts what is addressed to an id that the client gave out.
    pub(crate) fn of_client(own: ConnectionIdKey) -> InitialFilter {
        InitialFilter::new(own, None)
    }

    /// Returns the filter of a server: accepts also who begins with an id made with the secret, once.
    pub(crate) fn of_server(own: ConnectionIdKey, first: ConnectionIdKey) -> InitialFilter {
        InitialFilter::new(own, Some(first))
    }

    fn new(own: ConnectionIdKey, first: Option<ConnectionIdKey>) -> InitialFilter {
        InitialFilter {
            own,
            first,
            begun: None,
            recent: [0; OWN_ID_BYTES],
            counts: RejectedCounts::default(),
        }
    }

    /// Checks a datagram. A rejected one changes one counter.
    ///
    /// # Errors
    ///
    /// The reason for which it is to be thrown away.
    pub fn check(&mut self, datagram: &[u8]) -> Result<(), Rejected> {
        let checked = self.examine(datagram);
        if let Err(rejected) = checked {
            self.counts.count(rejected);
        }
        checked
    }

    /// Returns how many datagrams were rejected.
    #[must_use]
    pub fn counts(&self) -> RejectedCounts {
        self.counts
    }

    /// Accepts no first datagram but those with this id from now on.
    pub(crate) fn begin(&mut self, id: &ConnectionId) {
        self.begun = <[u8; FIRST_ID_BYTES]>::try_from(&id[..]).ok();
    }

    /// Accepts any good first datagram again.
    pub(crate) fn end(&mut self) {
        self.begun = None;
    }

    fn examine(&mut self, datagram: &[u8]) -> Result<(), Rejected> {
        if datagram.len() > LENGTH_MAX {
            return Err(Rejected::Length);
        }
        match Header::read(datagram)? {
            // Later initial packets look the same, but bear an id that this end gave out, which is
            // shorter.
            Header::First(id) if id.len() == FIRST_ID_BYTES => self.examine_first(datagram, id),
            Header::First(id) | Header::Handshake(id) | Header::Short(id) => self.examine_own(id),
        }
    }

    fn examine_first(&self, datagram: &[u8], id: &[u8]) -> Result<(), Rejected> {
        let first = self.first.as_ref().ok_or(Rejected::Id)?;
        if datagram.len() < FIRST_LENGTH_MIN {
            return Err(Rejected::Length);
        }
        if !first.has_signed(id) {
            return Err(Rejected::Id);
        }
        // A client repeats its first datagram until it is answered, so the same id passes again.
        match &self.begun {
            Some(begun) if !bool::from(begun.as_slice().ct_eq(id)) => Err(Rejected::Second),
            _ => Ok(()),
        }
    }

    fn examine_own(&mut self, id: &[u8]) -> Result<(), Rejected> {
        // Saves the HMAC of nearly every datagram. The zeros at the beginning stand for no id, so
        // they must not pass as one.
        if self.recent.as_slice().ct_eq(id).into() && self.recent != [0; OWN_ID_BYTES] {
            return Ok(());
        }
        if !self.own.has_signed(id) {
            return Err(Rejected::Id);
        }
        if let Ok(id) = id.try_into() {
            self.recent = id;
        }
        Ok(())
    }
}

impl<'a> Header<'a> {
    /// Reads what RFC 8999 and RFC 9000 §17 put before the encrypted part.
    fn read(datagram: &'a [u8]) -> Result<Header<'a>, Rejected> {
        let (first, rest) = datagram.split_first().ok_or(Rejected::Length)?;
        // The fixed bit (RFC 9000 §17). It is always set, as the extension that varies it (RFC
        // 9287) is off.
        if first & 0x40 == 0 {
            return Err(Rejected::NotQuic);
        }
        if first & 0x80 == 0 {
            let id = rest.get(..OWN_ID_BYTES);
            let long_enough = datagram.len() >= SHORT_LENGTH_MIN;
            return id
                .filter(|_| long_enough)
                .map(Header::Short)
                .ok_or(Rejected::Length);
        }
        let (version, rest) = rest.split_first_chunk().ok_or(Rejected::Length)?;
        // Version negotiation is version 0 (RFC 8999 §6) and is rejected here, too.
        if u32::from_be_bytes(*version) != VERSION {
            return Err(Rejected::Version);
        }
        let (length, rest) = rest.split_first().ok_or(Rejected::Length)?;
        let id = rest.get(..usize::from(*length)).ok_or(Rejected::Length)?;
        // Initial and handshake. Of the other types, 0-RTT (1) and Retry (3) (RFC 9000 §17.2),
        // neither end sends any.
        match (first >> 4) & 0b11 {
            0 => Ok(Header::First(id)),
            2 => Ok(Header::Handshake(id)),
            _ => Err(Rejected::Kind),
        }
    }
}
