//! Nothing has been answered: asking whether the peer is there.
//!
//! Only an acknowledgement counts: where one way of the two is closed, the peer may go on asking for ever.
//!
//! QUIC doubles the time between its probes up to 2^16 times, so after a long outage it might sleep
//! for as long again. Here a packet leaves every second, past the congestion window if need be: what
//! was lost is known a round trip after the first one gets through.

use std::time::Duration;

use fulmar_datagram::Time;

/// How long the peer may answer nothing before it is asked, and between two questions.
const PATIENCE: Duration = Duration::from_secs(1);

/// Since when nothing was answered, and whether to ask.
pub(super) struct Liveness {
    heard: Time,
    asked: Time,
    wants: bool,
}

impl Liveness {
    pub(super) fn from(now: Time) -> Liveness {
        Liveness {
            heard: now,
            asked: now,
            wants: false,
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
    }

    pub(super) fn lasts(&self, now: Time) -> Duration {
        now.since(self.heard)
    }

    /// When to look next.
    pub(super) fn due(&self) -> Time {
        self.heard.max(self.asked) + PATIENCE
    }

    /// Asks if it is time to.
    pub(super) fn look(&mut self, now: Time) {
        self.wants |= now >= self.due();
    }

    /// Asks with the next transmission.
    pub(super) fn ask(&mut self) {
        self.wants = true;
    }

    /// Whether a question waits to be sent.
    pub(super) fn asks(&self) -> bool {
        self.wants
    }

    /// Whether the next packet is a question; it is sent then.
    pub(super) fn take_question(&mut self, now: Time) -> bool {
        let asks = std::mem::take(&mut self.wants);
        if asks {
            self.asked = now;
        }
        asks
    }
}
