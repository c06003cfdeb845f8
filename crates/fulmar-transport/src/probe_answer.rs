//! Answers the peer's probes of the path's MTU.

use fulmar_base::Time;
use fulmar_datagram::Sequence;

use crate::limits::ACKNOWLEDGEMENT_DELAY;

/// The answer to the last probe that has arrived, until it is sent.
///
/// Source: docs/protocol.md §13.10.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProbeAnswer {
    owed: Option<Sequence>,
    due: Option<Time>,
    /// The last time at which an answer was sent.
    sent: Option<Time>,
}

impl ProbeAnswer {
    /// Takes note that a probe has arrived in the datagram of that number. It is answered at once, but no sooner after
    /// another than an acknowledgement would come.
    pub(crate) fn hear(&mut self, now: Time, sequence: Sequence) {
        let earliest = self.sent.map(|sent| sent + ACKNOWLEDGEMENT_DELAY);
        self.owed = Some(sequence);
        self.due = Some(earliest.map_or(now, |earliest| earliest.max(now)));
    }

    /// Returns the number to answer with.
    pub(crate) fn owed(&self) -> Option<u64> {
        self.owed.map(Sequence::get)
    }

    /// Returns when the answer is to be sent, if nothing is sent before.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Takes note that an instruction was sent.
    pub(crate) fn sent(&mut self, now: Time) {
        if self.owed.take().is_some() {
            self.due = None;
            self.sent = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_probe_is_answered_once_and_at_once() {
        let mut answer = ProbeAnswer::default();
        assert_eq!((answer.owed(), answer.due()), (None, None));
        answer.hear(at(5), Sequence::new(7).unwrap());
        assert_eq!((answer.owed(), answer.due()), (Some(7), Some(at(5))));
        answer.sent(at(5));
        assert_eq!((answer.owed(), answer.due()), (None, None));
    }

    #[test]
    fn of_many_the_last_is_answered_at_the_pace_of_acknowledgements() {
        let mut answer = ProbeAnswer::default();
        answer.hear(at(5), Sequence::new(7).unwrap());
        answer.sent(at(5));
        answer.hear(at(6), Sequence::new(8).unwrap());
        answer.hear(at(7), Sequence::new(9).unwrap());
        assert_eq!((answer.owed(), answer.due()), (Some(9), Some(at(105))));
    }
}
