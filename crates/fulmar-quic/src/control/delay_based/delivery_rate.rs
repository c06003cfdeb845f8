//! DeliveryRate rate: samples of rate, round trip and bytes in flight, and the rate of the bottleneck from packet trains.
//!
//! A delivery rate sample counts what was delivered while a packet was in flight (draft-cheng-iccrg-delivery-rate-estimation-02);
//! it says what we get. A packet train that left at one instant arrives at the rate of the slowest link, whoever else uses
//! that before and after it (packet dispersion: Dovrolis, Ramanathan and Moore, INFOCOM 2001); it says what there is.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most batches that are remembered: more than are under way on any path that we serve.
const BATCHES_MAX: usize = 1 << 16;

/// A rate is taken of trains with so many bytes after their first acknowledgement: eight packets. Chosen by eye.
const TRAIN_BYTES: u64 = 8 * 1200;

/// The least time that they take. Acknowledgements leave at most once in a millisecond: of what takes
/// less it cannot be told how long it took.
const TRAIN_SPREAD: Duration = Duration::from_millis(4);

/// How many batches a path's pace is the middle of.
const TRAINS: usize = 15;

/// Packets that left at one instant: what was known then, and how they arrived.
#[derive(Clone, Copy)]
struct Batch {
    sent: Instant,
    /// Bytes that had been delivered, and when the last of them were.
    delivered: u64,
    delivered_at: Instant,
    /// The departure of the packet that was delivered last.
    last_sent: Instant,
    /// Bytes under way, this batch with them.
    in_flight: u64,
    /// Bytes of it that were acknowledged, when the first and the last of them were, and bytes that were
    /// later than the first.
    acknowledged: u64,
    first_acknowledged: Option<Instant>,
    last_acknowledged: Instant,
    trailing: u64,
}

impl Batch {
    fn acknowledged(&mut self, now: Instant, bytes: u64) {
        let first = *self.first_acknowledged.get_or_insert(now);
        self.acknowledged = self.acknowledged.saturating_add(bytes);
        if now > first {
            self.trailing = self.trailing.saturating_add(bytes);
            self.last_acknowledged = now;
        }
    }

    /// Bytes per second at which the path let the batch through, if it was long enough to tell; without
    /// end if that took too little time to tell how long.
    fn rate(&self) -> Option<f64> {
        let first = self.first_acknowledged?;
        let spread = self.last_acknowledged.saturating_duration_since(first);
        if spread < TRAIN_SPREAD {
            return (self.acknowledged >= TRAIN_BYTES).then_some(f64::INFINITY);
        }
        (self.trailing >= TRAIN_BYTES).then(|| self.trailing as f64 / spread.as_secs_f64())
    }
}

/// A rate sample: what an acknowledgement tells of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// Bytes per second that were delivered while the packet was under way.
    pub(super) rate: f64,
    /// Its round trip time.
    pub(super) rtt: Duration,
    /// Bytes under way when it left.
    pub(super) in_flight: u64,
    /// The time at which it left.
    pub(super) sent: Instant,
}

/// Estimates delivery rates, as draft-cheng-iccrg-delivery-rate-estimation-02 §2 has it.
#[derive(Clone)]
pub(super) struct DeliveryRate {
    batches: VecDeque<Batch>,
    delivered: u64,
    delivered_at: Instant,
    last_sent: Instant,
    pub(super) in_flight: u64,
    newest: Option<Batch>,
    /// Rates of the last batches that were long enough.
    trains: VecDeque<f64>,
}

impl DeliveryRate {
    pub(super) fn from(now: Instant) -> DeliveryRate {
        DeliveryRate {
            batches: VecDeque::new(),
            delivered: 0,
            delivered_at: now,
            last_sent: now,
            in_flight: 0,
            newest: None,
            trains: VecDeque::with_capacity(TRAINS),
        }
    }

    pub(super) fn sent(&mut self, now: Instant, bytes: u64) {
        if self.in_flight == 0 {
            (self.delivered_at, self.last_sent) = (now, now);
        }
        self.in_flight = self.in_flight.saturating_add(bytes);
        if let Some(last) = self.batches.back_mut().filter(|last| last.sent == now) {
            last.in_flight = self.in_flight;
            return;
        }
        if self.batches.len() == BATCHES_MAX {
            self.batches.pop_front();
        }
        self.batches.push_back(Batch {
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            last_sent: self.last_sent,
            in_flight: self.in_flight,
            acknowledged: 0,
            first_acknowledged: None,
            last_acknowledged: now,
            trailing: 0,
        });
    }

