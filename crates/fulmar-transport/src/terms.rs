//! Tells what was agreed on with the peer, as far as it is the transport's.

use crate::dialect::Digest;

/// The agreement with the peer, before the first datagram.
///
/// Source: docs/protocol.md §13.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The digest of what both ends have seen of it.
    pub digest: Digest,
    /// True if pauses may grow while nothing happens.
    pub idle: bool,
    /// True if a server validates a path by a random value.
    pub challenge: bool,
    /// True if either end may probe how long datagrams can be.
    pub sizes: bool,
}

impl Terms {
    /// Returns an agreement of that digest on nothing that is the transport's.
    pub const fn of(digest: Digest) -> Terms {
        Terms {
            digest,
            idle: false,
            challenge: false,
            sizes: false,
        }
    }
}
