//! The start, in which it is found out how fast the path is.

use std::time::{Duration, Instant};

use super::delivery_rate::RateSample;

/// How long the acknowledgements of a flight take at least, when they show how fast the path is. They
/// leave at most once in a millisecond.
const SPREAD_MIN: Duration = Duration::from_millis(4);

/// What is a pause between two flights: acknowledgements of one come closer together.
const PAUSE: Duration = SPREAD_MIN;

/// How much longer than its sending that must be: else it was the sending that took so long.
const SPREAD_SHARE: u32 = 2;

/// The least bytes of it after the first acknowledgement.
const TRAILING_MIN: u64 = 8 * 1200;

/// What part of a flight is acknowledged when it is over.
const OVER_SHARE: f64 = 0.9;

/// What a flight is that is much too short to show a pace: all of it comes within that.
const CLOSE: Duration = Duration::from_millis(1);

/// How the window grows in a round trip: while flights are much too short to show a pace, and a little; with
/// a pace, up to the share of the product that is sure, beyond that while the pace may be right, and when
/// it is not.
const PROBING_FAR: f64 = 8.0;
const PROBING: f64 = 3.0;
const SURE: f64 = 8.0;
const NEAR: f64 = 1.5;
const DOUBLING: f64 = 2.0;

/// Up to which products the pace is sure, and may be right.
const SURE_PRODUCTS: f64 = 0.9;
const NEAR_PRODUCTS: f64 = 2.0;

/// How much longer round trips may be than the shortest before the start ends: a share of it within
/// bounds, and so many in a row. Source of the bounds: RFC 9406 §4.2.
const RISE: f64 = 0.125;
const RISE_MIN: Duration = Duration::from_millis(4);
const RISE_MAX: Duration = Duration::from_millis(16);
const RISES: u32 = 8;

/// How many round trips they last at least: a host that is busy is late with all
/// that it answers at once.
const RISES_SHARE: f64 = 0.25;

/// How much the rate grows in two rounds if the path is not full.
const GROWTH: f64 = 1.25;

/// What has been found out so far.
#[derive(Clone)]
pub(super) struct Startup {
    /// What leaves now, and what left before, which is being acknowledged.
    flight: Flight,
    before: Flight,
    /// Flights leave at once: they show how fast the path is, when they are long enough.
    is_probing: bool,
    /// Bytes per second.
    pace: Option<f64>,
    /// Long round trips in a row, and when there were none.
    rises: u32,
    rose: Instant,
    /// Rounds without growth.
    plateau: u32,
}

/// What leaves without a pause, and how it arrives.
#[derive(Clone)]
struct Flight {
    from: Instant,
    to: Instant,
    /// When the first of it was acknowledged, and the last; bytes that were later than the first.
    first: Option<Instant>,
    last: Instant,
    trailing: u64,
    /// Bytes of it in all, and that were acknowledged.
    sent: u64,
    acknowledged: u64,
}

impl Flight {
    fn from(now: Instant) -> Flight {
        Flight {
            from: now,
            to: now,
            first: None,
            last: now,
            trailing: 0,
            sent: 0,
            acknowledged: 0,
        }
    }

    fn acknowledged(&mut self, now: Instant, bytes: u64) {
        self.acknowledged = self.acknowledged.saturating_add(bytes);
        let first = *self.first.get_or_insert(now);
        if now > first {
            self.trailing = self.trailing.saturating_add(bytes);
            self.last = now;
        }
    }

    /// Whether nearly all of it was acknowledged. Some is lost, and acknowledgements are not
    /// acknowledged.
    fn is_over(&self) -> bool {
        self.acknowledged as f64 >= self.sent as f64 * OVER_SHARE
    }

    fn sending(&self) -> Duration {
        self.to.saturating_duration_since(self.from)
    }

    /// How long its acknowledgements have taken so far.
    fn spread(&self) -> Duration {
        let first = self.first.unwrap_or(self.last);
        self.last.saturating_duration_since(first)
    }

