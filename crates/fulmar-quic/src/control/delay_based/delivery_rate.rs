//! Delivery rate: samples of rate, round trip and bytes in flight, and the rate of the bottleneck from packet trains.
//!
//! A delivery rate sample counts what was delivered while a packet was in flight (draft-cheng-iccrg-delivery-rate-estimation-02);
//! it says what we get. A packet train that left at one instant arrives at the rate of the slowest link, whoever else uses
//! that before and after it (packet dispersion: Dovrolis, Ramanathan and Moore, INFOCOM 2001); it says what there is.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many trains are remembered at most. The largest window, 512 MiB, is 44 740 trains of ten datagrams of 1200 bytes, which
/// is what the pacer sends at least.
///
/// Source of that window: docs/threat-model.md §6.
const TRAINS_MAX: usize = 1 << 16;

/// A rate is taken of trains with so many bytes after their first acknowledgement: eight packets. Chosen by eye.
const TRAIN_BYTES_MIN: u64 = 8 * 1200;

/// A rate is taken of trains whose acknowledgements take so long.
///
/// Chosen by eye: acknowledgements leave at most once in a millisecond (`connection/pacer.rs`), so less is mostly rounding.
const DISPERSION_MIN: Duration = Duration::from_millis(4);

/// The bottleneck rate is the median of so many trains. Chosen by eye: others' packets between two of ours, and hosts that are
/// late, make some of them too slow.
const TRAIN_RATES: usize = 15;

/// Packets that left at one instant: what was known then, and how they arrived.
#[derive(Clone, Copy)]
struct Train {
    sent: Instant,
    /// Bytes that had been delivered, and when the last of them were.
    delivered: u64,
    delivered_at: Instant,
    /// The departure of the packet that was delivered last.
    last_sent: Instant,
    /// Bytes in flight, this train with them.
    in_flight: u64,
    /// Bytes of it that were acknowledged, when the first and the last of them were, and bytes that were
    /// later than the first.
    acknowledged: u64,
    first_acknowledged: Option<Instant>,
    last_acknowledged: Instant,
    trailing: u64,
}

impl Train {
    fn on_ack(&mut self, now: Instant, bytes: u64) {
        let first = *self.first_acknowledged.get_or_insert(now);
        self.acknowledged = self.acknowledged.saturating_add(bytes);
        if now > first {
            self.trailing = self.trailing.saturating_add(bytes);
            self.last_acknowledged = now;
        }
    }

    /// Returns the bytes per second at which the train arrived, if it was long enough to tell; infinity if it took too
    /// little time to tell how much.
    fn dispersion_rate(&self) -> Option<f64> {
        let first = self.first_acknowledged?;
        let dispersion = self.last_acknowledged.saturating_duration_since(first);
        if dispersion < DISPERSION_MIN {
            return (self.acknowledged >= TRAIN_BYTES_MIN).then_some(f64::INFINITY);
        }
        (self.trailing >= TRAIN_BYTES_MIN).then(|| self.trailing as f64 / dispersion.as_secs_f64())
    }
}

/// A rate sample: what an acknowledgement tells of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    /// Bytes per second that were delivered while the packet was in flight.
    pub(super) rate: f64,
    /// Its round trip time.
    pub(super) rtt: Duration,
    /// Bytes in flight when it left.
    pub(super) in_flight: u64,
    /// The time at which it left.
    pub(super) sent: Instant,
}

/// Estimates delivery rates, as draft-cheng-iccrg-delivery-rate-estimation-02 §2 has it.
#[derive(Clone)]
pub(super) struct DeliveryRate {
    trains: VecDeque<Train>,
    delivered: u64,
    delivered_at: Instant,
    last_sent: Instant,
    pub(super) in_flight: u64,
    newest: Option<Train>,
    /// Rates of the last trains that were long enough.
    train_rates: VecDeque<f64>,
}

impl DeliveryRate {
    pub(super) fn new(now: Instant) -> DeliveryRate {
        DeliveryRate {
            trains: VecDeque::new(),
            delivered: 0,
            delivered_at: now,
            last_sent: now,
            in_flight: 0,
            newest: None,
            train_rates: VecDeque::with_capacity(TRAIN_RATES),
        }
    }

