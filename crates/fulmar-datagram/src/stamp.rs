//! The timestamps in a datagram, and how a round trip is measured with them.

use std::time::Duration;

use crate::limits::{CONGESTION_PENALTY, ROUND_TRIP_MAX, STAMP_REPLY_AGE_MAX};
use crate::{Ecn, Time};

/// The value that stands for "no timestamp" on the wire.
const NONE: u16 = 0xFFFF;

/// A moment of the sender's clock in milliseconds, modulo 65 536. Never 0xFFFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(u16);

impl Stamp {
    /// Returns the stamp of a moment. The one millisecond in 65 536 whose number means "none"
    /// counts as the one after it.
    pub const fn at(time: Time) -> Stamp {
        match Stamp::from_wire((time.as_millis() & 0xFFFF) as u16) {
            Some(stamp) => stamp,
            None => Stamp(0),
        }
    }

    /// Decodes a timestamp field; `None` if it says "none".
    pub const fn from_wire(word: u16) -> Option<Stamp> {
        if word == NONE {
            None
        } else {
            Some(Stamp(word))
        }
    }

    /// Returns the milliseconds.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Returns how far this stamp lies after `earlier`, on the shorter assumption that the clock
    /// went round less than once.
    const fn since(self, earlier: Stamp) -> Duration {
        Duration::from_millis(self.0.wrapping_sub(earlier.0) as u64)
    }

    /// Returns the stamp moved on by `hold` and back by `penalty`.
    ///
    /// Where that is the value for "none", it goes one back: the peer measures a millisecond too
    /// much, which is better than nothing.
    fn held(self, hold: Duration, penalty: Duration) -> Stamp {
        // Both are at most a second (`STAMP_REPLY_AGE_MAX`, `CONGESTION_PENALTY`).
        let [hold, penalty] = [hold, penalty].map(|span| span.as_millis() as u16);
        let word = self.0.wrapping_add(hold).wrapping_sub(penalty);
        Stamp::from_wire(word).unwrap_or(Stamp(word - 1))
    }
}

/// The first four bytes under the seal.
///
/// ```text
///  0       2       4
///  ┌───────┬───────┐
///  │ sent  │ reply │   milliseconds, big-endian; 0xFFFF = none
///  └───────┴───────┘
/// ```
///
/// Source: docs/protocol.md §3.1 and §3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamps {
    /// When the datagram was sent, by the sender's clock. Neither stock Mosh nor we leave it out.
    pub sent: Option<Stamp>,
    /// A stamp that the sender had received, moved on by as long as the sender kept it.
    pub reply: Option<Stamp>,
}

impl Stamps {
    /// Bytes of the wire form.
    pub(crate) const BYTES: usize = 4;

    /// Neither of the two.
    pub const NONE: Stamps = Stamps {
        sent: None,
        reply: None,
    };

    /// Decodes the wire form; every value of the four bytes is a pair of stamps.
    pub const fn from_wire([a, b, c, d]: [u8; Stamps::BYTES]) -> Stamps {
        Stamps {
            sent: Stamp::from_wire(u16::from_be_bytes([a, b])),
            reply: Stamp::from_wire(u16::from_be_bytes([c, d])),
        }
    }

    /// Returns the wire form.
    pub fn to_wire(self) -> [u8; Stamps::BYTES] {
        let word = |stamp: Option<Stamp>| stamp.map_or(NONE, Stamp::get).to_be_bytes();
        let ([a, b], [c, d]) = (word(self.sent), word(self.reply));
        [a, b, c, d]
    }
}

/// Answers the peer's timestamps and measures round trips by its answers to ours.
///
/// ```text
///  we     sent = 100 ┐                          ┌► now = 190, reply = 140: 50 ms
///                     ╲                        ╱
///  peer                └► heard ··· 40 ms ··· ┘ reply = 100 + 40
/// ```
///
/// The time for which the peer keeps a stamp does not count, so it need not answer at once.
/// Give it only what came [in order](crate::Order::InOrder).
///
/// Source: docs/protocol.md §3.2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StampClock {
    /// The newest stamp of the peer that is still unanswered.
    unanswered: Option<Heard>,
}

/// A stamp of the peer, and what its answer has to account for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Heard {
    stamp: Stamp,
    at: Time,
    penalty: Duration,
}

impl StampClock {
    /// Returns a clock that has heard nothing.
    pub const fn new() -> StampClock {
        StampClock { unanswered: None }
    }

    /// Takes in the stamps of a datagram that came in order, and returns the round trip that its
    /// reply proves: in whole milliseconds, at most [`ROUND_TRIP_MAX`].
    ///
    /// A [congested](Ecn::Congested) mark makes the peer measure [`CONGESTION_PENALTY`] more.
    pub fn hear(&mut self, now: Time, stamps: Stamps, ecn: Ecn) -> Option<Duration> {
        if let Some(stamp) = stamps.sent {
            let penalty = if ecn == Ecn::Congested {
                CONGESTION_PENALTY
            } else {
                Duration::ZERO
            };
            self.unanswered = Some(Heard {
                stamp,
                at: now,
                penalty,
            });
        }
        let round_trip = Stamp::at(now).since(stamps.reply?);
        (round_trip <= ROUND_TRIP_MAX).then_some(round_trip)
    }

    /// Returns the stamps of a datagram that leaves now.
    ///
    /// Each stamp of the peer is answered once, and only while it is younger than
    /// [`STAMP_REPLY_AGE_MAX`]: of several fragments that leave together the first has the answer.
    pub fn stamp(&mut self, now: Time) -> Stamps {
        Stamps {
            sent: Some(Stamp::at(now)),
            reply: self.take_reply(now),
        }
    }

    fn take_reply(&mut self, now: Time) -> Option<Stamp> {
        let Heard { stamp, at, penalty } = self.unanswered.take()?;
        let hold = now.since(at);
        (hold < STAMP_REPLY_AGE_MAX).then(|| stamp.held(hold, penalty))
    }
}
