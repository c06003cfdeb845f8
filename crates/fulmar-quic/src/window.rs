//! Flow control windows that follow the BDP of the path (window auto-tuning).

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;

/// A window has so many bytes before anything was measured, and is never less.
///
/// In the start of a connection the bytes in flight grow up to eight times in a round trip and a new window takes one to have
/// an effect; with 16 MiB the start of a path of 500 Mbit/s and 200 ms needs none. Measured with `--example table`: with
/// 29 % of loss and 45 ms 4 MiB carry half of what 16 do (docs/decisions/025-congestion-control.md, Figures).
const WINDOW_MIN: u64 = 16 << 20;

/// A round trip is taken to be at least so long: what came in less is chance. Chosen by eye.
const RTT_MIN: Duration = Duration::from_millis(10);

/// A round trip is measured in so many slices, so that the window follows so much sooner. Chosen by eye.
const SLICES_PER_RTT: usize = 8;

/// The maximum filter of the BDP spans so many round trips. Chosen by eye: so long a pause of a sender costs no window.
const MAX_FILTER_RTTS: usize = 8;

/// A window is so many BDP.
///
/// What was lost arrives a round trip later and holds back what came after it; and a sender that doubles is told 9/8 of a
/// round trip late, in which its bytes in flight grow 2.2 times. Measured: with three no path of `--example table` carries more.
const BDP_GAIN: f64 = 2.2;

/// A smaller window is announced only when it is smaller by this part: a message for less is not worth it. Chosen by eye.
const SHRINK_PART: u64 = 8;

/// Computes a window: 2.2 times the largest BDP of the last round trips.
///
/// A BDP is what was carried in a round trip, less what of it waited in a queue: a queue in the path earns no memory.
pub(crate) struct FlowControlWindow {
    current: u64,
    max: u64,
    slice_began: Option<Time>,
    carried: u64,
    /// Bytes and time of the last slices.
    slices: VecDeque<(u64, Duration)>,
    /// The BDP when each of the last slices ended.
    bdps: VecDeque<u64>,
}

impl FlowControlWindow {
    /// Returns a window that never exceeds `max` bytes.
    pub(crate) fn up_to(max: u64) -> FlowControlWindow {
        FlowControlWindow {
            current: WINDOW_MIN.min(max),
            max,
            slice_began: None,
            carried: 0,
            slices: VecDeque::with_capacity(SLICES_PER_RTT),
            bdps: VecDeque::with_capacity(SLICES_PER_RTT * MAX_FILTER_RTTS),
        }
    }

    /// Returns the window in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.current
    }

    /// Counts bytes that the path has carried.
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.carried = self.carried.saturating_add(bytes);
    }

    /// Ends the slice if its time has passed; returns the window if it has changed.
    ///
    /// `rtt` is how long a round trip takes now, `shortest` how long one takes without a queue.
    pub(crate) fn advance(&mut self, now: Time, rtt: Duration, shortest: Duration) -> Option<u64> {
        let began = *self.slice_began.get_or_insert(now);
        let (elapsed, rtt) = (now.since(began), rtt.max(RTT_MIN));
        if elapsed < rtt / SLICES_PER_RTT as u32 {
            return None;
        }
        self.slice_began = Some(now);
        let slice = (std::mem::take(&mut self.carried), elapsed);
        push(&mut self.slices, slice, SLICES_PER_RTT);
        let bdp = self.bdp(rtt, shortest.max(RTT_MIN));
        // A pause measures nothing, and what is known stays.
        if bdp == 0 {
            return None;
        }
        self.update(bdp)
    }

    /// Returns what the last slices carried in a shortest round trip; less while there is less than a round trip of them.
    fn bdp(&self, rtt: Duration, shortest: Duration) -> u64 {
        let carried: u64 = self.slices.iter().map(|(bytes, _)| bytes).sum();
        let took: Duration = self.slices.iter().map(|(_, time)| time).sum();
        let share = shortest.min(rtt).as_secs_f64() / took.max(rtt).as_secs_f64();
        (carried as f64 * share) as u64
    }

    fn update(&mut self, bdp: u64) -> Option<u64> {
        push(&mut self.bdps, bdp, SLICES_PER_RTT * MAX_FILTER_RTTS);
        let peak = self.bdps.iter().max().copied().unwrap_or(0);
        let wanted = (peak as f64 * BDP_GAIN) as u64;
        let wanted = wanted.clamp(WINDOW_MIN.min(self.max), self.max);
        let changes = wanted > self.current || wanted < self.current - self.current / SHRINK_PART;
        changes.then(|| {
            self.current = wanted;
            wanted
        })
    }
}

/// Appends a value and keeps the last `most`.
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
        let mut window = FlowControlWindow::up_to(max);
        carry(&mut window, RTT, trips);
        window.bytes()
    }

    /// Carries so many bytes in each round trip; returns the largest window.
    fn carry(window: &mut FlowControlWindow, shortest: Duration, trips: &[u64]) -> u64 {
        let mut now = window.slice_began.unwrap_or(Time::ZERO);
        let mut largest = 0;
        assert_eq!(window.advance(now, RTT, shortest), None);
        for bytes in trips {
            for _ in 0..SLICES_PER_RTT {
                window.on_delivered(bytes / SLICES_PER_RTT as u64);
                now += RTT / SLICES_PER_RTT as u32;
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
        let mut window = FlowControlWindow::up_to(u64::MAX);
        carry(&mut window, RTT, &[12 * MB; 9]);
        window.on_delivered(6 * MB);
        let now = window.slice_began.unwrap() + RTT / SLICES_PER_RTT as u32;
        // Seven parts of one and a half megabytes and one of six.
        let wider = window.advance(now, RTT, RTT);
        assert_eq!(wider, Some(36_300_000));
    }

    #[test]
    fn a_queue_earns_no_memory() {
        // 24 MB in a round trip that is twice as long as it need be are a BDP of 12 MB.
        let mut window = FlowControlWindow::up_to(u64::MAX);
        let largest = carry(&mut window, RTT / 2, &[24 * MB; 9]);
        assert_eq!(largest, 26_400_000);
    }

    #[test]
    fn what_comes_in_bunches_is_not_taken_for_more() {
        let mut window = FlowControlWindow::up_to(u64::MAX);
        let mut now = Time::ZERO;
        window.advance(now, RTT, RTT);
        for part in 0..10 * SLICES_PER_RTT {
            if part % SLICES_PER_RTT == 0 {
                window.on_delivered(12 * MB);
            }
            now += RTT / SLICES_PER_RTT as u32;
            window.advance(now, RTT, RTT);
        }
        assert_eq!(window.bytes(), 26_400_000);
    }

    #[test]
    fn it_keeps_to_its_cap_and_to_its_least() {
        assert_eq!(after(10 * MB, &[50 * MB; 3]), 10 * MB);
        assert_eq!(after(MB, &[50 * MB; 3]), MB);
        assert_eq!(after(u64::MAX, &[1000; 20]), WINDOW_MIN);
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
