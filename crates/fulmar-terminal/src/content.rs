//! The content of a cell, apart from any row.

use crate::cell::Cluster;
use crate::width::char_columns;

/// The content of one cell: its text and its width.
pub(crate) struct Content {
    pub(crate) text: Cluster,
    /// 1 or 2.
    pub(crate) columns: u16,
}

impl Content {
    /// Returns the content of a cell of one character.
    pub(crate) fn of(c: char) -> Content {
        Content {
            text: Cluster::new(c),
            columns: char_columns(c).max(1),
        }
    }
}
