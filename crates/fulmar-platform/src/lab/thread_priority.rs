//! Threads that are to be on time.

use rustix::thread::set_current_timer_slack;
use std::num::NonZeroU64;

/// The priority of a thread over others that want the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPriority {
    /// It runs at once, whatever else does (`SCHED_FIFO`).
    RealTime,
    /// It is one among others.
    Usual,
}

/// Below the middle of 1 to 99, where the kernel's own threads are, and above everybody else.
const PRIORITY: libc::c_int = 40;

/// Makes the calling thread a real-time one where the system permits it, and its timers exact.
///
/// Threads and processes that it starts do not inherit this. A thread that is not permitted to be a
/// real-time one stays as it was: niceness changes how much time it gets, not how soon.
pub fn raise_priority() -> ThreadPriority {
    // Timers of a usual thread are up to 50 µs late. That this is refused is not known to happen,
    // and would show as lateness.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let parameter = libc::sched_param {
        sched_priority: PRIORITY,
    };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameter outlives the call, which changes nothing but this thread's scheduling.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) };
    if done == 0 {
        ThreadPriority::RealTime
    } else {
        ThreadPriority::Usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_real_time_thread_is_what_it_says() {
        let (priority, policy) = std::thread::spawn(|| {
            let priority = raise_priority();
            // SAFETY: asks for the policy of this thread.
            (priority, unsafe { libc::sched_getscheduler(0) })
        })
        .join()
        .unwrap();
        let is_fifo = policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO;
        assert_eq!(is_fifo, priority == ThreadPriority::RealTime);
    }

    #[test]
    fn what_it_starts_has_the_usual_priority() {
        let policy = std::thread::spawn(|| {
            raise_priority();
            // SAFETY: asks for the policy of the new thread.
            let started = std::thread::spawn(|| unsafe { libc::sched_getscheduler(0) });
            started.join().unwrap()
        });
        assert_eq!(policy.join().unwrap(), libc::SCHED_OTHER);
    }

    #[test]
    fn a_real_time_thread_still_sleeps() {
        let slept = std::thread::spawn(|| {
            raise_priority();
            let start = Instant::now();
            let pause = Duration::from_millis(2);
            crate::Poller::<()>::new()
                .wait(Some(pause), |_| {})
                .unwrap();
            start.elapsed() >= pause
        });
        assert!(slept.join().unwrap());
    }
}
