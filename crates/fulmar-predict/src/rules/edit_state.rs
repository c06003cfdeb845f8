//! The state that rules edit, and edits that several of them share.

use fulmar_terminal::{Attributes, Column, Position};

use super::EditState;
use crate::editor::Kind;
use crate::overlay::Grapheme;
use crate::text::{Run, typed_style};

impl EditState<'_> {
    /// Whether an editor says that what is typed replaces what is there.
    pub(super) fn replaces(&self) -> bool {
        let editor = self.line.place.editor;
        editor.is_some_and(|editor| editor.kind == Kind::Replace)
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
        let run = Run::at(screen, behind, self.line.gap()).preceded_by(from);
        let cells = run.remove(screen, columns);
        self.put_all(cells);
        self.canvas.move_caret(start);
        self.line.end = end.saturating_sub(columns).max(from);
    }

    /// Gives the text between two columns the look of what is typed, for a suggestion that was
    /// accepted.
    pub(super) fn ungrey(&mut self, start: u16, end: u16) {
        let row = self.canvas.caret().row;
        let style = typed_style(self.canvas.row(row), start);
        for column in start..end {
            let at = Position::new(row.0, column);
            let mut ink = self.canvas.ink(at);
            if ink.symbol != Grapheme::Blank {
                ink.style.attributes -= Attributes::DIM | Attributes::INVERSE;
                ink.style.foreground = style.foreground;
                self.canvas.put(at, &ink);
            }
        }
    }
}
