//! The number of a state.

use std::fmt;

/// The number of a version of a synchronised object.
///
/// Each direction numbers its own states: they begin with [`ZERO`](StateNumber::ZERO), the blank
/// object that both ends agree on, and rise, possibly with gaps, until
/// [`SHUTDOWN`](StateNumber::SHUTDOWN).
///
/// Source: docs/protocol.md §5.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateNumber(u64);

impl StateNumber {
    /// The state that both ends have before anything was sent.
    pub const ZERO: StateNumber = StateNumber(0);

    /// The last state of a conversation: 2^64 - 1. Whoever sends it wants to end.
    pub const SHUTDOWN: StateNumber = StateNumber(u64::MAX);

    /// Returns the state of that number; every number is one.
    pub const fn new(number: u64) -> StateNumber {
        StateNumber(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number for the state after this one if so many numbers are left out between them.
    pub fn after(self, left_out: u64) -> StateNumber {
        let before = self.0.saturating_add(left_out).min(u64::MAX - 2);
        StateNumber(before.max(self.0)).next()
    }

    /// Returns the number before this one; that of the first state is its own.
    pub(crate) fn before(self) -> StateNumber {
        StateNumber(self.0.saturating_sub(1))
    }

    /// Returns the number for the state after this one. An ordinary state never becomes
    /// [`SHUTDOWN`](StateNumber::SHUTDOWN) by counting, and nothing follows that.
    pub fn next(self) -> StateNumber {
        StateNumber(self.0.saturating_add(1).min(u64::MAX - 1).max(self.0))
    }
}

impl fmt::Display for StateNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StateNumber::SHUTDOWN => f.write_str("end"),
            StateNumber(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_never_ends_a_conversation() {
        assert_eq!(StateNumber::ZERO.next(), StateNumber::new(1));
        let last = StateNumber::new(u64::MAX - 1);
        assert_eq!(last.next(), last);
        assert_eq!(StateNumber::SHUTDOWN.next(), StateNumber::SHUTDOWN);
        assert_eq!(StateNumber::ZERO.after(16), StateNumber::new(17));
        assert_eq!(StateNumber::new(u64::MAX - 9).after(16), last);
        assert_eq!(StateNumber::SHUTDOWN.after(16), StateNumber::SHUTDOWN);
    }

    #[test]
    fn the_last_state_is_named() {
        assert_eq!(StateNumber::new(7).to_string(), "7");
        assert_eq!(StateNumber::SHUTDOWN.to_string(), "end");
    }
}
