//! The timestamps of a conversation and what they tell about the round trip.

use std::time::Duration;

use fulmar_base::{Ecn, Time};
use fulmar_datagram::{StampClock, Stamps};

use crate::RoundTrip;

/// Stamps what is sent, and measures by what is heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    stamps: StampClock,
    round_trip: RoundTrip,
    /// The time of the last wake-up of the machine.
    woke: Option<Time>,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock::default()
    }

    /// Takes note of the stamps of a datagram newer than all before. Returns the round trip that they prove.
    pub(crate) fn hear(&mut self, now: Time, stamps: Stamps, ecn: Ecn) -> Option<Duration> {
        let measured = self.stamps.hear(now, stamps, ecn)?;
        if self.has_slept_within(now, measured) {
            return None;
        }
        self.round_trip.sample(measured);
        Some(measured)
    }

    /// Returns the stamps for a datagram that leaves now.
    pub(crate) fn stamp(&mut self, now: Time) -> Stamps {
        self.stamps.stamp(now)
    }

    /// Takes note that the machine has slept until now.
    pub(crate) fn wake(&mut self, now: Time) {
        self.woke = Some(now);
    }

    pub(crate) fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// Tells whether a round trip that ends now began before the machine slept: then it measures the
    /// sleep and not the path.
    fn has_slept_within(&self, now: Time, measured: Duration) -> bool {
        self.woke.is_some_and(|woke| measured > now.since(woke))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_datagram::Stamp;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn reply(sent: u64) -> Stamps {
        Stamps {
            sent: None,
            reply: Some(Stamp::at(at(sent))),
        }
    }

    #[test]
    fn a_round_trip_through_a_sleep_is_not_believed() {
        let mut clock = Clock::new();
        clock.wake(at(9000));
        clock.hear(at(9010), reply(1000), Ecn::NotCapable);
        assert!(!clock.round_trip().is_known());
        clock.hear(at(9050), reply(9010), Ecn::NotCapable);
        assert_eq!(clock.round_trip().smoothed(), Duration::from_millis(40));
    }
}
