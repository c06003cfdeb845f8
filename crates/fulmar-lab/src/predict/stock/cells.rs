//! The predictions of stock about a cell.

use std::time::Duration;

use crate::judge::CellPosition;
use crate::predict::snapshot::{CellLook, ScreenSnapshot};

/// A prediction about one cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellPrediction {
    /// The look that it will have; `None` if the prediction is that nobody knows.
    pub(super) look: Option<CellLook>,
    /// The looks that the cell has had since the prediction was begun.
    originals: Vec<CellLook>,
    pub(super) expires: u64,
    pub(super) epoch: u64,
    pub(super) at: Duration,
    pub(super) key: u64,
}

/// The verdict of a screen on a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    /// Nothing yet.
    Pending,
    /// It was right.
    Right,
    /// It was right, or there was nothing to be right about.
    RightAnyway,
    /// It was not.
    Misprediction,
}

impl CellPrediction {
    /// Predicts something else, or that nobody knows.
    pub(super) fn change(&mut self, look: Option<CellLook>, displayed: CellLook) {
        match self.look {
            Some(before) => self.originals.push(before),
            None => self.originals.clear(),
        }
        self.originals.push(displayed);
        self.look = look;
    }

    /// Returns the verdict of a screen on it.
    pub(super) fn validity(
        &self,
        at: CellPosition,
        screen: &ScreenSnapshot,
        late_ack: u64,
    ) -> Validity {
        if at.row >= screen.rows() || at.column >= screen.columns() {
            return Validity::Misprediction;
        }
        if late_ack < self.expires {
            return Validity::Pending;
        }
        let Some(look) = self.look.filter(|look| !look.is_blank()) else {
            return Validity::RightAnyway;
        };
        let was_there = |original: &CellLook| original.has_text_of(look);
        if !screen.look(at).has_text_of(look) {
            Validity::Misprediction
        } else if self.originals.iter().any(was_there) {
            Validity::RightAnyway
        } else {
            Validity::Right
        }
    }
}
