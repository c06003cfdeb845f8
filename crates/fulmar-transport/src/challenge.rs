//! Proves that a client is where it seems to be: it returns what was sent there.

use std::fmt;

use fulmar_base::{PathId, Time};
use subtle::ConstantTimeEq as _;

use crate::limits::ACKNOWLEDGEMENT_DELAY;

/// Random bytes that only who reads what is sent to a path can return.
///
/// Source: docs/protocol.md §13.9.
#[derive(Clone, Copy)]
pub struct Challenge([u8; Challenge::BYTES]);

impl Challenge {
    /// The length of a challenge.
    ///
    /// Source: docs/protocol.md §13.9, after RFC 9000 §8.2.
    pub const BYTES: usize = 8;

    /// Returns the challenge of those bytes.
    pub const fn new(bytes: [u8; Challenge::BYTES]) -> Challenge {
        Challenge(bytes)
    }

    /// Returns its bytes.
    pub const fn as_bytes(&self) -> &[u8; Challenge::BYTES] {
        &self.0
    }
}

/// Compares in constant time: how long it takes does not tell where the two differ.
impl PartialEq for Challenge {
    fn eq(&self, other: &Challenge) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Challenge {}

/// Traces do not show what proves a path.
impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Challenge(..)")
    }
}

/// The challenges of a client's server, and what is still to be returned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Responses {
    /// The last challenge that was heard, and the path on which it came.
    heard: Option<(Challenge, PathId)>,
    /// True if it is still to be returned.
    is_owed: bool,
    /// The time at which an instruction is sent for its sake.
    due: Option<Time>,
    /// The last time at which one was returned.
    returned: Option<Time>,
}

impl Responses {
    /// Takes note of a challenge. One that is new is returned at once, though not sooner after another than
    /// an acknowledgement would come; a repeated one with whatever is sent next.
    pub(crate) fn hear(&mut self, now: Time, path: PathId, challenge: Challenge) {
        let is_new = self.heard.map(|(known, _)| known) != Some(challenge);
        self.heard = Some((challenge, path));
        self.is_owed = true;
        if is_new {
            let earliest = self.returned.map(|last| last + ACKNOWLEDGEMENT_DELAY);
            self.due = Some(earliest.map_or(now, |earliest| earliest.max(now)));
        }
    }

    /// Returns what to return on that path.
    pub(crate) fn for_path(&self, path: PathId) -> Option<Challenge> {
        let (challenge, came_on) = self.heard.filter(|_| self.is_owed)?;
        (came_on == path).then_some(challenge)
    }

    /// Returns the path on which the last challenge came.
    pub(crate) fn path(&self) -> Option<PathId> {
        self.heard.map(|(_, path)| path)
    }

    /// Returns when a challenge is to be returned, if nothing is sent before.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Takes note that it was.
    pub(crate) fn returned(&mut self, now: Time) {
        self.is_owed = false;
        self.due = None;
        self.returned = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HERE: PathId = PathId::new(1);
    const THERE: PathId = PathId::new(2);
    const ONE: Challenge = Challenge::new([1; Challenge::BYTES]);
    const OTHER: Challenge = Challenge::new([1, 1, 1, 1, 1, 1, 1, 2]);

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_new_challenge_is_returned_at_once_on_its_path() {
        let mut responses = Responses::default();
        responses.hear(at(5), HERE, ONE);
        assert_eq!(responses.due(), Some(at(5)));
        assert_eq!(responses.for_path(HERE), Some(ONE));
        assert_eq!(responses.for_path(THERE), None);
        responses.returned(at(5));
        assert_eq!((responses.due(), responses.for_path(HERE)), (None, None));
    }

    #[test]
    fn a_repeated_one_is_returned_with_what_is_sent_next() {
        let mut responses = Responses::default();
        responses.hear(at(5), HERE, ONE);
        responses.returned(at(5));
        responses.hear(at(900), HERE, ONE);
        assert_eq!(responses.due(), None);
        assert_eq!(responses.for_path(HERE), Some(ONE));
    }

    #[test]
    fn many_at_a_time_are_returned_at_the_pace_of_acknowledgements() {
        let mut responses = Responses::default();
        responses.hear(at(5), HERE, ONE);
        responses.returned(at(5));
        responses.hear(at(6), THERE, OTHER);
        assert_eq!(responses.due(), Some(at(105)));
        assert_eq!(responses.for_path(THERE), Some(OTHER));
    }

    #[test]
    fn challenges_differ_in_every_bit_and_are_not_shown() {
        for bit in 0..64 {
            let bytes = (u64::from_be_bytes(*ONE.as_bytes()) ^ 1 << bit).to_be_bytes();
            assert_ne!(Challenge::new(bytes), ONE);
        }
        assert_eq!(format!("{ONE:?}"), "Challenge(..)");
    }
}
