//! Finds spliced rows in virtual time.

use super::recorded_truth::RecordedTruth;
use super::snapshot::{CellLook, ScreenSnapshot};
use super::user_view::ViewSample;
use crate::judge::{CellPosition, CellText, is_spliced};

impl CellText for CellLook {
    fn text(self) -> u32 {
        CellLook::text(self)
    }
}

/// Returns the place of the cursor if its row is spliced at a moment, by all true screens between the server's frame and
/// the last key.
pub(super) fn spliced_at(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Option<CellPosition> {
    let (frame, drawn) = (&moment.frame.snapshot, &moment.drawn.snapshot);
    let cursor = drawn.cursor.seen()?;
    let row = |snapshot: &'_ ScreenSnapshot| snapshot.row(cursor.row).to_vec();
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let true_rows = truth.snapshots(from, to).map(row);
    let (drawn, frame) = (drawn.row(cursor.row), frame.row(cursor.row));
    is_spliced(drawn, frame, cursor.column, true_rows).then_some(cursor)
}
