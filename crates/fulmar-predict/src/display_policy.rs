//! Decides where predictions are underlined.
//!
//! Source: docs/prediction.md §8.

use std::time::Duration;

use fulmar_base::Time;

use crate::config::PredictionMode;

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

/// The state that decides on underlining.
#[derive(Debug, Default)]
pub(crate) struct DisplayPolicy {
    is_underlined: bool,
}

impl DisplayPolicy {
    /// Takes note of the smoothed round trip.
    pub(crate) fn set_link(&mut self, srtt: Option<Duration>) {
        let Some(srtt) = srtt else { return };
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
        (mode != PredictionMode::Never).then_some(DisplayStyle {
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
        let underline = (!self.is_underlined).then_some(oldest + UNDERLINE_AFTER);
        underline.filter(|&due| due > now)
    }
}
