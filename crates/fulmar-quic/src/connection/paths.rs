//! Paths as QUIC sees them: made-up addresses.
//!
//! A client shows QUIC one address whatever path is used, so that QUIC decides nothing about paths
//! there. A server shows an address for each path: QUIC follows a client to the address from which
//! its newest genuine packet came, checks that the client is there, and returns if it is not.

use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};

use fulmar_base::PathId;

/// The port of every made-up address; QUIC refuses 0.
const PORT: u16 = 1;

/// The most bytes that a server sends to where it has not yet heard back from
/// (docs/threat-model.md §6).
const UNVALIDATED_MAX: usize = 16 << 10;

/// The most places that are remembered with what they got.
///
/// Source: docs/threat-model.md §6.
const PLACES_MAX: usize = 16;

/// The path that is in use.
pub(super) enum Paths {
    Client {
        path: PathId,
        /// True if the server was heard on it, or the edge has chosen it.
        is_settled: bool,
    },
    Server {
        /// The addresses that the client was lately taken to have, and how much each got.
        places: VecDeque<(SocketAddr, usize)>,
    },
}

impl Paths {
    pub(super) fn of_client(path: PathId) -> Paths {
        let is_settled = false;
        Paths::Client { path, is_settled }
    }

    pub(super) fn of_server() -> Paths {
        Paths::Server {
            places: VecDeque::with_capacity(PLACES_MAX),
        }
    }

    /// The address of a client's server.
    pub(super) fn remote(&self) -> SocketAddr {
        made_up(0)
    }

    /// The address that a datagram from this path seems to come from.
    pub(super) fn remote_of(&self, path: PathId) -> SocketAddr {
        match self {
            Paths::Client { .. } => made_up(0),
            Paths::Server { .. } => made_up(path.get()),
        }
    }

    /// The path to that address.
    pub(super) fn path_of(&self, remote: SocketAddr) -> PathId {
        match (self, remote) {
            (Paths::Client { path, .. }, _) => *path,
            (Paths::Server { .. }, SocketAddr::V6(remote)) => {
                // The upper half is the prefix.
                PathId::new(remote.ip().to_bits() as u64)
            }
            (Paths::Server { .. }, SocketAddr::V4(_)) => PathId::new(0),
        }
    }

    /// A genuine datagram came on this path: the first one tells a client which of several is good.
    pub(super) fn heard(&mut self, on: PathId) {
        if let Paths::Client { path, is_settled } = self
            && !*is_settled
        {
            (*path, *is_settled) = (on, true);
        }
    }

    /// Goes on by another path; whether it is another.
    pub(super) fn move_to(&mut self, to: PathId) -> bool {
        match self {
            Paths::Client { path, is_settled } => {
                let is_other = *path != to;
                (*path, *is_settled) = (to, true);
                is_other
            }
            Paths::Server { .. } => false,
        }
    }

    /// Counts what is sent to an address.
    pub(super) fn sent(&mut self, to: SocketAddr, bytes: usize) {
        let Paths::Server { places } = self else {
            return;
        };
        if let Some((_, sent)) = places.iter_mut().find(|(place, _)| *place == to) {
            *sent = sent.saturating_add(bytes);
            return;
        }
        if places.len() == PLACES_MAX {
            places.pop_front();
        }
        places.push_back((to, bytes));
    }

    /// Returns the number of datagrams of that size that an address may get, at most `most`: few until it is
    /// known to be the client's.
    pub(super) fn allowance(
        &self,
        to: SocketAddr,
        is_validated: bool,
        size: u16,
        most: usize,
    ) -> usize {
        let Paths::Server { places } = self else {
            return most;
        };
        if is_validated {
            return most;
        }
        let sent = places.iter().find(|(place, _)| *place == to);
        let left = UNVALIDATED_MAX.saturating_sub(sent.map_or(0, |(_, sent)| *sent));
        most.min(left / usize::from(size.max(1)))
    }
}

/// An address of a unique local network (RFC 4193) that stands for a path.
fn made_up(path: u64) -> SocketAddr {
    const PREFIX: u128 = 0xFD << 120;
    (Ipv6Addr::from_bits(PREFIX | u128::from(path)), PORT).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_place_got_is_remembered_of_as_many_as_may_be() {
        let size = 1024_u16;
        let most = 100;
        let mut paths = Paths::of_server();
        for place in 0..PLACES_MAX as u64 {
            assert_eq!(paths.allowance(made_up(place), false, size, most), 16);
            paths.sent(made_up(place), UNVALIDATED_MAX - 1);
            paths.sent(made_up(place), 1);
        }
        let left = |paths: &Paths, place| paths.allowance(made_up(place), false, size, most);
        for place in 0..PLACES_MAX as u64 {
            assert_eq!(left(&paths, place), 0, "{place}");
        }
        // One more, and the oldest is forgotten.
        paths.sent(made_up(99), 1);
        assert_eq!(left(&paths, 0), 16);
        assert_eq!((left(&paths, 1), left(&paths, 99)), (0, 15));
        assert_eq!(paths.allowance(made_up(1), true, size, most), most);
    }
}
