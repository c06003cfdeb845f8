//! Decides how much may be under way: a congestion window that follows the delay of the path.
//!
//! The window opens by what is acknowledged as long as the round trip stays near the shortest one
//! seen, and closes to what the path itself holds as soon as a queue stands (after TCP Vegas). Loss closes
//! nothing: on radio links it says nothing of congestion, and a queue that overflows has stood before.
//! A CE mark reads as a long round trip (docs/protocol.md §3.2), and so as a queue.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;

use crate::StateNumber;
use crate::limits::{
    FLIGHTS_MAX, QUEUE_DELAY_MIN, ROUND_TRIP_FLOOR_AGE, WINDOW_BYTES_MAX, WINDOW_BYTES_MIN,
};

/// The instructions under way, and the congestion window.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    /// Oldest first.
    flights: VecDeque<Flight>,
    window: usize,
    shortest: ShortestRoundTrip,
    /// The round trip before the newest: one that is long alone is jitter.
    last: Duration,
    has_queue: bool,
    /// The time until which what was sent before the window last closed still comes back.
    closing_until: Time,
}

/// An instruction that was sent and is not known to have arrived.
#[derive(Clone, Copy, Debug)]
struct Flight {
    number: StateNumber,
    at: Time,
    bytes: usize,
}

impl Congestion {
    /// Returns the state on a path of which nothing is known.
    pub(crate) fn new() -> Congestion {
        Congestion {
            flights: VecDeque::new(),
            window: WINDOW_BYTES_MIN,
            shortest: ShortestRoundTrip::default(),
            last: Duration::ZERO,
            has_queue: false,
            closing_until: Time::from_origin(Duration::ZERO),
        }
    }

    /// Takes note that an instruction with content was sent, which `timeout` later counts as arrived or lost.
    pub(crate) fn sent(&mut self, now: Time, number: StateNumber, bytes: usize, timeout: Duration) {
        self.expire(now, timeout);
        let is_full = self.flights.len() >= FLIGHTS_MAX;
        match self.flights.back_mut().filter(|_| is_full) {
            Some(last) => {
                last.number = last.number.max(number);
                last.bytes = last.bytes.saturating_add(bytes);
            }
            None => self.flights.push_back(Flight {
                number,
                at: now,
                bytes,
            }),
        }
    }

    /// Takes note of a measured round trip.
    pub(crate) fn measured(&mut self, now: Time, round_trip: Duration) {
        let shortest = self.shortest.sample(now, round_trip);
        let standing = round_trip.min(self.last);
        self.last = round_trip;
        self.has_queue = standing > shortest + queue_delay_max(shortest);
        if self.has_queue && now >= self.closing_until {
            self.window = closed(self.window, shortest, standing);
            self.closing_until = now + round_trip;
        }
    }

    /// Takes note that the peer has the state of that number.
    pub(crate) fn acknowledged(&mut self, number: StateNumber) {
        let bytes = |flights: &VecDeque<Flight>| -> usize {
            flights.iter().map(|flight| flight.bytes).sum()
        };
        let before = bytes(&self.flights);
        self.flights.retain(|flight| flight.number > number);
        let arrived = before - bytes(&self.flights);
        // A window that was not made use of has proven nothing (RFC 7661).
        if !self.has_queue && before >= self.window / 2 {
            self.window = (self.window + arrived).min(WINDOW_BYTES_MAX);
        }
    }

    /// Takes note that datagrams take another path from now on.
    pub(crate) fn moved(&mut self) {
        *self = Congestion::new();
    }

    /// Returns the time from which on less than the window is under way, if nothing is acknowledged
    /// before; `None` if less is under way now.
    pub(crate) fn opens(&self, now: Time, timeout: Duration) -> Option<Time> {
        let mut under_way: usize = self.in_flight(now, timeout);
        let mut opens = None;
        for flight in &self.flights {
            if under_way < self.window {
                break;
            }
            let arrived = flight.at + timeout;
            if arrived > now {
                under_way -= flight.bytes.min(under_way);
                opens = Some(arrived);
            }
        }
        opens
    }

    fn in_flight(&self, now: Time, timeout: Duration) -> usize {
        let is_under_way = |flight: &&Flight| flight.at + timeout > now;
        self.flights
            .iter()
            .filter(is_under_way)
            .map(|flight| flight.bytes)
            .sum()
    }

    fn expire(&mut self, now: Time, timeout: Duration) {
        while self
            .flights
            .front()
            .is_some_and(|flight| flight.at + timeout <= now)
        {
            self.flights.pop_front();
        }
    }
}

/// Returns by how much a round trip may exceed the shortest before a queue is said to stand: a half of it,
/// as the Vegas family allows a few packets, and 20 ms of jitter on short paths.
fn queue_delay_max(shortest: Duration) -> Duration {
    QUEUE_DELAY_MIN.max(shortest / 2)
}

/// Returns what a window becomes that makes a round trip of `shortest` one of `standing`: the bytes that the
/// path holds without a queue.
fn closed(window: usize, shortest: Duration, standing: Duration) -> usize {
    let [shortest, standing] = [shortest, standing].map(|span| span.as_millis() as usize);
    (window * shortest / standing.max(1)).max(WINDOW_BYTES_MIN)
}

/// The shortest round trip of late: of this period and the one before.
#[derive(Clone, Copy, Debug, Default)]
struct ShortestRoundTrip {
    before: Option<Duration>,
    present: Option<(Time, Duration)>,
}

impl ShortestRoundTrip {
    fn sample(&mut self, now: Time, round_trip: Duration) -> Duration {
        let (since, shortest) = match self.present {
            Some((since, shortest)) if now < since + ROUND_TRIP_FLOOR_AGE => {
                (since, shortest.min(round_trip))
            }
            Some((_, shortest)) => {
                self.before = Some(shortest);
                (now, round_trip)
            }
            None => (now, round_trip),
        };
        self.present = Some((since, shortest));
        self.before.map_or(shortest, |before| before.min(shortest))
    }
}
