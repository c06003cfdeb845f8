//! The decisions that somebody watches.

use fulmar_base::Time;

use crate::decision::PredictionDecision;

/// The number of decisions that are kept until they are taken. Chosen by eye: far more than one turn of a
/// client decides.
const DECISIONS_MAX: usize = 1024;

/// Decisions that nobody has taken yet; later ones than fit are lost.
#[derive(Debug, Default)]
pub(crate) struct DecisionLog {
    is_watched: bool,
    decisions: Vec<(Time, PredictionDecision)>,
}

impl DecisionLog {
    pub(crate) fn set_watched(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        self.decisions.clear();
    }

    pub(crate) fn note(&mut self, now: Time, decision: PredictionDecision) {
        if self.is_watched && self.decisions.len() < DECISIONS_MAX {
            self.decisions.push((now, decision));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<(Time, PredictionDecision)> {
        std::mem::take(&mut self.decisions)
    }
}
