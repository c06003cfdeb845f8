//! Enter in the text of an editor.

use fulmar_terminal::{Position, Row};

use super::vertical::is_vim_filler;
use super::{EditState, RuleOutcome};
use crate::canvas::Canvas;
use crate::editor::EditorKind;
use crate::gutter::gutter;
use crate::overlay::CellContent;
use crate::text::{border, is_vacant, is_vacant_from, row_end, starts, text_end};

/// The number of ways in which Enter may split a line: the new row begins below the text of the old, or in the first
/// column.
///
/// Source: docs/prediction.md §4.
pub(super) const VARIANTS: u8 = 2;

/// Splits the line at the caret, and pushes the rows below down.
///
/// There is no rule where the window scrolls, the line is longer than its row, or another window stands beside.
pub(super) fn enter(variant: u8, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let editor = edit.line.context.editor?;
    let canvas = &mut *edit.canvas;
    let at = canvas.caret();
    let below = Row(at.row.0 + 1);
    let last_column = canvas.size().columns() - 1;
    let is_long = !is_vacant(canvas.line(), last_column);
    if below >= editor.bottom || is_long || has_window_beside(canvas) {
        return None;
    }
    let gutter = gutter(canvas.screen(), at.row).min(at.column.0);
    let indent = match variant {
        0 => indent(canvas, gutter),
        _ => gutter,
    };
    let tail = tail(canvas);
    push_down(canvas, below, editor.bottom, gutter);
    clear_row(canvas, at.row, at.column.0);
    clear_row(canvas, below, gutter);
    for (offset, content) in tail {
        if indent + offset <= last_column {
            canvas.put(Position::new(below.0, indent + offset), &content);
        }
    }
    canvas.move_caret(Position::new(below.0, indent));
    begin_row(edit, below, gutter);
    Some(RuleOutcome::default())
}

/// Opens a row below the caret's for the rest of its line, numbers and all, and puts the caret there. Only editors with
/// modes are known to wrap.
pub(super) fn open_row(edit: &mut EditState<'_>) -> Option<()> {
    let canvas = &mut *edit.canvas;
    let at = canvas.caret();
    let editor = edit.line.context.editor?;
    let below = Row(at.row.0 + 1);
    let wraps = editor.kind == EditorKind::Insert && !has_window_beside(canvas);
    if !wraps || below >= editor.bottom {
        return None;
    }
    let gutter = gutter(canvas.screen(), at.row).min(at.column.0);
    push_down(canvas, below, editor.bottom, 0);
    // Beyond the text, the row opens with the next character.
    if !is_vim_filler(canvas.row(below)) {
        clear_row(canvas, below, 0);
    }
    canvas.move_caret(Position::new(below.0, gutter));
    begin_row(edit, below, gutter);
    Some(())
}

/// True if another window stands right of the caret: rows cannot be moved as a whole.
fn has_window_beside(canvas: &Canvas) -> bool {
    border(canvas.screen(), canvas.caret()) < canvas.size().columns()
}

/// Takes the row at the caret for the one that is edited.
fn begin_row(edit: &mut EditState<'_>, row: Row, margin: u16) {
    edit.line.row = row;
    edit.line.margin = margin;
    edit.line.end = text_end(edit.canvas.screen(), edit.canvas.caret());
}

/// Returns the column at which the text of the caret's row begins, at most that of the caret.
fn indent(canvas: &Canvas, gutter: u16) -> u16 {
    let at = canvas.caret();
    let row = canvas.line();
    (gutter..at.column.0)
        .find(|&column| !is_vacant(row, column))
        .unwrap_or(at.column.0)
}

/// Returns the cells right of the caret, each with its distance from it.
fn tail(canvas: &Canvas) -> Vec<(u16, CellContent)> {
    let at = canvas.caret();
    let row = canvas.line();
    starts(row, at.column.0, row_end(row))
        .map(|column| {
            (
                column - at.column.0,
                canvas.content(Position::new(at.row.0, column)),
            )
        })
        .collect()
}

/// Moves the rows of text from `first` on one down, as far as there are any, numbers left alone.
fn push_down(canvas: &mut Canvas, first: Row, bottom: Row, gutter: u16) {
    let is_text = |row: &u16| {
        let cells = canvas.row(Row(*row));
        !is_vacant_from(cells, gutter) && !is_vim_filler(cells)
    };
    let Some(last) = (first.0..bottom.0).rev().find(is_text) else {
        return;
    };
    for row in (first.0..=last).rev().filter(|row| row + 1 < bottom.0) {
        copy_row(canvas, Row(row), Row(row + 1), gutter);
    }
}

fn clear_row(canvas: &mut Canvas, row: Row, from: u16) {
    let end = row_end(canvas.row(row)).max(from);
    canvas.blank(row, from..end);
}

/// Makes a row from `start` on show what another does.
fn copy_row(canvas: &mut Canvas, from: Row, to: Row, start: u16) {
    clear_row(canvas, to, start);
    let cells = canvas.row(from);
    let columns: Vec<u16> = starts(cells, start, row_end(cells)).collect();
    for column in columns {
        let content = canvas.content(Position::new(from.0, column));
        canvas.put(Position::new(to.0, column), &content);
    }
}
