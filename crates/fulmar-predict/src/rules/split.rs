//! Enter in the text of an editor.

use fulmar_terminal::{Position, Row};

use super::vertical::is_void;
use super::{Done, Sheet};
use crate::editor::editor;
use crate::gutter::gutter;
use crate::overlay::Ink;
use crate::text::{is_vacant, is_vacant_from, row_end, starts};

/// Splits the line at the caret, and pushes the rows below down.
///
/// There is no rule where the window scrolls or the line is longer than its row.
pub(super) fn split(variant: u8, sheet: &mut Sheet<'_>) -> Option<Done> {
    let at = sheet.canvas.caret();
    let bottom = editor(sheet.canvas.screen(), at)?.bottom;
    let below = Row(at.row.0 + 1);
    let last_column = sheet.canvas.size().columns() - 1;
    if below >= bottom || !is_vacant(sheet.canvas.line(), last_column) {
        return None;
    }
    let gutter = gutter(sheet.canvas.screen(), at.row).min(at.column.0);
    let indent = if variant == 0 {
        indent(sheet, gutter)
    } else {
        gutter
    };
    let tail = tail(sheet);
    push_down(sheet, below, bottom, gutter);
    sheet.clear_row(at.row, at.column.0);
    sheet.clear_row(below, gutter);
    for (offset, ink) in tail {
        if indent + offset <= last_column {
            sheet
                .canvas
                .put(Position::new(below.0, indent + offset), &ink);
        }
    }
    sheet.canvas.move_caret(Position::new(below.0, indent));
    Some(Done::default())
}

/// Where the text of the caret's row begins, at most at the caret.
fn indent(sheet: &Sheet<'_>, gutter: u16) -> u16 {
    let at = sheet.canvas.caret();
    let row = sheet.canvas.line();
    (gutter..at.column.0)
        .find(|&column| !is_vacant(row, column))
        .unwrap_or(at.column.0)
}

/// What stands right of the caret, each with its distance from it. Blanks at its start are left
/// behind where lines are indented.
fn tail(sheet: &Sheet<'_>) -> Vec<(u16, Ink)> {
    let at = sheet.canvas.caret();
    let row = sheet.canvas.line();
    starts(row, at.column.0, row_end(row))
        .map(|column| {
            (
                column - at.column.0,
                sheet.canvas.ink(Position::new(at.row.0, column)),
            )
        })
        .collect()
}

/// Moves the rows of text from `first` on one down, as far as there are any, numbers left alone.
fn push_down(sheet: &mut Sheet<'_>, first: Row, bottom: Row, gutter: u16) {
    let is_text = |row: &u16| {
        let cells = sheet.canvas.row(Row(*row));
        !is_vacant_from(cells, gutter) && !is_void(cells)
    };
    let Some(last) = (first.0..bottom.0).rev().find(is_text) else {
        return;
    };
    for row in (first.0..=last).rev().filter(|row| row + 1 < bottom.0) {
        sheet.copy_row(Row(row), Row(row + 1), gutter);
    }
}

impl Sheet<'_> {
    fn clear_row(&mut self, row: Row, from: u16) {
        let end = row_end(self.canvas.row(row)).max(from);
        self.canvas.blank(row, from..end);
    }

    /// Makes a row from `start` on show what another does.
    fn copy_row(&mut self, from: Row, to: Row, start: u16) {
        self.clear_row(to, start);
        let cells = self.canvas.row(from);
        let columns: Vec<u16> = starts(cells, start, row_end(cells)).collect();
        for column in columns {
            let ink = self.canvas.ink(Position::new(from.0, column));
            self.canvas.put(Position::new(to.0, column), &ink);
        }
    }
}
