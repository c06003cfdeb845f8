//! Finds rows of which each cell is right and the whole is nothing that ever was there.

use super::recorded_truth::RecordedTruth;
use super::snapshot::{CellLook, ScreenSnapshot};
use super::user_view::ViewSample;
use crate::judge::CellPosition;

/// So many blanks end the text that the cursor is in: what is behind them is drawn by itself.
///
/// Source: docs/prediction.md §5, the gap at a prompt.
const GAP: usize = 2;

/// Returns the place of the cursor if its row is spliced at a moment: no true screen between the server's frame and the
/// last key has what is drawn left of the cursor together with what is shown right of it. Nothing right of it is right,
/// too: suggestions are not required. What the program itself has left of what is drawn is its own affair.
pub(super) fn spliced_at(truth: &RecordedTruth, moment: &ViewSample<'_>) -> Option<CellPosition> {
    let (frame, drawn) = (&moment.frame.snapshot, &moment.drawn.snapshot);
    let cursor = drawn.cursor.seen()?;
    let row = drawn.row(cursor.row);
    let mut cells = row.iter().zip(frame.row(cursor.row));
    let first = cells.position(|(drawn, frame)| !drawn.has_text_of(*frame))?;
    // An editor's mark may come into the last column, or go.
    let row = &row[..row.len().saturating_sub(1)];
    let column = usize::from(cursor.column).min(row.len());
    let first = first.min(column);
    let (left, right) = (&row[first..column], &row[column..]);
    let right = &right[..text_end(right)];
    let is_true = |snapshot: &ScreenSnapshot| {
        let there = snapshot.row(cursor.row);
        let behind = there.get(column..).unwrap_or_default();
        is_alike(left, there.get(first..).unwrap_or_default())
            && (is_alike(right, behind) || right.iter().all(|cell| cell.is_blank()))
    };
    let (from, to) = (moment.frame.number, truth.reach(moment.typed));
    let is_spliced = !truth.snapshots(from, to).any(is_true);
    is_spliced.then_some(cursor)
}

/// Returns true if `one` reads as the start of `other`.
fn is_alike(one: &[CellLook], other: &[CellLook]) -> bool {
    one.len() <= other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.has_text_of(*other))
}

/// Counts the cells up to the first gap.
fn text_end(cells: &[CellLook]) -> usize {
    let gap = cells
        .windows(GAP)
        .position(|cells| cells.iter().all(|cell| cell.is_blank()));
    gap.unwrap_or(cells.len())
}
