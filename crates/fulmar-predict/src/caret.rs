//! Finds the caret: the cursor as the user sees it.

use fulmar_terminal::{Attributes, Column, Position, Row, Screen};

/// The one who draws the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CaretKind {
    /// By the terminal.
    Hardware,
    /// By the program, as the only inverse cell of a screen without a cursor.
    Software,
    /// Not at all.
    Hidden,
}

/// The position where typing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caret {
    pub(crate) at: Position,
    pub(crate) kind: CaretKind,
}

impl Caret {
    /// Finds the caret of a screen.
    pub(crate) fn of(screen: &Screen) -> Caret {
        let cursor = screen.cursor();
        let (at, kind) = if cursor.visible {
            (cursor.position, CaretKind::Hardware)
        } else if let Some(at) = only_inverse(screen) {
            (at, CaretKind::Software)
        } else {
            (cursor.position, CaretKind::Hidden)
        };
        Caret { at, kind }
    }
}

/// The most cells of a screen on which a caret is looked for that a program draws itself: it is looked for
/// with each frame. Chosen by eye: a window of 400x160.
const SEARCHED_CELLS_MAX: u32 = 64_000;

/// Returns the position of the only inverse character of a screen; nothing on a screen of very many cells.
fn only_inverse(screen: &Screen) -> Option<Position> {
    let size = screen.size();
    if u32::from(size.rows()) * u32::from(size.columns()) > SEARCHED_CELLS_MAX {
        return None;
    }
    let mut found = None;
    for (row, cells) in (0..).map(Row).zip(screen.rows()) {
        for (column, cell) in (0..).map(Column).zip(cells.cells()) {
            let is_inverse = cell.attributes().contains(Attributes::INVERSE);
            if is_inverse && !cell.is_spacer() && found.replace(Position { row, column }).is_some()
            {
                return None;
            }
        }
    }
    found
}
