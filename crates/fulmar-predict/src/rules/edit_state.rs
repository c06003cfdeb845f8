//! The state that rules edit, and edits that several of them share.

use fulmar_terminal::{Attributes, Column, Position};

use super::RuleOutcome;
use crate::canvas::Canvas;
use crate::editor::EditorKind;
use crate::input_context::InputKind;
use crate::input_line::InputLine;
use crate::overlay::{Grapheme, OverlayCell};
use crate::text::{ShiftRun, typed_style};

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

    /// Removes what stands between two columns, closes up, and puts the caret there.
    pub(super) fn remove(&mut self, from: u16, to: u16) {
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
        let cells = run.remove(screen, columns);
        self.put_all(cells);
        self.canvas.move_caret(start);
        self.line.end = end.saturating_sub(columns).max(from);
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
