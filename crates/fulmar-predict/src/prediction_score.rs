//! Counts right and wrong predictions of a session.

use std::fmt;
use std::time::Duration;

/// Counts since the session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionScore {
    /// Keys handed over, pastes and the terminal's own answers left out.
    pub keys: u64,
    /// Keys whose effect was shown before the server's.
    pub shown: u64,
    /// Shown and confirmed.
    pub right: u64,
    /// Shown and refuted.
    pub wrong: u64,
    /// Shown, and never compared: the screen moved on first.
    pub open: u64,
    /// The sum, over keys that were right, of the time between showing and confirmation.
    pub saved: Duration,
}

impl PredictionScore {
    /// Returns the mean time by which a right prediction came before its confirmation.
    pub fn mean_saved(&self) -> Duration {
        let right = u32::try_from(self.right).unwrap_or(u32::MAX).max(1);
        self.saved / right
    }
}

impl fmt::Display for PredictionScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} keys shown ahead, {} right, {} wrong, {} ms saved each",
            self.shown,
            self.keys,
            self.right,
            self.wrong,
            self.mean_saved().as_millis()
        )
    }
}
