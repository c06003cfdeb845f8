//! A link that carries what a measured one could have carried.

use std::sync::Arc;
use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::link_trace::{LinkTrace, OPPORTUNITY_BYTES, Position};
use crate::queue::{Queue, Waiting};

/// The trace that a link follows, and what may wait for its opportunities.
///
/// Each opportunity delivers up to 1500 bytes of the packets that wait, counted with headers.
/// Several small packets share one. A packet that does not fit goes on with the next. What
/// nobody uses is lost, and who comes at the very instant of an opportunity waits for the next.
///
/// Source: R. Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", 2015, §3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    trace: Arc<LinkTrace>,
    /// The time of the trace at which the simulation begins.
    start: Duration,
    queue: Queue,
}

impl Traced {
    /// Follows a trace from its beginning.
    #[must_use]
    pub fn by(trace: Arc<LinkTrace>, queue: Queue) -> Impairment {
        Self::from(trace, Duration::ZERO, queue)
    }

    /// Follows a trace from its time `start` on.
    #[must_use]
    pub fn from(trace: Arc<LinkTrace>, start: Duration, queue: Queue) -> Impairment {
        Impairment::Traced(Self {
            trace,
            start,
            queue,
        })
    }

    pub(crate) fn into_stage(self) -> TracedLink {
        TracedLink {
            waiting: Waiting::new(self.queue),
            setting: self,
            begun: None,
            next: None,
        }
    }

    fn first_after(&self, now: Duration) -> Position {
        self.trace.first_after(now + self.start)
    }

    fn time_of(&self, position: Position) -> Duration {
        self.trace.time_of(position).saturating_sub(self.start)
    }
}

/// The packets that wait for opportunities.
#[derive(Debug)]
pub(crate) struct TracedLink {
    setting: Traced,
    waiting: Waiting,
    /// A packet of which a part is through, and how many bytes are not.
    begun: Option<(Datagram, usize)>,
    /// The next opportunity, while anything waits for it.
    next: Option<Position>,
}

impl TracedLink {
    /// Returns what has begun already, or begins with what is next.
    fn take_next(&mut self, now: Duration, outlet: &mut Outlet) -> Option<(Datagram, usize)> {
        self.begun.take().or_else(|| {
            let datagram = self.waiting.pop(now, outlet)?;
            let bytes = datagram.packet_len();
            Some((datagram, bytes))
        })
    }

    fn is_idle(&self) -> bool {
        self.begun.is_none() && self.waiting.is_empty()
    }
}

impl Stage for TracedLink {
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        self.waiting.push(now, datagram, outlet);
        if self.next.is_none() && !self.is_idle() {
            self.next = Some(self.setting.first_after(now));
        }
    }

    fn release(&mut self, now: Duration, outlet: &mut Outlet) {
        let Some(position) = self.next else { return };
        let mut left = OPPORTUNITY_BYTES;
        while let Some((datagram, bytes)) = self.take_next(now, outlet) {
            if bytes > left {
                self.begun = Some((datagram, bytes - left));
                break;
            }
            left -= bytes;
            outlet.pass(datagram);
        }
        self.next = (!self.is_idle()).then(|| self.setting.trace.next(position));
    }

    fn next_due(&self) -> Option<Duration> {
        self.next.map(|position| self.setting.time_of(position))
    }

    /// Takes another trace; what waits goes on by the new one. A smaller queue keeps what it holds.
    fn change(&mut self, now: Duration, to: &Impairment) -> bool {
        let Impairment::Traced(setting) = to else {
            return false;
        };
        let is_other = (&setting.trace, setting.start) != (&self.setting.trace, self.setting.start);
        self.setting = setting.clone();
        self.waiting.change(setting.queue);
        if is_other && self.next.is_some() {
            self.next = Some(self.setting.first_after(now));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::LossCause;
    use crate::testing::Bench;
    use crate::units::{ms, secs};

    const HEADERS: usize = 28;
    const FULL: usize = 1500 - HEADERS;

    fn trace(times_ms: &[u32]) -> Arc<LinkTrace> {
        Arc::new(LinkTrace::from_times(times_ms.to_vec()).unwrap())
    }

    fn link(times_ms: &[u32], queue: Queue) -> Impairment {
        Traced::by(trace(times_ms), queue)
    }

    #[test]
    fn one_full_packet_leaves_at_each_opportunity() {
        let mut bench = Bench::of(link(&[3, 3, 10], Queue::Endless));
        bench.send_many(7, ms(0), FULL);
        let expected = [3, 3, 10, 13, 13, 20, 23].map(ms);
        assert_eq!(bench.arrivals(), expected);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_are_spread() {
        let mut bench = Bench::of(link(&[10], Queue::Endless));
        // 500 + 500 + 500 fit; 700 fits and 800 of the 900 after it; then its last 100 bytes and
        // 1400 of 1500.
        for len in [500, 500, 500, 700, 900, 1500] {
            bench.send_at(ms(0), len - HEADERS);
        }
        assert_eq!(bench.arrivals(), [10, 10, 10, 20, 30, 40].map(ms));
    }

    #[test]
    fn what_nobody_uses_is_lost() {
        let mut bench = Bench::of(link(&[10], Queue::Endless));
        bench.send_at(ms(0), 100);
        bench.send_at(ms(95), FULL);
        bench.send_at(ms(95), FULL);
        assert_eq!(bench.arrivals(), [ms(10), ms(100), ms(110)]);
    }

    #[test]
    fn who_comes_with_an_opportunity_waits_for_the_next() {
        for before in [0, 1] {
            let mut bench = Bench::of(link(&[10], Queue::Endless));
            (0..before).for_each(|_| bench.send_at(ms(5), 100));
            bench.send_at(ms(10), 100);
            assert_eq!(bench.arrivals().last(), Some(&ms(20)));
        }
    }

    #[test]
    fn a_trace_can_begin_in_its_middle() {
        let setting = Traced::from(trace(&[2, 7, 10]), ms(6), Queue::Endless);
        let mut bench = Bench::of(setting);
        bench.send_many(4, ms(0), FULL);
        assert_eq!(bench.arrivals(), [1, 4, 6, 11].map(ms));
    }

    #[test]
    fn the_queue_holds_what_has_not_begun() {
        let mut bench = Bench::of(link(&[10], Queue::datagrams(2)));
        bench.send_many(3, ms(0), 2000 - HEADERS);
        // The first begins at 10 ms, so that there is room for one more.
        bench.look_at(ms(11));
        bench.send_many(2, ms(0), 100);
        assert_eq!(bench.order(), [0, 1, 3]);
        assert_eq!(bench.losses(), [LossCause::QueueFull; 2]);
    }

    #[test]
    fn overload_passes_exactly_what_the_trace_carries() {
        let trace = trace(&[1, 1, 4, 90, 91, 200]);
        let mut bench = Bench::of(Traced::by(trace.clone(), Queue::datagrams(50)));
        bench.send_many(10, ms(0), FULL);
        bench.send_many(100_000, ms(1), FULL);
        let arrivals = bench.arrivals();
        let within = arrivals.iter().filter(|&&at| at <= secs(100)).count() as u64;
        assert_eq!(within, trace.count_between(ms(0), secs(100)));
        assert_eq!(within, 6 * 500);
    }

    #[test]
    fn another_trace_takes_over_at_once() {
        let mut bench = Bench::of(link(&[1000], Queue::Endless));
        bench.send_many(2, ms(0), FULL);
        bench.change_at(ms(15), link(&[10], Queue::Endless));
        assert_eq!(bench.arrivals(), [ms(20), ms(30)]);
    }
}
