//! The saved cursor and the alternate screen.

use crate::modes::ModeFlags;
use crate::saved_cursor::SavedCursor;
use crate::screen::Screen;
use crate::style::Style;

/// The fate of the alternate grid's contents when it comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    Keep,
    Erase,
}

impl Screen {
    /// DECSC. Each of the two grids has a slot of its own.
    pub(crate) fn save_cursor(&mut self) {
        self.saved = SavedCursor {
            position: self.cursor.position,
            pending_wrap: self.cursor.pending_wrap,
            style: self.style.clone(),
            charsets: self.charsets,
            origin: self.modes.has(ModeFlags::ORIGIN),
            is_set: true,
        };
    }

    /// DECRC.
    pub(crate) fn restore_cursor(&mut self) {
        let saved = self.saved.clone();
        let link = self.style.link.take();
        self.style = Style {
            link,
            ..saved.style
        };
        self.charsets = saved.charsets;
        self.modes.flags.set(ModeFlags::ORIGIN, saved.origin);
        self.move_to(saved.position.row.0, saved.position.column.0);
        self.cursor.pending_wrap =
            saved.pending_wrap && self.cursor.position.column.0 + 1 == self.right_edge();
    }

    /// Shows the alternate grid (47, 1047, 1049).
    pub(crate) fn enter_alternate(&mut self, contents: Contents) {
        self.swap_grids(true);
        if contents == Contents::Erase {
            self.grid
                .erase_rows(0..self.size.rows(), self.style.background);
        }
    }

    /// Shows the primary grid.
    pub(crate) fn leave_alternate(&mut self, contents: Contents) {
        if self.alternate && contents == Contents::Erase {
            self.grid
                .erase_rows(0..self.size.rows(), self.style.background);
        }
        self.swap_grids(false);
    }

    fn swap_grids(&mut self, alternate: bool) {
        if self.alternate != alternate {
            self.alternate = alternate;
            std::mem::swap(&mut self.grid, &mut self.hidden);
            std::mem::swap(&mut self.saved, &mut self.hidden_saved);
            std::mem::swap(&mut self.keyboard, &mut self.hidden_keyboard);
            self.printed = None;
        }
    }
}
