//! The terminal of a recorded program, for a server that looks at it.

use std::time::Duration;

use super::host::behind_start;
use crate::predict::RecordedTruth;
use crate::trace::TtyState;

/// The settings of the terminal while the recording was made, told by what was received and written.
pub(crate) struct Tty<'a> {
    truth: &'a RecordedTruth,
    received: u64,
    /// The time at which the last keys came, and the time at which the last of them was recorded.
    clock: (Duration, Duration),
}

impl<'a> Tty<'a> {
    pub(crate) fn new(truth: &'a RecordedTruth) -> Self {
        Self {
            truth,
            received: 0,
            clock: (Duration::ZERO, Duration::ZERO),
        }
    }

    /// Takes note that so many bytes have come.
    pub(super) fn receive(&mut self, now: Duration, bytes: usize) {
        self.received += bytes as u64;
        let recorded = self.truth.typed_at(behind_start(self.received));
        self.clock = (now, recorded.unwrap_or_default());
    }

    /// Returns what the terminal is like when so much of the recording is written.
    pub(super) fn state(&self, now: Duration, written: usize) -> Option<&TtyState> {
        let (came, recorded) = self.clock;
        let looked = recorded + now.saturating_sub(came);
        self.truth.tty(self.truth.number_at(written), looked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::UNSEEN_START;
    use crate::trace::{Meta, Trace};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Two keys; the echo goes off 300 ms after the first of them, and on again after the second.
    fn truth() -> RecordedTruth {
        let trace = b"0 SIZE 20 4\n0 HOST 2\n$ \n1000000 USER 1\na\n1001000 HOST 1\na\n\
            2000000 USER 1\nb\n2001000 HOST 1\nb\n";
        let meta = "0 TTY 1 1 cat\n1300000 TTY 1 0 cat\n2400000 TTY 1 1 cat\n";
        RecordedTruth::of(
            &Trace::parse(trace).unwrap(),
            Some(&Meta::parse(meta).unwrap()),
        )
    }

    #[test]
    fn a_terminal_is_as_it_was_so_long_after_the_last_key() {
        let truth = truth();
        let mut tty = Tty::new(&truth);
        let echoes =
            |tty: &Tty<'_>, now, written| tty.state(ms(now), written).map(|tty| tty.has_echo);
        assert_eq!(echoes(&tty, 0, 2), Some(true));
        tty.receive(ms(50_000), UNSEEN_START.len());
        assert_eq!(echoes(&tty, 50_000, 2), Some(true));
        tty.receive(ms(60_000), 1);
        assert_eq!(echoes(&tty, 60_000, 3), Some(true));
        assert_eq!(echoes(&tty, 60_299, 3), Some(true));
        assert_eq!(echoes(&tty, 60_300, 3), Some(false));
        // What was written tells more than the clock.
        assert_eq!(echoes(&tty, 99_000, 2), Some(true));
        tty.receive(ms(61_000), 1);
        assert_eq!(
            [echoes(&tty, 61_399, 4), echoes(&tty, 61_400, 4)],
            [Some(false), Some(true)]
        );
    }

    #[test]
    fn without_a_sidecar_nothing_is_known() {
        let trace = Trace::parse(b"0 SIZE 20 4\n0 HOST 2\n$ \n").unwrap();
        let truth = RecordedTruth::of(&trace, None);
        assert_eq!(Tty::new(&truth).state(ms(9), 2), None);
    }
}
