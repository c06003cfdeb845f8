//! Finds what was shown and never should have been.

use std::collections::BTreeMap;
use std::time::Duration;

use super::recorded_truth::RecordedTruth;
use super::snapshot::{CellLook, ScreenSnapshot};
use super::user_view::{UserView, ViewSample};
use crate::judge::{CellPosition, CellText, WrongInterval, WrongIntervals, is_spliced};

impl CellText for CellLook {
    fn text(self) -> u32 {
        CellLook::text(self)
    }
}

/// Returns the cells that are wrong at a moment.
pub(super) fn wrong_cells(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Vec<CellPosition> {
    let (frame, drawn) = (&moment.frame.snapshot, &moment.drawn.snapshot);
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let is_true = |at: &CellPosition| {
        let look = drawn.look(*at);
        truth
            .snapshots(from, to)
            .any(|snapshot| snapshot.look(*at) == look)
    };
    drawn.differences(frame).filter(|at| !is_true(at)).collect()
}

/// Returns true if the cursor is wrong at a moment. One that is not to be seen is not.
pub(super) fn is_cursor_wrong(truth: &RecordedTruth, moment: &ViewSample<'_>) -> bool {
    let Some(shown) = moment.drawn.snapshot.caret().seen() else {
        return false;
    };
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let mut snapshots = truth.snapshots(from, to);
    moment.frame.snapshot.caret().seen() != Some(shown)
        && !snapshots.any(|snapshot| snapshot.caret().seen() == Some(shown))
}

/// Returns the place of the cursor if its row is spliced at a moment, by all true screens between the server's frame and
/// the last key.
fn spliced_at(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Option<CellPosition> {
    let (frame, drawn) = (&moment.frame.snapshot, &moment.drawn.snapshot);
    let cursor = drawn.caret().seen()?;
    let row = |snapshot: &'_ ScreenSnapshot| snapshot.row(cursor.row).to_vec();
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let true_rows = truth.snapshots(from, to).map(row);
    let (drawn, frame) = (drawn.row(cursor.row), frame.row(cursor.row));
    is_spliced(drawn, frame, cursor.column, true_rows).then_some(cursor)
}

/// Returns everything that was wrong in a session.
///
/// A place is wrong as long as it differs from the server's frame and from every true screen between that
/// frame and the last key. The cursor's row is wrong at the cursor as long as its parts are of several.
pub(super) fn wrongs(truth: &RecordedTruth, view: &UserView<'_>) -> Vec<WrongInterval> {
    let mut detector = MispredictionDetector {
        view,
        drawn: BTreeMap::new(),
        cursor: None,
    };
    let mut wrongs = WrongIntervals::new(Duration::ZERO);
    for moment in &view.moments {
        wrongs.pass(moment.at, &detector.wrong_at(truth, moment));
    }
    wrongs.finish(view.end)
}

struct MispredictionDetector<'a> {
    view: &'a UserView<'a>,
    /// The looks that are drawn over the frame, and the key because of which each is.
    drawn: BTreeMap<CellPosition, (CellLook, usize)>,
    cursor: Option<(CellPosition, usize)>,
}

impl MispredictionDetector<'_> {
    /// Returns the places that are wrong at a moment, and the key that is to blame for each.
    fn wrong_at(
        &mut self,
        truth: &RecordedTruth,
        moment: &ViewSample<'_>,
    ) -> BTreeMap<Option<CellPosition>, Option<usize>> {
        self.blame(moment);
        let key_of = |at: &CellPosition| self.drawn.get(at).map(|(_, key)| *key);
        let cells = wrong_cells(truth, moment);
        let mut wrong: BTreeMap<_, _> = cells.iter().map(|at| (Some(*at), key_of(at))).collect();
        let is_wrong = |row| cells.iter().any(|at| at.row == row);
        if let Some(at) = spliced_at(truth, moment).filter(|at| !is_wrong(at.row)) {
            let in_row = self.drawn.iter().filter(|(place, _)| place.row == at.row);
            wrong.insert(Some(at), in_row.map(|(_, (_, key))| *key).max());
        }
        if is_cursor_wrong(truth, moment) {
            wrong.insert(None, self.cursor.map(|(_, key)| key));
        }
        wrong
    }

    /// Finds out which key is to blame for each cell that is drawn: the one that the predictor names,
    /// or else the newest when it was drawn first.
    fn blame(&mut self, moment: &ViewSample<'_>) {
        let newest = moment.typed.saturating_sub(1);
        let named = |byte: Option<&u64>| byte.and_then(|byte| self.view.key_of(*byte));
        let snapshot = &moment.drawn.snapshot;
        let before = std::mem::take(&mut self.drawn);
        for at in snapshot.differences(&moment.frame.snapshot) {
            let look = snapshot.look(at);
            let known = before.get(&at).filter(|(was, _)| *was == look);
            let cause = moment.drawn.cause_of(at);
            let key = named(cause.as_ref()).or(known.map(|(_, key)| *key));
            self.drawn.insert(at, (look, key.unwrap_or(newest)));
        }
        let place = snapshot.caret().place;
        let known = self.cursor.filter(|(was, _)| *was == place);
        let key = named(moment.drawn.cursor_cause.as_ref()).or(known.map(|(_, key)| key));
        self.cursor = Some((place, key.unwrap_or(newest)));
    }
}
