//! A server follows its client.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::{PathId, Time};

use crate::StateNumber;
use crate::allowance::Allowance;
use crate::challenge::Challenge;
use crate::departure::Departure;
use crate::event::{EndpointEvent, Events};
use crate::limits::{
    ASSOCIATION_AGE_MAX, PREVIOUS_PATH_AGE_MAX, UNVALIDATED_BYTES_MAX, UNVALIDATED_PATHS_MAX,
};

/// The path of a server's client, and how far it is to be believed.
///
/// ```text
///                   fresh datagram from elsewhere
///   validated A ─────────────────────────────────► unvalidated B (16 KiB) ──┐
///       ▲    │ remembered for 30 s                     │                    │ a state first sent
///       │    └──────── fresh datagram from A ──────────┘                    │ to B is acknowledged
///       │                                                                   │ from B, or B's challenge returned
///       └───────────────────────── validated B ◄────────────────────────────┘
/// ```
///
/// An attacker who withholds a datagram and sends it from an address of a victim makes the server
/// move there, since the datagram is genuine. The victim gets 16 KiB at most, and the client's next
/// datagram moves the server back.
///
/// Source: docs/protocol.md §3.3 and §3.4, docs/threat-model.md §7.
#[derive(Debug, Default)]
pub(crate) struct Roaming {
    current: Option<PathState>,
    /// The validated path before the current one, and until when it counts as such.
    previous: Option<(PathId, Time)>,
    /// Other paths that were never validated, oldest first, with the bytes that they got.
    unvalidated: VecDeque<(PathId, usize)>,
    heard: Time,
}

#[derive(Clone, Copy, Debug)]
struct PathState {
    path: PathId,
    validation: Validation,
}

#[derive(Clone, Copy, Debug)]
enum Validation {
    Validated,
    Unvalidated {
        bytes: usize,
        /// The first state that was sent to it before it was sent anywhere else.
        first_news: Option<StateNumber>,
        /// The random value that the client is to return from there, if one was made.
        challenge: Option<Challenge>,
    },
}

impl Roaming {
    /// Returns a server that has not heard of any client.
    pub(crate) fn new() -> Roaming {
        Roaming::default()
    }

    pub(crate) fn current(&self) -> Option<PathId> {
        self.current.map(|state| state.path)
    }

    /// Tells whether anything is known of that path that would be lost if it came under another
    /// number.
    pub(crate) fn remembers(&self, path: PathId) -> bool {
        let previous = self.previous.map(|(previous, _)| previous);
        let mut unvalidated = self.unvalidated.iter().map(|&(path, _)| path);
        [self.current(), previous].contains(&Some(path)) || unvalidated.any(|known| known == path)
    }

    pub(crate) fn allowance(&self) -> Allowance {
        match self.current.map(|state| state.validation) {
            Some(Validation::Validated) => Allowance::Unlimited,
            Some(Validation::Unvalidated { bytes, .. }) => {
                Allowance::Bytes(UNVALIDATED_BYTES_MAX.saturating_sub(bytes))
            }
            None => Allowance::Bytes(0),
        }
    }

    /// Follows a datagram that was genuine and newer than all before. Older ones prove nothing about where the client
    /// is: an attacker can send a recorded datagram from any address.
    pub(crate) fn heard(&mut self, now: Time, path: PathId, events: &mut Events) {
        self.heard = now;
        if self.current() == Some(path) {
            return;
        }
        // First, so that a client that flips between two keeps what each has proven: the path that it leaves takes
        // the place of the one that it comes back to.
        let validation = self.recall(now, path);
        self.leave(now);
        self.current = Some(PathState { path, validation });
        events.push(EndpointEvent::PeerMoved { path });
    }

