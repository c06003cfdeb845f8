//! Startup: the window grows until the path is full.
//!
//! BBR's Startup and slow start double in each round trip. Here what the window has room for leaves at once, unpaced, as a
//! flight, and the slowest link spreads it: its dispersion shows the rate of the bottleneck, and so the BDP, after two or
//! three round trips. From there on packets are paced, and the window goes to nearly a BDP at once. It ends as HyStart++
//! (RFC 9406) has it, when round trips rise, or as BBR's Startup, when the rate does not grow.

use std::time::{Duration, Instant};

use super::delivery_rate::RateSample;

/// A flight shows the bottleneck rate if its acknowledgements take so long.
///
/// Chosen by eye: acknowledgements leave at most once in a millisecond (`connection/pacer.rs`), so less is mostly rounding.
const DISPERSION_MIN: Duration = Duration::from_millis(4);

/// A pause of so long is between two flights: acknowledgements of one come closer together. Chosen by eye.
const FLIGHT_GAP: Duration = DISPERSION_MIN;

/// It shows it if they take so many times as long as sending it did: else it was the sending that took so long. Chosen by eye.
const DISPERSION_RATIO_MIN: u32 = 2;

/// It shows it by so many bytes after the first acknowledgement: eight packets. Chosen by eye.
const TRAILING_BYTES_MIN: u64 = 8 * 1200;

/// A flight is over when this part of it is acknowledged. Chosen by eye.
const ACKED_SHARE: f64 = 0.9;

/// A flight whose acknowledgements come within this is much too short to show the rate. Chosen by eye: it is the time
/// between two acknowledgements.
const DISPERSION_TINY: Duration = Duration::from_millis(1);

/// The window grows so many times in a round trip while flights are much too short, and a little too short, to show the rate.
///
/// Eight times a flight of a millisecond, or three times one of less than four, keeps the path busy for 8 or 12 ms, which
/// is what a key beside it waits. Measured with `--example table`: without the larger one, paths above 300 Mbit/s take one
/// round trip more (docs/decisions/025-congestion-control.md).
const FLIGHT_GAIN_TINY: f64 = 8.0;
const FLIGHT_GAIN: f64 = 3.0;

/// With a known bottleneck rate the window grows so many times in a round trip below about a BDP, as the rate is sure; by half
/// near it, as it may be right; and doubles beyond, as it was too low. Chosen by eye, but for the last: slow start
/// (RFC 9002 §7.3.1).
const BELOW_BDP_GAIN: f64 = 8.0;
const NEAR_BDP_GAIN: f64 = 1.5;
const SLOW_START_GAIN: f64 = 2.0;

/// Up to so many BDP the window is below it, and near it. Chosen by eye.
const BELOW_BDP_MAX: f64 = 0.9;
const NEAR_BDP_MAX: f64 = 2.0;

/// Round trips have risen when they are longer than the shortest by this share, within bounds, so many times in a row.
/// Source of all four: RFC 9406 §4.2 and §4.3.
const RTT_THRESH_SHARE: f64 = 0.125;
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const N_RTT_SAMPLE: u32 = 8;

/// They must stay so for this part of a round trip: a host that is busy is late with all that it answers at once.
///
/// Chosen by eye; `--example table -- delay busy` shows what such hosts carry in the first two seconds.
const RISE_DURATION: f64 = 0.25;

/// The path is full if the rate grows by less than this in so many rounds. BBR has the same growth (draft-ietf-ccwg-bbr,
/// "Exiting Startup Based on Bandwidth Plateau") and three rounds; two were chosen by eye.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 2;

/// Grows the window and finds when the path is full.
#[derive(Clone)]
pub(super) struct Startup {
    /// The flight that leaves now, and the one that left before and is being acknowledged.
    flight: Flight,
    previous: Flight,
    /// Flights leave at once, for none was long enough yet to show the rate.
    is_unpaced: bool,
    /// Bytes per second.
    bottleneck_rate: Option<f64>,
    /// Long round trips in a row, and when there were none.
    rtt_rises: u32,
    last_low_rtt: Instant,
    /// Rounds without growth.
    plateau_rounds: u32,
}

/// Packets that leave without a pause (the flight of RFC 5681), and how they arrive.
#[derive(Clone)]
struct Flight {
    from: Instant,
    to: Instant,
    /// The times at which the first and the last of it were acknowledged; the bytes that were later than the first.
    first: Option<Instant>,
    last: Instant,
    trailing: u64,
    /// Bytes of it in all, and that were acknowledged.
    sent: u64,
    acknowledged: u64,
}

