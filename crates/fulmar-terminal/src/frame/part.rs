//! A part of a frame that is too long: a real screen on the way.

use crate::Screen;
use crate::frame::Frame;
use crate::frame::rows::RowChange;
use crate::frame::seen::is_same_row;
use crate::frame::writer::Writer;
use crate::row::{CellRow, SharedRow};
use crate::size::{Position, Row};
use crate::style::{Color, Style};
use crate::vocabulary::Vocabulary;

/// Returns a frame from `source` to a screen that has some rows of `target`, those nearest to
/// the cursor, and the rest of `source`, and that screen. `None` when one row alone is all that
/// differs.
pub(super) fn diff_to_part(
    target: &Screen,
    source: &Screen,
    vocabulary: &Vocabulary,
    bytes_max: usize,
) -> Option<(Vec<u8>, Option<Screen>)> {
    let old = start(source, target);
    let changed = rows_by_distance(target, &old, vocabulary);
    let most = changed.len().checked_sub(1).filter(|&most| most > 0)?;
    let mut count = affordable(target, &old, &changed, vocabulary, bytes_max).min(most);
    loop {
        let between = with_rows(target, &old, &changed[..count]);
        let bytes = Frame::new(source, &between, vocabulary).write();
        if bytes.len() <= bytes_max || count == 1 {
            return Some((bytes, Some(between)));
        }
        // By halves, since each attempt costs a whole frame.
        count /= 2;
    }
}

/// The rows from which drawing starts: blank ones when the size changes.
fn start(source: &Screen, target: &Screen) -> Vec<SharedRow> {
    if source.size() == target.size() {
        return source.rows().cloned().collect();
    }
    let size = target.size();
    let blank = SharedRow::new(CellRow::new(size.columns(), Color::DEFAULT));
    vec![blank; usize::from(size.rows())]
}

/// The rows that differ, nearest to the cursor first.
fn rows_by_distance(target: &Screen, old: &[SharedRow], vocabulary: &Vocabulary) -> Vec<Row> {
    let cursor = target.cursor().position.row;
    let mut rows: Vec<Row> = (0..target.size().rows())
        .map(Row)
        .zip(old)
        .filter(|(row, old)| !is_same_row(old, target.row(*row), vocabulary))
        .map(|(row, _)| row)
        .collect();
    rows.sort_by_key(|row| row.0.abs_diff(cursor.0));
    rows
}

/// The number of rows that fit, at least 1, each counted as drawn by itself.
fn affordable(
    target: &Screen,
    old: &[SharedRow],
    changed: &[Row],
    vocabulary: &Vocabulary,
    bytes_max: usize,
) -> usize {
    let mut left = bytes_max;
    let fits = changed.iter().take_while(|row| {
        let mut writer = Writer::new(vocabulary, target.size(), Position::HOME, Style::default());
        writer.forget_position();
        RowChange {
            row: **row,
            old: &old[usize::from(row.0)],
            new: target.row(**row),
            done: 0,
            redraw_last: false,
            leave_last: false,
        }
        .draw(&mut writer);
        let fits = writer.out.len() <= left;
        left = left.saturating_sub(writer.out.len());
        fits
    });
    fits.count().max(1)
}

/// Returns `target` with only the `reached` of its rows, and of `old` the others.
fn with_rows(target: &Screen, old: &[SharedRow], reached: &[Row]) -> Screen {
    let mut between = target.clone();
    for (row, old) in (0..).map(Row).zip(old) {
        between.set_row(row, SharedRow::clone(old));
    }
    for &row in reached {
        between.set_row(row, SharedRow::clone(target.row(row)));
    }
    between
}
