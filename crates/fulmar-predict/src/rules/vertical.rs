//! Keys that go to other rows of an editor's text, or make new ones.

use fulmar_terminal::{CellRow, Position, Row};

use super::{EditState, RuleOutcome};
use crate::gutter::gutter;
use crate::text::{char_at, is_vacant_from, left_of, row_end, text_end};

/// The row above or below, as near to the caret's column as its text allows.
///
/// There is no rule at the edges of the window, where it scrolls, nor for long lines, nor where
/// the text may have ended.
pub(super) fn step(is_down: bool, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let screen = edit.canvas.screen();
    let bottom = edit.line.context.editor?.bottom;
    let to = if is_down {
        at.row.0.checked_add(1)?
    } else {
        at.row.0.checked_sub(1)?
    };
    let to = Row(to);
    if to >= bottom
        || is_beyond_text(edit, to, bottom)
        || [at.row, to].iter().any(|row| is_wrapped(edit, *row))
    {
        return None;
    }
    let start = gutter(screen, to);
    let end = row_end_in_window(edit, to, start);
    // Editors remember the column in which a run of such keys began: a short row on the way does
    // not lose it.
    let goal = edit.line.goal_column.unwrap_or(at.column.0);
    let column = goal.min(end).max(start);
    let column = whole_character(edit, to, column);
    edit.canvas.move_caret(Position::new(to.0, column));
    edit.line.row = to;
    edit.line.margin = start;
    edit.line.end = end;
    edit.line.goal_column = Some(goal);
    Some(RuleOutcome::default())
}

/// Returns the end of a row's text: blanks of any number may be inside it, a border may not.
fn row_end_in_window(edit: &EditState<'_>, row: Row, start: u16) -> u16 {
    let screen = edit.canvas.screen();
    let at = Position::new(row.0, start);
    row_end(screen.row(row))
        .min(crate::text::border(screen, at))
        .max(text_end(screen, at))
}

/// Not into the right half of a wide character.
fn whole_character(edit: &EditState<'_>, row: Row, column: u16) -> u16 {
    let cells = edit.canvas.row(row);
    match left_of(cells, column.saturating_add(1)) {
        Some(start) if start < column && char_at(cells, start) != ' ' => start,
        _ => column,
    }
}

/// True if the row may be one of several of a line: it reaches the right edge, or the one above does.
fn is_wrapped(edit: &EditState<'_>, row: Row) -> bool {
    is_full(edit.canvas.row(row)) || continues(edit, row)
}

/// True if the row may go on with the line of the one above.
pub(super) fn continues(edit: &EditState<'_>, row: Row) -> bool {
    let above = row.0.checked_sub(1).map(Row);
    above.is_some_and(|above| is_full(edit.canvas.row(above)))
}

/// True if the text of the row reaches the last column, where a blank cannot be seen, so that it may go on in the next.
fn is_full(cells: &CellRow) -> bool {
    row_end(cells) + 1 >= cells.columns()
}

/// True if a row may be beyond the text: vim marks those with `~`; others leave them and all that follow
/// empty.
fn is_beyond_text(edit: &EditState<'_>, row: Row, bottom: Row) -> bool {
    is_vim_filler(edit.canvas.row(row)) || (row.0..bottom.0).all(|row| is_empty(edit, Row(row)))
}

/// True if vim marks the row as one beyond the text.
pub(super) fn is_vim_filler(cells: &CellRow) -> bool {
    char_at(cells, 0) == '~' && is_vacant_from(cells, 1)
}

fn is_empty(edit: &EditState<'_>, row: Row) -> bool {
    is_vacant_from(edit.canvas.row(row), 0)
}
