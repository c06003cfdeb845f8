//! The whole state of an emulated terminal.

use std::ops::Range;
use std::sync::Arc;

use crate::attribute_extent::AttributeExtent;
use crate::charset::Charsets;
use crate::clipboard::ClipboardWrite;
use crate::clustering::Clustering;
use crate::conformance::ConformanceLevel;
use crate::cursor::Cursor;
use crate::grid::Grid;
use crate::hyperlink::Hyperlinks;
use crate::keyboard::KeyboardFlags;
use crate::modes::{ModeFlags, Modes};
use crate::palette::Palette;
use crate::row::SharedRow;
use crate::saved_cursor::SavedCursor;
use crate::saved_modes::SavedModes;
use crate::size::{Position, Row, Size};
use crate::style::Style;
use crate::tabs::TabStops;
use crate::title_stack::TitleStack;

/// The work of a control function that allocates memory, beside what it fills: as measured by the example
/// `worst_input` on a screen of one cell.
pub(crate) const ALLOCATION_WORK: u64 = 16;

/// Everything a terminal remembers between two bytes, but for the parser's state.
///
/// A clone is a snapshot: it shares its rows with the original until one of them changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    pub(crate) size: Size,
    /// The grid that is shown.
    pub(crate) grid: Grid,
    /// The other of the primary and the alternate grid.
    pub(crate) hidden: Grid,
    pub(crate) alternate: bool,
    pub(crate) cursor: Cursor,
    pub(crate) style: Style,
    pub(crate) modes: Modes,
    pub(crate) saved_modes: SavedModes,
    /// The say that programs have in mode 2027.
    pub(crate) clustering: Clustering,
    pub(crate) charsets: Charsets,
    pub(crate) tabs: TabStops,
    /// The scrolling region, top to below its bottom.
    pub(crate) margins: Range<u16>,
    /// The columns between the left and the right margin: all of them where there are none.
    pub(crate) sides: Range<u16>,
    pub(crate) attribute_extent: AttributeExtent,
    pub(crate) conformance: ConformanceLevel,
    /// The saved cursor of the grid that is shown.
    pub(crate) saved: SavedCursor,
    pub(crate) hidden_saved: SavedCursor,
    /// The forms of keys that the program on the grid that is shown has asked for.
    pub(crate) keyboard: KeyboardFlags,
    pub(crate) hidden_keyboard: KeyboardFlags,
    /// The position where the last character was printed, until the cursor is moved.
    pub(crate) printed: Option<Position>,
    /// The character that REP repeats.
    pub(crate) last_character: Option<char>,
    pub(crate) title: Option<Arc<str>>,
    pub(crate) icon_name: Option<Arc<str>>,
    pub(crate) titles_away: TitleStack,
    pub(crate) clipboard: ClipboardWrite,
    /// The newest clipboard that every reader takes: the same one, unless that is too long.
    pub(crate) short_clipboard: ClipboardWrite,
    pub(crate) bell_count: u64,
    pub(crate) links: Hyperlinks,
    pub(crate) palette: Arc<Palette>,
}

impl Screen {
    /// Returns a blank screen with the cursor at home, as after power on.
    pub fn new(size: Size) -> Screen {
        Screen {
            size,
            grid: Grid::new(size),
            hidden: Grid::new(size),
            alternate: false,
            cursor: Cursor::default(),
            style: Style::default(),
            modes: Modes::default(),
            saved_modes: SavedModes::default(),
            clustering: Clustering::default(),
            charsets: Charsets::default(),
            tabs: TabStops::every_eighth(),
            margins: 0..size.rows(),
            sides: 0..size.columns(),
            attribute_extent: AttributeExtent::default(),
            conformance: ConformanceLevel::default(),
            saved: SavedCursor::default(),
            hidden_saved: SavedCursor::default(),
            keyboard: KeyboardFlags::default(),
            hidden_keyboard: KeyboardFlags::default(),
            printed: None,
            last_character: None,
            title: None,
            icon_name: None,
            titles_away: TitleStack::default(),
            clipboard: ClipboardWrite::default(),
            short_clipboard: ClipboardWrite::default(),
            bell_count: 0,
            links: Hyperlinks::default(),
            palette: Arc::default(),
        }
    }

    /// Forgets the forms of keys that programs have asked for.
    pub(crate) fn forget_keyboard(&mut self) {
        self.keyboard = KeyboardFlags::default();
        self.hidden_keyboard = KeyboardFlags::default();
    }

    /// Returns the flags of kitty's keyboard protocol that are in force.
    pub fn keyboard_flags(&self) -> u8 {
        self.keyboard.now()
    }

    /// Returns the colours that programs have changed.
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// Rows and columns.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns a row of what is shown; beyond the last it is the last.
    pub fn row(&self, row: Row) -> &SharedRow {
        self.grid.row(row)
    }

    /// All rows of what is shown, uppermost first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &SharedRow> {
        self.grid.rows()
    }

    /// Puts `cells`, which are as wide as the screen, in the place of a row.
    pub(crate) fn set_row(&mut self, row: Row, cells: SharedRow) {
        self.grid.set_row(row, cells);
    }

    /// The cursor.
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// The rendition that the next character gets.
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// The modes.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// Returns true if the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.alternate
    }

    /// Returns true if the program is in the middle of a frame (mode 2026) and would rather not have it shown
    /// yet. Whoever waits for the end gives up after a while.
    pub fn is_synchronized(&self) -> bool {
        self.modes.has(ModeFlags::SYNCHRONIZED)
    }

    /// The window's title; `None` until a program has set one.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The icon's title; `None` until a program has set one.
    pub fn icon_name(&self) -> Option<&str> {
        self.icon_name.as_deref()
    }

    /// Returns the text that programs last put on the clipboard, still in base64.
    pub fn clipboard(&self) -> &str {
        &self.clipboard.text
    }

    /// Returns the number of times that the bell has rung.
    pub fn bell_count(&self) -> u64 {
        self.bell_count
    }

    /// The work that all input and resizes so far have made, in a measure that is the same on every
    /// machine: cells and rows touched or copied, bytes read, and a few for each control function.
    pub fn work(&self) -> u64 {
        self.grid.work + self.hidden.work
    }

    /// Counts work that touches no cells.
    pub(crate) fn charge(&mut self, work: u64) {
        self.grid.work += work;
    }

    /// Crops or extends the screen at its bottom and right, as whoever reads frames does; nothing is reflowed. A terminal does
    /// [more](crate::Terminal::resize).
    ///
    /// Source: docs/protocol.md §8.9.
    pub fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        self.size = size;
        self.grid.resize(size, self.style.background);
        self.hidden.resize(size, self.style.background);
        self.reset_margins();
        self.cursor.position = size.clamp(self.cursor.position);
        self.cursor.pending_wrap = false;
        self.printed = self.printed.filter(|&position| size.contains(position));
    }
}
