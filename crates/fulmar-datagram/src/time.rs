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