    /// Bytes per second at which the path let it through, if it was longer in arriving than in leaving.
    fn pace(&self) -> Option<f64> {
        let spread = self.spread();
        let least = SPREAD_MIN.max(self.sending() * SPREAD_SHARE);
        let is_seen = spread >= least && self.trailing >= TRAILING_MIN;
        is_seen.then(|| self.trailing as f64 / spread.as_secs_f64())
    }
}

impl Startup {
    pub(super) fn from(now: Instant) -> Startup {
        Startup {
            flight: Flight::from(now),
            before: Flight::from(now),
            is_probing: true,
            pace: None,
            rises: 0,
            rose: now,
            plateau: 0,
        }
    }

    /// Whether all that there is room for is to leave at once.
    pub(super) fn is_probing(&self) -> bool {
        self.is_probing
    }

    pub(super) fn sent(&mut self, now: Instant, bytes: u64) {
        if !self.is_probing {
            return;
        }
        // What is acknowledged makes room for the next flight, bit by bit.
        let is_answer = self.flight.first.is_some();
        let is_paused = now.saturating_duration_since(self.flight.to) >= PAUSE;
        if is_answer || is_paused && self.before.is_over() {
            self.before = std::mem::replace(&mut self.flight, Flight::from(now));
        }
        self.flight.to = now;
        self.flight.sent = self.flight.sent.saturating_add(bytes);
    }

    pub(super) fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let flight = match sent >= self.flight.from {
            true => &mut self.flight,
            false => &mut self.before,
        };
        if sent < flight.from || sent > flight.to {
            return;
        }
        flight.acknowledged(now, bytes);
        let pace = flight.pace();
        if pace.is_some() {
            self.pace = pace;
        }
        // What takes long to leave says only that the path is as fast as we are.
        let is_slow = flight.is_over() && flight.sending() >= SPREAD_MIN;
        self.is_probing &= pace.is_none() && !is_slow;
    }

    /// The flight that is being acknowledged.
    fn answered(&self) -> &Flight {
        match self.flight.first {
            Some(_) => &self.flight,
            None => &self.before,
        }
    }

    /// Returns the window when so many bytes more have arrived.
    pub(super) fn grown(&self, window: f64, rtt: Duration, acknowledged: u64) -> f64 {
        let grown = |times: f64| window + (times - 1.0) * acknowledged as f64;
        if self.is_probing {
            let is_close = self.answered().spread() <= CLOSE;
            return grown(if is_close { PROBING_FAR } else { PROBING });
        }
        if self.rises > 0 {
            return window;
        }
        let product = self.pace.map(|pace| pace * rtt.as_secs_f64());
        match product {
            Some(product) if window < product * SURE_PRODUCTS => {
                let sure = grown(SURE).min(product * SURE_PRODUCTS);
                sure.max(grown(NEAR))
            }
            Some(product) if window < product * NEAR_PRODUCTS => grown(NEAR),
            _ => grown(DOUBLING),
        }
    }

    /// Ends a round; returns whether the rate that is reached does not grow any more, and so is the path's.
    pub(super) fn end_round(&mut self, rate: f64, before: f64) -> bool {
        self.plateau = match rate > before * GROWTH {
            true => 0,
            false => self.plateau + 1,
        };
        self.plateau >= 2
    }

    /// Learns of a round trip; returns whether they have been long for so long that the path is full.
    pub(super) fn is_full(
        &mut self,
        now: Instant,
        sample: &RateSample,
        shortest: Duration,
    ) -> bool {
        let rise = shortest.mul_f64(RISE).clamp(RISE_MIN, RISE_MAX);
        if self.is_probing || sample.rtt <= shortest + rise {
            (self.rises, self.rose) = (0, now);
            return false;
        }
        self.rises += 1;
        let lasts = now.saturating_duration_since(self.rose);
        self.rises >= RISES && lasts >= shortest.mul_f64(RISES_SHARE)
    }
}
