//! Back to the beginning, by degrees.

use crate::charset::Charsets;
use crate::modes::ModeFlags;
use crate::saved::SavedCursor;
use crate::screen::Screen;
use crate::size::Row;
use crate::style::Style;

impl Screen {
    /// RIS: as after power on. What is not the screen's own (titles, clipboard, bells rung) stays.
    pub(crate) fn reset(&mut self) {
        let fresh = Screen::new(self.size);
        *self = Screen {
            title: self.title.take(),
            icon_name: self.icon_name.take(),
            clipboard: self.clipboard.clone(),
            bell_count: self.bell_count,
            links: self.links.clone(),
            ..fresh
        };
    }

    /// DECSTR: the text and the cursor's place stay; what would surprise a shell goes.
    pub(crate) fn soft_reset(&mut self) {
        let reset = ModeFlags::INSERT
            | ModeFlags::ORIGIN
            | ModeFlags::APPLICATION_CURSOR
            | ModeFlags::APPLICATION_KEYPAD
            | ModeFlags::REVERSE_WRAP;
        self.modes.flags.remove(reset);
        self.modes.flags.insert(ModeFlags::AUTO_WRAP);
        self.cursor.visible = true;
        self.margins = 0..self.size.rows();
        self.style = Style {
            link: self.style.link.take(),
            ..Style::default()
        };
        self.charsets = Charsets::default();
        self.saved = SavedCursor::default();
    }

    /// DECALN: fills the screen with `E`.
    pub(crate) fn alignment_pattern(&mut self) {
        self.modes.flags.remove(ModeFlags::ORIGIN);
        self.margins = 0..self.size.rows();
        let text = vec![b'E'; usize::from(self.size.columns())];
        let style = Style::erased(self.style.background);
        for row in 0..self.size.rows() {
            let row = self.grid.row_mut(Row(row));
            row.clear(style.background);
            let pen = row.pen(&style);
            row.write_ascii(Default::default(), &text, pen);
        }
        self.move_to(0, 0);
    }
}
