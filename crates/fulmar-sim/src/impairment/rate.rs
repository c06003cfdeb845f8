//! A slow link with a queue in front of it.

use std::time::Duration;

use crate::datagram::Datagram;
use crate::impairment::{Impairment, Outlet, Stage};
use crate::queue::{Queue, Waiting};

/// The rate of the link, and the queue that waits for it.
///
/// ```text
///   arriving ──► [ │ │ │ │ ] ──► (one being sent) ──► out
///                  waiting, limited by the queue
/// ```
///
/// A packet of n bytes (with headers) takes 8 n / rate. The packet that is being sent is no longer
/// in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    bits_per_second: u64,
    queue: Queue,
}

impl Rate {
    /// A link of so many thousand bits per second.
    ///
    /// # Panics
    ///
    /// Where the rate is 0: that is an [`Outage`](crate::Outage).
    #[must_use]
    pub fn kbit(kilobits_per_second: u64, queue: Queue) -> Impairment {
        Self::bits(kilobits_per_second * 1000, queue)
    }

    /// A link of so many bits per second.
    ///
    /// # Panics
    ///
    /// Where the rate is 0: that is an [`Outage`](crate::Outage).
    #[must_use]
    pub fn bits(bits_per_second: u64, queue: Queue) -> Impairment {
        assert!(bits_per_second > 0, "a link without a rate is an outage");
        Impairment::Rate(Self {
            bits_per_second,
            queue,
        })
    }

    pub(crate) fn into_stage(self) -> Bottleneck {
        Bottleneck {
            setting: self,
            waiting: Waiting::new(self.queue),
            sending: None,
        }
    }

    /// Returns how long a packet occupies the link, rounded up to a nanosecond.
    fn sending_time(self, packet_len: usize) -> Duration {
        let bits = packet_len as u128 * 8;
        let nanoseconds = (bits * 1_000_000_000).div_ceil(u128::from(self.bits_per_second));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

/// The queue and the packet on the link.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    setting: Rate,
    waiting: Waiting,
    /// The packet on the link and when its last bit has left.
    sending: Option<(Duration, Datagram)>,
}

impl Bottleneck {
    fn start(&mut self, now: Duration, datagram: Datagram) {
        let done = now + self.setting.sending_time(datagram.packet_len());
        self.sending = Some((done, datagram));
    }
}

impl Stage for Bottleneck {
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet) {
        if self.sending.is_none() {
            self.start(now, datagram);
        } else {
            self.waiting.push(now, datagram, outlet);
        }
    }

    fn release(&mut self, now: Duration, outlet: &mut Outlet) {
        let Some((_, sent)) = self.sending.take_if(|(done, _)| *done <= now) else {
            return;
        };
        outlet.pass(sent);
        if let Some(next) = self.waiting.pop(now, outlet) {
            self.start(now, next);
        }
    }

    fn next_due(&self) -> Option<Duration> {
        self.sending.as_ref().map(|(done, _)| *done)
    }

    /// The packet on the link leaves as it would have; those waiting leave at the new rate. A
    /// smaller queue keeps what it holds.
    fn change(&mut self, _now: Duration, to: &Impairment) -> bool {
        let Impairment::Rate(setting) = to else {
            return false;
        };
        self.setting = *setting;
        self.waiting.change(setting.queue);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impairment::LossCause;
    use crate::testing::Bench;
    use crate::units::ms;

    /// With its headers a packet of 1000 bytes, which is 10 ms at 800 kbit/s.
    const LEN: usize = 1000 - 28;

    #[test]
    fn packets_leave_one_sending_time_apart() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::Endless));
        bench.send_many(5, ms(0), LEN);
        assert_eq!(bench.arrivals(), [ms(10), ms(20), ms(30), ms(40), ms(50)]);
    }

    #[test]
    fn an_idle_link_gains_no_credit() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::Endless));
        bench.send_at(ms(0), LEN);
        bench.send_at(ms(100), LEN);
        bench.send_at(ms(100), LEN);
        assert_eq!(bench.arrivals(), [ms(10), ms(110), ms(120)]);
    }

    #[test]
    fn of_a_burst_the_one_being_sent_and_a_full_queue_survive() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::datagrams(24)));
        bench.send_many(34, ms(0), LEN);
        assert_eq!(bench.order(), (0..25).collect::<Vec<_>>());
        assert_eq!(bench.losses(), [LossCause::QueueFull; 9]);
    }

    #[test]
    fn a_queue_in_bytes_counts_headers() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::bytes(2999)));
        bench.send_many(5, ms(0), LEN);
        assert_eq!(bench.order(), [0, 1, 2]);
    }

    #[test]
    fn a_queue_in_bytes_gets_room_back_when_a_packet_leaves_it() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::bytes(1000)));
        for at in [0, 0, 10, 20, 30] {
            bench.send_at(ms(at), LEN);
        }
        assert_eq!(bench.order(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_packet_that_leaves_makes_room_for_one_that_comes_at_that_instant() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::datagrams(1)));
        for at in [0, 0, 10, 20, 30] {
            bench.send_at(ms(at), LEN);
        }
        assert_eq!(bench.order(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn overload_passes_exactly_the_rate() {
        // Twice the rate for 10 s: half arrives, and the delay of those is that of a full queue.
        let mut bench = Bench::of(Rate::kbit(800, Queue::datagrams(10)));
        bench.send_many(2000, ms(5), LEN);
        let arrivals = bench.arrivals();
        let within = arrivals.iter().filter(|&&at| at <= ms(10_000)).count();
        assert_eq!(within, 1000);
        let last = bench.delays().pop();
        assert!(
            last.is_some_and(|delay| delay > ms(95) && delay <= ms(110)),
            "{last:?}"
        );
    }

    #[test]
    fn a_new_rate_counts_from_the_next_packet() {
        let mut bench = Bench::of(Rate::kbit(800, Queue::Endless));
        bench.send_many(3, ms(0), LEN);
        bench.change_at(ms(5), Rate::kbit(8000, Queue::Endless));
        assert_eq!(bench.arrivals(), [ms(10), ms(11), ms(12)]);
    }
}
