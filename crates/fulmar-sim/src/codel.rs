//! Controlled delay: a queue that does not stay long.

use std::time::Duration;

use crate::units::ms;

/// The largest packet: a queue of no more than one does not count as standing.
///
/// Source: RFC 8289 §5.4 (`maxpacket_`), with the MTU of Ethernet.
const PACKET_BYTES_MAX: usize = 1500;

/// A queue whose delay may rise for a while, but not stay up.
///
/// When packets have waited for longer than `target` during a whole `interval`, one is lost, and
/// the next ones ever sooner, at `interval / √n` after the one before, until the delay is down.
///
/// Source: RFC 8289.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    target: Duration,
    interval: Duration,
    datagrams_max: usize,
    marks: bool,
}

impl CoDel {
    /// Target and interval as RFC 8289 §4.2 and §4.3 name them, 5 and 100 ms. Besides there is room
    /// for 1000 datagrams; more are lost as they come (chosen by eye).
    #[must_use]
    pub fn standard() -> Self {
        Self {
            target: ms(5),
            interval: ms(100),
            datagrams_max: 1000,
            marks: false,
        }
    }

    /// Another target and interval.
    #[must_use]
    pub fn timed(self, target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            ..self
        }
    }

    /// Room for so many datagrams.
    #[must_use]
    pub fn holding(self, datagrams_max: usize) -> Self {
        Self {
            datagrams_max,
            ..self
        }
    }

    /// Marks, where it would lose, those whose sender takes part in congestion notification.
    #[must_use]
    pub fn marking(self) -> Self {
        Self {
            marks: true,
            ..self
        }
    }

    /// Returns the delay that is not held against the queue.
    #[must_use]
    pub fn target(self) -> Duration {
        self.target
    }

    /// Returns for how long the delay may be above the target.
    #[must_use]
    pub fn interval(self) -> Duration {
        self.interval
    }

    /// Returns how many datagrams there is room for.
    #[must_use]
    pub fn datagrams_max(self) -> usize {
        self.datagrams_max
    }

    /// Tells whether it marks where it can.
    #[must_use]
    pub fn marks(self) -> bool {
        self.marks
    }
}

/// The algorithm's memory from packet to packet, by its names in RFC 8289 §5.2.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The time at which the delay will have been above the target for an interval, while it is above.
    first_above_time: Option<Duration>,
    drop_next: Duration,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Watch {
    /// Tells whether drops are under way.
    pub(crate) fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Tells whether the next drop is due.
    pub(crate) fn is_drop_due(&self, now: Duration) -> bool {
        self.dropping && now >= self.drop_next
    }

    pub(crate) fn end(&mut self) {
        self.dropping = false;
    }

    /// Nothing was there to be looked at.
    pub(crate) fn saw_empty(&mut self) {
        self.first_above_time = None;
    }

    /// Looks at a packet that has waited for `sojourn` and leaves `bytes_behind` in the queue, and
    /// tells whether it may be dropped (RFC 8289 §5.6).
    pub(crate) fn saw(
        &mut self,
        codel: CoDel,
        now: Duration,
        sojourn: Duration,
        bytes_behind: usize,
    ) -> bool {
        if sojourn < codel.target || bytes_behind <= PACKET_BYTES_MAX {
            self.first_above_time = None;
            return false;
        }
        let above = *self.first_above_time.get_or_insert(now + codel.interval);
        now >= above
    }

    /// Counts a drop, or what stands for one, after the first (RFC 8289 §5.5).
    pub(crate) fn count(&mut self) {
        self.count += 1;
    }

    /// Sets the time of the next drop, counted from that of the last.
    pub(crate) fn plan_next(&mut self, codel: CoDel) {
        self.drop_next = control_law(codel, self.drop_next, self.count);
    }

    /// Begins to drop (RFC 8289 §5.5): soon after the last time with the rate that it had then.
    pub(crate) fn begin(&mut self, codel: CoDel, now: Duration) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let is_soon = now.saturating_sub(self.drop_next) < codel.interval * 16;
        self.count = if delta > 1 && is_soon { delta } else { 1 };
        self.drop_next = control_law(codel, now, self.count);
        self.last_count = self.count;
    }
}

