//! Maps the paths of the core, which are numbers, to socket addresses.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::PathId;
use fulmar_platform::udp::Datagram;

/// The addresses of a path from here to a peer, as far as this end can tell paths apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathAddresses {
    /// The index of our socket.
    pub(crate) socket: usize,
    /// The peer's address.
    pub(crate) remote: SocketAddr,
    /// Our own address, if the system told which was asked: answers are to come from it.
    pub(crate) local: Option<IpAddr>,
}

impl PathAddresses {
    /// Returns the path on which a datagram has come to one of our sockets.
    pub(crate) fn of(socket: usize, datagram: &Datagram<'_>) -> PathAddresses {
        PathAddresses {
            socket,
            remote: datagram.source,
            local: datagram.local,
        }
    }
}

/// The paths that are remembered: three times those that a session's core knows anything of. The rest is
/// room for a client that comes and goes between several networks.
///
/// Source: docs/threat-model.md §6.
const PATHS_MAX: usize = 64;

/// The addresses of the paths that the peer has used, with the numbers that they have in the core.
///
/// A path is remembered only when a datagram newer than all before has proven it, so neither forged
/// nor recorded datagrams that are sent again fill the table. The one that datagrams are sent on is
/// never forgotten, nor is one of which the core knows how it stands: it would come back as new.
#[derive(Debug, Default)]
pub(crate) struct PathTable {
    /// The one that was heard of last comes last.
    paths: Vec<(PathId, PathAddresses)>,
    used: Option<PathId>,
    next: u64,
}

impl PathTable {
    /// Returns the number of a path, which may be one that nothing else has yet.
    pub(crate) fn number(&self, addresses: &PathAddresses) -> PathId {
        let known = self.paths.iter().find(|(_, known)| known == addresses);
        known.map_or(PathId::new(self.next), |(path, _)| *path)
    }

    /// Remembers a path under the number that it was given, because a genuine datagram that was newer
    /// than all before came on it. A path whose number `is_needed` is not forgotten for it.
    pub(crate) fn prove(
        &mut self,
        path: PathId,
        addresses: PathAddresses,
        is_needed: impl Fn(PathId) -> bool,
    ) {
        match self.paths.iter().position(|(known, _)| *known == path) {
            Some(index) => {
                let entry = self.paths.remove(index);
                self.paths.push(entry);
            }
            None => {
                self.make_room(is_needed);
                self.paths.push((path, addresses));
                self.next = self.next.max(path.get().saturating_add(1));
            }
        }
    }

    /// Returns the addresses that are to be sent on, if it is still remembered.
    pub(crate) fn use_path(&mut self, path: PathId) -> Option<PathAddresses> {
        self.used = Some(path);
        self.find(path)
    }

    /// Returns the addresses of that path, if it is still remembered.
    pub(crate) fn find(&self, path: PathId) -> Option<PathAddresses> {
        let entry = self.paths.iter().find(|(known, _)| *known == path);
        entry.map(|(_, addresses)| *addresses)
    }

    fn make_room(&mut self, is_needed: impl Fn(PathId) -> bool) {
        if self.paths.len() < PATHS_MAX {
            return;
        }
        let is_idle =
            |(path, _): &(PathId, PathAddresses)| Some(*path) != self.used && !is_needed(*path);
        let oldest = self.paths.iter().position(is_idle);
        if let Some(oldest) = oldest {
            self.paths.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(port: u16) -> PathAddresses {
        PathAddresses {
            socket: 0,
            remote: SocketAddr::from(([192, 0, 2, 7], port)),
            local: None,
        }
    }

    fn prove(table: &mut PathTable, port: u16) -> PathId {
        let path = table.number(&addresses(port));
        table.prove(path, addresses(port), |_| false);
        path
    }

    #[test]
    fn a_path_keeps_its_number_and_another_path_gets_another() {
        let mut table = PathTable::default();
        let first = prove(&mut table, 1);
        let second = prove(&mut table, 2);
        assert_ne!(first, second);
        assert_eq!(prove(&mut table, 1), first);
        assert_eq!(table.use_path(first), Some(addresses(1)));
        assert_eq!(table.use_path(second), Some(addresses(2)));
        let from_elsewhere = PathAddresses {
            socket: 1,
            ..addresses(1)
        };
        assert_ne!(table.number(&from_elsewhere), first);
    }

    #[test]
    fn what_is_not_proven_leaves_nothing_behind() {
        let mut table = PathTable::default();
        let unproven = table.number(&addresses(1));
        assert_eq!(table.use_path(unproven), None);
        assert_eq!(table.number(&addresses(2)), unproven);
    }

    #[test]
    fn a_path_of_which_something_is_known_outlives_any_number_of_others() {
        let mut table = PathTable::default();
        let known = prove(&mut table, 1);
        for port in 2..1000 {
            let path = table.number(&addresses(port));
            table.prove(path, addresses(port), |path| path == known);
        }
        assert_eq!(table.number(&addresses(1)), known);
        assert_eq!(table.paths.len(), PATHS_MAX);
    }

    #[test]
    fn the_path_in_use_outlives_any_number_of_others() {
        let mut table = PathTable::default();
        let used = prove(&mut table, 1);
        table.use_path(used);
        let second = prove(&mut table, 2);
        for port in 3..1000 {
            prove(&mut table, port);
        }
        assert_eq!(table.use_path(used), Some(addresses(1)));
        assert_eq!(table.find(second), None);
        assert_eq!(table.paths.len(), PATHS_MAX);
        assert_ne!(
            table.number(&addresses(2)),
            second,
            "a number is never given twice"
        );
    }
}
