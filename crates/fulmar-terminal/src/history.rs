//! All lines above the main screen, by their numbers.

use crate::rows_above::RowsAbove;
use crate::scrollback::Scrollback;

/// The lines that have left the main screen at its top: those that have left for good, and behind them those that a window of another size
/// may bring back. A line is here when its last row is.
///
/// Lines are numbered for ever. Those that come back lose their numbers, and have them again when they leave again, changed or not.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    above: &'a RowsAbove,
    lines: &'a Scrollback,
}

impl<'a> History<'a> {
    pub(crate) fn new(above: &'a RowsAbove) -> Option<History<'a>> {
        let lines = above.history()?;
        Some(History { above, lines })
    }

    /// The number of the oldest line that is kept, or of the next one if none is.
    pub fn first(&self) -> u64 {
        self.lines.first()
    }

    /// The number of the first line that has not left, or not with all its rows. It goes back when a window brings lines back.
    pub fn end(&self) -> u64 {
        self.lines.end() + self.above.line_ends() as u64
    }

    /// The number of times that the program has cleared everything (`CSI 3 J`, `ESC c`).
    pub fn clears(&self) -> u64 {
        self.lines.clears()
    }

    /// The number of the first line since then.
    pub fn cleared_at(&self) -> u64 {
        self.lines.cleared_at()
    }

    /// The memory of the lines that have left for good.
    pub fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }

    /// Puts a packed line into `line`, of which [`unpack_line`](crate::unpack_line) makes rows, and returns false if it is not here.
    pub fn read(&self, number: u64, line: &mut Vec<u8>) -> bool {
        line.clear();
        if number < self.lines.end() {
            let found = self.lines.line(number);
            line.extend_from_slice(found.unwrap_or_default());
            return found.is_some();
        }
        if number >= self.end() {
            return false;
        }
        let mut before = number - self.lines.end();
        let is_begun = before == 0;
        let rows = self.above.rows().skip_while(|row| {
            let is_before = before > 0;
            before -= u64::from(is_before && !row.is_wrapped());
            is_before
        });
        self.lines.pack(rows, is_begun, line);
        true
    }
}
