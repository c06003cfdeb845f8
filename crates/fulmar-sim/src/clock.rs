//! A host's own clock, which may jump.

use std::time::Duration;

/// The clock that a host reads: the simulation's time, shifted by its jumps.
///
/// A host measures with a clock that counts sleep, so suspending does not shift it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    ahead: Duration,
    behind: Duration,
}

/// A jump of a host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// Time was skipped.
    Forward(Duration),
    /// Time repeats itself. A clock that would go below zero stands at zero until it has caught up.
    Backward(Duration),
}

impl Clock {
    /// Returns what the clock shows at the instant `now` of the simulation.
    pub(crate) fn reading(self, now: Duration) -> Duration {
        (now + self.ahead).saturating_sub(self.behind)
    }

    /// Returns the instant of the simulation at which the clock shows `reading`.
    ///
    /// A reading in the far future, such as `Duration::MAX`, is the end of time.
    pub(crate) fn instant(self, reading: Duration) -> Duration {
        reading
            .saturating_add(self.behind)
            .saturating_sub(self.ahead)
    }

    pub(crate) fn jump(&mut self, jump: Jump) {
        match jump {
            Jump::Forward(by) => self.ahead += by,
            Jump::Backward(by) => self.behind += by,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::secs;

    #[test]
    fn reading_and_instant_are_inverse() {
        let mut clock = Clock::default();
        clock.jump(Jump::Forward(secs(100)));
        clock.jump(Jump::Backward(secs(30)));
        assert_eq!(clock.reading(secs(5)), secs(75));
        assert_eq!(clock.instant(secs(75)), secs(5));
    }

    #[test]
    fn no_reading_is_below_zero() {
        let mut clock = Clock::default();
        clock.jump(Jump::Backward(secs(30)));
        assert_eq!(clock.reading(secs(5)), secs(0));
        assert_eq!(clock.reading(secs(31)), secs(1));
    }

    #[test]
    fn the_end_of_time_does_not_overflow() {
        let mut clock = Clock::default();
        clock.jump(Jump::Backward(secs(30)));
        assert_eq!(clock.instant(Duration::MAX), Duration::MAX);
    }
}
