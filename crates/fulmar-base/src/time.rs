//! The instant that all of the core reckons with.

use std::ops::{Add, AddAssign};
use std::time::Duration;

/// A moment on a clock that never goes back and keeps counting while the machine sleeps.
///
/// Held as the time since an origin that the clock's owner chooses; moments of different origins
/// must not be mixed. Arithmetic saturates: no sum or difference of times panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Duration);

impl Time {
    /// The origin.
    pub const ZERO: Time = Time(Duration::ZERO);

    /// Returns the moment that lies `elapsed` after the origin.
    pub const fn from_origin(elapsed: Duration) -> Time {
        Time(elapsed)
    }

    /// Returns how long after the origin this moment lies.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// Returns how long after `earlier` this moment lies; zero if it does not.
    pub const fn since(self, earlier: Time) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns how long after `earlier` this moment lies; `None` if it lies before.
    pub const fn checked_since(self, earlier: Time) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// Returns the moment `duration` before this one; the origin if that would precede it.
    pub const fn saturating_sub(self, duration: Duration) -> Time {
        Time(self.0.saturating_sub(duration))
    }

    /// Returns the whole milliseconds since the origin.
    pub const fn as_millis(self) -> u64 {
        self.0
            .as_secs()
            .saturating_mul(1000)
            .saturating_add(self.0.subsec_millis() as u64)
    }
}

impl Add<Duration> for Time {
    type Output = Time;

    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(duration))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_sum_less_its_origin_is_what_was_added() {
        let start = Time::from_origin(Duration::from_millis(2500));
        let mut later = start;
        later += SECOND;
        assert_eq!(later, start + SECOND);
        assert_eq!(later.since(start), SECOND);
        assert_eq!(later.checked_since(start), Some(SECOND));
        assert_eq!(later.saturating_sub(SECOND), start);
        assert_eq!(later.since_origin(), Duration::from_millis(3500));
    }

    #[test]
    fn time_stops_at_both_ends_and_does_not_panic() {
        let end = Time::from_origin(Duration::MAX);
        assert_eq!(end + SECOND, end);
        assert_eq!(end.as_millis(), u64::MAX);
        assert_eq!(Time::ZERO.saturating_sub(SECOND), Time::ZERO);
        assert_eq!(Time::ZERO.since(end), Duration::ZERO);
        assert_eq!(Time::ZERO.checked_since(end), None);
    }

    #[test]
    fn milliseconds_are_whole_ones() {
        assert_eq!(
            Time::from_origin(Duration::from_nanos(61_001_999_999)).as_millis(),
            61_001
        );
    }
}
