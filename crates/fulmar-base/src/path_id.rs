//! The number of a path to the peer.

/// A path to the peer, under a number of the edge's choice: on UDP a local socket and a remote
/// address.
///
/// Equal paths must have equal numbers, and a number must not come to mean another path while the
/// core may still name it. The core names only paths that it was told to use, or from which a
/// datagram came that was genuine and newer than all before.
///
/// Source: docs/decisions/007-paths-not-socket-addresses.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(u64);

impl PathId {
    /// Returns the path of that number.
    pub const fn new(number: u64) -> PathId {
        PathId(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}