    pub(super) fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
        while let Some(batch) = self.batches.front_mut().filter(|batch| batch.sent <= sent) {
            if batch.sent == sent {
                batch.acknowledged(now, bytes);
                self.newest = Some(*batch);
                return;
            }
            self.trains.extend(batch.rate());
            self.batches.pop_front();
        }
        while self.trains.len() > TRAINS {
            self.trains.pop_front();
        }
    }

    /// Bytes per second at which the path lets through what leaves at one instant: the middle one of
    /// those seen lately. What leaves at one instant arrives at the pace of the slowest link, whoever
    /// else uses it before and after. `None` if it is too fast to be seen.
    pub(super) fn pace(&self) -> Option<f64> {
        let mut rates: Vec<f64> = self.trains.iter().copied().collect();
        let middle = rates.len() / 2;
        let (_, pace, _) =
            (middle < rates.len()).then(|| rates.select_nth_unstable_by(middle, f64::total_cmp))?;
        pace.is_finite().then_some(*pace)
    }

    /// Ends a batch of acknowledgements.
    pub(super) fn sample(&mut self, now: Instant, in_flight: u64) -> Option<RateSample> {
        self.in_flight = in_flight;
        self.delivered_at = now;
        let batch = self.newest.take()?;
        self.last_sent = self.last_sent.max(batch.sent);
        // The slower of sending and arriving: acknowledgements may come in bunches.
        let sending = batch.sent.saturating_duration_since(batch.last_sent);
        let arriving = now.saturating_duration_since(batch.delivered_at);
        let interval = sending.max(arriving).as_secs_f64();
        let delivered = self.delivered - batch.delivered;
        let rate = if interval > 0.0 {
            delivered as f64 / interval
        } else {
            0.0
        };
        Some(RateSample {
            rate,
            rtt: now.saturating_duration_since(batch.sent),
            in_flight: batch.in_flight,
            sent: batch.sent,
        })
    }
}

/// The largest of the values of the last rounds.
#[derive(Clone, Default)]
pub(super) struct MaxFilter {
    rounds: VecDeque<f64>,
}

impl MaxFilter {
    /// Begins a new round and forgets those before the last `count`.
    pub(super) fn next_round(&mut self, count: usize) {
        self.rounds.push_back(0.0);
        while self.rounds.len() > count {
            self.rounds.pop_front();
        }
    }

    pub(super) fn add(&mut self, value: f64) {
        if self.rounds.is_empty() {
            self.rounds.push_back(0.0);
        }
        if let Some(last) = self.rounds.back_mut() {
            *last = last.max(value);
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }

    /// The largest without this round and the last.
    pub(super) fn before_last(&self) -> f64 {
        let before = self.rounds.iter().rev().skip(2);
        before.copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1200;

    fn origin() -> Instant {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        Instant::now()
    }

    /// Sends packets at one instant and has them acknowledged in pairs, a pair each 2 ms after 40 ms.
    fn burst(delivery: &mut DeliveryRate, now: Instant, packets: u32) {
        for _ in 0..packets {
            delivery.sent(now, PACKET);
        }
        for pair in 0..packets / 2 {
            let at = now + Duration::from_millis(40) + pair * Duration::from_millis(2);
            delivery.acknowledged(at, now, PACKET);
            delivery.acknowledged(at, now, PACKET);
        }
    }

    #[test]
    fn a_burst_shows_the_pace_of_the_path() {
        let now = origin();
        let mut delivery = DeliveryRate::from(now);
        assert_eq!(delivery.pace(), None);
        burst(&mut delivery, now, 8);
        assert_eq!(delivery.pace(), None, "six packets after the first pair");
        burst(&mut delivery, now + Duration::from_millis(100), 10);
        assert_eq!(delivery.pace(), None, "there may be more of it");
        burst(&mut delivery, now + Duration::from_millis(200), 2);
        // 2400 bytes in 2 ms.
        assert_eq!(delivery.pace(), Some(1.2e6));
    }

    #[test]
    fn a_sample_is_the_slower_of_sending_and_arriving() {
        let now = origin();
        let mut delivery = DeliveryRate::from(now);
        let later = now + Duration::from_millis(10);
        delivery.sent(now, PACKET);
        delivery.sent(later, PACKET);
        let end = now + Duration::from_millis(40);
        // Both arrive at once: it took 10 ms to send them, and 40 until they came.
        delivery.acknowledged(end, now, PACKET);
        delivery.acknowledged(end, later, PACKET);
        let sample = delivery.sample(end, 0).unwrap();
        assert_eq!(sample.rtt, Duration::from_millis(30));
        assert_eq!(sample.rate, (2 * PACKET) as f64 / 0.04);
        assert_eq!(sample.in_flight, 2 * PACKET);
        assert!(delivery.sample(end, 0).is_none(), "each is told once");
    }

    #[test]
    fn a_peak_is_forgotten_after_its_rounds() {
        let mut peak = MaxFilter::default();
        peak.add(7.0);
        for _ in 0..2 {
            peak.next_round(3);
            peak.add(1.0);
        }
        assert_eq!((peak.get(), peak.before_last()), (7.0, 7.0));
        peak.next_round(3);
        assert_eq!(peak.get(), 1.0);
    }
}
