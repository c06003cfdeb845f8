//! Frames: the bytes that turn one screen into another.
//!
//! With `p(s)` for [`Screen::projected`], the screen as far as a vocabulary can tell it:
//!
//! ```text
//! p(p(a).apply(b.diff_from(a))) == p(b)
//! b.diff_from(a) is empty  exactly when  a.is_same(b)
//! ```
//!
//! A frame starts from the old screen's cursor in the plain rendition, with a parser in its ground
//! state, and leaves the same behind: rendition plain, autowrap on, margins full. What the
//! reader may see half done is in the order of docs/protocol.md §7: bell, title, clipboard,
//! reverse screen, repaint or scroll, rows from the top, cursor, modes.

mod agreed;
mod lines;
mod part;
mod projection;
mod push;
mod rows;
mod scroll;
mod seen;
mod sgr;
mod told;
mod writer;

use std::cell::OnceCell;

use crate::Screen;
use crate::cursor::CursorShape;
use crate::modes::ModeFlags;
use crate::row::{CellRow, SharedRow};
use crate::size::{Column, Position, Row};
use crate::style::{Color, Style};
use crate::vocabulary::Vocabulary;

pub use lines::line_as_text;
use rows::RowChange;
use scroll::{Compared, Direction, Scroll};
use seen::{is_same_row, is_wrapped, last_cell};
use told::told_pair;
use writer::Writer;

impl Screen {
    /// Returns the frame that turns `source` into this screen for a reader of `vocabulary`.
    ///
    /// When the sizes differ, the reader must have been told the new one before; the frame then
    /// paints everything.
    pub fn diff_from(&self, source: &Screen, vocabulary: &Vocabulary) -> Vec<u8> {
        let (source, target) = told_pair(source, self, vocabulary);
        if projection::is_same_as_told(&target, &source, vocabulary) {
            return Vec::new();
        }
        Frame::new(&source, &target, vocabulary).write()
    }

    /// Returns a frame that paints this screen whatever the reader shows now.
    ///
    /// The reader's size must be this screen's. Title, icon name, clipboard, the cursor's shape,
    /// colours and the forms of keys are left as they are where this screen has none of its own.
    pub fn repaint(&self, vocabulary: &Vocabulary) -> Vec<u8> {
        let blank = Screen::new(self.size());
        let target = self.told(vocabulary);
        let mut frame = Frame::new(&blank, &target, vocabulary);
        frame.repaint = true;
        frame.write()
    }

    /// Returns what [`Screen::diff_from`] does if that has at most `bytes_max`; else a frame to a
    /// real screen on the way, and that screen: rows nearest to the cursor come first, at least
    /// one of them.
    pub fn diff_within(
        &self,
        source: &Screen,
        vocabulary: &Vocabulary,
        bytes_max: usize,
    ) -> (Vec<u8>, Option<Screen>) {
        let whole = self.diff_from(source, vocabulary);
        if whole.len() <= bytes_max {
            return (whole, None);
        }
        let (source, target) = told_pair(source, self, vocabulary);
        part::diff_to_part(&target, &source, vocabulary, bytes_max).unwrap_or((whole, None))
    }
}

/// A frame in the making.
struct Frame<'a> {
    source: &'a Screen,
    target: &'a Screen,
    vocabulary: &'a Vocabulary,
    /// True if nothing is known of what the reader shows.
    repaint: bool,
    /// The rows that leave the reader's screen at its top, and no others do; `None` if the reader has nothing above its screen
    /// that matters.
    pushed: Option<&'a [SharedRow]>,
    /// True if the last cell of the screen is left out, since a row that is still to come runs on from there.
    runs_on: bool,
    /// A row that is erased, once there is need of one.
    blank: OnceCell<SharedRow>,
}

/// The rows of the reader's screen while they are drawn.
struct Shown<'a> {
    rows: Vec<&'a SharedRow>,
    wrapped: Vec<bool>,
}