    pub(super) fn on_sent(&mut self, now: Instant, bytes: u64) {
        // After a pause the interval begins here, or the pause would count as slow delivery
        // (SendPacket() of the draft).
        if self.in_flight == 0 {
            (self.delivered_at, self.last_sent) = (now, now);
        }
        self.in_flight = self.in_flight.saturating_add(bytes);
        // Packets of one burst have the same time, so they are one train.
        if let Some(last) = self.trains.back_mut().filter(|last| last.sent == now) {
            last.in_flight = self.in_flight;
            return;
        }
        if self.trains.len() == TRAINS_MAX {
            self.trains.pop_front();
        }
        self.trains.push_back(Train {
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

    pub(super) fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
        while let Some(train) = self.trains.front_mut().filter(|train| train.sent <= sent) {
            if train.sent == sent {
                train.on_ack(now, bytes);
                self.newest = Some(*train);
                return;
            }
            // A later train is being acknowledged. What is missing of this one is lost, or too late
            // to measure anything.
            self.train_rates.extend(train.dispersion_rate());
            self.trains.pop_front();
        }
        while self.train_rates.len() > TRAIN_RATES {
            self.train_rates.pop_front();
        }
    }

    /// Returns the bytes per second of the bottleneck: the median of the last trains' dispersion rates; `None` if it is too
    /// fast to be seen.
    pub(super) fn bottleneck_rate(&self) -> Option<f64> {
        // Trains that were too short to tell are infinitely fast here. Where most are, the
        // bottleneck cannot be seen.
        let mut rates: Vec<f64> = self.train_rates.iter().copied().collect();
        let middle = rates.len() / 2;
        let (_, bottleneck_rate, _) =
            (middle < rates.len()).then(|| rates.select_nth_unstable_by(middle, f64::total_cmp))?;
        bottleneck_rate.is_finite().then_some(*bottleneck_rate)
    }

    /// Ends a batch of acknowledgements; returns the sample of the newest packet in it.
    pub(super) fn take_sample(&mut self, now: Instant, in_flight: u64) -> Option<RateSample> {
        self.in_flight = in_flight;
        self.delivered_at = now;
        let train = self.newest.take()?;
        self.last_sent = self.last_sent.max(train.sent);
        // The slower of sending and arriving: acknowledgements may come in bunches, which would make too high a rate.
        let sending = train.sent.saturating_duration_since(train.last_sent);
        let arriving = now.saturating_duration_since(train.delivered_at);
        let interval = sending.max(arriving).as_secs_f64();
        let delivered = self.delivered - train.delivered;
        let rate = if interval > 0.0 {
            delivered as f64 / interval
        } else {
            0.0
        };
        Some(RateSample {
            rate,
            rtt: now.saturating_duration_since(train.sent),
            in_flight: train.in_flight,
            sent: train.sent,
        })
    }
}

/// Filters the largest of the values of the last rounds, as BBR.MaxBwFilter.
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

    pub(super) fn update(&mut self, value: f64) {
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

    /// Returns the largest without this round and the last.
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
    fn send_train(delivery: &mut DeliveryRate, now: Instant, packets: u32) {
        for _ in 0..packets {
            delivery.on_sent(now, PACKET);
        }
        for pair in 0..packets / 2 {
            let at = now + Duration::from_millis(40) + pair * Duration::from_millis(2);
            delivery.on_ack(at, now, PACKET);
            delivery.on_ack(at, now, PACKET);
        }
    }

    #[test]
    fn a_train_shows_the_rate_of_the_bottleneck() {
        let now = origin();
        let mut delivery = DeliveryRate::new(now);
        assert_eq!(delivery.bottleneck_rate(), None);
        send_train(&mut delivery, now, 8);
        assert_eq!(
            delivery.bottleneck_rate(),
            None,
            "six packets after the first pair"
        );
        send_train(&mut delivery, now + Duration::from_millis(100), 10);
        assert_eq!(delivery.bottleneck_rate(), None, "there may be more of it");
        send_train(&mut delivery, now + Duration::from_millis(200), 2);
        // 2400 bytes in 2 ms.
        assert_eq!(delivery.bottleneck_rate(), Some(1.2e6));
    }

    #[test]
    fn a_sample_is_the_slower_of_sending_and_arriving() {
        let now = origin();
        let mut delivery = DeliveryRate::new(now);
        let later = now + Duration::from_millis(10);
        delivery.on_sent(now, PACKET);
        delivery.on_sent(later, PACKET);
        let end = now + Duration::from_millis(40);
        // Both arrive at once: it took 10 ms to send them, and 40 until they came.
        delivery.on_ack(end, now, PACKET);
        delivery.on_ack(end, later, PACKET);
        let sample = delivery.take_sample(end, 0).unwrap();
        assert_eq!(sample.rtt, Duration::from_millis(30));
        assert_eq!(sample.rate, (2 * PACKET) as f64 / 0.04);
        assert_eq!(sample.in_flight, 2 * PACKET);
        assert!(delivery.take_sample(end, 0).is_none(), "each is told once");
    }

    #[test]
    fn a_maximum_is_forgotten_after_its_rounds() {
        let mut filter = MaxFilter::default();
        filter.update(7.0);
        for _ in 0..2 {
            filter.next_round(3);
            filter.update(1.0);
        }
        assert_eq!((filter.get(), filter.before_last()), (7.0, 7.0));
        filter.next_round(3);
        assert_eq!(filter.get(), 1.0);
    }
}
