//! Decides how long datagrams may be on the path, in the words of RFC 8899.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::limits::{DATAGRAM_BYTES_AFTER_TOO_BIG, DATAGRAM_BYTES_MAX};

use crate::black_hole::{Arrived, BlackHole, Departed};
use crate::limits::PMTU_RAISE_TIMER;

/// The length of datagrams on the present path (`PLPMTU`), headers of IP and UDP not counted.
///
/// ```text
///          the system refuses one, or a black hole is found
///   base ──────────────────────────────────────────────────► 500
///     ▲                                                       │
///     └──── after ten minutes, or when the path changes ──────┘
/// ```
///
/// Source: docs/protocol.md §3.6.
#[derive(Clone, Debug)]
pub(crate) struct PathMtu {
    /// The length where nothing is known of the path (`BASE_PLPMTU`).
    base: usize,
    present: usize,
    /// The time at which what did not pass is tried again.
    raise_at: Option<Time>,
    black_hole: BlackHole,
}

impl PathMtu {
    /// Returns what is known of a path at first: that so much is likely to pass, kept within 500 and 2048.
    pub(crate) fn new(base: usize) -> PathMtu {
        let base = base.clamp(DATAGRAM_BYTES_AFTER_TOO_BIG, DATAGRAM_BYTES_MAX);
        PathMtu {
            base,
            present: base,
            raise_at: None,
            black_hole: BlackHole::default(),
        }
    }

    /// Returns the most bytes that a datagram may have.
    pub(crate) fn datagram_bytes(&self) -> usize {
        self.present
    }

    /// Takes note that the system refused a datagram for its length. Returns whether shorter ones are left to try.
    pub(crate) fn refused(&mut self, now: Time) -> bool {
        let was_longer = self.present > DATAGRAM_BYTES_AFTER_TOO_BIG;
        self.lower(now, DATAGRAM_BYTES_AFTER_TOO_BIG);
        was_longer
    }

    /// Takes note that an instruction was sent.
    pub(crate) fn sent(&mut self, departed: Departed) {
        self.black_hole.sent(departed);
    }

    /// Takes note that a state was acknowledged. Returns whether that tells of a black hole: datagrams are shorter from here
    /// on.
    pub(crate) fn acknowledged(&mut self, arrived: Arrived) -> bool {
        let is_found = self.black_hole.acknowledged(arrived);
        if is_found {
            self.black_hole = BlackHole::default();
            self.lower(arrived.now, DATAGRAM_BYTES_AFTER_TOO_BIG);
        }
        is_found
    }

    /// Tells whether it is time to send something short, to see whether long datagrams are lost for their length.
    pub(crate) fn wants_short(&self, now: Time, timeout: Duration, loss: f64) -> bool {
        self.black_hole.wants_short(now, timeout, loss)
    }

    /// Takes note that the path may be another: the limit was that of the one before.
    pub(crate) fn path_changed(&mut self) {
        *self = PathMtu::new(self.base);
    }

    /// Tries the usual length again if it was too long for long enough: the limit may have gone, or never have been
    /// there.
    pub(crate) fn raise_in_time(&mut self, now: Time) {
        if self.raise_at.is_some_and(|at| at <= now) {
            self.path_changed();
        }
    }

    fn lower(&mut self, now: Time, bytes: usize) {
        self.present = self.present.min(bytes);
        self.raise_at = Some(now + PMTU_RAISE_TIMER);
    }
}

#[cfg(test)]
mod tests;
