//! The terminal of a recorded program, for a server that looks at it.

use std::time::Duration;

use super::host::UNSEEN_START;
use crate::predict::RecordedTruth;
use crate::trace::TtyState;

/// The settings of the terminal while the recording was made, told by what was received and written.
pub(crate) struct Tty<'a> {
    truth: &'a RecordedTruth,
    /// The byte up to which each key goes, and the time at which it was recorded.
    keys: Vec<(usize, Duration)>,
    received: usize,
    /// The time at which the last keys came, and the time at which the last of them was recorded.
    clock: (Duration, Duration),
}

impl<'a> Tty<'a> {
    pub(crate) fn new(truth: &'a RecordedTruth) -> Self {
        let mut end = UNSEEN_START.len();
        let keys = truth.keys().iter().map(|key| {
            end += key.bytes.len();
            (end, key.at)
        });
        Self {
            truth,
            keys: keys.collect(),
            received: 0,
            clock: (Duration::ZERO, Duration::ZERO),
        }
    }

    /// Takes note that so many bytes have come.
    pub(super) fn receive(&mut self, now: Duration, bytes: usize) {
        self.received += bytes;
        let keys = self.keys.partition_point(|(end, _)| *end <= self.received);
        let recorded = keys.checked_sub(1).map(|last| self.keys[last].1);
        self.clock = (now, recorded.unwrap_or_default());
    }

    /// Returns what the terminal is like when so much of the recording is written.
    pub(super) fn state(&self, now: Duration, written: usize) -> Option<&TtyState> {
        let (came, recorded) = self.clock;
        let looked = recorded + now.saturating_sub(came);
        self.truth.tty(self.truth.number_at(written), looked)
    }
}