impl<'a> Frame<'a> {
    fn new(source: &'a Screen, target: &'a Screen, vocabulary: &'a Vocabulary) -> Frame<'a> {
        Frame {
            source,
            target,
            vocabulary,
            repaint: source.size() != target.size(),
            pushed: None,
            runs_on: false,
            blank: OnceCell::new(),
        }
    }

    fn blank(&self) -> &SharedRow {
        let columns = self.target.size().columns();
        self.blank
            .get_or_init(|| SharedRow::new(CellRow::new(columns, Color::DEFAULT)))
    }

    fn write(&self) -> Vec<u8> {
        let mut writer = Writer::new(
            self.vocabulary,
            self.target.size(),
            self.source.cursor().position,
            Style::default(),
        );
        self.bell_and_strings(&mut writer);
        self.reverse_screen(&mut writer);
        let mut shown = if self.repaint {
            self.erase_all(&mut writer)
        } else {
            self.shown()
        };
        let hidden = self.hide_cursor(&mut writer, &shown);
        match self.pushed {
            Some(rows) => self.push(&mut writer, shown, rows),
            None => {
                if !self.repaint {
                    self.scroll(&mut writer, &mut shown);
                }
                self.rows(&mut writer, &shown);
            }
        }
        self.cursor(&mut writer, hidden);
        writer.plain_style();
        self.modes(&mut writer);
        writer.out
    }

    fn bell_and_strings(&self, writer: &mut Writer<'_>) {
        let (source, target) = (self.source, self.target);
        if source.bell_count() != target.bell_count() {
            writer.raw(b"\x07");
        }
        if !projection::has_same_names(source, target, self.vocabulary) {
            let (new_title, new_icon) = projection::names(target, self.vocabulary);
            let (old_title, old_icon) = projection::names(source, self.vocabulary);
            if new_title == new_icon {
                writer.print(format_args!("\x1b]0;{new_title}\x07"));
            } else {
                if old_icon != new_icon {
                    writer.print(format_args!("\x1b]1;{new_icon}\x07"));
                }
                if old_title != new_title {
                    writer.print(format_args!("\x1b]2;{new_title}\x07"));
                }
            }
        }
        if self.vocabulary.keyboard && target.keyboard_flags() != source.keyboard_flags() {
            writer.print(format_args!("\x1b[={};1u", target.keyboard_flags()));
        }
        if self.vocabulary.palette {
            target
                .palette
                .write_changes(&source.palette, &mut writer.out);
        }
        if !projection::has_same_clipboard(source, target, self.vocabulary) {
            let write = projection::clipboard(target, self.vocabulary);
            let text = write.map_or("", |write| &write.text);
            writer.print(format_args!("\x1b]52;c;{text}\x07"));
        }
    }

    fn reverse_screen(&self, writer: &mut Writer<'_>) {
        let is_reverse = |screen: &Screen| screen.modes().has(ModeFlags::REVERSE_SCREEN);
        let reverse = is_reverse(self.target);
        if self.repaint || reverse != is_reverse(self.source) {
            writer.raw(if reverse { b"\x1b[?5h" } else { b"\x1b[?5l" });
        }
    }

    /// Blanks the reader's screen.
    fn erase_all(&self, writer: &mut Writer<'_>) -> Shown<'_> {
        match self.pushed {
            Some(_) => self.erase_in_place(writer),
            None => {
                writer.raw(b"\x1b[r\x1b[0m\x1b[H\x1b[J");
                writer.set_position(Position::HOME);
            }
        }
        let rows = usize::from(self.target.size().rows());
        Shown {
            rows: vec![self.blank(); rows],
            wrapped: vec![false; rows],
        }
    }

    fn shown(&self) -> Shown<'_> {
        let rows = self.source.size().rows();
        Shown {
            rows: self.source.rows().collect(),
            wrapped: (0..rows)
                .map(|row| is_wrapped(self.source, Row(row), self.vocabulary))
                .collect(),
        }
    }

    /// Hides the cursor if somebody may see it run over the screen. Returns whether it is hidden.
    fn hide_cursor(&self, writer: &mut Writer<'_>, shown: &Shown<'_>) -> bool {
        let was_hidden = !self.source.cursor().visible;
        let pushes = self.pushed.is_some_and(|rows| !rows.is_empty());
        let mut pairs = self.target.rows().zip(&shown.rows);
        let draws = pushes || pairs.any(|(new, old)| !is_same_row(old, new, self.vocabulary));
        if self.repaint || !was_hidden && draws && self.vocabulary.hide_while_drawing {
            writer.raw(b"\x1b[?25l");
            return true;
        }
        was_hidden
    }

    /// Scrolls what has only moved.
    fn scroll<'s>(&'s self, writer: &mut Writer<'_>, shown: &mut Shown<'s>) {
        let new: Vec<_> = self.target.rows().collect();
        let rows = self.target.size().rows();
        let keeps_top = self.pushed.is_some();
        // Output that scrolls leaves the cursor in the last row.
        let is_at_bottom =
            !keeps_top && self.target.cursor().position.row == self.target.size().last_row();
        let Some(compared) = Compared::of(&shown.rows, &new) else {
            return;
        };
        let whole = is_at_bottom.then(|| compared.find_whole()).flatten();
        let Some(scroll) = whole.or_else(|| compared.find(keeps_top)) else {
            return;
        };
        write_scroll(writer, &scroll, rows);
        let region = usize::from(scroll.region.start)..usize::from(scroll.region.end);
        let count = usize::from(scroll.count);
        let blank = self.blank();
        let rows = &mut shown.rows[region.clone()];
        let wrapped = &mut shown.wrapped[region];
        match scroll.direction {
            Direction::Up => {
                rows.rotate_left(count);
                wrapped.rotate_left(count);
                let gap = rows.len() - count;
                rows[gap..].fill(blank);
                wrapped[gap..].fill(false);
            }
            Direction::Down => {
                rows.rotate_right(count);
                wrapped.rotate_right(count);
                rows[..count].fill(blank);
                wrapped[..count].fill(false);
            }
        }
        // tmux ends a line where the row below it is moved, and in places among rows that move down, so they are joined anew. Others
        // keep them joined, so those that are to end are left to be ended.
        if keeps_top && scroll.direction == Direction::Down {
            for (row, wrapped) in scroll.region.clone().map(Row).zip(wrapped) {
                *wrapped &= !is_wrapped(self.target, row, self.vocabulary);
            }
        }
        if keeps_top
            && let Some(above) = scroll.region.start.checked_sub(1)
            && is_wrapped(self.target, Row(above), self.vocabulary)
        {
            shown.wrapped[usize::from(above)] = false;
        }
    }

