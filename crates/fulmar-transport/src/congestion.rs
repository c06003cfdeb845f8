//! Decides how much may be in flight: a congestion window that follows the delay of the path.
//!
//! The window opens by what is acknowledged as long as the round trip stays near the shortest one
//! seen, and closes to what the path itself holds if a queue stands (after TCP Vegas). One long round trip is jitter, and
//! only stops the growth; several in a row are a queue. Loss closes nothing: on radio links it says nothing of
//! congestion, and a queue that overflows has stood before. A CE mark reads as a round trip that is 500 ms too long
//! (docs/protocol.md §3.6), and halves the window even if it is alone.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::limits::CONGESTION_PENALTY;

use crate::StateNumber;
use crate::limits::{
    ACKNOWLEDGEMENT_DELAY, HEARTBEAT_INTERVAL, IN_FLIGHT_MAX, QUEUE_DELAY_MAX, QUEUE_DELAY_MIN,
    ROUND_TRIP_FLOOR_AGE, STANDING_ROUND_TRIPS, WINDOW_BYTES_MAX, WINDOW_BYTES_MIN,
};

/// The instructions in flight, and the congestion window.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    /// Oldest first.
    in_flight: VecDeque<InFlight>,
    window: usize,
    shortest: ShortestRoundTrip,
    /// The newest last.
    recent: [Duration; STANDING_ROUND_TRIPS],
    /// The longest round trip without a queue; `None` before the first sample.
    longest: Option<Duration>,
    has_queue: bool,
    /// The time until which what was sent before the window last closed still comes back.
    closing_until: Time,
    /// The last time at which something was acknowledged.
    progress: Time,
    /// The last time at which the peer was heard.
    heard: Time,
}

/// An instruction that was sent and is not known to have arrived.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    number: StateNumber,
    at: Time,
    bytes: usize,
}

impl Congestion {
    /// Returns the state on a path of which nothing is known.
    pub(crate) fn new() -> Congestion {
        Congestion {
            in_flight: VecDeque::new(),
            window: WINDOW_BYTES_MIN,
            shortest: ShortestRoundTrip::default(),
            recent: [Duration::ZERO; STANDING_ROUND_TRIPS],
            longest: None,
            has_queue: false,
            closing_until: Time::ZERO,
            progress: Time::ZERO,
            heard: Time::ZERO,
        }
    }

    /// Takes note that an instruction with content was sent.
    pub(crate) fn sent(&mut self, now: Time, number: StateNumber, bytes: usize) {
        let is_full = self.in_flight.len() >= IN_FLIGHT_MAX;
        match self.in_flight.back_mut().filter(|_| is_full) {
            Some(last) => {
                last.number = last.number.max(number);
                last.at = now;
                last.bytes = last.bytes.saturating_add(bytes);
            }
            None => self.in_flight.push_back(InFlight {
                number,
                at: now,
                bytes,
            }),
        }
    }

    /// Takes note that the peer was heard. After a silence that is longer than the peer keeps of its own will, what was
    /// in flight counts as lost.
    pub(crate) fn heard(&mut self, now: Time, timeout: Duration) {
        if now.since(self.heard) > HEARTBEAT_INTERVAL + timeout {
            self.in_flight.clear();
        }
        self.heard = now;
    }

    /// Takes note that what was in flight is sent again.
    pub(crate) fn given_up(&mut self) {
        self.in_flight.clear();
    }

    /// Takes note of a measured round trip.
    pub(crate) fn measured(&mut self, now: Time, round_trip: Duration) {
        let shortest = match self.shortest.sample(now, round_trip) {
            Shortest::Known(shortest) => shortest,
            // Without our own queue the path will show how short its round trip is.
            Shortest::InDoubt(shortest) => {
                self.window = WINDOW_BYTES_MIN;
                shortest
            }
        };
        self.recent.rotate_left(1);
        if let Some(newest) = self.recent.last_mut() {
            *newest = round_trip;
        }
        let standing = self.recent.into_iter().min().unwrap_or(round_trip);
        let longest = shortest + queue_delay_max(shortest);
        self.longest = Some(longest);
        self.has_queue = standing > longest;
        let is_marked = round_trip >= shortest + CONGESTION_PENALTY;
        if now < self.closing_until || !(self.has_queue || is_marked) {
            return;
        }
        let closed = if self.has_queue {
            share(self.window, shortest, standing)
        } else {
            self.window / 2
        };
        self.window = closed.max(WINDOW_BYTES_MIN);
        self.closing_until = now + round_trip;
    }

