//! The part that grapheme clusters play on a screen: mode 2027.

/// The say that a program has in mode 2027: characters that make one grapheme cluster share a cell.
///
/// A screen's owner decides it, by what the reader of the screen shows. Everything else is the same in all three.
///
/// Source: docs/protocol.md §8.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clustering {
    /// The mode is not known, and each character is as wide as `wcwidth` says.
    #[default]
    Unknown,
    /// The mode is known, at first reset, and programs switch it.
    Switchable,
    /// The mode is set, and no program can reset it.
    Permanent,
}
