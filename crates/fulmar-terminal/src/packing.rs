//! Rows of text in few bytes.
//!
//! Source: docs/protocol.md §13.14.

/// The most bytes of one packed line. What a row has beyond is left out.
///
/// Source: docs/threat-model.md §6.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// The most cells of one packed line.
///
/// Source: docs/threat-model.md §6.
pub(crate) const LINE_COLUMNS_MAX: usize = 64 << 10;

/// The tokens between pieces of text: bytes that no text has.
pub(crate) mod token {
    pub(crate) const FOREGROUND: u8 = 1;
    pub(crate) const BACKGROUND: u8 = 4;
    pub(crate) const UNDERLINE_COLOR: u8 = 7;
    pub(crate) const ATTRIBUTES: u8 = 10;
    pub(crate) const NO_LINK: u8 = 11;
    pub(crate) const LINK: u8 = 12;
    pub(crate) const WIDE: u8 = 13;
    pub(crate) const NARROW: u8 = 14;
    pub(crate) const CLUSTER: u8 = 15;
    pub(crate) const BLANKS: u8 = 16;
    pub(crate) const FILL: u8 = 17;
    pub(crate) const RUNS_ON: u8 = 18;
}
