//! Brackets that a program marks when the closing one is typed.
//!
//! Source: docs/prediction.md §5.

use fulmar_terminal::{Attributes, Color, Position, Style};

use crate::canvas::Canvas;
use crate::text::{char_at, is_vacant, left_of};

/// The way a program marks a closing bracket left of the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BracketMark {
    look: BracketLook,
    /// The opening one is marked, too.
    has_partner: bool,
}

/// The part of a cell's style that makes a mark: the colour of the text is left out, since syntax colours
/// change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BracketLook {
    background: Color,
    is_inverse: bool,
}

impl BracketLook {
    fn at(canvas: &Canvas, at: Position) -> BracketLook {
        let style = canvas.row(at.row).style(at.column);
        BracketLook {
            background: style.background,
            is_inverse: style.attributes.contains(Attributes::INVERSE),
        }
    }

    fn dress(self, style: &mut Style) {
        style.background = self.background;
        style.attributes.set(Attributes::INVERSE, self.is_inverse);
    }
}

/// True if the character closes a pair.
pub(crate) fn is_closing_bracket(character: char) -> bool {
    opening(character).is_some()
}

fn opening(closing: char) -> Option<char> {
    match closing {
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        _ => None,
    }
}

/// Returns how the closing bracket left of the caret is marked, if it is; `None` if that cannot be
/// told, for lack of a plain cell to compare with.
pub(crate) fn bracket_mark_at_caret(canvas: &Canvas) -> Option<Option<BracketMark>> {
    let caret = canvas.caret();
    let at = bracket_left_of(canvas)?;
    if !canvas.size().contains(caret) || !is_vacant(canvas.line(), caret.column.0) {
        return None;
    }
    let (plain, look) = (BracketLook::at(canvas, caret), BracketLook::at(canvas, at));
    let partner = partner(canvas, at, 0);
    Some((look != plain).then(|| BracketMark {
        look,
        has_partner: partner.is_some_and(|partner| BracketLook::at(canvas, partner) == look),
    }))
}

/// Marks the closing bracket left of the caret, and its partner not left of `margin`.
pub(crate) fn draw_bracket_mark(canvas: &mut Canvas, mark: BracketMark, margin: u16) {
    let Some(at) = bracket_left_of(canvas) else {
        return;
    };
    let partner = partner(canvas, at, margin).filter(|_| mark.has_partner);
    for at in [Some(at), partner].into_iter().flatten() {
        restyle(canvas, at, mark.look);
    }
}

/// Takes the mark from the brackets before something is typed behind them.
pub(crate) fn erase_bracket_mark(canvas: &mut Canvas, mark: BracketMark, margin: u16) {
    let Some(at) = bracket_left_of(canvas).filter(|at| BracketLook::at(canvas, *at) == mark.look)
    else {
        return;
    };
    let partner =
        partner(canvas, at, margin).filter(|at| BracketLook::at(canvas, *at) == mark.look);
    let plain = BracketLook::at(canvas, canvas.caret());
    for at in [Some(at), partner].into_iter().flatten() {
        restyle(canvas, at, plain);
    }
}

fn restyle(canvas: &mut Canvas, at: Position, look: BracketLook) {
    let mut content = canvas.content(at);
    look.dress(&mut content.style);
    canvas.put(at, &content);
}

fn bracket_left_of(canvas: &Canvas) -> Option<Position> {
    let caret = canvas.caret();
    let column = left_of(canvas.line(), caret.column.0)?;
    is_closing_bracket(char_at(canvas.line(), column)).then(|| Position::new(caret.row.0, column))
}

/// Returns the position of the opening bracket whose closing one is at `at`.
fn partner(canvas: &Canvas, at: Position, margin: u16) -> Option<Position> {
    let row = canvas.row(at.row);
    let closing = char_at(row, at.column.0);
    let opening = opening(closing)?;
    let mut depth = 0_u16;
    let column = (margin..at.column.0).rev().find(|&column| {
        let character = char_at(row, column);
        if character == closing {
            depth += 1;
        } else if character == opening {
            match depth {
                0 => return true,
                _ => depth -= 1,
            }
        }
        false
    })?;
    Some(Position::new(at.row.0, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, screen};

    fn canvas(bytes: &str) -> Canvas {
        Canvas::new(&screen(2, 20, bytes))
    }

    #[test]
    fn a_mark_is_what_sets_a_bracket_apart_from_the_place_behind_it() {
        assert_eq!(bracket_mark_at_caret(&canvas("f(x)")), Some(None));
        assert_eq!(bracket_mark_at_caret(&canvas("f(x")), None);
        assert_eq!(bracket_mark_at_caret(&canvas("f(x)y\x1b[1D")), None);
        let both = bracket_mark_at_caret(&canvas("f\x1b[44m(\x1b[mx\x1b[44m)\x1b[m"))
            .flatten()
            .unwrap();
        assert!(both.has_partner);
        let one = bracket_mark_at_caret(&canvas("f(x\x1b[7m)\x1b[m"))
            .flatten()
            .unwrap();
        assert!(!one.has_partner && one.look.is_inverse);
    }

    #[test]
    fn what_is_marked_and_unmarked_is_as_before() {
        let marked = canvas("f(\x1b[44m(\x1b[mx)\x1b[44m)\x1b[m");
        let known = BracketMark {
            look: BracketLook::at(&marked, at(0, 2)),
            has_partner: true,
        };
        let plain = canvas("f((x))");
        let mut drawn = plain.clone();
        draw_bracket_mark(&mut drawn, known, 0);
        let places: Vec<Position> = plain
            .changes(&drawn)
            .iter()
            .map(|change| change.at)
            .collect();
        assert_eq!(places, [at(0, 1), at(0, 5)]);
        erase_bracket_mark(&mut drawn, known, 0);
        assert!(plain.changes(&drawn).is_empty());
        draw_bracket_mark(&mut drawn, known, 2);
        assert_eq!(plain.changes(&drawn).len(), 1, "not left of the margin");
    }
}
