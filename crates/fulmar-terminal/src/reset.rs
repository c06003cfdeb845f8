//! Back to the beginning, by degrees.

use crate::charset::Charsets;
use crate::conformance::ConformanceLevel;
use crate::modes::ModeFlags;
use crate::row::{CellRow, SharedRow};
use crate::saved_cursor::SavedCursor;
use crate::screen::{ALLOCATION_WORK, Screen};
use crate::size::Column;
use crate::style::{Attributes, Style};

impl Screen {
    /// RIS: as after power on. What is not the screen's own (titles, clipboard, bells rung) stays.
    pub(crate) fn reset(&mut self) {
        let clustering = self.clustering;
        let mut fresh = Screen::new(self.size);
        let rows_and_columns = u64::from(self.size.rows()) + u64::from(self.size.columns());
        let made = 2 * rows_and_columns + 8 * ALLOCATION_WORK;
        fresh.grid.work = self.work() + made;
        std::mem::swap(&mut fresh.grid.above, &mut self.main_grid_mut().above);
        fresh.grid.above.clear();
        *self = Screen {
            title: self.title.take(),
            icon_name: self.icon_name.take(),
            titles_away: self.titles_away.clone(),
            clipboard: self.clipboard.clone(),
            short_clipboard: self.short_clipboard.clone(),
            bell_count: self.bell_count,
            links: self.links.clone(),
            ..fresh
        };
        self.set_clustering(clustering);
    }

    /// DECSTR: the text and the cursor's place stay; what would surprise a shell goes.
    pub(crate) fn soft_reset(&mut self) {
        let reset = ModeFlags::INSERT
            | ModeFlags::KEYBOARD_LOCKED
            | ModeFlags::ORIGIN
            | ModeFlags::APPLICATION_CURSOR
            | ModeFlags::APPLICATION_KEYPAD
            | ModeFlags::SIDE_MARGINS
            | ModeFlags::REVERSE_WRAP
            | ModeFlags::REVERSE_WRAP_ALWAYS;
        self.modes.flags.remove(reset);
        self.modes.flags.insert(ModeFlags::AUTO_WRAP);
        self.cursor.visible = true;
        self.reset_margins();
        self.style = Style {
            link: self.style.link.take(),
            ..Style::default()
        };
        self.charsets = Charsets::default();
        self.saved = SavedCursor::default();
    }

    /// DECSCL: a soft reset, and from then on that level. Answers have controls of 7 bits whatever is asked for: those of 8 are
    /// no UTF-8.
    pub(crate) fn set_conformance(&mut self, number: u16) {
        if let Some(level) = ConformanceLevel::from_number(number) {
            self.soft_reset();
            self.conformance = level;
        }
    }

    /// DECALN: fills the screen with `E`. Margins and attributes go; colours, protection and the permission of margins at the sides stay,
    /// as in xterm.
    pub(crate) fn alignment_pattern(&mut self) {
        self.modes.flags.remove(ModeFlags::ORIGIN);
        self.style.attributes &= Attributes::PROTECTED;
        self.reset_margins();
        self.charge(u64::from(self.size.columns()) + ALLOCATION_WORK);
        let mut row = CellRow::new(self.size.columns(), self.style.background);
        let pen = row.pen(&Style::erased(self.style.background));
        row.write_ascii(
            Column(0),
            &vec![b'E'; usize::from(self.size.columns())],
            pen,
        );
        self.grid
            .fill_rows(0..self.size.rows(), &SharedRow::new(row));
        self.move_to(0, 0);
    }
}
