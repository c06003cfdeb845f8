//! Decides which small instructions are sent more than once on a path that loses datagrams, and when.
//!
//! A copy is a fresh seal of the difference from the acknowledged state, so each of them will do. Copies
//! are spaced, so that one burst of loss does not take all; newer content and acknowledgements end them; and they
//! stay within a budget of bytes, of which a path with a standing queue gets nothing.

use std::time::Duration;

use fulmar_base::Time;

use crate::limits::{
    COPIES_LOSS_MIN, COPIES_MAX, COPY_BYTES_PER_SECOND, COPY_DEBT_MAX, COPY_PAUSE_MAX,
    COPY_PAUSE_MIN, EXPECTED_LOSS_MAX,
};

/// The copies of the last instruction that are still to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Redundancy {
    left: u8,
    next: Time,
    pause: Duration,
    /// The time at which the bytes of all copies so far are paid for.
    paid: Time,
}

impl Redundancy {
    pub(crate) fn new(now: Time) -> Redundancy {
        Redundancy {
            left: 0,
            next: now,
            pause: Duration::ZERO,
            paid: now,
        }
    }

    /// Takes note of new content: copies of older content are of no use any more.
    pub(crate) fn begin(&mut self, now: Time, copies: u8, pause: Duration) {
        self.left = if self.paid > now + COPY_DEBT_MAX {
            0
        } else {
            copies
        };
        self.pause = pause;
        self.next = now + pause;
    }

    /// Takes note that a copy was sent. Each pause is twice the one before.
    pub(crate) fn sent(&mut self, now: Time, bytes: usize) {
        self.left = self.left.saturating_sub(1);
        self.pause *= 2;
        self.next = now + self.pause;
        self.charge(now, bytes);
    }

    /// Takes note that a part of a copy was sent.
    pub(crate) fn charge(&mut self, now: Time, bytes: usize) {
        let micros = bytes as u64 * 1_000_000 / COPY_BYTES_PER_SECOND;
        self.paid = self.paid.max(now) + Duration::from_micros(micros);
    }

    /// Sends no more copies.
    pub(crate) fn stop(&mut self) {
        self.left = 0;
    }

    /// Returns when the next copy is to be sent.
    pub(crate) fn due(&self) -> Option<Time> {
        (self.left > 0).then_some(self.next)
    }
}

/// Returns how many copies follow an instruction: none on a path that loses less than one in a hundred; on others one, or so
/// many that all are lost in one case of forty.
pub(crate) fn copies(loss: f64) -> u8 {
    if loss < COPIES_LOSS_MIN {
        return 0;
    }
    let mut all_lost = loss * loss;
    let mut copies = 1;
    while all_lost > EXPECTED_LOSS_MAX && copies < COPIES_MAX {
        all_lost *= loss;
        copies += 1;
    }
    copies
}

/// Returns the pause before the first copy: an eighth of the round trip, within 10 and 50 ms.
pub(crate) fn first_pause(smoothed: Duration) -> Duration {
    (smoothed / 8).clamp(COPY_PAUSE_MIN, COPY_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_more_is_lost_the_more_copies_follow() {
        let shares = [0.0, 0.009, 0.01, 0.024, 0.05, 0.15, 0.2, 0.29, 0.5, 1.0];
        let counts = shares.map(copies);
        assert_eq!(counts, [0, 0, 1, 1, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn copies_follow_after_pauses_that_double() {
        let mut redundancy = Redundancy::new(at(0));
        assert_eq!(redundancy.due(), None);
        redundancy.begin(at(1000), 2, ms(12));
        assert_eq!(redundancy.due(), Some(at(1012)));
        redundancy.sent(at(1012), 100);
        assert_eq!(redundancy.due(), Some(at(1036)));
        redundancy.sent(at(1036), 100);
        assert_eq!(redundancy.due(), None);
    }

    #[test]
    fn newer_content_begins_anew_and_a_stop_ends_all() {
        let mut redundancy = Redundancy::new(at(0));
        redundancy.begin(at(1000), 2, ms(12));
        redundancy.begin(at(1005), 1, ms(12));
        assert_eq!(redundancy.due(), Some(at(1017)));
        redundancy.stop();
        assert_eq!(redundancy.due(), None);
    }

    #[test]
    fn the_first_pause_is_an_eighth_of_the_round_trip() {
        let pauses = [1, 80, 100, 400, 5000].map(|rtt| first_pause(ms(rtt)).as_micros());
        assert_eq!(pauses, [10_000, 10_000, 12_500, 50_000, 50_000]);
    }

    #[test]
    fn copies_stay_within_their_bytes() {
        let mut redundancy = Redundancy::new(at(0));
        let mut bytes = 0;
        for now in (0..60_000).step_by(20) {
            redundancy.begin(at(now), 1, ms(10));
            if let Some(due) = redundancy.due() {
                redundancy.sent(due, 1000);
                bytes += 1000;
            }
        }
        let second = COPY_BYTES_PER_SECOND;
        assert!((59 * second..62 * second).contains(&bytes), "{bytes}");
    }
}
