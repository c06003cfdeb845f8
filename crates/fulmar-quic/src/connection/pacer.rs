//! The pacer: datagrams leave in bursts, at the pace of the congestion window (RFC 9002 §7.7, a token bucket).

use std::time::Duration;

use fulmar_datagram::Time;

/// Datagrams leave so many times faster than a window in each round trip. Source: RFC 9002 §7.7.
const GAIN: f64 = 1.25;

/// A burst takes so much of the time that the path has for it: a call of the system for each few datagrams is most of what
/// a copy costs. Chosen by eye.
const BURST: Duration = Duration::from_millis(2);

/// The least datagrams in a burst: the path spreads them, which shows its pace.
const BURST_MIN: u64 = 10;

/// What an end that comes late makes up for: on a busy machine others have the processor for some
/// milliseconds at a time.
const LATE: Duration = Duration::from_millis(10);

/// From the beginning of one burst to that of the next, whatever is in it.
const BETWEEN: Duration = Duration::from_millis(1);

/// Decides when how much may leave.
pub(super) struct Pacer {
    /// Bytes that may leave now, and when that was so.
    allowed: f64,
    at: Time,
    /// Bytes in a second, and in a burst.
    rate: f64,
    burst: f64,
    /// All that was allowed has left, and more would have.
    is_spent: bool,
    /// When the burst that is under way began, and when the next may.
    began: Option<Time>,
    until: Option<Time>,
    /// Somebody wanted to send meanwhile.
    is_wanted: bool,
}

impl Pacer {
    pub(super) fn from(now: Time) -> Pacer {
        Pacer {
            allowed: f64::INFINITY,
            at: now,
            rate: 0.0,
            burst: 0.0,
            is_spent: false,
            began: None,
            until: None,
            is_wanted: false,
        }
    }

    /// Whether nothing leaves now; it may when [`ends`](Self::ends) says.
    pub(super) fn holds(&mut self, now: Time) -> bool {
        self.is_wanted = self.until.is_some_and(|until| now < until);
        self.is_wanted
    }

    /// Learns of the window and the round trip; returns how many bytes may leave, acknowledgements not
    /// counted.
    pub(super) fn allow(&mut self, now: Time, window: u64, rtt: Duration, mtu: u16) -> u64 {
        self.rate = GAIN * window as f64 / rtt.as_secs_f64().max(1e-6);
        let least = (BURST_MIN * u64::from(mtu)) as f64;
        self.burst = (self.rate * BURST.as_secs_f64()).max(least);
        let most = self.burst + self.rate * LATE.as_secs_f64();
        let gained = self.rate * now.since(self.at).as_secs_f64();
        self.allowed = (self.allowed + gained).min(most);
        self.at = now;
        if self.is_spent && self.allowed + 1.0 < self.burst {
            return 0;
        }
        self.is_spent = self.allowed < f64::from(mtu);
        if self.is_spent {
            0
        } else {
            self.allowed as u64
        }
    }

    /// The same where all may leave at once.
    pub(super) fn allow_all(&mut self, now: Time) -> u64 {
        (self.allowed, self.at, self.is_spent) = (0.0, now, false);
        u64::MAX
    }

    /// So many bytes have left that are to be acknowledged.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.allowed -= bytes as f64;
    }

    /// Nothing may leave for another reason than the pace, which has nothing to wait for then.
    pub(super) fn rest(&mut self) {
        self.is_spent = false;
    }

    /// Learns whether anything has left: a burst ends when there is nothing.
    pub(super) fn note(&mut self, now: Time, has_left: bool) {
        self.is_wanted = false;
        if has_left {
            self.began.get_or_insert(now);
        } else if let Some(began) = self.began.take() {
            self.until = Some(began + BETWEEN);
        }
    }

    /// When to try again, given when there is something to do otherwise.
    pub(super) fn ends(&self, due: Option<Time>) -> Option<Time> {
        let until = self.until.filter(|_| self.is_wanted);
        let spent = self.is_spent.then(|| {
            let lacks = (self.burst - self.allowed).max(0.0);
            let at = self.at + Duration::from_secs_f64(lacks / self.rate.max(1.0));
            self.until.map_or(at, |until| at.max(until))
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

    /// What may leave then.
    fn allowed(pacer: &mut Pacer, micros: u64) -> u64 {
        pacer.allow(at(micros), WINDOW, RTT, MTU)
    }

    #[test]
    fn a_burst_is_two_milliseconds_of_the_window_and_waited_for() {
        let mut pacer = Pacer::from(at(0));
        let first = allowed(&mut pacer, 0);
        assert_eq!(
            first, 150_000,
            "one burst and what ten milliseconds make up for"
        );
        pacer.spend(first as usize);
        assert_eq!(allowed(&mut pacer, 0), 0);
        assert_eq!(pacer.ends(None), Some(at(2_000)));
        assert_eq!(pacer.ends(Some(at(500))), Some(at(500)));
        assert_eq!(allowed(&mut pacer, 1_000), 0, "half of a burst");
        assert_eq!(allowed(&mut pacer, 2_000), 25_000);
        assert_eq!(pacer.ends(None), None, "nothing waits");
    }

    #[test]
    fn who_may_not_send_for_another_reason_waits_for_nothing() {
        let mut pacer = Pacer::from(at(0));
        let first = allowed(&mut pacer, 0);
        pacer.spend(first as usize);
        allowed(&mut pacer, 0);
        pacer.rest();
        assert_eq!(pacer.ends(None), None);
    }

    #[test]
    fn who_comes_late_makes_up_for_ten_milliseconds_and_no_more() {
        let mut pacer = Pacer::from(at(0));
        let first = allowed(&mut pacer, 0);
        pacer.spend(first as usize);
        allowed(&mut pacer, 0);
        assert_eq!(allowed(&mut pacer, 8_000), 100_000);
        assert_eq!(allowed(&mut pacer, 90_000), 150_000);
    }

    #[test]
    fn a_slow_path_gets_ten_datagrams_at_once() {
        let mut pacer = Pacer::from(at(0));
        let small = 12_000;
        let first = pacer.allow(at(0), small, RTT, MTU);
        pacer.spend(first as usize);
        assert_eq!(pacer.allow(at(0), small, RTT, MTU), 0);
        assert_eq!(pacer.ends(None), Some(at(80_000)));
        assert_eq!(pacer.allow(at(80_000), small, RTT, MTU), 12_000);
    }

    #[test]
    fn a_burst_is_followed_by_a_rest_from_its_beginning() {
        let mut pacer = Pacer::from(at(0));
        assert!(!pacer.holds(at(0)));
        for now in [100, 300] {
            pacer.note(at(now), true);
            assert!(!pacer.holds(at(now)), "the burst goes on");
        }
        pacer.note(at(400), false);
        assert_eq!(pacer.ends(None), None, "nobody wants to send");
        assert!(pacer.holds(at(1_099)));
        assert_eq!(pacer.ends(None), Some(at(1_100)));
        assert_eq!(pacer.ends(Some(at(500))), Some(at(500)));
        assert!(!pacer.holds(at(1_100)));
        pacer.note(at(1_100), false);
        assert_eq!(pacer.ends(None), None);
        assert!(
            !pacer.holds(at(1_101)),
            "nothing was sent, so nothing rests"
        );
    }
}
