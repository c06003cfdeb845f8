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

#[cfg(test)]
mod tests {
    use super::*;

    use fulmar_terminal::{Size, Terminal};

    fn look(character: char) -> CellLook {
        CellLook::BLANK.with(character)
    }

    /// The verdict of a screen with this in its first row on the third cell of it.
    fn validity(prediction: &CellPrediction, row: &str, late_ack: u64) -> Validity {
        let mut terminal = Terminal::new(Size::new(1, 5).unwrap());
        terminal.process(row.as_bytes());
        let screen = ScreenSnapshot::of(terminal.screen(), None);
        prediction.validity(CellPosition::new(0, 2), &screen, late_ack)
    }

    fn predicted(looks: &[Option<char>], displayed: char) -> CellPrediction {
        let mut prediction = CellPrediction {
            expires: 7,
            ..CellPrediction::default()
        };
        for one in looks {
            prediction.change(one.map(look), look(displayed));
        }
        prediction
    }

    #[test]
    fn a_screen_says_nothing_before_the_ack() {
        let prediction = predicted(&[Some('x')], ' ');
        assert_eq!(validity(&prediction, "$ y", 6), Validity::Pending);
        assert_eq!(validity(&prediction, "$ y", 7), Validity::Misprediction);
        assert_eq!(validity(&prediction, "$ x", 7), Validity::Right);
    }

    #[test]
    fn a_place_that_is_gone_is_wrong_at_once() {
        let prediction = predicted(&[Some('x')], ' ');
        let terminal = Terminal::new(Size::new(2, 3).unwrap());
        let screen = ScreenSnapshot::of(terminal.screen(), None);
        let at = |row, column| prediction.validity(CellPosition::new(row, column), &screen, 0);
        assert_eq!(at(1, 2), Validity::Pending);
        assert_eq!([at(2, 0), at(0, 3)], [Validity::Misprediction; 2]);
    }

    #[test]
    fn what_nobody_knows_and_blanks_prove_nothing() {
        for looks in [[None], [Some(' ')]] {
            let prediction = predicted(&looks, 'q');
            assert_eq!(validity(&prediction, "$ y", 7), Validity::RightAnyway);
        }
    }

    #[test]
    fn what_was_there_before_proves_nothing() {
        assert_eq!(
            validity(&predicted(&[Some('x')], 'x'), "$ x", 7),
            Validity::RightAnyway
        );
        // Predicted, changed, and predicted again: it may still be the first.
        let again = predicted(&[Some('x'), Some('y'), Some('x')], ' ');
        assert_eq!(validity(&again, "$ x", 7), Validity::RightAnyway);
        assert_eq!(
            validity(&predicted(&[Some('y'), Some('x')], ' '), "$ x", 7),
            Validity::Right
        );
        // What nobody knew in between is forgotten with what was before it.
        let unknown = predicted(&[Some('x'), None, Some('x')], ' ');
        assert_eq!(validity(&unknown, "$ x", 7), Validity::Right);
    }

    #[test]
    fn colours_are_not_predicted() {
        let prediction = predicted(&[Some('x')], ' ');
        assert_eq!(validity(&prediction, "$ \x1b[7mx", 7), Validity::Right);
    }
}
