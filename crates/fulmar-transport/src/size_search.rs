//! Searches for the longest datagram that passes, by probes that carry nothing else.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_datagram::Sequence;

use crate::limits::{PROBE_TIMER_MIN, PROBED_LENGTHS, RETRY_MARGIN, SIZE_PROBES_MAX};

/// The search for the path's MTU, in a session whose ends have agreed on it. In the words of RFC 8899:
///
/// ```text
///                 something long was sent                  nothing is left to try
///   Search Complete ───────────────────────► Searching ────────────────────────────► Search Complete
/// ```
///
/// The longest candidate comes first, since most paths carry it, and what our own system refuses is passed over. Once a
/// length was lost, the one in the middle of those that are left comes next. Three probes of a length that are not answered,
/// while the peer is heard, rule it out.
///
/// Source: RFC 8899 §5; docs/protocol.md §13.10.
#[derive(Clone, Debug, Default)]
pub(crate) struct SizeSearch {
    /// True if something long is sent, for which a longer datagram would be good.
    is_wanted: bool,
    /// The shortest length that is known not to pass.
    too_long: Option<usize>,
    /// True if one of them was lost, so that the path is an unusual one.
    has_lost: bool,
    probe: Option<Probe>,
    /// The number of probes of the present candidate that were lost.
    tries: u32,
    /// The earliest time for the next probe.
    next_at: Time,
}

/// A probe that was sent and not answered.
#[derive(Clone, Copy, Debug)]
struct Probe {
    bytes: usize,
    at: Time,
    /// The number of its datagram, once that has left.
    sequence: Option<Sequence>,
}

/// The circumstances in which a probe is looked after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The length that is known to pass.
    pub(crate) present: usize,
    /// The time after which something is thought lost.
    pub(crate) timeout: Duration,
    /// The time at which the peer was last heard.
    pub(crate) heard: Option<Time>,
}

impl SizeSearch {
    /// Takes note that something was sent that took several datagrams.
    pub(crate) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Returns when the next probe is to be sent, or the last one given up.
    pub(crate) fn due(&self, found: &Found) -> Option<Time> {
        match self.probe {
            Some(probe) => Some(probe.at + patience(found.timeout)),
            None => self.candidate(found).map(|_| self.next_at),
        }
    }

    /// Begins the next probe, after the last one has had its time. Returns how long it is; `None` if nothing is left to try
    /// for now.
    pub(crate) fn begin(&mut self, now: Time, found: &Found) -> Option<usize> {
        if let Some(lost) = self.probe.take() {
            self.lose(lost, found);
        }
        let Some(bytes) = self.candidate(found) else {
            self.is_wanted = false;
            return None;
        };
        self.probe = Some(Probe {
            bytes,
            at: now,
            sequence: None,
        });
        self.next_at = now + patience(found.timeout);
        Some(bytes)
    }

    /// Takes note of the number of the datagram in which the probe has left.
    pub(crate) fn left(&mut self, sequence: Sequence) {
        if let Some(probe) = &mut self.probe {
            probe.sequence.get_or_insert(sequence);
        }
    }

    /// Takes note that the peer has had a probe in the datagram of that number. Returns how long it was, if it is the one
    /// that was sent last: other answers come late, or from nowhere.
    pub(crate) fn answered(&mut self, now: Time, sequence: u64) -> Option<usize> {
        let is_it = |probe: &mut Probe| probe.sequence.map(Sequence::get) == Some(sequence);
        let probe = self.probe.take_if(is_it)?;
        self.tries = 0;
        self.next_at = now;
        Some(probe.bytes)
    }

    /// Takes note that our own system has refused a datagram for its length. Returns whether that was the probe.
    pub(crate) fn refused(&mut self, now: Time) -> bool {
        let Some(probe) = self.probe.take() else {
            return false;
        };
        self.rule_out(probe.bytes);
        self.next_at = now;
        true
    }

    /// Takes note that the length that was known to pass does so no longer.
    pub(crate) fn lose_length(&mut self, bytes: usize) {
        self.has_lost = true;
        // A probe that is on its way is of another length than the next one, and its loss none of that one's.
        self.probe = None;
        self.rule_out(bytes);
    }

    fn rule_out(&mut self, bytes: usize) {
        self.tries = 0;
        let shorter = self.too_long.filter(|&too_long| too_long < bytes);
        self.too_long = Some(shorter.unwrap_or(bytes));
    }

    /// Tells whether any length is known not to pass.
    pub(crate) fn has_limit(&self) -> bool {
        self.too_long.is_some()
    }

    /// Forgets what did not pass: it is tried again when something long is sent.
    pub(crate) fn raise(&mut self) {
        self.is_wanted = false;
        self.too_long = None;
        self.has_lost = false;
        self.probe = None;
        self.tries = 0;
    }

    fn lose(&mut self, lost: Probe, found: &Found) {
        // What is lost in an outage tells nothing.
        let answer_at = lost.at + found.timeout;
        if found.heard.is_none_or(|heard| heard < answer_at) {
            return;
        }
        self.tries += 1;
        if self.tries >= SIZE_PROBES_MAX {
            self.lose_length(lost.bytes);
        }
    }

    fn candidate(&self, found: &Found) -> Option<usize> {
        if !self.is_wanted {
            return None;
        }
        let may_pass = |bytes: &usize| {
            *bytes > found.present && self.too_long.is_none_or(|too_long| *bytes < too_long)
        };
        let mut left = PROBED_LENGTHS.into_iter().filter(may_pass);
        if !self.has_lost {
            return left.next_back();
        }
        let count = left.clone().count();
        left.nth(count / 2)
    }
}

/// Returns how long a probe may take to be answered.
///
/// Source: RFC 8899 §5.1.1, `PROBE_TIMER`.
fn patience(timeout: Duration) -> Duration {
    PROBE_TIMER_MIN.max(timeout + RETRY_MARGIN)
}

#[cfg(test)]
mod tests;
