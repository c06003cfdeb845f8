//! The clock that goes on while the machine sleeps.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// Returns the time since a fixed moment in the past, sleep of the machine included.
///
/// On Linux the moment is the start of the machine. The value never goes back, and is the same for
/// all processes of one machine; that of another machine has nothing to do with it.
pub fn boot_time() -> Duration {
    duration(clock_gettime(COUNTS_SLEEP))
}

#[cfg(target_os = "linux")]
const COUNTS_SLEEP: ClockId = ClockId::Boottime;
// Counts sleep on macOS. Elsewhere it may not; then a sleep looks like a long turn of the loop that
// did not happen, and the peer's silence tells.
#[cfg(not(target_os = "linux"))]
const COUNTS_SLEEP: ClockId = ClockId::Monotonic;

fn duration(time: Timespec) -> Duration {
    // The kernel's clocks of this kind start at 0 and keep nanoseconds below a second.
    Duration::try_from(time).unwrap_or_default()
}

/// Sleeps shorter than this are not reported. Chosen by eye: between a hundred times the greatest
/// error of a reading and the time that the fastest machine takes to suspend and wake.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Readings that took longer were interrupted and say nothing about the clocks' difference.
///
/// Chosen by eye: a hundredth of [`SLEEP_MIN`], and many times what two readings take.
#[cfg(target_os = "linux")]
const READING_MAX: Duration = Duration::from_millis(1);

/// Tells how long the machine slept between two questions.
///
/// It compares the clock that counts sleep with the one that stands still meanwhile.
#[derive(Clone, Debug)]
pub struct SleepWatch {
    /// The time by which the one clock was ahead of the other at the last question.
    ahead: Duration,
}

impl SleepWatch {
    /// Starts to watch.
    pub fn new() -> Self {
        Self {
            ahead: read_ahead(),
        }
    }

    /// Returns how long the machine slept since the last question, if it did.
    pub fn slept(&mut self) -> Option<Duration> {
        self.observe(read_ahead())
    }

    fn observe(&mut self, ahead: Duration) -> Option<Duration> {
        let slept = ahead.saturating_sub(self.ahead);
        if slept < SLEEP_MIN {
            // The older reading stays: errors of readings do not add up to a sleep, and sleeps
            // that are each too short do.
            return None;
        }
        self.ahead = ahead;
        Some(slept)
    }
}

impl Default for SleepWatch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "linux")]
fn read_ahead() -> Duration {
    let awake = || duration(clock_gettime(ClockId::Monotonic));
    // We may be put off the processor between the readings; a few attempts are enough, for the
    // last one is at worst a sleep reported too late or too early by one such pause.
    let mut ahead = Duration::ZERO;
    for _ in 0..4 {
        let before = awake();
        let with_sleep = boot_time();
        ahead = with_sleep.saturating_sub(before);
        if awake().saturating_sub(before) < READING_MAX {
            break;
        }
    }
    ahead
}

// No second clock is read elsewhere: a sleep is then noticed by its other signs.
#[cfg(not(target_os = "linux"))]
fn read_ahead() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_does_not_go_back() {
        let first = boot_time();
        let second = boot_time();
        assert!(first > Duration::ZERO);
        assert!(second >= first);
    }

    #[test]
    fn a_sleep_is_reported_once_and_in_full() {
        let mut watch = SleepWatch {
            ahead: Duration::from_secs(7),
        };
        assert_eq!(
            watch.observe(Duration::from_secs(3607)),
            Some(Duration::from_secs(3600))
        );
        assert_eq!(watch.observe(Duration::from_secs(3607)), None);
    }

    #[test]
    fn errors_of_readings_do_not_add_up() {
        let mut watch = SleepWatch {
            ahead: Duration::from_secs(7),
        };
        for error in [1, 0, 2, 0, 90, 0, 90] {
            let ahead = Duration::from_secs(7) + Duration::from_millis(error);
            assert_eq!(watch.observe(ahead), None);
        }
    }

    #[test]
    fn short_sleeps_add_up() {
        let mut watch = SleepWatch {
            ahead: Duration::ZERO,
        };
        assert_eq!(watch.observe(Duration::from_millis(60)), None);
        assert_eq!(
            watch.observe(Duration::from_millis(120)),
            Some(Duration::from_millis(120))
        );
    }

    #[test]
    fn clocks_that_part_the_wrong_way_are_no_sleep() {
        let mut watch = SleepWatch {
            ahead: Duration::from_secs(7),
        };
        assert_eq!(watch.observe(Duration::from_secs(3)), None);
    }
}
