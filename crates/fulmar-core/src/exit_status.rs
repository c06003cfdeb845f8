//! The exit status of a session's program.

/// The number that is added to a signal to make a status, as shells have it.
const SIGNAL_STATUS: u8 = 128;

/// The number of signal 0 on the wire: the signals follow the exit codes.
///
/// Source: docs/protocol.md §13.6.
const WIRE_SIGNALS_FROM: u64 = 256;

/// The highest signal that there is on any system of ours, and the highest that a status has room for.
///
/// Source: docs/protocol.md §13.6.
const SIGNAL_MAX: u8 = 127;

/// The number on the wire that stands for no status: another client has taken the session.
///
/// Source: docs/protocol.md §13.6.
pub(crate) const WIRE_TAKEN_OVER: u64 = 512;

/// The number on the wire with which a client leaves a session that is to go on.
///
/// Source: docs/protocol.md §13.13.
pub(crate) const WIRE_DETACHED: u64 = 513;

/// The way in which a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// By itself, with that status.
    Code(u8),
    /// Killed by the signal of that number.
    Signal(u8),
}

impl ExitStatus {
    /// Returns the status that `number` on the wire stands for, if any does: 0 to 255 are codes, 256
    /// and the signal's number a signal.
    ///
    /// Source: docs/protocol.md §13.6.
    pub fn from_wire(number: u64) -> Option<ExitStatus> {
        if let Ok(code) = u8::try_from(number) {
            return Some(ExitStatus::Code(code));
        }
        let signal = u8::try_from(number - WIRE_SIGNALS_FROM).ok()?;
        (1..=SIGNAL_MAX)
            .contains(&signal)
            .then_some(ExitStatus::Signal(signal))
    }

    /// Returns the number that stands for it on the wire.
    pub fn to_wire(self) -> u64 {
        match self {
            ExitStatus::Code(code) => code.into(),
            ExitStatus::Signal(signal) => WIRE_SIGNALS_FROM + u64::from(signal),
        }
    }

    /// Returns the status with which to leave in the program's place: its code, or 128 and the number
    /// of the signal, as shells have it.
    pub fn to_status(self) -> u8 {
        match self {
            ExitStatus::Code(code) => code,
            ExitStatus::Signal(signal) => SIGNAL_STATUS.saturating_add(signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_signals_travel_apart() {
        for status in [
            ExitStatus::Code(0),
            ExitStatus::Code(7),
            ExitStatus::Code(255),
            ExitStatus::Signal(1),
            ExitStatus::Signal(127),
        ] {
            assert_eq!(ExitStatus::from_wire(status.to_wire()), Some(status));
        }
        assert_eq!(ExitStatus::Code(255).to_wire(), 255);
        assert_eq!(ExitStatus::Signal(9).to_wire(), 265);
    }

    #[test]
    fn numbers_that_mean_nothing_are_no_status() {
        for number in [256, 256 + 128, 512, 513, 1 << 32, u64::MAX] {
            assert_eq!(ExitStatus::from_wire(number), None, "{number}");
        }
    }

    #[test]
    fn a_status_is_that_of_a_shell() {
        assert_eq!(ExitStatus::Code(3).to_status(), 3);
        assert_eq!(ExitStatus::Signal(15).to_status(), 143);
        assert_eq!(ExitStatus::Signal(127).to_status(), 255);
    }
}
