//! Detects that nobody listens at the other end any more: its system refuses datagrams (ICMP, port unreachable).

use std::time::Duration;

use fulmar_base::Time;

/// The time for which datagrams have to be refused. Chosen by eye: a router that restarts speaks for the host behind it,
/// and refuses, too, until it knows its way again.
pub(super) const GONE_AFTER: Duration = Duration::from_secs(30);

/// The longest time between two refusals that belong together. A datagram leaves each three seconds, and not each is refused:
/// Linux answers one a second of all that come from one machine, and sessions that have lost their server ask more often.
///
/// Source: docs/protocol.md §2.10.
const PAUSE_MAX: Duration = Duration::from_secs(20);

/// The refusals of the other end's system since anything genuine has come.
///
/// Whoever forges such an answer has to see our port, and wins that a silent copy ends somewhat sooner.
///
/// Source: docs/threat-model.md §7.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnreachableDetector {
    /// The first and the last refusal, without a long pause between them.
    refused: Option<(Time, Time)>,
}

impl UnreachableDetector {
    /// Takes note that the other end's system has refused a datagram.
    pub(super) fn handle_refusal(&mut self, now: Time) {
        self.refused = match self.refused {
            Some((first, last)) if now.since(last) <= PAUSE_MAX => Some((first, now)),
            _ => Some((now, now)),
        };
    }

    /// Takes note that something genuine has come.
    pub(super) fn handle_genuine(&mut self) {
        self.refused = None;
    }

    /// Tells if anything was refused at all.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Tells if the other end has gone.
    pub(super) fn is_unreachable(&self) -> bool {
        self.refused
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
    fn it_has_gone_when_datagrams_are_refused_for_long() {
        let mut detector = UnreachableDetector::default();
        for second in 100..130 {
            detector.handle_refusal(at(second));
            assert!(!detector.is_unreachable(), "after {second}");
        }
        detector.handle_refusal(at(130));
        assert!(detector.is_unreachable());
    }

    #[test]
    fn a_sign_of_life_or_a_pause_begins_anew() {
        let mut detector = UnreachableDetector::default();
        for second in 100..200 {
            detector.handle_refusal(at(second));
            if second % 20 == 0 {
                detector.handle_genuine();
            }
            assert!(!detector.is_unreachable());
        }
        let mut detector = UnreachableDetector::default();
        for turn in 0..100 {
            detector.handle_refusal(at(100 + turn * 21));
            assert!(!detector.is_unreachable());
        }
    }

    #[test]
    fn refusals_that_others_have_used_up_are_not_missed() {
        let mut detector = UnreachableDetector::default();
        for second in [100, 103, 115, 118, 129] {
            detector.handle_refusal(at(second));
            assert!(!detector.is_unreachable(), "after {second}");
        }
        detector.handle_refusal(at(135));
        assert!(detector.is_unreachable());
    }
}
