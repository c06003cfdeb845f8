//! A screen as far as a vocabulary can tell it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::Screen;
use crate::cell::{Cluster, Glyph};
use crate::clipboard::ClipboardWrite;
use crate::clustering::Clustering;
use crate::cursor::CursorShape;
use crate::frame::seen::{Seen, is_same_row, is_wrapped};
use crate::frame::told::told_pair;
use crate::modes::Modes;
use crate::permitted::is_permitted_clipboard;
use crate::row::{CellRow, SharedRow};
use crate::size::{Column, Row};
use crate::style::Color;
use crate::vocabulary::Vocabulary;

impl Screen {
    /// Returns the screen as far as `vocabulary` can tell it: what a reader who was sent every
    /// frame has in the end.
    ///
    /// Everything a frame cannot say is as on a new screen: the screen that is not shown, saved
    /// cursors, margins, tabs, modes for the keyboard's side, colours and attributes outside the
    /// vocabulary. A cell whose text the reader would give another width has the part of it that gets the right one;
    /// the screen puts clusters into its cells exactly if the reader does. The bell is not part of it, since it is heard once and not seen.
    pub fn projected(&self, vocabulary: &Vocabulary) -> Screen {
        let mut projected = Screen::new(self.size());
        let told = self.told(vocabulary);
        for index in 0..self.size().rows() {
            let row = Row(index);
            let mut cells = project_row(told.row(row), vocabulary);
            cells.set_wrapped(is_wrapped(&told, row, vocabulary));
            projected.set_row(row, SharedRow::new(cells));
        }
        projected.cursor = *self.cursor();
        projected.cursor.pending_wrap = false;
        projected.cursor.shape = shape(self, vocabulary);
        projected.modes = self.told_modes(vocabulary);
        if vocabulary.clusters {
            projected.set_clustering(Clustering::Permanent);
        }
        let (title, icon_name) = names(self, vocabulary);
        projected.title = (!title.is_empty()).then(|| Arc::from(title));
        projected.icon_name = (!icon_name.is_empty()).then(|| Arc::from(icon_name));
        if let Some(write) = clipboard(self, vocabulary) {
            projected.clipboard = write.clone();
        }
        if vocabulary.keyboard {
            projected.keyboard.change(self.keyboard_flags().into(), 1);
        }
        if vocabulary.palette {
            projected.palette = Arc::clone(&self.palette);
        }
        projected
    }

    /// Returns true if a reader of `vocabulary` could not tell the two apart, the bell included.
    pub fn is_same(&self, other: &Screen, vocabulary: &Vocabulary) -> bool {
        let (one, other) = told_pair(self, other, vocabulary);
        is_same_as_told(&one, &other, vocabulary)
    }

    fn told_modes(&self, vocabulary: &Vocabulary) -> Modes {
        let mut told = Modes::default();
        told.flags |= self.modes().flags & Vocabulary::MODES;
        told.mouse = self.modes().mouse;
        told.mouse_encoding = vocabulary.mouse_encoding(self.modes().mouse_encoding);
        told
    }
}

/// Returns true if a reader could not tell two screens apart whose cells are told already.
pub(super) fn is_same_as_told(one: &Screen, other: &Screen, vocabulary: &Vocabulary) -> bool {
    let cursor = |screen: &Screen| (screen.cursor().position, screen.cursor().visible);
    one.size() == other.size()
        && one.bell_count() == other.bell_count()
        && cursor(one) == cursor(other)
        && shape(one, vocabulary) == shape(other, vocabulary)
        && one.told_modes(vocabulary) == other.told_modes(vocabulary)
        && has_same_names(one, other, vocabulary)
        && has_same_clipboard(one, other, vocabulary)
        && (!vocabulary.keyboard || one.keyboard_flags() == other.keyboard_flags())
        && (!vocabulary.palette || one.palette == other.palette)
        && has_same_rows(one, other, vocabulary)
}

