//! Previews Enter at a prompt before the program answers.

use fulmar_terminal::Position;

use crate::canvas::Canvas;
use crate::context_memory::EnterEffect;
use crate::input_line::InputLine;
use crate::text::is_vacant_from;

/// Draws what Enter is expected to do; returns whether everything has to move up by one first.
/// `None` if the next row is taken, as by a status line: what scrolls then is not known.
pub(crate) fn enter(effect: EnterEffect, canvas: &mut Canvas, line: &InputLine) -> Option<bool> {
    let at = canvas.caret();
    match effect {
        EnterEffect::NextRow if at.row == canvas.size().last_row() => {
            canvas.move_caret(Position::new(at.row.0, 0));
            return Some(true);
        }
        EnterEffect::NextRow => {
            let below = Position::new(at.row.0 + 1, 0);
            if !is_vacant_from(canvas.row(below.row), 0) {
                return None;
            }
            canvas.move_caret(below);
        }
        EnterEffect::ClearLine => {
            let end = line.text_end(canvas);
            canvas.blank(line.row, line.margin..end);
            canvas.move_caret(line.at(line.margin));
            line.draw_placeholder(canvas);
        }
    }
    Some(false)
}