impl Flight {
    fn new(now: Instant) -> Flight {
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

    fn on_ack(&mut self, now: Instant, bytes: u64) {
        self.acknowledged = self.acknowledged.saturating_add(bytes);
        let first = *self.first.get_or_insert(now);
        if now > first {
            self.trailing = self.trailing.saturating_add(bytes);
            self.last = now;
        }
    }

    /// Returns whether nearly all of it was acknowledged. Some is lost, and acknowledgements are not acknowledged.
    fn is_acked(&self) -> bool {
        self.acknowledged as f64 >= self.sent as f64 * ACKED_SHARE
    }

    fn send_duration(&self) -> Duration {
        self.to.saturating_duration_since(self.from)
    }

    /// Returns how long its acknowledgements have taken so far.
    fn dispersion(&self) -> Duration {
        let first = self.first.unwrap_or(self.last);
        self.last.saturating_duration_since(first)
    }

    /// Returns the bytes per second at which the path let it through, if it took longer to arrive than to leave.
    fn bottleneck_rate(&self) -> Option<f64> {
        let dispersion = self.dispersion();
        let least = DISPERSION_MIN.max(self.send_duration() * DISPERSION_RATIO_MIN);
        let is_seen = dispersion >= least && self.trailing >= TRAILING_BYTES_MIN;
        is_seen.then(|| self.trailing as f64 / dispersion.as_secs_f64())
    }
}

impl Startup {
    pub(super) fn new(now: Instant) -> Startup {
        Startup {
            flight: Flight::new(now),
            previous: Flight::new(now),
            is_unpaced: true,
            bottleneck_rate: None,
            rtt_rises: 0,
            last_low_rtt: now,
            plateau_rounds: 0,
        }
    }

    /// Returns whether the window leaves at once, unpaced.
    pub(super) fn is_unpaced(&self) -> bool {
        self.is_unpaced
    }

    pub(super) fn on_sent(&mut self, now: Instant, bytes: u64) {
        if !self.is_unpaced {
            return;
        }
        // What is acknowledged makes room for the next flight, bit by bit.
        let is_answer = self.flight.first.is_some();
        let is_paused = now.saturating_duration_since(self.flight.to) >= FLIGHT_GAP;
        if is_answer || is_paused && self.previous.is_acked() {
            self.previous = std::mem::replace(&mut self.flight, Flight::new(now));
        }
        self.flight.to = now;
        self.flight.sent = self.flight.sent.saturating_add(bytes);
    }

    pub(super) fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let flight = if sent >= self.flight.from {
            &mut self.flight
        } else {
            &mut self.previous
        };
        // Of neither: it left in an older flight, or paced, after the last one.
        if sent < flight.from || sent > flight.to {
            return;
        }
        flight.on_ack(now, bytes);
        let bottleneck_rate = flight.bottleneck_rate();
        if bottleneck_rate.is_some() {
            self.bottleneck_rate = bottleneck_rate;
        }
        // A flight that takes long to leave says only that the path is as fast as we are.
        let is_slow = flight.is_acked() && flight.send_duration() >= DISPERSION_MIN;
        self.is_unpaced &= bottleneck_rate.is_none() && !is_slow;
    }

    /// Returns the flight that is being acknowledged.
    fn acked_flight(&self) -> &Flight {
        match self.flight.first {
            Some(_) => &self.flight,
            None => &self.previous,
        }
    }

    /// Returns the window when so many bytes more have arrived.
    pub(super) fn window_after(&self, window: f64, rtt: Duration, acknowledged: u64) -> f64 {
        // As in slow start, a window grows n-fold in a round trip by n - 1 bytes for each that was
        // acknowledged.
        let grown = |times: f64| window + (times - 1.0) * acknowledged as f64;
        if self.is_unpaced {
            let is_close = self.acked_flight().dispersion() <= DISPERSION_TINY;
            return grown(if is_close {
                FLIGHT_GAIN_TINY
            } else {
                FLIGHT_GAIN
            });
        }
        // A queue may be building: what is in flight decides whether to go on.
        if self.rtt_rises > 0 {
            return window;
        }
        let bdp = self
            .bottleneck_rate
            .map(|bottleneck_rate| bottleneck_rate * rtt.as_secs_f64());
        match bdp {
            // Not past the edge of what is sure in one step, but never slower than near it.
            Some(bdp) if window < bdp * BELOW_BDP_MAX => {
                let sure = grown(BELOW_BDP_GAIN).min(bdp * BELOW_BDP_MAX);
                sure.max(grown(NEAR_BDP_GAIN))
            }
            Some(bdp) if window < bdp * NEAR_BDP_MAX => grown(NEAR_BDP_GAIN),
            _ => grown(SLOW_START_GAIN),
        }
    }

    /// Ends a round; returns whether the rate does not grow any more, and so is the path's.
    pub(super) fn end_round(&mut self, rate: f64, rate_before: f64) -> bool {
        self.plateau_rounds = if rate > rate_before * FULL_BW_GROWTH {
            0
        } else {
            self.plateau_rounds + 1
        };
        self.plateau_rounds >= FULL_BW_ROUNDS
    }

    /// Takes a round trip; returns whether they have been long for so long that the path is full.
    pub(super) fn has_rtt_risen(
        &mut self,
        now: Instant,
        sample: &RateSample,
        shortest: Duration,
    ) -> bool {
        let rise = shortest
            .mul_f64(RTT_THRESH_SHARE)
            .clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        // A flight makes a queue of its own, which does not say that the path is full.
        if self.is_unpaced || sample.rtt <= shortest + rise {
            (self.rtt_rises, self.last_low_rtt) = (0, now);
            return false;
        }
        self.rtt_rises += 1;
        let lasts = now.saturating_duration_since(self.last_low_rtt);
        self.rtt_rises >= N_RTT_SAMPLE && lasts >= shortest.mul_f64(RISE_DURATION)
    }
}
