//! Our times and marks, and those of QUIC.

use std::time::{Duration, Instant};

use fulmar_base::{Ecn, Time};
use quinn_proto::EcnCodepoint;

/// Later than any run: the sum with an instant does not overflow.
///
/// Chosen by eye.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Times as instants that begin at an origin.
pub(super) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(super) fn new(origin: Instant) -> Clock {
        Clock { origin }
    }

    pub(super) fn instant(&self, time: Time) -> Instant {
        let later = self.origin.checked_add(time.since_origin().min(FAR));
        later.unwrap_or(self.origin)
    }

    pub(super) fn time(&self, instant: Instant) -> Time {
        Time::from_origin(instant.saturating_duration_since(self.origin))
    }
}

/// Returns a mark as QUIC counts it.
pub(super) fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(ecn.bits())
}

/// Returns the mark that QUIC wants.
pub(super) fn mark(codepoint: Option<EcnCodepoint>) -> Ecn {
    codepoint.map_or(Ecn::NotCapable, |codepoint| {
        Ecn::from_traffic_class(codepoint as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_the_same_on_both_sides() {
        for bits in 0..4 {
            let ecn = Ecn::from_traffic_class(bits);
            assert_eq!(mark(codepoint(ecn)), ecn);
        }
    }
}
