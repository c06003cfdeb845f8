//! The pacer: datagrams leave in bursts, at the pace of the congestion window (RFC 9002 §7.7, a token bucket).

use std::time::Duration;

use fulmar_base::Time;

/// Datagrams leave so many times faster than a window in each round trip. Source: RFC 9002 §7.7.
const PACING_GAIN: f64 = 1.25;

/// A burst takes so much of the time that the path has for it: a call of the system for each few datagrams is most of what
/// a copy costs. Chosen by eye.
const BURST_DURATION: Duration = Duration::from_millis(2);

/// A burst has at least so many datagrams: the path spreads them, which shows the rate of the bottleneck. RFC 9002 §7.7 allows
/// bursts of an initial window, which is ten datagrams (§7.2).
const BURST_DATAGRAMS_MIN: u64 = 10;

/// An end that comes late makes up for so much: on a busy machine others have the processor for some milliseconds at a
/// time. Chosen by eye; quinn's pacer forgives half a millisecond (docs/decisions/025-congestion-control.md).
const CATCH_UP_MAX: Duration = Duration::from_millis(10);

/// From the beginning of one burst to that of the next it takes at least so long, whatever is in it. Chosen by eye: the
/// resolution of a wait for sockets.
const BURST_INTERVAL_MIN: Duration = Duration::from_millis(1);

/// Decides when how much may leave.
pub(super) struct Pacer {
    /// Bytes that may leave, and when they were counted last.
    tokens: f64,
    refilled_at: Time,
    /// Bytes in a second, and in a burst.
    rate: f64,
    burst: f64,
    /// The tokens are spent, and more would leave.
    waits_for_tokens: bool,
    /// The time at which the burst that is under way began, and the time from which the next may.
    burst_began: Option<Time>,
    next_burst: Option<Time>,
    /// Somebody wanted to send meanwhile.
    is_wanted: bool,
}

impl Pacer {
    pub(super) fn new(now: Time) -> Pacer {
        Pacer {
            tokens: f64::INFINITY,
            refilled_at: now,
            rate: 0.0,
            burst: 0.0,
            waits_for_tokens: false,
            burst_began: None,
            next_burst: None,
            is_wanted: false,
        }
    }

    /// Returns whether nothing leaves before the next burst, which begins when [`next_wake`](Self::next_wake) says.
    pub(super) fn is_holding(&mut self, now: Time) -> bool {
        self.is_wanted = self.next_burst.is_some_and(|until| now < until);
        self.is_wanted
    }

    /// Refills the bucket for a window and a round trip; returns how many ack-eliciting bytes may leave.
    pub(super) fn budget(&mut self, now: Time, window: u64, rtt: Duration, mtu: u16) -> u64 {
        self.rate = PACING_GAIN * window as f64 / rtt.as_secs_f64().max(1e-6);
        // A burst of a slow path is longer than two milliseconds, and waited for.
        let least = (BURST_DATAGRAMS_MIN * u64::from(mtu)) as f64;
        self.burst = (self.rate * BURST_DURATION.as_secs_f64()).max(least);
        let most = self.burst + self.rate * CATCH_UP_MAX.as_secs_f64();
        let gained = self.rate * now.since(self.refilled_at).as_secs_f64();
        self.tokens = (self.tokens + gained).min(most);
        self.refilled_at = now;
        // Once empty, the bucket fills up to a whole burst first, but for a byte of rounding.
        if self.waits_for_tokens && self.tokens + 1.0 < self.burst {
            return 0;
        }
        self.waits_for_tokens = self.tokens < f64::from(mtu);
        if self.waits_for_tokens {
            0
        } else {
            self.tokens as u64
        }
    }

    /// Returns the budget where the window is to leave at once.
    pub(super) fn budget_unpaced(&mut self, now: Time) -> u64 {
        // A flight has used everything up: no credit goes along into the time in which packets are
        // paced.
        (self.tokens, self.refilled_at, self.waits_for_tokens) = (0.0, now, false);
        u64::MAX
    }

    /// Takes the tokens of ack-eliciting bytes that have left.
    pub(super) fn spend(&mut self, bytes: usize) {
        // Less than nothing after a probe, which waits for no tokens. The next burst makes up for
        // it.
        self.tokens -= bytes as f64;
    }

    /// Ends the wait for tokens, where something else than the pace lets nothing leave.
    pub(super) fn clear_wait(&mut self) {
        self.waits_for_tokens = false;
    }

