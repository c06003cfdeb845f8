//! The size of a terminal in character cells.

use rustix::fd::AsFd;
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};
use std::io;

/// Rows and columns as the kernel keeps them, both counted from 1; 0 means that nobody has said.
///
/// What is plausible is for the caller to decide: the kernel accepts 0 and 65 535.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Lines of text.
    pub rows: u16,
    /// Character cells in a line.
    pub columns: u16,
}

impl WindowSize {
    pub(crate) fn of(terminal: impl AsFd) -> io::Result<Self> {
        let size = tcgetwinsize(terminal)?;
        Ok(Self {
            rows: size.ws_row,
            columns: size.ws_col,
        })
    }

    pub(crate) fn apply_to(self, terminal: impl AsFd) -> io::Result<()> {
        let size = Winsize {
            ws_row: self.rows,
            ws_col: self.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(terminal, size)?)
    }
}
