//! Rows, columns, positions and sizes of a screen: rows before columns, both counted from 0.

use std::fmt;

/// A row of the screen, 0 at the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u16);

/// A column of the screen, 0 at the left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u16);

/// A cell's place: row, then column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Counted from 0 at the top.
    pub row: Row,
    /// Counted from 0 at the left.
    pub column: Column,
}

impl Position {
    /// The top left corner.
    pub const HOME: Position = Position {
        row: Row(0),
        column: Column(0),
    };

    /// Returns the place at 0-based `row` and `column`.
    pub const fn new(row: u16, column: u16) -> Position {
        Position {
            row: Row(row),
            column: Column(column),
        }
    }
}

/// A screen's rows and columns, each within 1..=4096 and at most 1 048 576 cells together.
///
/// Source of the bounds: docs/threat-model.md §6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    rows: u16,
    columns: u16,
}

impl Size {
    /// The largest number of rows, and of columns.
    ///
    /// Source: docs/threat-model.md §6.
    pub const SIDE_MAX: u16 = 4096;
    /// The largest number of cells.
    ///
    /// Source: docs/threat-model.md §6.
    pub const CELLS_MAX: u32 = 1_048_576;

    /// Returns the size of `rows` by `columns`, or `None` outside the bounds.
    pub const fn new(rows: u16, columns: u16) -> Option<Size> {
        let sides_fit =
            rows >= 1 && rows <= Size::SIDE_MAX && columns >= 1 && columns <= Size::SIDE_MAX;
        if sides_fit && rows as u32 * columns as u32 <= Size::CELLS_MAX {
            Some(Size { rows, columns })
        } else {
            None
        }
    }

    /// The number of rows, at least 1.
    pub const fn rows(self) -> u16 {
        self.rows
    }

    /// The number of columns, at least 1.
    pub const fn columns(self) -> u16 {
        self.columns
    }

    /// The lowest row.
    pub const fn last_row(self) -> Row {
        Row(self.rows - 1)
    }

    /// The rightmost column.
    pub const fn last_column(self) -> Column {
        Column(self.columns - 1)
    }

    /// Returns true if `position` is on a screen of this size.
    pub const fn contains(self, position: Position) -> bool {
        position.row.0 < self.rows && position.column.0 < self.columns
    }

    /// Returns the nearest place on a screen of this size.
    pub fn clamp(self, position: Position) -> Position {
        Position {
            row: position.row.min(self.last_row()),
            column: position.column.min(self.last_column()),
        }
    }
}

impl Default for Size {
    /// 24 rows of 80 columns, what a terminal is when nobody says.
    fn default() -> Size {
        Size {
            rows: 24,
            columns: 80,
        }
    }
}

impl fmt::Display for Size {
    /// Columns first, as users say it: `80x24`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_between_1_and_4096() {
        assert_eq!(Size::new(0, 80), None);
        assert_eq!(Size::new(24, 0), None);
        assert!(Size::new(1, 1).is_some());
        assert!(Size::new(4096, 1).is_some());
        assert_eq!(Size::new(4097, 1), None);
        assert_eq!(Size::new(1, 4097), None);
    }

    #[test]
    fn cells_are_at_most_a_mebi() {
        assert!(Size::new(1024, 1024).is_some());
        assert_eq!(Size::new(1024, 1025), None);
        assert_eq!(Size::new(4096, 4096), None);
    }
}
