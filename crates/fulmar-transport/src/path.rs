//! The paths to the peer.

use std::time::Duration;

use fulmar_base::{PathId, Time};

use crate::StateNumber;
use crate::allowance::Allowance;
use crate::challenge::Challenge;
use crate::departure::Departure;
use crate::event::Events;
use crate::hopping::Hopping;
use crate::roaming::Roaming;

/// The paths of one end: a server follows its client, a client opens new ones.
#[derive(Debug)]
pub(crate) enum Paths {
    Client(Hopping),
    Server(Roaming),
}

impl Paths {
    /// Returns where to send.
    pub(crate) fn current(&self) -> Option<PathId> {
        match self {
            Paths::Client(hopping) => hopping.current(),
            Paths::Server(roaming) => roaming.current(),
        }
    }

    /// Tells whether anything is known of a path beside its number. A client knows nothing of its
    /// own.
    pub(crate) fn remember(&self, path: PathId) -> bool {
        match self {
            Paths::Client(_) => false,
            Paths::Server(roaming) => roaming.remembers(path),
        }
    }

    /// Returns how much may be sent there.
    pub(crate) fn allowance(&self) -> Allowance {
        match self {
            Paths::Client(_) => Allowance::Unlimited,
            Paths::Server(roaming) => roaming.allowance(),
        }
    }

    /// Takes note that the edge has opened a path of its own accord or because it was asked to.
    pub(crate) fn opened(&mut self, now: Time, path: PathId, events: &mut Events) {
        if let Paths::Client(hopping) = self {
            hopping.opened(now, path, events);
        }
    }

    /// Takes note of a datagram newer than all before.
    pub(crate) fn heard(&mut self, now: Time, path: PathId, events: &mut Events) {
        match self {
            Paths::Client(hopping) => hopping.heard(now, events),
            Paths::Server(roaming) => roaming.heard(now, path, events),
        }
    }

    /// Takes note that a state of ours was acknowledged in a datagram from that path.
    pub(crate) fn acknowledged(&mut self, path: PathId, number: StateNumber, events: &mut Events) {
        if let Paths::Server(roaming) = self {
            roaming.acknowledged(path, number, events);
        }
    }

    /// Tells whether something may be sent on a path that is not the current one.
    pub(crate) fn are_open(&self, path: PathId) -> bool {
        match self {
            Paths::Client(hopping) => hopping.is_open(path),
            Paths::Server(_) => false,
        }
    }

    /// Tells whether a challenge is to be made for the current path.
    pub(crate) fn want_challenge(&self) -> bool {
        match self {
            Paths::Client(_) => false,
            Paths::Server(roaming) => roaming.wants_challenge(),
        }
    }

    /// Takes over the challenge of the current path.
    pub(crate) fn set_challenge(&mut self, random: Challenge) {
        if let Paths::Server(roaming) = self {
            roaming.set_challenge(random);
        }
    }

    /// Returns the challenge that goes with what is sent to the current path.
    pub(crate) fn challenge(&self) -> Option<Challenge> {
        match self {
            Paths::Client(_) => None,
            Paths::Server(roaming) => roaming.challenge(),
        }
    }

    /// Takes note that a challenge was returned in a datagram from that path.
    pub(crate) fn responded(&mut self, path: PathId, returned: Challenge, events: &mut Events) {
        if let Paths::Server(roaming) = self {
            roaming.responded(path, returned, events);
        }
    }

    /// Forgets where a peer was that has been away for long, of whose silence so much was announced.
    pub(crate) fn expire(&mut self, now: Time, excused: Duration) {
        if let Paths::Server(roaming) = self {
            roaming.expire(now, excused);
        }
    }

    /// Takes note that an instruction was sent on the current path.
    pub(crate) fn sent(&mut self, now: Time, departure: Departure, events: &mut Events) {
        match self {
            Paths::Client(hopping) => hopping.sent(now, departure, events),
            Paths::Server(roaming) => roaming.sent(now, departure),
        }
    }
}