    /// Takes note that the peer has the state of that number, and so will never ask for what was sent before it.
    /// Returns when that state was first sent, unless it had been forgotten.
    pub(crate) fn acknowledged(&mut self, now: Time, number: StateNumber) -> Option<Time> {
        let sent = self.in_flight.iter().find(|sent| sent.number == number);
        let sent_at = sent.map(|sent| sent.at);
        let before = self.bytes_in_flight();
        self.in_flight
            .retain(|sent| sent.number > number && sent_at.is_none_or(|sent_at| sent.at > sent_at));
        let arrived = before - self.bytes_in_flight();
        self.progress = now;
        // A window that was not made use of has proven nothing (RFC 7661).
        let is_used = before >= self.window / 2;
        if is_used && sent_at.is_some_and(|sent_at| self.is_in_time(now.since(sent_at))) {
            self.window = (self.window + arrived).min(WINDOW_BYTES_MAX);
        }
        sent_at
    }

    /// Tells whether datagrams wait for each other on the path.
    pub(crate) fn has_queue(&self) -> bool {
        self.has_queue
    }

    /// Tells whether what was acknowledged after so long met no queue. The peer may hold back an acknowledgement; the
    /// newest round trip alone may be that of the first datagram of many.
    fn is_in_time(&self, acknowledged_after: Duration) -> bool {
        let newest = self.recent.last().copied().unwrap_or_default();
        self.longest.is_some_and(|longest| {
            newest <= longest && acknowledged_after <= longest + ACKNOWLEDGEMENT_DELAY
        })
    }

    /// Takes note that datagrams take another path from now on.
    pub(crate) fn moved(&mut self) {
        *self = Congestion::new();
    }

    /// Returns when more may be sent if nothing is acknowledged before; `None` if it may now: less than the window is
    /// in flight, or an acknowledgement is overdue.
    pub(crate) fn opens(&self, now: Time, timeout: Duration) -> Option<Time> {
        let in_flight = self.bytes_in_flight();
        let last = self.in_flight.back()?;
        if in_flight < self.window {
            return None;
        }
        let opens = last.at.max(self.progress) + patience(timeout, in_flight, self.window);
        (opens > now).then_some(opens)
    }

    fn bytes_in_flight(&self) -> usize {
        let bytes = self.in_flight.iter().map(|sent| sent.bytes);
        bytes.fold(0, usize::saturating_add)
    }
}

/// Returns how long an acknowledgement may take of what is longer than the window. The path is known to carry
/// a window in a round trip, so more of it takes longer, up to 3 s: a person who waits may be left
/// without news for as long as between two heartbeats.
fn patience(timeout: Duration, in_flight: usize, window: usize) -> Duration {
    let windows = u32::try_from(in_flight.div_ceil(window)).unwrap_or(u32::MAX);
    timeout
        .saturating_mul(windows)
        .min(HEARTBEAT_INTERVAL.max(timeout))
}

/// Returns by how much a round trip may exceed the shortest before a queue is said to stand: a half of it,
/// as the Vegas family allows a few packets, within 20 ms of jitter and 250 ms that everybody behind it waits.
fn queue_delay_max(shortest: Duration) -> Duration {
    (shortest / 2).clamp(QUEUE_DELAY_MIN, QUEUE_DELAY_MAX)
}

/// Returns how much of a window that makes a round trip of `shortest` one of `standing` the path holds without a queue.
fn share(window: usize, shortest: Duration, standing: Duration) -> usize {
    let [shortest, standing] = [shortest, standing].map(|span| span.as_millis() as u64);
    (window as u64 * shortest / standing.max(1)) as usize
}

/// The shortest round trip of late: of this period and the one before.
#[derive(Clone, Copy, Debug, Default)]
struct ShortestRoundTrip {
    ever: Option<Duration>,
    before: Option<Duration>,
    present: Option<(Time, Duration)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shortest {
    Known(Duration),
    /// A period has begun after one in which none was as short as on this path once: either the path is longer, or
    /// our own queue has always stood.
    InDoubt(Duration),
}

impl ShortestRoundTrip {
    fn sample(&mut self, now: Time, round_trip: Duration) -> Shortest {
        let ever = self.ever.map_or(round_trip, |ever| ever.min(round_trip));
        self.ever = Some(ever);
        let (since, shortest) = self.present.unwrap_or((now, round_trip));
        if now < since + ROUND_TRIP_FLOOR_AGE {
            let shortest = shortest.min(round_trip);
            self.present = Some((since, shortest));
            return Shortest::Known(self.before.map_or(shortest, |before| before.min(shortest)));
        }
        self.before = Some(shortest);
        self.present = Some((now, round_trip));
        if shortest > ever + QUEUE_DELAY_MIN {
            Shortest::InDoubt(shortest.min(round_trip))
        } else {
            Shortest::Known(shortest.min(round_trip))
        }
    }
}

#[cfg(test)]
mod tests;
