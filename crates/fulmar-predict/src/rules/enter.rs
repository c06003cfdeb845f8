//! What Enter does before the program answers.

use fulmar_terminal::Position;

use crate::canvas::Canvas;
use crate::line::Line;
use crate::memory::EnterEffect;

/// Draws what Enter is expected to do; `None` if that is not known.
pub(crate) fn enter(effect: EnterEffect, canvas: &mut Canvas, line: &Line) -> Option<()> {
    let at = canvas.caret();
    match effect {
        EnterEffect::NextRow if at.row < canvas.size().last_row() => {
            canvas.move_caret(Position::new(at.row.0 + 1, 0));
            Some(())
        }
        EnterEffect::NextRow => None,
        EnterEffect::ClearLine => {
            let end = line.text_end(canvas);
            canvas.blank(line.row, line.margin..end);
            canvas.move_caret(line.at(line.margin));
            Some(())
        }
    }
}
