//! Decides how long datagrams may be on the path, in the words of RFC 8899.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::Sequence;
use fulmar_datagram::limits::{DATAGRAM_BYTES_AFTER_TOO_BIG, DATAGRAM_BYTES_MAX};

use crate::black_hole::{Arrived, BlackHole, Departed};
use crate::limits::{PMTU_RAISE_TIMER, PRESUMED_FOR};
use crate::size_search::{Found, SizeSearch};

/// The length of datagrams on the present path (`PLPMTU`), headers of IP and UDP not counted.
///
/// ```text
///                     a probe is answered
///   usual length ──────────────────────────► up to 1472
///        │  ▲                                  │  ▲
///        │  └─ when the path changes, or,      │  │ a probe is answered
///        │     without probes, by time         │  │
///        └────────────────► 500 ◄──────────────┘  │
///                            └────────────────────┘
///         a black hole is found, or the system refuses a datagram
/// ```
///
/// Probes are sent only in sessions whose ends have agreed on them.
///
/// Source: docs/protocol.md §3.6 and §13.10.
#[derive(Clone, Debug)]
pub(crate) struct PathMtu {
    /// The length where nothing is known of the path (`BASE_PLPMTU`).
    base: usize,
    present: usize,
    /// The time at which what did not pass is tried again.
    raise_at: Option<Time>,
    black_hole: BlackHole,
    /// The search for what is longer; `None` if the peer does not answer probes.
    search: Option<SizeSearch>,
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
            search: None,
        }
    }

    /// Takes note that the peer answers probes.
    pub(crate) fn allow_probes(&mut self) {
        self.search = Some(SizeSearch::default());
    }

    /// Returns the most bytes that a datagram may have.
    pub(crate) fn datagram_bytes(&self) -> usize {
        self.present
    }

    /// Takes note that the system refused a datagram for its length. Returns whether that was a probe: all others may pass.
    pub(crate) fn probe_refused(&mut self, now: Time) -> bool {
        let search = self.search.as_mut();
        let was_probe = search.is_some_and(|search| search.refused(now));
        if was_probe {
            self.raise_at.get_or_insert(now + PMTU_RAISE_TIMER);
        }
        was_probe
    }

    /// Takes note that the system refused a datagram for its length. Returns whether shorter ones are left to try.
    pub(crate) fn refused(&mut self, now: Time) -> bool {
        let was_longer = self.present > DATAGRAM_BYTES_AFTER_TOO_BIG;
        self.lower(now);
        was_longer
    }

    /// Takes note that an instruction was sent.
    pub(crate) fn sent(&mut self, departed: Departed) {
        self.black_hole.sent(departed);
        if departed.datagrams > 1
            && let Some(search) = &mut self.search
        {
            search.want();
        }
    }

    /// Takes note that a state was acknowledged. Returns whether that tells of a black hole: datagrams are shorter from here
    /// on.
    pub(crate) fn acknowledged(&mut self, arrived: Arrived) -> bool {
        let is_found = self.black_hole.acknowledged(arrived);
        if is_found {
            self.lower(arrived.now);
        }
        is_found
    }

    /// Takes note that nothing short can be sent to see whether it arrives. Returns whether a black hole is presumed:
    /// datagrams are shorter for a while.
    pub(crate) fn presume(
        &mut self,
        now: Time,
        timeout: Duration,
        loss: f64,
        heard: Option<Time>,
    ) -> bool {
        let is_presumed = self.black_hole.is_presumed(timeout, loss, heard);
        if is_presumed {
            self.black_hole = BlackHole::default();
            self.present = self.present.min(DATAGRAM_BYTES_AFTER_TOO_BIG);
            // A search finds out by itself what passes.
            if self.search.is_none() {
                self.raise_at = Some(now + PRESUMED_FOR);
            }
        }
        is_presumed
    }

    /// Takes note that something short is sent to see whether it arrives.
    pub(crate) fn ask_shortly(&mut self) {
        self.black_hole.ask();
    }

    /// Tells whether it is time to send something short, to see whether long datagrams are lost for their length.
    pub(crate) fn wants_short(&self, now: Time, timeout: Duration, loss: f64) -> bool {
        self.black_hole.wants_short(now, timeout, loss)
    }

    /// Returns when the next probe is to be sent, or the last one given up.
    pub(crate) fn probe_due(&self, timeout: Duration) -> Option<Time> {
        self.search.as_ref()?.due(&self.found(timeout, None))
    }

    /// Begins the next probe. Returns how long it is; `None` if nothing is left to try for now.
    pub(crate) fn begin_probe(
        &mut self,
        now: Time,
        timeout: Duration,
        heard: Option<Time>,
    ) -> Option<usize> {
        let found = self.found(timeout, heard);
        let search = self.search.as_mut()?;
        let bytes = search.begin(now, &found);
        if search.has_limit() {
            self.raise_at.get_or_insert(now + PMTU_RAISE_TIMER);
        }
        bytes
    }

    /// Takes note of the number of the datagram in which the probe has left.
    pub(crate) fn probe_left(&mut self, sequence: Sequence) {
        if let Some(search) = &mut self.search {
            search.left(sequence);
        }
    }

    /// Takes note that the peer has had a probe in the datagram of that number. What does not belong to the last probe
    /// counts for nothing.
    pub(crate) fn probe_answered(&mut self, now: Time, sequence: u64) {
        let search = self.search.as_mut();
        if let Some(bytes) = search.and_then(|search| search.answered(now, sequence)) {
            self.present = self.present.max(bytes);
            // What was lost before says nothing of what passes.
            self.black_hole = BlackHole::default();
        }
    }

    /// Takes note that the path may be another: all is as at first.
    pub(crate) fn path_changed(&mut self) {
        let search = self.search.as_ref().map(|_| SizeSearch::default());
        *self = PathMtu {
            search,
            ..PathMtu::new(self.base)
        };
    }

    /// Tries again what was too long for long enough: the limit may have gone, or never have been there. Where the peer
    /// answers probes, they find out.
    pub(crate) fn raise_in_time(&mut self, now: Time) {
        if self.raise_at.is_none_or(|at| at > now) {
            return;
        }
        self.raise_at = None;
        match &mut self.search {
            Some(search) => search.raise(),
            None => self.path_changed(),
        }
    }

    /// Sends what is certain to pass. Where the peer answers probes, they find out soon what else does.
    fn lower(&mut self, now: Time) {
        if let Some(search) = &mut self.search {
            search.lose_length(self.present);
        }
        self.present = self.present.min(DATAGRAM_BYTES_AFTER_TOO_BIG);
        // What was lost before was longer than what is sent now.
        self.black_hole = BlackHole::default();
        self.raise_at = Some(now + PMTU_RAISE_TIMER);
    }

    fn found(&self, timeout: Duration, heard: Option<Time>) -> Found {
        Found {
            present: self.present,
            timeout,
            heard,
        }
    }
}

#[cfg(test)]
mod tests;
