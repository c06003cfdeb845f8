//! Keeps the echo ack: the newest user input that the program has had time to answer.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::StateNumber;

/// The time that the program gets to answer keys before the echo ack covers them.
///
/// Source: docs/protocol.md §6.4.
const ECHO_DELAY: Duration = Duration::from_millis(50);

/// Client states whose keys went to the program, until they are [`ECHO_DELAY`] old.
///
/// Source: docs/protocol.md §6.4.
#[derive(Debug)]
pub(crate) struct EchoHistory {
    /// Oldest first; at most one per millisecond, so at most one per millisecond of the delay.
    waiting: VecDeque<(StateNumber, Time)>,
    echo_ack: StateNumber,
}

impl EchoHistory {
    pub(crate) fn new() -> EchoHistory {
        EchoHistory {
            waiting: VecDeque::new(),
            echo_ack: StateNumber::ZERO,
        }
    }

    /// Notes that the keys of state `number` were handed to the program.
    pub(crate) fn note(&mut self, now: Time, number: StateNumber) {
        match self.waiting.back_mut() {
            // A batch of states within a millisecond counts as its last.
            Some(newest) if newest.1.as_millis() == now.as_millis() => *newest = (number, now),
            _ => self.waiting.push_back((number, now)),
        }
    }

    /// Moves the echo ack to the newest state that is old enough, and returns whether it moved.
    pub(crate) fn advance(&mut self, now: Time) -> bool {
        let before = self.echo_ack;
        while let Some(&(number, noted)) = self.waiting.front()
            && noted + ECHO_DELAY <= now
        {
            // It never falls, whatever numbers come (docs/protocol.md §6.4).
            self.echo_ack = self.echo_ack.max(number);
            self.waiting.pop_front();
        }
        self.echo_ack != before
    }

    /// The newest state that the program has had time to answer.
    pub(crate) fn echo_ack(&self) -> StateNumber {
        self.echo_ack
    }

    /// Returns the time at which [`EchoHistory::advance`] will next move.
    pub(crate) fn next_advance(&self) -> Option<Time> {
        let &(_, noted) = self.waiting.front()?;
        Some(noted + ECHO_DELAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_state_is_covered_50_ms_after_its_keys() {
        let mut history = EchoHistory::new();
        history.note(ms(1000), StateNumber::new(3));
        assert_eq!(history.next_advance(), Some(ms(1050)));
        assert!(!history.advance(ms(1049)));
        assert_eq!(history.echo_ack(), StateNumber::ZERO);
        assert!(history.advance(ms(1050)));
        assert_eq!(history.echo_ack(), StateNumber::new(3));
        assert_eq!(history.next_advance(), None);
    }

    #[test]
    fn the_newest_that_is_old_enough_counts() {
        let mut history = EchoHistory::new();
        for (at, number) in [(0, 1), (10, 2), (20, 5), (70, 6)] {
            history.note(ms(at), StateNumber::new(number));
        }
        assert!(history.advance(ms(75)));
        assert_eq!(history.echo_ack(), StateNumber::new(5));
        assert_eq!(history.next_advance(), Some(ms(120)));
    }

    #[test]
    fn it_never_falls() {
        let mut history = EchoHistory::new();
        history.note(ms(0), StateNumber::new(9));
        history.note(ms(1), StateNumber::new(4));
        assert!(history.advance(ms(100)));
        assert_eq!(history.echo_ack(), StateNumber::new(9));
    }

    #[test]
    fn a_flood_of_states_is_held_as_one_per_millisecond() {
        let mut history = EchoHistory::new();
        for number in 0..100_000_u64 {
            history.note(
                Time::from_origin(Duration::from_micros(number)),
                StateNumber::new(number),
            );
            history.advance(Time::from_origin(Duration::from_micros(number)));
            assert!(history.waiting.len() <= 51);
        }
    }
}