/// Returns true if the reader cannot tell the names of the two apart. Looks closely only where they differ.
pub(super) fn has_same_names(one: &Screen, other: &Screen, vocabulary: &Vocabulary) -> bool {
    (one.title == other.title && one.icon_name == other.icon_name)
        || names(one, vocabulary) == names(other, vocabulary)
}

/// Returns true if the reader of one was told the newest write to the clipboard that can be told of the other. Nearly always it is the
/// same text, which may be long.
pub(super) fn has_same_clipboard(one: &Screen, other: &Screen, vocabulary: &Vocabulary) -> bool {
    match (clipboard(one, vocabulary), clipboard(other, vocabulary)) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            let is_same_text = Arc::ptr_eq(&one.text, &other.text) || one.text == other.text;
            one.number == other.number && is_same_text
        }
        _ => false,
    }
}

/// Returns true if the reader cannot tell the rows of the two apart, nor which of them are one line of text.
fn has_same_rows(one: &Screen, other: &Screen, vocabulary: &Vocabulary) -> bool {
    let mut pairs = (0..).map(Row).zip(one.rows().zip(other.rows()));
    pairs.all(|(row, (mine, theirs))| {
        let may_wrap = mine.is_wrapped() || theirs.is_wrapped();
        is_same_row(mine, theirs, vocabulary)
            && (!may_wrap || is_wrapped(one, row, vocabulary) == is_wrapped(other, row, vocabulary))
    })
}

/// The cursor's shape.
pub(super) fn shape(screen: &Screen, vocabulary: &Vocabulary) -> CursorShape {
    if vocabulary.cursor_shape {
        screen.cursor().shape
    } else {
        CursorShape::Default
    }
}

/// Window title and icon name; empty is the same as none.
pub(super) fn names<'a>(
    screen: &'a Screen,
    vocabulary: &Vocabulary,
) -> (Cow<'a, str>, Cow<'a, str>) {
    if !vocabulary.titles {
        return (Cow::Borrowed(""), Cow::Borrowed(""));
    }
    (
        harmless(screen.title().unwrap_or_default(), vocabulary.title_max),
        harmless(screen.icon_name().unwrap_or_default(), vocabulary.title_max),
    )
}

/// Returns a title without controls and of at most `characters_max`.
fn harmless(title: &str, characters_max: usize) -> Cow<'_, str> {
    let is_harmless =
        !title.chars().any(char::is_control) && title.chars().count() <= characters_max;
    if is_harmless {
        return Cow::Borrowed(title);
    }
    title
        .chars()
        .take(characters_max)
        .map(|character| {
            if character.is_control() {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect()
}

/// The newest write to the clipboard that can be told. What is no base64 cannot be told: a query, which stock keeps as if
/// it were text, would be answered by the user's terminal. What is too long for the reader leaves
/// what was there before. `None` if there was none, or the reader has no clipboard.
pub(super) fn clipboard<'a>(
    screen: &'a Screen,
    vocabulary: &Vocabulary,
) -> Option<&'a ClipboardWrite> {
    let can_be_told = |write: &&ClipboardWrite| {
        write.number > 0
            && write.text.len() <= vocabulary.clipboard_max
            && is_permitted_clipboard(&write.text)
    };
    let writes = [&screen.clipboard, &screen.short_clipboard];
    let told = writes.into_iter().find(can_be_told);
    told.filter(|_| vocabulary.clipboard)
}

fn project_row(row: &CellRow, vocabulary: &Vocabulary) -> CellRow {
    let mut projected = CellRow::new(row.columns(), Color::DEFAULT);
    for index in 0..row.columns() {
        let seen = Seen::at(row, index, vocabulary);
        let column = Column(index);
        let pen = projected.pen(&seen.style);
        match seen.glyph {
            Glyph::Spacer => {}
            Glyph::Blank => projected.erase(index..index + 1, seen.style.background),
            Glyph::Char(character) => projected.write_char(column, character, seen.wide, pen),
            Glyph::Cluster(text) => {
                if let Some(text) = Cluster::from_text(text) {
                    projected.write_text(column, &text, seen.wide, &seen.style);
                }
            }
        }
    }
    projected
}
