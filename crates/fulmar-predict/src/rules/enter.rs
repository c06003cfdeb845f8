//! Previews Enter at a prompt before the program answers.

use fulmar_terminal::{Position, Row};

use crate::canvas::Canvas;
use crate::context_memory::EnterEffect;
use crate::input_line::InputLine;
use crate::text::is_vacant_from;

/// Draws what Enter is expected to do; returns whether everything has to move up by one first.
/// `None` if the next row is taken, as by a status line: what scrolls then is not known.
pub(crate) fn enter(effect: EnterEffect, canvas: &mut Canvas, line: &InputLine) -> Option<bool> {
    let at = canvas.caret();
    let is_last = at.row == canvas.size().last_row();
    match effect {
        EnterEffect::NextRow { clears_right } => {
            if !is_last && !is_vacant_from(canvas.row(Row(at.row.0 + 1)), 0) {
                return None;
            }
            if clears_right {
                let end = line.text_end(canvas);
                canvas.blank(at.row, end..canvas.size().columns());
            }
            canvas.move_caret(Position::new(at.row.0 + u16::from(!is_last), 0));
            return Some(is_last);
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