    /// Notes whether anything has left: a burst ends when there is nothing.
    pub(super) fn on_transmit(&mut self, now: Time, has_left: bool) {
        self.is_wanted = false;
        if has_left {
            self.burst_began.get_or_insert(now);
        } else if let Some(began) = self.burst_began.take() {
            // From its beginning, so that the time it takes to hand a burst to the system is not
            // added to the pace.
            self.next_burst = Some(began + BURST_INTERVAL_MIN);
        }
    }

    /// Returns when to try again, given when there is something to do otherwise.
    pub(super) fn next_wake(&self, due: Option<Time>) -> Option<Time> {
        let until = self.next_burst.filter(|_| self.is_wanted);
        let spent = self.waits_for_tokens.then(|| {
            let lacks = (self.burst - self.tokens).max(0.0);
            let at = self.refilled_at + Duration::from_secs_f64(lacks / self.rate.max(1.0));
            self.next_burst.map_or(at, |until| at.max(until))
        });
        due.into_iter().chain(until).chain(spent).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u16 = 1200;
    /// A megabyte in a tenth of a second: 12.5 bytes in a microsecond.
    const WINDOW: u64 = 1_000_000;
    const RTT: Duration = Duration::from_millis(100);

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// Returns the bytes that may leave then.
    fn budget(pacer: &mut Pacer, micros: u64) -> u64 {
        pacer.budget(at(micros), WINDOW, RTT, MTU)
    }

    #[test]
    fn a_burst_is_two_milliseconds_of_the_window_and_waited_for() {
        let mut pacer = Pacer::new(at(0));
        let first = budget(&mut pacer, 0);
        assert_eq!(
            first, 150_000,
            "one burst and what ten milliseconds make up for"
        );
        pacer.spend(first as usize);
        assert_eq!(budget(&mut pacer, 0), 0);
        assert_eq!(pacer.next_wake(None), Some(at(2_000)));
        assert_eq!(pacer.next_wake(Some(at(500))), Some(at(500)));
        assert_eq!(budget(&mut pacer, 1_000), 0, "half of a burst");
        assert_eq!(budget(&mut pacer, 2_000), 25_000);
        assert_eq!(pacer.next_wake(None), None, "nothing waits");
    }

    #[test]
    fn who_may_not_send_for_another_reason_waits_for_nothing() {
        let mut pacer = Pacer::new(at(0));
        let first = budget(&mut pacer, 0);
        pacer.spend(first as usize);
        budget(&mut pacer, 0);
        pacer.clear_wait();
        assert_eq!(pacer.next_wake(None), None);
    }

    #[test]
    fn who_comes_late_makes_up_for_ten_milliseconds_and_no_more() {
        let mut pacer = Pacer::new(at(0));
        let first = budget(&mut pacer, 0);
        pacer.spend(first as usize);
        budget(&mut pacer, 0);
        assert_eq!(budget(&mut pacer, 8_000), 100_000);
        assert_eq!(budget(&mut pacer, 90_000), 150_000);
    }

    #[test]
    fn a_slow_path_gets_ten_datagrams_at_once() {
        let mut pacer = Pacer::new(at(0));
        let small = 12_000;
        let first = pacer.budget(at(0), small, RTT, MTU);
        pacer.spend(first as usize);
        assert_eq!(pacer.budget(at(0), small, RTT, MTU), 0);
        assert_eq!(pacer.next_wake(None), Some(at(80_000)));
        assert_eq!(pacer.budget(at(80_000), small, RTT, MTU), 12_000);
    }

    #[test]
    fn a_burst_is_followed_by_a_rest_from_its_beginning() {
        let mut pacer = Pacer::new(at(0));
        assert!(!pacer.is_holding(at(0)));
        for now in [100, 300] {
            pacer.on_transmit(at(now), true);
            assert!(!pacer.is_holding(at(now)), "the burst goes on");
        }
        pacer.on_transmit(at(400), false);
        assert_eq!(pacer.next_wake(None), None, "nobody wants to send");
        assert!(pacer.is_holding(at(1_099)));
        assert_eq!(pacer.next_wake(None), Some(at(1_100)));
        assert_eq!(pacer.next_wake(Some(at(500))), Some(at(500)));
        assert!(!pacer.is_holding(at(1_100)));
        pacer.on_transmit(at(1_100), false);
        assert_eq!(pacer.next_wake(None), None);
        assert!(
            !pacer.is_holding(at(1_101)),
            "nothing was sent, so nothing rests"
        );
    }
}
