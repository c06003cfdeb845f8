//! Liveness tests (RFC 9000 §10.1.2): probes that ask whether the peer is there while it answers nothing.
//!
//! Only an acknowledgement counts: where one way of the two is closed, the peer may go on asking for ever.
//!
//! QUIC doubles the time between its probes up to 2^16 times, so after a long outage it might sleep
//! for as long again. Here a packet leaves every second, past the congestion window if need be: what
//! was lost is known a round trip after the first one gets through.

use std::time::Duration;

use fulmar_base::Time;

/// The time for which the peer may answer nothing before a probe is sent, and between two probes.
///
/// Source: docs/copy-protocol.md §10.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// The time since which nothing was answered, and whether a probe is due.
pub(super) struct Liveness {
    heard: Time,
    probed: Time,
    wants_probe: bool,
}

impl Liveness {
    pub(super) fn from(now: Time) -> Liveness {
        Liveness {
            heard: now,
            probed: now,
            wants_probe: false,
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
    }

    pub(super) fn unanswered_for(&self, now: Time) -> Duration {
        now.since(self.heard)
    }

    /// Returns the time of the next probe if nothing is answered.
    pub(super) fn due(&self) -> Time {
        self.heard.max(self.probed) + PROBE_INTERVAL
    }

    /// Wants a probe if it is time for one.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.wants_probe |= now >= self.due();
    }

    /// Wants a probe in the next transmission.
    pub(super) fn want_probe(&mut self) {
        self.wants_probe = true;
    }

    /// Returns true if a probe waits to be sent.
    pub(super) fn has_probe(&self) -> bool {
        self.wants_probe
    }

    /// Returns true if the next packet is a probe; it counts as sent then.
    pub(super) fn take_probe(&mut self, now: Time) -> bool {
        let has_probe = std::mem::take(&mut self.wants_probe);
        if has_probe {
            self.probed = now;
        }
        has_probe
    }
}
