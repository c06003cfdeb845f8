//! All lines above the main screen, by their numbers.

use crate::rows_above::RowsAbove;
use crate::scrollback::Scrollback;

/// The lines that have left the main screen at its top. A line is here when its last row is.
///
/// Lines are numbered for ever, and a number is always the same line. Those that a window of another size brings back are on the
/// screen, and not here, until they leave again as they were. If one of them was changed, all of them are here as they had left, and what
/// leaves from then on has new numbers.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    lines: &'a Scrollback,
    returned: u64,
}

impl<'a> History<'a> {
    pub(crate) fn new(above: &'a RowsAbove) -> Option<History<'a>> {
        Some(History {
            lines: above.history()?,
            returned: above.returned_lines() as u64,
        })
    }

    /// The number of the oldest line that is kept, or of the next one if none is.
    pub fn first(&self) -> u64 {
        self.lines.first().min(self.end())
    }

    /// The number of the first line that has not left, or not with all its rows. It goes back when a window brings lines back.
    pub fn end(&self) -> u64 {
        self.lines.end().saturating_sub(self.returned)
    }

    /// The number of times that the program has cleared everything (`CSI 3 J`, `ESC c`).
    pub fn clears(&self) -> u64 {
        self.lines.clears()
    }

    /// The number of the first line since then.
    pub fn cleared_at(&self) -> u64 {
        self.lines.cleared_at()
    }

    /// The memory of the lines.
    pub fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }

    /// Puts a packed line into `line`, of which [`unpack_line`](crate::unpack_line) makes rows, and returns false if it is not here.
    pub fn read(&self, number: u64, line: &mut Vec<u8>) -> bool {
        line.clear();
        let found = self.lines.line(number).filter(|_| number < self.end());
        line.extend_from_slice(found.unwrap_or_default());
        found.is_some()
    }
}
