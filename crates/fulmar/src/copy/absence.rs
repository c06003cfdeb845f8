//! Detects that nobody listens at the other end any more: its system refuses datagrams (ICMP, port unreachable).

use std::time::Duration;

use fulmar_base::Time;

/// The time for which that has to be said. Chosen by eye: a router that restarts speaks for the host behind it, and
/// says the same until it knows its way again.
pub(super) const GONE_AFTER: Duration = Duration::from_secs(30);

/// The longest time between two such answers: a few questions, each of which is answered so.
///
/// Source: docs/protocol.md §2.10.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The refusals of the other end's system since anything genuine has come.
///
/// Whoever forges such an answer has to see our port, and wins that a silent copy ends somewhat sooner.
///
/// Source: docs/threat-model.md §7.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Absence {
    /// The first and the last time that it said so, without a long pause.
    said: Option<(Time, Time)>,
}

impl Absence {
    /// Takes note that the other end's system has refused a datagram.
    pub(super) fn refused(&mut self, now: Time) {
        self.said = match self.said {
            Some((first, last)) if now.since(last) <= PAUSE_MAX => Some((first, now)),
            _ => Some((now, now)),
        };
    }

    /// Takes note that something genuine has come.
    pub(super) fn heard(&mut self) {
        self.said = None;
    }

    /// Tells if it was said at all.
    pub(super) fn is_said(&self) -> bool {
        self.said.is_some()
    }

    /// Tells if the other end has gone.
    pub(super) fn is_certain(&self) -> bool {
        self.said
            .is_some_and(|(first, last)| last.since(first) >= GONE_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn it_has_gone_when_that_was_said_for_long() {
        let mut absence = Absence::default();
        for second in 100..130 {
            absence.refused(at(second));
            assert!(!absence.is_certain(), "after {second}");
        }
        absence.refused(at(130));
        assert!(absence.is_certain());
    }

    #[test]
    fn a_sign_of_life_or_a_pause_begins_anew() {
        let mut absence = Absence::default();
        for second in 100..200 {
            absence.refused(at(second));
            if second % 20 == 0 {
                absence.heard();
            }
            assert!(!absence.is_certain());
        }
        let mut absence = Absence::default();
        for turn in 0..100 {
            absence.refused(at(100 + turn * 6));
            assert!(!absence.is_certain());
        }
    }
}
