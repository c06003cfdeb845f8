//! The state that rules edit, and edits that several of them share.

use fulmar_terminal::{Attributes, Column, Position, Row};

use super::RuleOutcome;
use crate::canvas::Canvas;
use crate::editor::EditorKind;
use crate::gutter::gutter;
use crate::input_context::InputKind;
use crate::input_line::InputLine;
use crate::overlay::{Grapheme, OverlayCell};
use crate::text::{ShiftRun, is_vacant, right_of, typed_style};

/// The state that a rule edits.
pub(crate) struct EditState<'a> {
    pub(crate) canvas: &'a mut Canvas,
    pub(crate) line: &'a mut InputLine,
    /// Typing replaces instead of moving.
    pub(crate) overwrite: bool,
}

impl EditState<'_> {
    /// Draws cells, if there are any.
    pub(super) fn put_all(&mut self, cells: Vec<OverlayCell>) {
        for cell in cells {
            self.canvas.put(cell.at, &cell.content);
        }
    }

    /// Returns an outcome without any change if the line has a prompt: its margin and its end stop the caret.
    /// Elsewhere the key may go to another row, and there is no rule.
    pub(super) fn unmoved_at_prompt(&self) -> Option<RuleOutcome> {
        (self.line.context.kind == InputKind::Prompt).then(RuleOutcome::default)
    }

    /// True if an editor says that what is typed replaces what is there.
    pub(super) fn replaces(&self) -> bool {
        let editor = self.line.context.editor;
        editor.is_some_and(|editor| editor.kind == EditorKind::Replace)
    }

    /// Removes what stands between two columns, closes up, and puts the caret there, if it is known what comes in.
    pub(super) fn remove(&mut self, from: u16, to: u16) -> Option<()> {
        let row = self.canvas.caret().row;
        let end = self.line.text_end(self.canvas).max(to);
        let columns = to.saturating_sub(from);
        let start = Position {
            row,
            column: Column(from),
        };
        // What is removed may have gaps of its own; what follows moves up to the first.
        let behind = Position {
            row,
            column: Column(to),
        };
        let screen = self.canvas.screen();
        let run = ShiftRun::at(screen, behind, self.line.gap()).preceded_by(from);
        self.close_up(&run, columns)?;
        self.canvas.move_caret(start);
        self.line.end = end.saturating_sub(columns).max(from);
        Some(())
    }

    /// Takes the first columns of a run out. Into a row of a line of several, the text of the next row comes from the
    /// right; nothing is known of text that is outside of the window.
    pub(super) fn close_up(&mut self, run: &ShiftRun, columns: u16) -> Option<()> {
        let size = self.canvas.size();
        if self.line.has_pushed_out {
            return None;
        }
        self.put_all(run.remove(self.canvas.screen(), columns));
        if !run.overflows() {
            return Some(());
        }
        let row = run.continuation(size).filter(|_| self.wraps())?;
        let start = self.row_start(row)?;
        if columns > size.columns().saturating_sub(start) {
            return None;
        }
        for column in 0..columns {
            let from = start + column;
            if right_of(self.canvas.row(row), from) != from + 1 {
                return None;
            }
            let content = self.canvas.content(Position::new(row.0, from));
            let to = Position::new(row.0 - 1, size.columns() - columns + column);
            self.canvas.put(to, &content);
        }
        let start = Position::new(row.0, start);
        let next = ShiftRun::at(self.canvas.screen(), start, self.line.gap());
        self.close_up(&next, columns)
    }

    /// True if a line that is longer than its row goes on in the next, as at a prompt; of the editors, only those with
    /// modes are known to do so.
    fn wraps(&self) -> bool {
        self.line.context.kind == InputKind::Prompt || self.is_in_modal_editor()
    }

    /// True in the text of an editor with modes, in that of inserting.
    pub(super) fn is_in_modal_editor(&self) -> bool {
        let editor = self.line.context.editor;
        editor.is_some_and(|editor| editor.kind == EditorKind::Insert)
    }

    /// Returns the column at which a row begins that goes on with the line above; `None` if it has a number of its own.
    fn row_start(&self, row: Row) -> Option<u16> {
        if self.line.context.kind == InputKind::Prompt {
            return Some(0);
        }
        let start = gutter(self.canvas.screen(), row);
        let cells = self.canvas.row(row);
        (0..start)
            .all(|column| is_vacant(cells, column))
            .then_some(start)
    }

    /// Gives the text between two columns the look of what is typed, for a suggestion that was
    /// accepted.
    pub(super) fn accept_style(&mut self, start: u16, end: u16) {
        let row = self.canvas.caret().row;
        let style = typed_style(self.canvas.row(row), start);
        for column in start..end {
            let at = Position::new(row.0, column);
            let mut content = self.canvas.content(at);
            if content.grapheme != Grapheme::Blank {
                content.style.attributes -= Attributes::DIM | Attributes::INVERSE;
                content.style.foreground = style.foreground;
                self.canvas.put(at, &content);
            }
        }
    }
}
