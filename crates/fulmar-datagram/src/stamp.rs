//! The timestamps in a datagram, and how a round trip is measured with them.

use std::time::Duration;

use fulmar_base::{Ecn, Time};

use crate::limits::{CONGESTION_PENALTY, ROUND_TRIP_MAX, STAMP_REPLY_AGE_MAX};

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
        Stamp::from_wire(word).unwrap_or(Stamp(NONE - 1))
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
    /// The time at which the datagram was sent, by the sender's clock. Neither stock Mosh nor we leave it out.
    pub sent: Option<Stamp>,
    /// A stamp that the sender had received, moved on by as long as the sender kept it.
    pub reply: Option<Stamp>,
}

impl Stamps {
    /// Bytes of the wire form.
    ///
    /// Source: docs/protocol.md §3.1.
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
/// Give it only what came [in order](crate::DatagramOrder::InOrder).
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
        // Where the peer's clock runs faster its answer may be ahead of ours, which looks like 65
        // s.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn time(millis_since_origin: u64) -> Time {
        Time::from_origin(millis(millis_since_origin))
    }

    fn stamps(sent: Option<u16>, reply: Option<u16>) -> Stamps {
        Stamps {
            sent: sent.and_then(Stamp::from_wire),
            reply: reply.and_then(Stamp::from_wire),
        }
    }

    /// Hears a stamp at 10 s, with this mark, and returns the reply in a datagram `hold` later.
    fn reply_to(sent: u16, ecn: Ecn, hold: Duration) -> Option<u16> {
        let mut clock = StampClock::new();
        clock.hear(time(10_000), stamps(Some(sent), None), ecn);
        clock.stamp(time(10_000) + hold).reply.map(Stamp::get)
    }

    /// Hears, at this time, a reply and nothing else.
    fn round_trip(now: Time, reply: u16) -> Option<Duration> {
        StampClock::new().hear(now, stamps(None, Some(reply)), Ecn::NotCapable)
    }

    #[test]
    fn a_stamp_counts_milliseconds_and_skips_the_one_that_means_none() {
        for (now, stamp) in [
            (0, 0),
            (65_534, 65_534),
            (65_535, 0),
            (65_536, 0),
            (65_537, 1),
            (2 * 65_536 - 1, 0),
            (10 * 65_536 + 77, 77),
        ] {
            assert_eq!(Stamp::at(time(now)).get(), stamp, "{now} ms");
        }
    }

    #[test]
    fn a_reply_can_be_any_stamp_but_none() {
        assert_eq!(reply_to(0, Ecn::NotCapable, millis(0)), Some(0));
        assert_eq!(reply_to(65_534, Ecn::NotCapable, millis(1)), Some(65_534));
        assert_eq!(reply_to(65_534, Ecn::NotCapable, millis(2)), Some(0));
    }

    #[test]
    fn no_stamp_is_0xffff_on_the_wire() {
        for (stamps, wire) in [
            (Stamps::NONE, [0xFF; 4]),
            (stamps(Some(0x0102), None), [1, 2, 0xFF, 0xFF]),
            (stamps(None, Some(0xFFFE)), [0xFF, 0xFF, 0xFF, 0xFE]),
            (stamps(Some(0), Some(0)), [0; 4]),
        ] {
            assert_eq!(stamps.to_wire(), wire);
            assert_eq!(Stamps::from_wire(wire), stamps);
        }
    }

    #[test]
    fn a_reply_is_the_stamp_and_the_time_it_was_held() {
        assert_eq!(reply_to(100, Ecn::Capable0, millis(0)), Some(100));
        assert_eq!(reply_to(100, Ecn::Capable0, millis(40)), Some(140));
        assert_eq!(reply_to(65_500, Ecn::Capable0, millis(40)), Some(4));
    }

    #[test]
    fn a_stamp_is_answered_while_younger_than_a_second() {
        assert_eq!(reply_to(100, Ecn::NotCapable, millis(999)), Some(1099));
        assert_eq!(
            reply_to(100, Ecn::NotCapable, Duration::from_micros(999_999)),
            Some(1099)
        );
        assert_eq!(reply_to(100, Ecn::NotCapable, millis(1000)), None);
    }

    #[test]
    fn a_reply_that_would_read_as_none_is_a_millisecond_less() {
        assert_eq!(reply_to(65_500, Ecn::NotCapable, millis(35)), Some(65_534));
        assert_eq!(reply_to(499, Ecn::Congested, millis(0)), Some(65_534));
    }

    #[test]
    fn a_congestion_mark_takes_half_a_second_from_the_reply() {
        assert_eq!(reply_to(1000, Ecn::Congested, millis(8)), Some(508));
        assert_eq!(reply_to(100, Ecn::Congested, millis(8)), Some(65_144));
        assert_eq!(reply_to(1000, Ecn::Capable1, millis(8)), Some(1008));
    }

    #[test]
    fn each_stamp_is_answered_once() {
        let mut clock = StampClock::new();
        clock.hear(time(10_000), stamps(Some(100), None), Ecn::NotCapable);
        assert!(clock.stamp(time(10_010)).reply.is_some());
        assert_eq!(clock.stamp(time(10_010)), stamps(Some(10_010), None));
    }

    #[test]
    fn only_the_newest_stamp_is_answered() {
        let mut clock = StampClock::new();
        clock.hear(time(10_000), stamps(Some(100), None), Ecn::Congested);
        clock.hear(time(10_050), stamps(Some(150), None), Ecn::NotCapable);
        assert_eq!(clock.stamp(time(10_060)).reply.map(Stamp::get), Some(160));
    }

    #[test]
    fn a_datagram_without_a_stamp_leaves_the_one_before_to_be_answered() {
        let mut clock = StampClock::new();
        clock.hear(time(10_000), stamps(Some(100), None), Ecn::NotCapable);
        clock.hear(time(10_050), Stamps::NONE, Ecn::NotCapable);
        assert_eq!(clock.stamp(time(10_060)).reply.map(Stamp::get), Some(160));
    }

    #[test]
    fn a_silent_peer_proves_no_round_trip() {
        let mut clock = StampClock::new();
        assert_eq!(
            clock.hear(time(10), stamps(Some(9), None), Ecn::NotCapable),
            None
        );
    }

    #[test]
    fn a_round_trip_is_the_time_since_the_reply() {
        assert_eq!(round_trip(time(190), 140), Some(millis(50)));
        assert_eq!(round_trip(time(190), 190), Some(millis(0)));
        assert_eq!(round_trip(time(65_536 + 10), 65_530), Some(millis(16)));
    }

    #[test]
    fn a_round_trip_of_30_seconds_counts_and_a_longer_one_does_not() {
        assert_eq!(round_trip(time(40_000), 10_000), Some(millis(30_000)));
        assert_eq!(round_trip(time(40_000), 9_999), None);
        assert_eq!(
            round_trip(time(40_000), 40_001),
            None,
            "a reply from the future"
        );
    }

    #[test]
    fn two_clocks_measure_the_way_there_and_back_without_the_hold() {
        let (there, hold, back) = (millis(180), millis(95), millis(220));
        // The peer's clock has an origin of its own.
        let (skew, mut ours, mut theirs) = (millis(40_000), StampClock::new(), StampClock::new());
        for start in (0..70_000).step_by(111).map(time) {
            let heard = start + there + skew;
            theirs.hear(heard, ours.stamp(start), Ecn::Capable0);
            let answer = theirs.stamp(heard + hold);
            let round_trip = ours.hear(start + there + hold + back, answer, Ecn::Capable0);
            // A stamp or a reply of 0xFFFF is moved by one.
            let error = round_trip.unwrap().abs_diff(there + back);
            assert!(
                error <= millis(1),
                "{round_trip:?} for a start at {start:?}"
            );
        }
    }
}
