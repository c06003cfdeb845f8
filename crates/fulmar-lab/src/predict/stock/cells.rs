//! The predictions of stock about a cell.

use std::time::Duration;

use fulmar_terminal::{Position, Style};

use crate::predict::snapshot::{CellLook, ScreenSnapshot};

/// A prediction about one cell.
#[derive(Clone, Debug)]
pub(super) struct CellPrediction {
    pub(super) is_active: bool,
    pub(super) look: CellLook,
    is_unknown: bool,
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

impl Default for CellPrediction {
    fn default() -> CellPrediction {
        CellPrediction {
            is_active: false,
            look: CellLook::BLANK,
            is_unknown: false,
            originals: Vec::new(),
            expires: 0,
            epoch: 0,
            at: Duration::ZERO,
            key: 0,
        }
    }
}

impl CellPrediction {
    /// Returns the predicted look, unless the prediction is that nobody knows.
    pub(super) fn known(&self) -> Option<CellLook> {
        (!self.is_unknown).then_some(self.look)
    }

    /// Predicts something else, or that nobody knows.
    pub(super) fn change(&mut self, look: Option<CellLook>, displayed: CellLook) {
        if self.is_active && !self.is_unknown {
            self.originals.push(self.look)
        } else {
            self.originals.clear()
        }
        self.originals.push(displayed);
        self.is_active = true;
        self.is_unknown = look.is_none();
        self.look = look.unwrap_or(self.look);
    }

    /// Returns the verdict of a screen on an active prediction.
    pub(super) fn validity(
        &self,
        at: Position,
        screen: &ScreenSnapshot,
        late_ack: u64,
    ) -> Validity {
        if at.row.0 >= screen.rows() || at.column.0 >= screen.columns() {
            return Validity::Misprediction;
        }
        if late_ack < self.expires {
            return Validity::Pending;
        }
        if self.is_unknown || self.look.is_blank() {
            return Validity::RightAnyway;
        }
        let actual = screen.look(at);
        if !actual.has_text_of(self.look) {
            return Validity::Misprediction;
        }
        let was_there = |original: &CellLook| original.has_text_of(self.look);
        if self.originals.iter().any(was_there) {
            Validity::RightAnyway
        } else {
            Validity::Right
        }
    }
}

/// A blank in a rendition.
pub(super) fn look_of(style: &Style) -> CellLook {
    CellLook::styled(' ', style)
}