    fn rows(&self, writer: &mut Writer<'_>, shown: &Shown<'_>) {
        let rows = self.target.size().rows();
        let mut done = 0;
        for (index, (&old, was_wrapped)) in (0..rows).zip(shown.rows.iter().zip(&shown.wrapped)) {
            let row = Row(index);
            let new = self.target.row(row);
            let is_untouched = SharedRow::ptr_eq(old, new) && !new.is_wrapped() && !was_wrapped;
            // A row that both screens share is the same to any reader: nearly all rows of nearly
            // all frames.
            if is_untouched && done == 0 {
                continue;
            }
            let wraps = is_wrapped(self.target, row, self.vocabulary);
            let last = last_cell(new)..new.columns();
            // The wrap mark lives in the last cell, and goes when that is drawn again
            // (docs/protocol.md §8.4).
            let last_changes = last
                .clone()
                .any(|column| !seen::is_same_cell(old, new, column, self.vocabulary))
                // Drawing left of it would take a wide character's other half away.
                || last_cell(old) != last.start;
            let mut wrap_now = wraps && (!was_wrapped || last_changes);
            let change = RowChange {
                row,
                old,
                new,
                done,
                // Drawing the last cell again takes a mark away that is no longer wanted.
                redraw_last: !wraps && *was_wrapped,
                leave_last: wrap_now || self.runs_on && row.0 + 1 == rows,
            };
            if done > 0 || change.redraw_last || !is_same_row(old, new, self.vocabulary) {
                // What wrapped before does no more once its last column is drawn again.
                wrap_now |= change.draw(writer) && wraps;
            }
            done = 0;
            if wrap_now {
                done = rows::wrap(writer, row, new, self.target.row(Row(index + 1)));
            }
        }
    }

