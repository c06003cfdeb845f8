//! The answers to programs that ask about their window.
//!
//! Source: xterm's control sequences (XTWINOPS); docs/threat-model.md §8.

use crate::size::Size;

/// Rows and columns of pixels in a cell, as far as programs are told: nobody asks the user's terminal.
///
/// Source: VT340 Graphics Programming Guide, 80 columns. Its proportion is about that of today's terminals.
const CELL_PIXELS: (u32, u32) = (20, 10);

/// Returns the answer to `CSI operation t`; `None` if it is no question that we know.
///
/// It is a table: a window that is open, at the corner of a screen that it fills, and has no title. The real title is text
/// of a program, and would arrive as if the user had typed it.
pub(crate) fn window_report(operation: u16, size: Size) -> Option<String> {
    let (rows, columns) = (u32::from(size.rows()), u32::from(size.columns()));
    let (height, width) = CELL_PIXELS;
    let (high, wide) = (rows * height, columns * width);
    Some(match operation {
        11 => "\x1b[1t".to_owned(),
        13 => "\x1b[3;0;0t".to_owned(),
        14 => format!("\x1b[4;{high};{wide}t"),
        15 => format!("\x1b[5;{high};{wide}t"),
        16 => format!("\x1b[6;{height};{width}t"),
        18 => format!("\x1b[8;{rows};{columns}t"),
        19 => format!("\x1b[9;{rows};{columns}t"),
        20 => "\x1b]L\x1b\\".to_owned(),
        21 => "\x1b]l\x1b\\".to_owned(),
        _ => return None,
    })
}
