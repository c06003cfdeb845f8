//! Maps the paths of the core, which are numbers, to socket addresses.

use std::net::{IpAddr, SocketAddr};

use fulmar_base::PathId;
use fulmar_platform::udp::Datagram;

/// A way of datagrams from here to a peer, as far as this end can tell ways apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The index of our socket.
    pub(crate) socket: usize,
    /// The peer's address.
    pub(crate) remote: SocketAddr,
    /// Our own address, if the system told which was asked: answers are to come from it.
    pub(crate) local: Option<IpAddr>,
}

impl Way {
    /// Returns the way on which a datagram has come to one of our sockets.
    pub(crate) fn of(socket: usize, datagram: &Datagram<'_>) -> Way {
        Way {
            socket,
            remote: datagram.source,
            local: datagram.local,
        }
    }
}

/// The ways that are remembered: three times those that a session's core knows anything of. The rest is
/// room for a client that comes and goes between several networks.
///
/// Source: docs/threat-model.md §6.
const WAYS_MAX: usize = 64;

/// The ways that the peer has used, with the numbers that they have in the core.
///
/// A way is remembered only when a datagram newer than all before has proven it, so neither strangers
/// nor recorded datagrams that are sent again fill the table. The one that datagrams are sent on is
/// never forgotten, nor is one of which the core knows how it stands: it would come back as new.
#[derive(Debug, Default)]
pub(crate) struct PathTable {
    /// The one that was heard of last comes last.
    ways: Vec<(PathId, Way)>,
    used: Option<PathId>,
    next: u64,
}

impl PathTable {
    /// Returns the number of a way, which may be one that nothing else has yet.
    pub(crate) fn number(&self, way: &Way) -> PathId {
        let known = self.ways.iter().find(|(_, known)| known == way);
        known.map_or(PathId::new(self.next), |(path, _)| *path)
    }

    /// Remembers a way under the number that it was given, because a genuine datagram that was newer
    /// than all before came on it. A way whose number `is_needed` is not forgotten for it.
    pub(crate) fn prove(&mut self, path: PathId, way: Way, is_needed: impl Fn(PathId) -> bool) {
        match self.ways.iter().position(|(known, _)| *known == path) {
            Some(place) => {
                let entry = self.ways.remove(place);
                self.ways.push(entry);
            }
            None => {
                self.make_room(is_needed);
                self.ways.push((path, way));
                self.next = self.next.max(path.get().saturating_add(1));
            }
        }
    }

    /// Returns the way that is to be sent on, if it is still remembered.
    pub(crate) fn way_to(&mut self, path: PathId) -> Option<Way> {
        self.used = Some(path);
        self.find(path)
    }

    /// Returns the way of that number, if it is still remembered.
    pub(crate) fn find(&self, path: PathId) -> Option<Way> {
        let entry = self.ways.iter().find(|(known, _)| *known == path);
        entry.map(|(_, way)| *way)
    }

    fn make_room(&mut self, is_needed: impl Fn(PathId) -> bool) {
        if self.ways.len() < WAYS_MAX {
            return;
        }
        let is_idle = |(path, _): &(PathId, Way)| Some(*path) != self.used && !is_needed(*path);
        let oldest = self.ways.iter().position(is_idle);
        if let Some(oldest) = oldest {
            self.ways.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(port: u16) -> Way {
        Way {
            socket: 0,
            remote: SocketAddr::from(([192, 0, 2, 7], port)),
            local: None,
        }
    }

    fn prove(table: &mut PathTable, port: u16) -> PathId {
        let path = table.number(&way(port));
        table.prove(path, way(port), |_| false);
        path
    }

    #[test]
    fn a_way_keeps_its_number_and_another_way_gets_another() {
        let mut table = PathTable::default();
        let first = prove(&mut table, 1);
        let second = prove(&mut table, 2);
        assert_ne!(first, second);
        assert_eq!(prove(&mut table, 1), first);
        assert_eq!(table.way_to(first), Some(way(1)));
        assert_eq!(table.way_to(second), Some(way(2)));
        let from_elsewhere = Way {
            socket: 1,
            ..way(1)
        };
        assert_ne!(table.number(&from_elsewhere), first);
    }

    #[test]
    fn what_is_not_proven_leaves_nothing_behind() {
        let mut table = PathTable::default();
        let stranger = table.number(&way(1));
        assert_eq!(table.way_to(stranger), None);
        assert_eq!(table.number(&way(2)), stranger);
    }

    #[test]
    fn a_way_of_which_something_is_known_outlives_any_number_of_others() {
        let mut table = PathTable::default();
        let known = prove(&mut table, 1);
        for port in 2..1000 {
            let path = table.number(&way(port));
            table.prove(path, way(port), |path| path == known);
        }
        assert_eq!(table.number(&way(1)), known);
        assert_eq!(table.ways.len(), WAYS_MAX);
    }

    #[test]
    fn the_way_in_use_outlives_any_number_of_others() {
        let mut table = PathTable::default();
        let used = prove(&mut table, 1);
        table.way_to(used);
        let second = prove(&mut table, 2);
        for port in 3..1000 {
            prove(&mut table, port);
        }
        assert_eq!(table.way_to(used), Some(way(1)));
        assert_eq!(table.find(second), None);
        assert_eq!(table.ways.len(), WAYS_MAX);
        assert_ne!(
            table.number(&way(2)),
            second,
            "a number is never given twice"
        );
    }
}
