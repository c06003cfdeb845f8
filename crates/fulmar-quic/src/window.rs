//! A window that follows what a path carries in a round trip.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_datagram::Time;

/// A window has so many bytes before anything was measured, and is never less.
///
/// In the start of a connection the amount under way grows up to eight times in a round trip and a new window
/// takes one to have an effect; with 16 MiB the start of a path of 500 Mbit/s and 200 ms needs none. Where much is lost
/// it is the window that limits: with 29 % and 45 ms 4 MiB carry half of what 16 do.
const START: u64 = 16 << 20;

/// The shortest time that is measured over: what came in less is chance.
const TRIP_MIN: Duration = Duration::from_millis(10);

/// In how many parts a round trip is measured: the window follows so much sooner.
const PARTS: usize = 8;

/// How many round trips a peak counts.
const TRIPS: usize = 8;

/// How much larger than what is carried in the shortest round trip the window is. What was lost arrives
/// a round trip later and holds back what came after it; and a sender that doubles is told 9/8 of a round
/// trip late, in which its amount grows 2.2 times. With three no path of `--example table` carries more.
const PRODUCTS: f64 = 2.2;

/// A window in bytes: what was carried in the best of the last round trips, as much of it as takes the
/// shortest, 2.2 times. A queue in the path earns no memory.
pub(crate) struct Window {
    current: u64,
    max: u64,
    part_began: Option<Time>,
    carried: u64,
    /// Bytes and time of the last parts.
    parts: VecDeque<(u64, Duration)>,
    /// What was carried in a shortest round trip when each of the last parts ended.
    trips: VecDeque<u64>,
}

impl Window {
    /// A window that never exceeds `max` bytes.
    pub(crate) fn up_to(max: u64) -> Window {
        Window {
            current: START.min(max),
            max,
            part_began: None,
            carried: 0,
            parts: VecDeque::with_capacity(PARTS),
            trips: VecDeque::with_capacity(PARTS * TRIPS),
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

    /// Ends the part if its time has passed; returns the window if it has become another.
    ///
    /// `rtt` is how long a round trip takes now, `shortest` how long one takes without a queue.
    pub(crate) fn advance(&mut self, now: Time, rtt: Duration, shortest: Duration) -> Option<u64> {
        let began = *self.part_began.get_or_insert(now);
        let (elapsed, rtt) = (now.since(began), rtt.max(TRIP_MIN));
        if elapsed < rtt / PARTS as u32 {
            return None;
        }
        self.part_began = Some(now);
        let part = (std::mem::take(&mut self.carried), elapsed);
        push(&mut self.parts, part, PARTS);
        let product = self.product(rtt, shortest.max(TRIP_MIN));
        if product == 0 {
            return None;
        }
        self.learn(product)
    }

    /// What the last parts carried in a round trip, less what of it waited in a queue; less than that if
    /// there were not as many yet.
    fn product(&self, rtt: Duration, shortest: Duration) -> u64 {
        let carried: u64 = self.parts.iter().map(|(bytes, _)| bytes).sum();
        let took: Duration = self.parts.iter().map(|(_, time)| time).sum();
        let share = shortest.min(rtt).as_secs_f64() / took.max(rtt).as_secs_f64();
        (carried as f64 * share) as u64
    }

    fn learn(&mut self, product: u64) -> Option<u64> {
        push(&mut self.trips, product, PARTS * TRIPS);
        let peak = self.trips.iter().max().copied().unwrap_or(0);
        let wanted = (peak as f64 * PRODUCTS) as u64;
        let wanted = wanted.clamp(START.min(self.max), self.max);
        // A window that shrinks a little is not worth a message.
        let changes = wanted > self.current || wanted < self.current - self.current / 8;
        changes.then(|| {
            self.current = wanted;
            wanted
        })
    }
}

/// Keeps the last `most`.
fn push<T>(values: &mut VecDeque<T>, value: T, most: usize) {
    if values.len() == most {
        values.pop_front();
    }
    values.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(200);
    const MB: u64 = 1_000_000;

    /// The window after round trips in which so many bytes were carried, evenly.
    fn after(max: u64, trips: &[u64]) -> u64 {
        let mut window = Window::up_to(max);
        carry(&mut window, RTT, trips);
        window.bytes()
    }

    /// Carries so many bytes in each round trip; returns the largest window.
    fn carry(window: &mut Window, shortest: Duration, trips: &[u64]) -> u64 {
        let mut now = window.part_began.unwrap_or(Time::ZERO);
        let mut largest = 0;
        assert_eq!(window.advance(now, RTT, shortest), None);
        for bytes in trips {
            for _ in 0..PARTS {
                window.carry(bytes / PARTS as u64);
                now += RTT / PARTS as u32;
                window.advance(now, RTT, shortest);
                largest = largest.max(window.bytes());
            }
        }
        largest
    }

    #[test]
    fn it_leads_a_sender_that_doubles() {
        let growing = [MB / 2, MB, 2 * MB, 4 * MB, 8 * MB];
        assert_eq!(after(u64::MAX, &growing), 17_600_000);
        assert_eq!(after(u64::MAX, &[12 * MB; 9]), 26_400_000);
    }

    #[test]
    fn it_grows_within_a_round_trip() {
        let mut window = Window::up_to(u64::MAX);
        carry(&mut window, RTT, &[12 * MB; 9]);
        window.carry(6 * MB);
        let now = window.part_began.unwrap() + RTT / PARTS as u32;
        // Seven parts of one and a half megabytes and one of six.
        let wider = window.advance(now, RTT, RTT);
        assert_eq!(wider, Some(36_300_000));
    }

    #[test]
    fn a_queue_earns_no_memory() {
        // 24 MB in a round trip that is twice as long as it need be are a product of 12 MB.
        let mut window = Window::up_to(u64::MAX);
        let largest = carry(&mut window, RTT / 2, &[24 * MB; 9]);
        assert_eq!(largest, 26_400_000);
    }

    #[test]
    fn what_comes_in_bunches_is_not_taken_for_more() {
        let mut window = Window::up_to(u64::MAX);
        let mut now = Time::ZERO;
        window.advance(now, RTT, RTT);
        for part in 0..10 * PARTS {
            if part % PARTS == 0 {
                window.carry(12 * MB);
            }
            now += RTT / PARTS as u32;
            window.advance(now, RTT, RTT);
        }
        assert_eq!(window.bytes(), 26_400_000);
    }

    #[test]
    fn it_keeps_to_its_cap_and_to_its_least() {
        assert_eq!(after(10 * MB, &[50 * MB; 3]), 10 * MB);
        assert_eq!(after(MB, &[50 * MB; 3]), MB);
        assert_eq!(after(u64::MAX, &[1000; 20]), START);
    }

    #[test]
    fn it_comes_down_when_the_path_carries_less_and_not_for_a_pause() {
        let mut trips = vec![40 * MB; 3];
        trips.extend([10 * MB; 9]);
        assert_eq!(after(u64::MAX, &trips), 22 * MB);
        let mut paused = vec![40 * MB; 9];
        paused.extend([0; 30]);
        assert_eq!(after(u64::MAX, &paused), 88 * MB);
    }
}
