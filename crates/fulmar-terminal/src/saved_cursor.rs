//! The cursor as DECSC keeps it.

use crate::charset::Charsets;
use crate::size::Position;
use crate::style::Style;

/// The state that DECSC saves. The default, which DECRC restores when nothing was saved, is home and plain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedCursor {
    pub(crate) position: Position,
    pub(crate) pending_wrap: bool,
    pub(crate) style: Style,
    pub(crate) charsets: Charsets,
    pub(crate) origin: bool,
    /// True if something was saved, and moves with its text.
    pub(crate) is_set: bool,
}
