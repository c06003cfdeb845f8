//! Finds the caret: the cursor as the user sees it.

use fulmar_terminal::{Attributes, Color, Column, Position, Row, Screen, Style};

/// The one who draws the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CaretKind {
    /// By the terminal.
    Hardware,
    /// By the program, on a screen without a cursor: as its only inverse cell, or in colours of its own at the hidden
    /// cursor.
    Software,
    /// Not at all.
    Hidden,
}

/// The position where typing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caret {
    pub(crate) at: Position,
    pub(crate) kind: CaretKind,
    /// The colours in which the program draws it, if it is not inverse.
    colors: Option<CaretColors>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CaretColors {
    foreground: Color,
    background: Color,
}

impl Caret {
    /// Finds the caret of a screen.
    pub(crate) fn of(screen: &Screen) -> Caret {
        let cursor = screen.cursor();
        let at = cursor.position;
        let (at, kind, colors) = if cursor.visible {
            (at, CaretKind::Hardware, None)
        } else if let Some(at) = only_inverse(screen) {
            (at, CaretKind::Software, None)
        } else {
            match own_colors(screen, at) {
                Some(colors) => (at, CaretKind::Software, Some(colors)),
                None => (at, CaretKind::Hidden, None),
            }
        };
        Caret { at, kind, colors }
    }

    /// Gives a cell the look of the caret that the program draws.
    pub(crate) fn mark(&self, style: &mut Style) {
        match self.colors {
            Some(colors) => {
                style.foreground = colors.foreground;
                style.background = colors.background;
            }
            None => style.attributes.insert(Attributes::INVERSE),
        }
    }

    /// Takes that look from the cell of the caret. `beside` is the style of the text around it.
    pub(crate) fn unmark(&self, style: &mut Style, beside: &Style) {
        match self.colors {
            Some(_) => {
                style.foreground = beside.foreground;
                style.background = beside.background;
            }
            None => style.attributes.remove(Attributes::INVERSE),
        }
    }
}

/// Returns the colours of a cell that has a background which neither neighbour has.
fn own_colors(screen: &Screen, at: Position) -> Option<CaretColors> {
    let row = screen.row(at.row);
    let style = row.style(at.column);
    let beside = [at.column.0.checked_sub(1), at.column.0.checked_add(1)];
    let mut beside = beside
        .into_iter()
        .flatten()
        .filter(|column| *column < row.columns());
    let is_own = !style.background.is_default()
        && beside.all(|column| row.style(Column(column)).background != style.background);
    is_own.then_some(CaretColors {
        foreground: style.foreground,
        background: style.background,
    })
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
