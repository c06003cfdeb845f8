//! A client leaves a local port that may have stopped working.

use fulmar_base::{PathId, Time};

use crate::departure::Departure;
use crate::event::{EndpointEvent, Events};
use crate::limits::{OLD_PATHS_AGE_MAX, OPEN_PATHS_MAX};

/// The paths that a client has open: the newest is for sending, all are for receiving.
///
/// Address translators forget a mapping, and some never make it work again for the same port. So a
/// port from which nothing has been proven [for a while](crate::timing::hop_interval) is replaced.
///
/// Source: docs/protocol.md §3.5.
#[derive(Debug, Default)]
pub(crate) struct Hopping {
    /// Oldest first.
    open: Vec<Open>,
    /// The time at which a path was last opened or asked for.
    chosen: Time,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    path: PathId,
    at: Time,
}

impl Hopping {
    /// Returns a client that has not opened any path.
    pub(crate) fn new() -> Hopping {
        Hopping::default()
    }

    pub(crate) fn current(&self) -> Option<PathId> {
        self.open.last().map(|open| open.path)
    }

    /// Tells whether the path is open.
    pub(crate) fn is_open(&self, path: PathId) -> bool {
        self.open.iter().any(|open| open.path == path)
    }

    pub(crate) fn opened(&mut self, now: Time, path: PathId, events: &mut Events) {
        self.open.retain(|open| open.path != path);
        self.open.push(Open { path, at: now });
        self.chosen = now;
        let excess = self.open.len().saturating_sub(OPEN_PATHS_MAX);
        self.close_oldest(excess, events);
    }

    /// Closes the older paths if the newest has been in use for long: whatever they carried has
    /// arrived.
    pub(crate) fn heard(&mut self, now: Time, events: &mut Events) {
        let age = self.open.last().map(|open| now.since(open.at));
        if age.is_some_and(|age| age > OLD_PATHS_AGE_MAX) {
            let older = self.open.len() - 1;
            self.close_oldest(older, events);
        }
    }

    /// Asks for a new path if neither the last choice nor the last proven round trip is recent. If
    /// it cannot be opened, the old one remains in use and the question comes again later.
    pub(crate) fn sent(&mut self, now: Time, departure: Departure, events: &mut Events) {
        let Departure {
            proven,
            hop_interval,
            ..
        } = departure;
        // A port that was just opened has had no time to prove itself.
        if now.since(self.chosen) > hop_interval && now.since(proven) > hop_interval {
            self.chosen = now;
            events.push(EndpointEvent::OpenPath);
        }
    }

    fn close_oldest(&mut self, count: usize, events: &mut Events) {
        for open in self.open.drain(..count) {
            events.push(EndpointEvent::ClosePath { path: open.path });
        }
    }
}

#[cfg(test)]
mod tests;
