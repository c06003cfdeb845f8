//! A window that follows what a path carries in a round trip.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_datagram::Time;

/// How large a window is before anything was measured, in bytes, and the least it ever is.
///
/// In the start of a connection the amount under way doubles each round trip and a new window takes
/// one to have an effect; with 4 MiB the first two megabytes need no window at all.
const START: u64 = 4 << 20;

/// The shortest time that is measured over: what came in less is chance.
const ROUND_MIN: Duration = Duration::from_millis(10);

/// How many rounds a peak counts.
const ROUNDS: usize = 8;

/// A window in bytes: twice what was carried in the best of the last round trips.
///
/// Twice, because what was lost arrives a round trip later and holds back what came after it. Four
/// times while the amount grows, so that the window does not hold back a sender that doubles.
pub(crate) struct Window {
    current: u64,
    max: u64,
    round: Option<Time>,
    carried: u64,
    rounds: VecDeque<u64>,
}

impl Window {
    /// A window that never exceeds `max` bytes.
    pub(crate) fn up_to(max: u64) -> Window {
        Window {
            current: START.min(max),
            max,
            round: None,
            carried: 0,
            rounds: VecDeque::with_capacity(ROUNDS),
        }
    }

    /// Returns the window in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.current
    }

    /// Learns that so many more bytes have been carried.
    pub(crate) fn carry(&mut self, bytes: u64) {
        self.carried = self.carried.saturating_add(bytes);
    }

    /// Ends the round if a round trip has passed; returns the window if it has become another.
    pub(crate) fn advance(&mut self, now: Time, rtt: Duration) -> Option<u64> {
        let began = *self.round.get_or_insert(now);
        let (elapsed, rtt) = (now.since(began), rtt.max(ROUND_MIN));
        if elapsed < rtt {
            return None;
        }
        self.round = Some(now);
        let carried = std::mem::take(&mut self.carried);
        if carried == 0 {
            return None;
        }
        // Bytes times microseconds fit: 2^33 bytes and 2^27 µs.
        let in_a_trip = u128::from(carried) * rtt.as_micros() / elapsed.as_micros().max(1);
        self.learn(u64::try_from(in_a_trip).unwrap_or(u64::MAX))
    }

    fn learn(&mut self, in_a_trip: u64) -> Option<u64> {
        let peak = self.rounds.iter().copied().max().unwrap_or(0);
        let grows = in_a_trip > peak.saturating_add(peak / 4);
        if self.rounds.len() == ROUNDS {
            self.rounds.pop_front();
        }
        self.rounds.push_back(in_a_trip);
        let peak = self.rounds.iter().copied().max().unwrap_or(0);
        let wanted = peak.saturating_mul(if grows { 4 } else { 2 });
        let wanted = wanted.clamp(START.min(self.max), self.max);
        // A window that shrinks a little is not worth a message.
        let changes = wanted > self.current || wanted < self.current - self.current / 4;
        changes.then(|| {
            self.current = wanted;
            wanted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(200);
    const MB: u64 = 1_000_000;

    /// The window after rounds in which so many bytes were carried.
    fn after(max: u64, rounds: &[u64]) -> u64 {
        let mut window = Window::up_to(max);
        let mut now = Time::ZERO;
        assert_eq!(window.advance(now, RTT), None);
        for bytes in rounds {
            window.carry(*bytes);
            now += RTT;
            window.advance(now, RTT);
        }
        window.bytes()
    }

    #[test]
    fn it_leads_a_sender_that_doubles_and_settles_at_twice_the_product() {
        let growing = [MB / 2, MB, 2 * MB, 4 * MB, 8 * MB];
        assert_eq!(after(u64::MAX, &growing), 32 * MB);
        let steady = [12 * MB; 9];
        assert_eq!(after(u64::MAX, &steady), 24 * MB);
    }

    #[test]
    fn it_keeps_to_its_cap_and_to_its_least() {
        assert_eq!(after(10 * MB, &[50 * MB; 3]), 10 * MB);
        assert_eq!(after(MB, &[50 * MB; 3]), MB);
        assert_eq!(after(u64::MAX, &[1000; 20]), START);
    }

    #[test]
    fn it_comes_down_when_the_path_carries_less_and_not_for_a_pause() {
        let mut rounds = vec![40 * MB; 3];
        rounds.extend([10 * MB; 9]);
        assert_eq!(after(u64::MAX, &rounds), 20 * MB);
        let mut paused = vec![40 * MB; 9];
        paused.extend([0; 30]);
        assert_eq!(after(u64::MAX, &paused), 80 * MB);
    }
}