    pub(crate) fn acknowledged(&mut self, path: PathId, number: StateNumber, events: &mut Events) {
        let Some(state) = &mut self.current else {
            return;
        };
        // Only who reads what is sent to this path can acknowledge a state that was sent nowhere before. An
        // acknowledgement of an older state could have been recorded elsewhere.
        if let Validation::Unvalidated {
            first_news: Some(first),
            ..
        } = state.validation
            && state.path == path
            && number >= first
        {
            state.validation = Validation::Validated;
            events.push(EndpointEvent::PathValidated { path });
        }
    }

    /// Tells whether a challenge is to be made for the current path.
    pub(crate) fn wants_challenge(&self) -> bool {
        let validation = self.current.map(|state| state.validation);
        matches!(
            validation,
            Some(Validation::Unvalidated {
                challenge: None,
                ..
            })
        )
    }

    /// Takes over the challenge of the current path.
    pub(crate) fn set_challenge(&mut self, random: Challenge) {
        if let Some(PathState {
            validation: Validation::Unvalidated { challenge, .. },
            ..
        }) = &mut self.current
        {
            *challenge = Some(random);
        }
    }

    /// Returns the challenge that goes with what is sent to the current path.
    pub(crate) fn challenge(&self) -> Option<Challenge> {
        match self.current?.validation {
            Validation::Validated => None,
            Validation::Unvalidated { challenge, .. } => challenge,
        }
    }

    /// Takes note that a challenge was returned in a datagram from that path.
    pub(crate) fn responded(&mut self, path: PathId, returned: Challenge, events: &mut Events) {
        let sent = self.challenge();
        if let Some(state) = &mut self.current
            && state.path == path
            && sent == Some(returned)
        {
            state.validation = Validation::Validated;
            events.push(EndpointEvent::PathValidated { path });
        }
    }

    pub(crate) fn sent(&mut self, now: Time, departure: Departure) {
        // After so long somebody else may have the address.
        if self.is_forgotten(now, departure.excused) {
            self.leave(now);
            return;
        }
        if let Some(PathState {
            validation:
                Validation::Unvalidated {
                    bytes, first_news, ..
                },
            ..
        }) = &mut self.current
        {
            *bytes = bytes.saturating_add(departure.bytes);
            *first_news = first_news.or(departure.news);
        }
    }

    /// Leaves the path of a client that has been away for long, of whose silence so much was announced.
    pub(crate) fn expire(&mut self, now: Time, excused: Duration) {
        if self.is_forgotten(now, excused) {
            self.leave(now);
        }
    }

    fn is_forgotten(&self, now: Time, excused: Duration) -> bool {
        now.since(self.heard) > ASSOCIATION_AGE_MAX + excused
    }

    /// Leaves the current path, and remembers what has to be remembered of it.
    fn leave(&mut self, now: Time) {
        let Some(state) = self.current.take() else {
            return;
        };
        match state.validation {
            Validation::Validated => {
                self.previous = Some((state.path, now + PREVIOUS_PATH_AGE_MAX));
            }
            Validation::Unvalidated { bytes, .. } => {
                // Its bytes stay counted: leaving and coming back must not fill the allowance again.
                self.unvalidated.push_back((state.path, bytes));
                if self.unvalidated.len() > UNVALIDATED_PATHS_MAX {
                    self.unvalidated.pop_front();
                }
            }
        }
    }

    /// Returns how a path stands that the client has come to.
    fn recall(&mut self, now: Time, path: PathId) -> Validation {
        if let Some((previous, until)) = self.previous
            && previous == path
        {
            self.previous = None;
            // It was validated a moment ago, and a spoofed datagram must not cost the client its rate.
            if now < until {
                return Validation::Validated;
            }
        }
        let known = self
            .unvalidated
            .iter()
            .position(|&(known, _)| known == path);
        let bytes = known.and_then(|index| self.unvalidated.remove(index));
        Validation::Unvalidated {
            bytes: bytes.map_or(0, |(_, bytes)| bytes),
            first_news: None,
            challenge: None,
        }
    }
}

#[cfg(test)]
mod tests;