/// RFC 8289 §5.3: the rate of drops rises with the square root of their number.
fn control_law(codel: CoDel, from: Duration, count: u32) -> Duration {
    from + codel.interval.div_f64(f64::from(count.max(1)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::{Impairment, LossCause, Rate};
    use crate::testing::Bench;
    use fulmar_base::Ecn;

    /// With its headers a packet of 1000 bytes, which is 1 ms at 8 Mbit/s.
    const LEN: usize = 1000 - 28;

    fn link(codel: CoDel) -> Impairment {
        Rate::kbit(8000, codel.into())
    }

    /// Returns the times of the losses if twice as much comes as the link carries, from a sender that
    /// does not mind.
    fn closed_form(losses: usize) -> Vec<Duration> {
        // The nth packet comes at n/2 ms and leaves the queue at n ms, so it has waited n/2 ms: 5 ms
        // are reached at 10 ms. An interval later, and then at interval / √n, one is dropped.
        let mut at = ms(10) + ms(100);
        let mut times = Vec::new();
        for number in 1..=losses {
            times.push(at);
            at += ms(100).div_f64((number as f64).sqrt());
        }
        times
    }

    #[test]
    fn drops_come_at_the_times_of_the_control_law() {
        let mut bench = Bench::of(link(CoDel::standard().holding(100_000)));
        bench.send_many(4000, Duration::from_micros(500), LEN);
        let times = bench.loss_times();
        let expected = closed_form(20);
        for (number, (time, expected)) in times.iter().zip(&expected).enumerate() {
            // A packet is looked at once a millisecond, when the link becomes free.
            let late = time.saturating_sub(*expected);
            assert!(
                time >= expected && late <= ms(1),
                "{number}: {time:?} {expected:?}"
            );
        }
        assert!(
            bench
                .losses()
                .iter()
                .all(|&cause| cause == LossCause::QueueStanding)
        );
    }

    #[test]
    fn a_burst_shorter_than_the_interval_is_left_alone() {
        let mut bench = Bench::of(link(CoDel::standard()));
        bench.send_many(90, ms(0), LEN);
        assert_eq!(bench.losses(), []);
    }

    #[test]
    fn a_link_that_keeps_up_is_left_alone() {
        let mut bench = Bench::of(link(CoDel::standard()));
        bench.send_many(10_000, ms(1), LEN);
        assert_eq!(bench.losses(), []);
    }

    #[test]
    fn there_is_an_end_to_the_room() {
        let mut bench = Bench::of(link(CoDel::standard().holding(24)));
        bench.send_many(34, ms(0), LEN);
        assert_eq!(bench.losses(), [LossCause::QueueFull; 9]);
    }

    #[test]
    fn who_takes_part_is_marked_and_not_lost() {
        let marks_of = |ecn| {
            let mut bench = Bench::of(link(CoDel::standard().holding(100_000).marking()));
            bench.ecn = ecn;
            bench.send_many(4000, Duration::from_micros(500), LEN);
            let is_marked = |mark: &&Ecn| **mark == Ecn::Congested;
            let marked = bench.marks().iter().filter(is_marked).count();
            (marked, bench.losses().len())
        };
        let (marked, lost) = marks_of(Ecn::Capable0);
        assert!(marked > 20 && lost == 0, "{marked} {lost}");
        let (marked, lost) = marks_of(Ecn::NotCapable);
        assert!(marked == 0 && lost > 20, "{marked} {lost}");
    }

    #[test]
    fn soon_after_the_last_time_it_goes_on_with_that_rate() {
        let codel = CoDel::standard().holding(100_000);
        let mut bench = Bench::of(link(codel));
        // The second starts when all that waited from the first is through, well within 16 intervals.
        let again = ms(2200);
        for start in [ms(0), again] {
            bench.look_at(start);
            bench.send_many(2000, Duration::from_micros(500), LEN);
        }
        let times = bench.loss_times();
        let (first, second): (Vec<Duration>, Vec<Duration>) =
            times.into_iter().partition(|&time| time < again);
        // Both begin 110 ms after their start; then the first waits for 100 ms.
        assert_eq!(first[0], ms(110));
        assert!(first[1] - first[0] >= ms(100), "{first:?}");
        assert_eq!(second[0], again + ms(110));
        assert!(second[1] - second[0] <= ms(100) / 3, "{second:?}");
    }
}
