//! Decides when stock shows its predictions.

use std::time::Duration;

/// Watches whether links are slow and predictions late.
#[derive(Debug)]
pub(super) struct Triggers {
    /// Half of the smoothed round trip, within bounds.
    interval: Duration,
    is_slow: bool,
    glitches: u32,
    confirmed: Option<Duration>,
}

// Source of all of them: what a stock client can be seen to do; docs/prediction.md §10 says how well the model agrees.
const INTERVAL_MIN: Duration = Duration::from_millis(20);
const INTERVAL_MAX: Duration = Duration::from_millis(250);
const SLOW_ABOVE: Duration = Duration::from_millis(30);
const GLITCH_AFTER: Duration = Duration::from_millis(250);
const GLITCH_LONG: Duration = Duration::from_secs(5);
const GLITCHES: u32 = 10;
const CONFIRMATIONS_APART: Duration = Duration::from_millis(150);

impl Default for Triggers {
    fn default() -> Triggers {
        Triggers {
            interval: INTERVAL_MAX,
            // The interval is at its longest before anything is heard.
            is_slow: true,
            glitches: 0,
            confirmed: None,
        }
    }
}

impl Triggers {
    pub(super) fn shows(&self) -> bool {
        self.is_slow || self.glitches > 0
    }

    pub(super) fn set_round_trip(&mut self, srtt: Option<Duration>) {
        if let Some(srtt) = srtt {
            let half = srtt.as_secs_f64() * 1e3 / 2.0;
            let half = Duration::from_millis(half.ceil() as u64);
            self.interval = half.clamp(INTERVAL_MIN, INTERVAL_MAX);
        }
    }

    pub(super) fn look(&mut self, is_active: bool) {
        if self.interval > SLOW_ABOVE {
            self.is_slow = true;
        } else if self.interval <= INTERVAL_MIN && !is_active {
            self.is_slow = false;
        }
    }

    /// Takes note that a prediction made at a time is still open.
    pub(super) fn wait(&mut self, now: Duration, made: Duration) {
        let age = now.saturating_sub(made);
        if age >= GLITCH_LONG {
            self.glitches = 2 * GLITCHES;
        } else if age >= GLITCH_AFTER {
            self.glitches = self.glitches.max(GLITCHES);
        }
    }

    /// Takes note that a prediction made at a time is confirmed.
    pub(super) fn confirm(&mut self, now: Duration, made: Duration) {
        let is_quick = now.saturating_sub(made) < GLITCH_AFTER;
        let is_apart = self
            .confirmed
            .is_none_or(|last| now.saturating_sub(last) >= CONFIRMATIONS_APART);
        if is_quick && is_apart && self.glitches > 0 {
            self.glitches -= 1;
            self.confirmed = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Triggers that have heard of a link that is fast.
    fn quick() -> Triggers {
        let mut triggers = Triggers::default();
        triggers.set_round_trip(Some(ms(10)));
        triggers.look(false);
        triggers
    }

    #[test]
    fn a_link_is_slow_above_60_ms_until_it_is_fast_and_nothing_is_pending() {
        let mut triggers = quick();
        let mut shows = |round_trip: u64, is_active| {
            triggers.set_round_trip(Some(ms(round_trip)));
            triggers.look(is_active);
            triggers.shows()
        };
        // Half of the round trip, in whole milliseconds, counts: 30, then 31.
        assert_eq!([shows(60, false), shows(61, false)], [false, true]);
        assert_eq!(
            [shows(42, false), shows(40, true), shows(40, false)],
            [true, true, false]
        );
        assert!(Triggers::default().shows(), "before anything is heard");
    }

    #[test]
    fn a_round_trip_that_is_not_known_changes_nothing() {
        let mut triggers = quick();
        triggers.set_round_trip(None);
        triggers.look(false);
        assert!(!triggers.shows());
    }

    /// The number of confirmations, far enough apart, after which nothing is shown any more.
    fn confirmations(mut triggers: Triggers) -> usize {
        let mut count = 0;
        while triggers.shows() && count < 99 {
            count += 1;
            let now = ms(60_000 + 150 * count as u64);
            triggers.confirm(now, now - ms(249));
        }
        count
    }

    #[test]
    fn what_waits_for_long_is_a_glitch_that_confirmations_mend() {
        let after = |wait: u64| {
            let mut triggers = quick();
            triggers.wait(ms(9000), ms(9000 - wait));
            confirmations(triggers)
        };
        assert_eq!([249, 250, 4999, 5000].map(after), [0, 10, 10, 20]);
        let mut both = quick();
        both.wait(ms(9000), ms(1000));
        both.wait(ms(9000), ms(8700));
        assert_eq!(confirmations(both), 20, "a short one makes it no better");
    }

    #[test]
    fn late_confirmations_and_those_in_a_row_mend_nothing() {
        let after = |times: &[(u64, u64)]| {
            let mut triggers = quick();
            triggers.wait(ms(9000), ms(8700));
            for (now, made) in times {
                triggers.confirm(ms(*now), ms(*made));
            }
            confirmations(triggers)
        };
        assert_eq!(after(&[(10_000, 9_750)]), 10, "after 250 ms");
        assert_eq!(after(&[(10_000, 9_751)]), 9);
        assert_eq!(after(&[(10_000, 9_990), (10_149, 10_140)]), 9);
        assert_eq!(after(&[(10_000, 9_990), (10_150, 10_140)]), 8);
    }
}
