//! Bytes in, screen out; and the bytes that turn one screen into another.
//!
//! A [`Screen`] is what a terminal remembers. A clone of it is a cheap snapshot: rows are shared
//! until written to.
//!
//! There is no pty, no network, no clock and no environment here: a screen is a function of bytes
//! and sizes.

#![expect(dead_code, reason = "the parser that writes to the screen comes next")]

mod cell;
mod charset;
mod cursor;
mod grid;
mod modes;
mod row;
mod screen;
mod size;
mod style;
mod tabs;

pub use cell::{CELL_TEXT_MAX, Cell, Glyph};
pub use cursor::{Cursor, CursorShape};
pub use grid::Grid;
pub use modes::{ModeFlags, Modes, MouseEncoding, MouseMode};
pub use row::CellRow;
pub use screen::Screen;
pub use size::{Column, Position, Row, Size};
pub use style::{Attributes, Color, ColorKind, Link, Style, Underline};