    fn cursor(&self, writer: &mut Writer<'_>, hidden: bool) {
        let cursor = self.target.cursor();
        writer.move_to(cursor.position);
        if cursor.visible == hidden {
            writer.raw(if cursor.visible {
                b"\x1b[?25h"
            } else {
                b"\x1b[?25l"
            });
        }
        let shape = |screen: &Screen| projection::shape(screen, self.vocabulary);
        if shape(self.source) != shape(self.target)
            || self.repaint && shape(self.target) != CursorShape::Default
        {
            writer.print(format_args!("\x1b[{} q", shape(self.target) as u8));
        }
    }

    fn modes(&self, writer: &mut Writer<'_>) {
        let (old, new) = (self.source.modes(), self.target.modes());
        for (flag, number) in [
            (ModeFlags::BRACKETED_PASTE, 2004),
            (ModeFlags::FOCUS_REPORTS, 1004),
        ] {
            if self.repaint || old.has(flag) != new.has(flag) {
                write_mode(writer, number, new.has(flag));
            }
        }
        self.number_mode(
            writer,
            old.mouse.number(),
            new.mouse.number(),
            &[1003, 1002, 1001, 1000, 9],
        );
        let encoding = |modes: &crate::modes::Modes| {
            self.vocabulary
                .mouse_encoding(modes.mouse_encoding)
                .number()
        };
        self.number_mode(writer, encoding(old), encoding(new), &[1015, 1006, 1005]);
    }

    /// Changes a mode that has one of several numbers or none; `all` are those to reset when
    /// nothing is known.
    fn number_mode(
        &self,
        writer: &mut Writer<'_>,
        old: Option<u16>,
        new: Option<u16>,
        all: &[u16],
    ) {
        if self.repaint {
            for &number in all {
                write_mode(writer, number, false);
            }
        } else if old == new {
            return;
        } else if let Some(old) = old {
            write_mode(writer, old, false);
        }
        if let Some(new) = new {
            write_mode(writer, new, true);
        }
    }
}

fn write_mode(writer: &mut Writer<'_>, number: u16, on: bool) {
    let letter = if on { 'h' } else { 'l' };
    writer.print(format_args!("\x1b[?{number}{letter}"));
}

/// Writes a scroll; the rows that come in are plain.
///
/// The whole screen goes up by line feeds at its bottom, so that on a terminal's primary screen
/// the lines enter its scrollback.
fn write_scroll(writer: &mut Writer<'_>, scroll: &Scroll, rows: u16) {
    let Scroll {
        region,
        direction,
        count,
    } = scroll;
    // Rows that come in get the background in force (docs/protocol.md §8.3).
    writer.plain_style();
    let line_feeds = vec![b'\n'; usize::from(*count)];
    if *direction == Direction::Up && *region == (0..rows) {
        let column = writer.position().map_or(Column(0), |p| p.column);
        let bottom = Position {
            row: Row(rows - 1),
            column,
        };
        writer.move_to(bottom);
        writer.raw(&line_feeds);
        return;
    }
    let to_bottom = region.end == rows;
    if !to_bottom {
        writer.print(format_args!("\x1b[{};{}r", region.start + 1, region.end));
        // Most terminals go home upon this, and some to the first row of the region.
        writer.forget_position();
    }
    writer.move_to(Position::new(region.start, 0));
    let letter = match direction {
        Direction::Up => 'M',
        Direction::Down => 'L',
    };
    writer.print(format_args!("\x1b[{count}{letter}"));
    if !to_bottom {
        writer.raw(b"\x1b[r");
        writer.set_position(Position::HOME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn inside_margins_the_row_is_given_by_its_number() {
        let vocabulary = Vocabulary::FULL;
        let size = Size::default();
        let mut writer = Writer::new(&vocabulary, size, Position::HOME, Style::default());
        let scroll = Scroll {
            region: 1..5,
            direction: Direction::Up,
            count: 2,
        };
        write_scroll(&mut writer, &scroll, size.rows());
        assert_eq!(writer.out, b"\x1b[2;5r\x1b[2H\x1b[2M\x1b[r");
    }
}
