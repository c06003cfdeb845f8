//! The decisions that somebody watches.

use fulmar_datagram::Time;

use crate::decision::Decision;

/// The number of decisions that are kept until they are taken. Chosen by eye: far more than one turn of a
/// client decides.
const DECISIONS_MAX: usize = 1024;

/// Decisions that nobody has taken yet; later ones than fit are lost.
#[derive(Debug, Default)]
pub(crate) struct DecisionLog {
    is_watched: bool,
    decisions: Vec<(Time, Decision)>,
}

impl DecisionLog {
    pub(crate) fn set_watched(&mut self, is_watched: bool) {
        self.is_watched = is_watched;
        self.decisions.clear();
    }

    pub(crate) fn note(&mut self, now: Time, decision: Decision) {
        if self.is_watched && self.decisions.len() < DECISIONS_MAX {
            self.decisions.push((now, decision));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<(Time, Decision)> {
        std::mem::take(&mut self.decisions)
    }
}
