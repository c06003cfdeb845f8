//! The end of the history that belongs to a screen.

/// The end of the lines above a screen. It travels with the screen; the lines come behind it.
///
/// Source: docs/protocol.md §13.14.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryPlace {
    /// The number of the first line that has not left the main screen at its top. It goes back when a window brings lines back.
    pub end: u64,
    /// The number of times that the program has cleared everything above.
    pub clears: u64,
    /// The number of the first line since then.
    pub cleared_at: u64,
    /// True if the alternate screen is shown.
    pub is_alternate: bool,
}
