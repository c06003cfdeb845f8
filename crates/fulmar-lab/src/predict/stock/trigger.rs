//! Decides when stock shows its predictions.

use std::time::Duration;

/// Watches whether links are slow and predictions late.
#[derive(Debug)]
pub(super) struct Triggers {
    /// Half of the smoothed round trip, within bounds.
    interval: Duration,
    is_slow: bool,
    glitches: u32,
    confirmed: Option<Duration>,
}

const INTERVAL_MIN: Duration = Duration::from_millis(20);
const INTERVAL_MAX: Duration = Duration::from_millis(250);
const SLOW_ABOVE: Duration = Duration::from_millis(30);
const GLITCH_AFTER: Duration = Duration::from_millis(250);
const GLITCH_LONG: Duration = Duration::from_secs(5);
const GLITCHES: u32 = 10;
const CONFIRMATIONS_APART: Duration = Duration::from_millis(150);

impl Default for Triggers {
    fn default() -> Triggers {
        Triggers {
            interval: INTERVAL_MAX,
            // The interval is at its longest before anything is heard.
            is_slow: true,
            glitches: 0,
            confirmed: None,
        }
    }
}

impl Triggers {
    pub(super) fn shows(&self) -> bool {
        self.is_slow || self.glitches > 0
    }

    pub(super) fn set_round_trip(&mut self, srtt: Option<Duration>) {
        if let Some(srtt) = srtt {
            let half = srtt.as_secs_f64() * 1e3 / 2.0;
            let half = Duration::from_millis(half.ceil() as u64);
            self.interval = half.clamp(INTERVAL_MIN, INTERVAL_MAX);
        }
    }

    pub(super) fn look(&mut self, is_active: bool) {
        if self.interval > SLOW_ABOVE {
            self.is_slow = true;
        } else if self.interval <= INTERVAL_MIN && !is_active {
            self.is_slow = false;
        }
    }

    /// Takes note that a prediction made at a time is still open.
    pub(super) fn wait(&mut self, now: Duration, made: Duration) {
        let age = now.saturating_sub(made);
        if age >= GLITCH_LONG {
            self.glitches = 2 * GLITCHES;
        } else if age >= GLITCH_AFTER {
            self.glitches = self.glitches.max(GLITCHES);
        }
    }

    /// Takes note that a prediction made at a time is confirmed.
    pub(super) fn confirm(&mut self, now: Duration, made: Duration) {
        let is_quick = now.saturating_sub(made) < GLITCH_AFTER;
        let is_apart = self
            .confirmed
            .is_none_or(|last| now.saturating_sub(last) >= CONFIRMATIONS_APART);
        if is_quick && is_apart && self.glitches > 0 {
            self.glitches -= 1;
            self.confirmed = Some(now);
        }
    }
}
