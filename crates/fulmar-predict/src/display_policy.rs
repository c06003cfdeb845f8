//! Decides on which links predictions are shown, and where they are underlined.
//!
//! Source: docs/prediction.md §8.

use std::time::Duration;

use fulmar_base::Time;

use crate::config::PredictionMode;

/// A slower link than this shows predictions.
///
/// Source: docs/prediction.md §8.
const SHOW_ABOVE: Duration = Duration::from_millis(30);

/// A faster one does not, once nothing is pending.
///
/// Source: docs/prediction.md §8.
const HIDE_BELOW: Duration = Duration::from_millis(20);

/// A prediction that has waited for so long is shown on any link. Measured: in 1 of 100 keys, over a link that loses
/// nothing, the program takes longer (`fulmar-lab predict --links 0 --predictor none`).
///
/// Source: docs/prediction.md §8.
const SHOW_AFTER: Duration = Duration::from_millis(60);

/// After one that had to wait, predictions are shown at once for so long: losses and slow programs stay for a while.
/// Chosen by eye.
///
/// Source: docs/prediction.md §8.
const SHOW_ON: Duration = Duration::from_secs(10);

/// A slower link than this underlines predictions.
///
/// Source: docs/prediction.md §8.
const UNDERLINE_ABOVE: Duration = Duration::from_millis(160);

/// A faster one does not.
///
/// Source: docs/prediction.md §8.
const PLAIN_BELOW: Duration = Duration::from_millis(140);

/// A prediction that has waited for so long is underlined on any link.
///
/// Source: docs/prediction.md §8.
const UNDERLINE_AFTER: Duration = Duration::from_secs(5);

/// The look of shown predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DisplayStyle {
    pub(crate) underlined: bool,
}

/// The state that decides on showing and underlining.
#[derive(Debug, Default)]
pub(crate) struct DisplayPolicy {
    is_slow: bool,
    is_underlined: bool,
    /// The time at which a key, predicted or not, last had to wait.
    waited_at: Option<Time>,
    srtt: Option<Duration>,
}

impl DisplayPolicy {
    /// Takes note of the smoothed round trip.
    pub(crate) fn set_link(&mut self, srtt: Option<Duration>, is_idle: bool) {
        self.srtt = srtt;
        self.refresh(is_idle);
    }

    /// Takes note that the first key of those that wait was typed at that time.
    pub(crate) fn note_waiting(&mut self, now: Time, oldest: Option<Time>) {
        if oldest.is_some_and(|oldest| now.since(oldest) >= SHOW_AFTER) {
            self.waited_at = Some(now);
        }
    }

    /// Draws the consequences of the round trip. What is shown stays while something is pending.
    pub(crate) fn refresh(&mut self, is_idle: bool) {
        let Some(srtt) = self.srtt else { return };
        if srtt > SHOW_ABOVE {
            self.is_slow = true;
        } else if srtt < HIDE_BELOW && is_idle {
            self.is_slow = false;
        }
        if srtt > UNDERLINE_ABOVE {
            self.is_underlined = true;
        } else if srtt < PLAIN_BELOW {
            self.is_underlined = false;
        }
    }

    /// Returns how predictions are shown; `None` if they are not. `oldest` is when the first of those
    /// that wait was typed.
    pub(crate) fn shown(
        &self,
        mode: PredictionMode,
        now: Time,
        oldest: Option<Time>,
    ) -> Option<DisplayStyle> {
        let waited = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
        let is_shown = match mode {
            PredictionMode::Never => false,
            PredictionMode::Always | PredictionMode::Experimental => true,
            PredictionMode::Adaptive => {
                let has_waited = self.waited_at.is_some_and(|at| now.since(at) <= SHOW_ON);
                self.is_slow || has_waited || waited >= SHOW_AFTER
            }
        };
        is_shown.then_some(DisplayStyle {
            underlined: self.is_underlined || waited >= UNDERLINE_AFTER,
        })
    }

    /// Returns when what is shown changes by itself.
    pub(crate) fn due(
        &self,
        mode: PredictionMode,
        now: Time,
        oldest: Option<Time>,
    ) -> Option<Time> {
        let oldest = oldest.filter(|_| mode != PredictionMode::Never)?;
        let show =
            (mode == PredictionMode::Adaptive && !self.is_slow).then_some(oldest + SHOW_AFTER);
        let underline = (!self.is_underlined).then_some(oldest + UNDERLINE_AFTER);
        show.into_iter()
            .chain(underline)
            .filter(|&due| due > now)
            .min()
    }
}
