//! A bound on how much is copied in a second.

use std::time::Duration;

use fulmar_base::Time;

use crate::rate_limit::RateLimit;

/// The most that may be saved up while nothing is to be copied. Chosen by eye: short enough for nobody to
/// notice a burst, long enough for a loop that sleeps between turns.
const SAVED: Duration = Duration::from_millis(50);

/// The least that a turn is worth.
///
/// Chosen by eye.
const TURN_BYTES_MIN: u64 = 4 * 1024;

/// The bytes that may be copied now, if there is a bound.
#[derive(Debug)]
pub struct RateLimiter {
    rate: Option<RateLimit>,
    /// Bytes that may be copied, as of `since`.
    saved: u64,
    /// Bytes that were copied beyond what was allowed: a turn reads whole blocks.
    owed: u64,
    since: Time,
}

impl RateLimiter {
    /// Returns one that keeps to `rate`.
    pub fn new(rate: Option<RateLimit>, now: Time) -> RateLimiter {
        RateLimiter {
            rate,
            saved: 0,
            owed: 0,
            since: now,
        }
    }

    /// Returns how many of `wanted` bytes may be copied now; 0 until [`next`](RateLimiter::next).
    pub fn allows(&mut self, now: Time, wanted: usize) -> usize {
        let Some(rate) = self.rate else {
            return wanted;
        };
        let earned = bytes_in(rate, now.since(self.since));
        // Or a slow rate, asked often, would never earn a whole byte.
        if earned > 0 {
            self.since = now;
        }
        let kept = earned.saturating_sub(self.owed);
        self.owed = self.owed.saturating_sub(earned);
        self.saved = self
            .saved
            .saturating_add(kept)
            .min(bytes_in(rate, SAVED).max(turn(rate)));
        if self.saved >= turn(rate) {
            wanted.min(usize::try_from(self.saved).unwrap_or(usize::MAX))
        } else {
            0
        }
    }

    /// Takes note of what was copied.
    pub fn spend(&mut self, bytes: u64) {
        self.owed = self.owed.saturating_add(bytes.saturating_sub(self.saved));
        self.saved = self.saved.saturating_sub(bytes);
    }

    /// Returns when more may be copied, if that is not now.
    pub fn next(&self) -> Option<Time> {
        let rate = self.rate?;
        let missing = turn(rate)
            .saturating_sub(self.saved)
            .saturating_add(self.owed);
        (missing > 0).then(|| {
            let millis = missing
                .saturating_mul(1000)
                .div_ceil(rate.bytes_per_second());
            self.since + Duration::from_millis(millis)
        })
    }
}

/// Returns what a turn has to be worth: what comes in 10 ms, so that slow rates do not wake us often.
fn turn(rate: RateLimit) -> u64 {
    bytes_in(rate, Duration::from_millis(10)).clamp(1, TURN_BYTES_MIN)
}

fn bytes_in(rate: RateLimit, time: Duration) -> u64 {
    let millionths = u128::from(rate.bytes_per_second()) * time.as_micros();
    u64::try_from(millionths / 1_000_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_bound_everything_is_allowed() {
        let start = Time::from_origin(Duration::ZERO);
        let mut pace = RateLimiter::new(None, start);
        assert_eq!(pace.allows(start, 1 << 20), 1 << 20);
        assert_eq!(pace.next(), None);
    }

    #[test]
    fn in_a_second_as_much_is_copied_as_the_rate_says() {
        // A turn may read a block on each stream, however little it is allowed.
        for (rate, beyond) in [("1M", 0), ("80M", 0), ("64", 0), ("80M", 1 << 20)] {
            let rate = RateLimit::parse(rate).unwrap();
            let start = Time::from_origin(Duration::from_secs(5));
            let mut pace = RateLimiter::new(Some(rate), start);
            let (mut now, mut copied) = (start, 0);
            while now < start + Duration::from_secs(10) {
                let allowed = pace.allows(now, 64 * 1024) as u64;
                let spent = if allowed > 0 { allowed + beyond } else { 0 };
                pace.spend(spent);
                copied += spent;
                now = pace
                    .next()
                    .unwrap_or(now)
                    .max(now + Duration::from_micros(1));
            }
            let wanted = rate.bytes_per_second() * 10;
            let difference = copied.abs_diff(wanted);
            assert!(difference * 20 < wanted, "{rate:?}: {copied} of {wanted}");
        }
    }
}
