//! A window that follows what a path carries in a round trip.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_datagram::Time;

/// How large a window is before anything was measured, in bytes, and the least it ever is.
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

/// How much larger than what is carried in a round trip the window is, and while that grows.
const ROOM: f64 = 2.0;
const ROOM_GROWING: f64 = 2.4;

/// The most of it, counted by the shortest round trip: a queue in the path earns no memory.
const PRODUCTS_MAX: f64 = 3.0;

/// How much more than before must be carried to be called growth.
const GROWTH: f64 = 1.25;

/// A window in bytes: twice what was carried in the best of the last round trips.
///
/// Twice, because what was lost arrives a round trip later and holds back what came after it. 2.4
/// times while the amount grows, so that the window does not hold back a sender that doubles:
/// it is told 9/8 of a round trip late, in which the sender's amount grows 2.2 times.
pub(crate) struct Window {
    current: u64,
    max: u64,
    part_began: Option<Time>,
    carried: u64,
    /// Bytes and time of the last parts.
    parts: VecDeque<(u64, Duration)>,
    /// What was carried in the round trip that each of the last parts ended.
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
        let in_a_trip = self.in_a_trip(rtt);
        if in_a_trip == 0 {
            return None;
        }
        let queued = rtt.as_secs_f64() / shortest.max(TRIP_MIN).as_secs_f64();
        self.learn(in_a_trip, PRODUCTS_MAX / queued.max(1.0))
    }

    /// What the last parts carried in a round trip; less than that if there were not as many yet.
    fn in_a_trip(&self, rtt: Duration) -> u64 {
        let carried: u64 = self.parts.iter().map(|(bytes, _)| bytes).sum();
        let took: Duration = self.parts.iter().map(|(_, time)| time).sum();
        let share = rtt.as_secs_f64() / took.max(rtt).as_secs_f64();
        (carried as f64 * share) as u64
    }

    fn learn(&mut self, in_a_trip: u64, room_max: f64) -> Option<u64> {
        // Growth shows against the round trip before this one.
        let before = self.trips.iter().rev().skip(PARTS - 1).max();
        let grows = in_a_trip as f64 > before.map_or(0.0, |before| *before as f64 * GROWTH);
        push(&mut self.trips, in_a_trip, PARTS * TRIPS);
        let peak = self.trips.iter().max().copied().unwrap_or(0);
        let room = if grows { ROOM_GROWING } else { ROOM };
        let wanted = (peak as f64 * room.min(room_max)) as u64;
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
    fn it_leads_a_sender_that_doubles_and_settles_at_twice_the_product() {
        let growing = [MB / 2, MB, 2 * MB, 4 * MB, 8 * MB];
        assert_eq!(after(u64::MAX, &growing), 19_200_000);
        assert_eq!(after(u64::MAX, &[12 * MB; 9]), 24 * MB);
    }

    #[test]
    fn it_grows_within_a_round_trip() {
        let mut window = Window::up_to(u64::MAX);
        carry(&mut window, RTT, &[12 * MB; 9]);
        window.carry(6 * MB);
        let now = window.part_began.unwrap() + RTT / PARTS as u32;
        // Seven parts of one and a half megabytes and one of six.
        let wider = window.advance(now, RTT, RTT);
        assert_eq!(wider, Some((16.5 * 2.4 * MB as f64) as u64));
    }

    #[test]
    fn a_queue_earns_no_memory() {
        // 12 MB in a round trip that is twice as long as it need be are a product of 6 MB.
        let mut window = Window::up_to(u64::MAX);
        let largest = carry(&mut window, RTT / 2, &[12 * MB; 9]);
        assert_eq!(largest, 18 * MB);
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
        assert_eq!(window.bytes(), 24 * MB);
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
        assert_eq!(after(u64::MAX, &trips), 20 * MB);
        let mut paused = vec![40 * MB; 9];
        paused.extend([0; 30]);
        assert_eq!(after(u64::MAX, &paused), 80 * MB);
    }
}
