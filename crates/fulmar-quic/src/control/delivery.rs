//! How fast the path delivers: samples of rate, round trip and amount under way.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most batches that are remembered: more than are under way on any path that we serve.
const BATCHES_MAX: usize = 1 << 16;

/// What was known when a batch of packets left.
#[derive(Clone, Copy)]
struct Batch {
    sent: Instant,
    /// Bytes that had been delivered, and when the last of them were.
    delivered: u64,
    delivered_at: Instant,
    /// When the packet left whose delivery was the last.
    last_sent: Instant,
    /// Bytes under way, this batch with them.
    in_flight: u64,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Bytes per second that were delivered while the packet was under way.
    pub(super) rate: f64,
    /// How long it was.
    pub(super) rtt: Duration,
    /// Bytes under way when it left.
    pub(super) in_flight: u64,
    /// When it left.
    pub(super) sent: Instant,
}

/// Counts what is delivered.
///
/// Source of the method: IETF draft-cheng-iccrg-delivery-rate-estimation-02 §2.
#[derive(Clone)]
pub(super) struct Delivery {
    batches: VecDeque<Batch>,
    delivered: u64,
    delivered_at: Instant,
    last_sent: Instant,
    pub(super) in_flight: u64,
    newest: Option<Batch>,
}

impl Delivery {
    pub(super) fn from(now: Instant) -> Delivery {
        Delivery {
            batches: VecDeque::new(),
            delivered: 0,
            delivered_at: now,
            last_sent: now,
            in_flight: 0,
            newest: None,
        }
    }

    pub(super) fn sent(&mut self, now: Instant, bytes: u64) {
        if self.in_flight == 0 {
            (self.delivered_at, self.last_sent) = (now, now);
        }
        self.in_flight = self.in_flight.saturating_add(bytes);
        if self.batches.len() == BATCHES_MAX {
            self.batches.pop_front();
        }
        self.batches.push_back(Batch {
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            last_sent: self.last_sent,
            in_flight: self.in_flight,
        });
    }

    pub(super) fn acknowledged(&mut self, sent: Instant, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
        while let Some(batch) = self.batches.front().filter(|batch| batch.sent <= sent) {
            if batch.sent == sent {
                self.newest = Some(*batch);
                return;
            }
            self.batches.pop_front();
        }
    }

    /// Ends a batch of acknowledgements.
    pub(super) fn sample(&mut self, now: Instant, in_flight: u64) -> Option<Sample> {
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
        Some(Sample {
            rate,
            rtt: now.saturating_duration_since(batch.sent),
            in_flight: batch.in_flight,
            sent: batch.sent,
        })
    }
}

/// The largest of the values of the last rounds.
#[derive(Clone, Default)]
pub(super) struct Peak {
    rounds: VecDeque<f64>,
}

impl Peak {
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
