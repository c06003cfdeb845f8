//! The lines that have left the program's screen at its top, on their way into the scrollback of the user's terminal.

use fulmar_terminal::SharedRow;

/// The next change of what stands above the program's main screen. Lines have numbers that only rise, and the first line that
/// is still on the screen has the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryItem {
    /// A line that has left. One that was there before is ignored, and those that a number leaves out are missing.
    Line {
        /// Its number.
        number: u64,
        /// Its rows, of any one width. Each is one line with the next; the last one is so with the next item's, if it
        /// [is wrapped](fulmar_terminal::CellRow::is_wrapped).
        rows: Vec<SharedRow>,
    },
    /// Lines that never come.
    Skipped {
        /// The number of the first line that may come.
        next: u64,
    },
    /// The program has cleared all that stood above.
    Cleared {
        /// The number of the first line behind.
        next: u64,
    },
}
