//! A deadline on the clock that counts sleep.

use crate::clock::boot_time;
use rustix::fd::BorrowedFd;
use std::io;
use std::time::Duration;

/// Ends a wait at a moment of [`boot_time`], also when the machine slept past it.
///
/// A time limit of `poll` stands still during sleep, so a client that wakes after an hour would
/// sit through the rest of its pause. On Linux the timer is a descriptor to wait for. Elsewhere it
/// is a limit for the wait, which such a sleep does delay. A loop uses both:
///
/// ```
/// use fulmar_platform::{DeadlineTimer, Interest, Poller, boot_time};
/// use std::time::Duration;
///
/// # fn main() -> std::io::Result<()> {
/// let mut timer = DeadlineTimer::new()?;
/// timer.set(Some(boot_time() + Duration::from_millis(1)))?;
/// let mut poller = Poller::new();
/// poller.wait(timer.wait_limit(), |registry| {
///     if let Some(descriptor) = timer.descriptor() {
///         registry.add_borrowed("timer", descriptor, Interest::Read);
///     }
/// })?;
/// assert!(timer.has_passed());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeadlineTimer {
    deadline: Option<Duration>,
    #[cfg(target_os = "linux")]
    timer: rustix::fd::OwnedFd,
}

impl DeadlineTimer {
    /// Makes a timer without deadline.
    ///
    /// # Errors
    ///
    /// When no descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            deadline: None,
            #[cfg(target_os = "linux")]
            timer: linux::create()?,
        })
    }

    /// Sets the deadline, or cancels it. A deadline in the past is due at once.
    ///
    /// Setting the deadline that is set already costs nothing.
    ///
    /// # Errors
    ///
    /// None that the system documents for a timer of ours.
    pub fn set(&mut self, deadline: Option<Duration>) -> io::Result<()> {
        if deadline == self.deadline {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        linux::set(&self.timer, deadline)?;
        self.deadline = deadline;
        Ok(())
    }

    /// True once the deadline has come, until another is set.
    pub fn has_passed(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= boot_time())
    }

    /// Returns the descriptor that is readable while the deadline has passed.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        return Some(rustix::fd::AsFd::as_fd(&self.timer));
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Returns the limit to wait with where there is no descriptor.
    pub fn wait_limit(&self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        return None;
        #[cfg(not(target_os = "linux"))]
        self.deadline
            .map(|deadline| deadline.saturating_sub(boot_time()))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fd::OwnedFd;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::io;
    use std::time::Duration;

    pub(super) fn create() -> io::Result<OwnedFd> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(timerfd_create(TimerfdClockId::Boottime, flags)?)
    }

    /// Setting a timer also takes back that it has expired, so nothing needs to be read from it.
    pub(super) fn set(timer: &OwnedFd, deadline: Option<Duration>) -> io::Result<()> {
        const NEVER: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let it_value = match deadline {
            None => NEVER,
            // 0 would mean "never", and a moment beyond the kernel's type never comes.
            Some(deadline) => {
                Timespec::try_from(deadline.max(Duration::from_nanos(1))).unwrap_or(NEVER)
            }
        };
        let value = Itimerspec {
            it_interval: NEVER,
            it_value,
        };
        timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::DEADLINE;
    use crate::{Interest, Poller};

    fn is_due(timer: &DeadlineTimer, limit: Duration) -> bool {
        let limit = timer.wait_limit().unwrap_or(limit).min(limit);
        let mut poller = Poller::new();
        poller
            .wait(Some(limit), |registry| {
                if let Some(descriptor) = timer.descriptor() {
                    registry.add_borrowed((), descriptor, Interest::Read);
                }
            })
            .unwrap();
        timer.descriptor().map_or(timer.has_passed(), |_| {
            poller.ready().any(|(_, readiness)| readiness.is_readable())
        })
    }

    const AT_ONCE: Duration = Duration::ZERO;

    #[test]
    fn a_timer_without_deadline_is_never_due() {
        let timer = DeadlineTimer::new().unwrap();
        assert!(!is_due(&timer, AT_ONCE));
        assert!(!timer.has_passed());
    }

    #[test]
    fn a_deadline_in_the_past_is_due_at_once_and_stays_so() {
        let mut timer = DeadlineTimer::new().unwrap();
        for deadline in [Duration::ZERO, boot_time()] {
            timer.set(Some(deadline)).unwrap();
            assert!(is_due(&timer, DEADLINE));
            assert!(is_due(&timer, AT_ONCE));
            assert!(timer.has_passed());
        }
    }

    #[test]
    fn a_deadline_in_the_future_ends_a_wait_when_it_comes() {
        let mut timer = DeadlineTimer::new().unwrap();
        let deadline = boot_time() + Duration::from_millis(2);
        timer.set(Some(deadline)).unwrap();
        assert!(is_due(&timer, DEADLINE));
        assert!(boot_time() >= deadline);
        assert!(timer.has_passed());
    }

    #[test]
    fn a_far_deadline_is_not_due() {
        let mut timer = DeadlineTimer::new().unwrap();
        for deadline in [boot_time() + Duration::from_secs(3600), Duration::MAX] {
            timer.set(Some(deadline)).unwrap();
            assert!(!is_due(&timer, AT_ONCE));
            assert!(!timer.has_passed());
        }
    }

    #[test]
    fn a_cancelled_or_moved_deadline_is_not_due() {
        let mut timer = DeadlineTimer::new().unwrap();
        timer.set(Some(Duration::ZERO)).unwrap();
        assert!(is_due(&timer, DEADLINE));
        timer.set(None).unwrap();
        assert!(!is_due(&timer, AT_ONCE));

        timer.set(Some(Duration::ZERO)).unwrap();
        timer
            .set(Some(boot_time() + Duration::from_secs(3600)))
            .unwrap();
        assert!(!is_due(&timer, AT_ONCE));
    }
}
