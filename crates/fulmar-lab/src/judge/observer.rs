//! Sees the bytes that a terminal gets as a person does.

use super::glyph::{CellPosition, Glyph, mixed};
use crate::trace::Size;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::{Config, Term, TermDamage, TermMode};
use alacritty_terminal::vte::ansi::{Processor, Timeout};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// A terminal that shows text and a cursor and is nobody's: not ours, and not a peer's.
///
/// The emulator is `alacritty_terminal`. Titles are looked at for stamps only (see [`Stamp`]).
pub struct ScreenObserver {
    terminal: Term<TitleReader>,
    parser: Processor<NoTimeout>,
    stamp: Rc<Cell<Option<Stamp>>>,
    size: Size,
    /// The glyphs of the cells, row by row.
    glyphs: Vec<Glyph>,
    /// The cells in inverse video.
    inverse: BTreeSet<CellPosition>,
    cursor: Cursor,
    /// The exclusive or of a number for each cell that is not blank.
    cells_hash: u64,
}

/// The place of the cursor: the terminal's own, or one that a program draws.
///
/// A program that hides the terminal's cursor and shows one single cell in inverse video draws its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Its place. Behind the last column, where the next character wraps, it is the last column.
    pub place: CellPosition,
    /// True if it is shown.
    pub is_visible: bool,
}

impl Cursor {
    /// Returns the place if the cursor is shown: all that a person can tell.
    pub fn seen(self) -> Option<CellPosition> {
        self.is_visible.then_some(self.place)
    }
}

/// The amount of a host's output that a screen has: the window title of a run that is stamped says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub usize);

/// The beginning of a title that is a stamp, after the prefix that a peer may put before it.
pub const STAMP_PREFIX: &str = "fulmar-lab ";

impl Stamp {
    /// Returns the sequence that puts this stamp on a terminal: a window title.
    pub fn sequence(self) -> String {
        format!("\x1b]2;{STAMP_PREFIX}{}\x07", self.0)
    }

    fn in_title(title: &str) -> Option<Self> {
        let (_, number) = title.split_once(STAMP_PREFIX)?;
        number.parse().ok().map(Self)
    }
}

/// A cell that shows something else than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place of the cell.
    pub place: CellPosition,
    /// The glyph that it shows.
    pub glyph: Glyph,
}

impl ScreenObserver {
    /// Returns a blank terminal with the cursor at the top left.
    pub fn new(size: Size) -> Self {
        let config = Config {
            scrolling_history: 0,
            ..Config::default()
        };
        let stamp = Rc::default();
        let title_reader = TitleReader(Rc::clone(&stamp));
        Self {
            terminal: Term::new(config, &size, title_reader),
            parser: Processor::new(),
            stamp,
            size,
            glyphs: vec![Glyph::BLANK; usize::from(size.rows) * usize::from(size.columns)],
            inverse: BTreeSet::new(),
            cursor: Cursor {
                place: CellPosition { row: 0, column: 0 },
                is_visible: true,
            },
            cells_hash: 0,
        }
    }

    /// Shows `bytes` and adds the cells that are different after them to `changes`.
    ///
    /// A cell that changes and changes back within `bytes` is not among them.
    pub fn show(&mut self, bytes: &[u8], changes: &mut Vec<Change>) {
        self.parser.advance(&mut self.terminal, bytes);
        self.observe(changes);
    }

    /// Gives the terminal another size. Cells that are gone become absent, new ones were.
    pub fn resize(&mut self, size: Size, changes: &mut Vec<Change>) {
        for place in places(self.size).filter(|place| !contains(size, *place)) {
            self.see(place, Glyph::ABSENT, changes);
        }
        let before = std::mem::replace(&mut self.size, size);
        let old = std::mem::take(&mut self.glyphs);
        self.glyphs = places(size)
            .map(|place| {
                if contains(before, place) {
                    old[index(before, place)]
                } else {
                    Glyph::ABSENT
                }
            })
            .collect();
        self.cells_hash = places(size)
            .map(|place| cell_hash(place, self.glyphs[index(size, place)]))
            .fold(0, |all, one| all ^ one);
        self.terminal.resize(size);
        self.observe(changes);
    }

    /// Returns the size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns what a cell shows; outside of the screen that is [`Glyph::ABSENT`].
    pub fn glyph(&self, place: CellPosition) -> Glyph {
        if contains(self.size, place) {
            self.glyphs[index(self.size, place)]
        } else {
            Glyph::ABSENT
        }
    }

    /// Returns where the cursor is.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the newest stamp, once there was one.
    pub fn stamp(&self) -> Option<Stamp> {
        self.stamp.get()
    }

    /// Returns a number that two screens share when text and cursor are equal, and else hardly
    /// ever (once in 2^64).
    pub fn hash(&self) -> u64 {
        let cursor = match self.cursor.seen() {
            Some(place) => u64::from(place.row) << 16 | u64::from(place.column),
            None => u64::MAX >> 1,
        };
        self.cells_hash ^ mixed(cursor | 1 << 63)
    }

    /// Returns the text of a row without the blanks at its end.
    pub fn row_text(&self, row: u16) -> String {
        let text: String = (0..self.size.columns)
            .map(|column| self.glyph(CellPosition { row, column }))
            .filter(|glyph| *glyph != Glyph::RIGHT_HALF)
            .map(|glyph| glyph.as_char().unwrap_or('\u{fffd}'))
            .collect();
        text.trim_end().to_owned()
    }

    fn observe(&mut self, changes: &mut Vec<Change>) {
        for place in self.suspects() {
            let cell = &self.terminal.grid()[Line(place.row.into())][Column(place.column.into())];
            self.see(place, Glyph::of(cell), changes);
        }
        self.terminal.reset_damage();
        self.cursor = self.drawn_cursor().unwrap_or_else(|| self.own_cursor());
    }

    fn own_cursor(&self) -> Cursor {
        let point = self.terminal.grid().cursor.point;
        Cursor {
            place: CellPosition {
                row: u16::try_from(point.line.0).unwrap_or(0),
                column: u16::try_from(point.column.0).unwrap_or(u16::MAX),
            },
            is_visible: self.terminal.mode().contains(TermMode::SHOW_CURSOR),
        }
    }

    fn drawn_cursor(&self) -> Option<Cursor> {
        let is_hidden = !self.terminal.mode().contains(TermMode::SHOW_CURSOR);
        let place = self.inverse.first().copied();
        let place = place.filter(|_| is_hidden && self.inverse.len() == 1)?;
        Some(Cursor {
            place,
            is_visible: true,
        })
    }

    /// Returns the cells that may have changed since the last observation.
    ///
    /// The emulator's own record of damage leaves out the neighbours that a combining mark or half
    /// of a wide character touches.
    fn suspects(&mut self) -> Vec<CellPosition> {
        let size = self.size;
        match self.terminal.damage() {
            TermDamage::Full => places(size).collect(),
            TermDamage::Partial(lines) => lines
                .flat_map(|bounds| {
                    let row = bounds.line as u16;
                    let right = (bounds.right + 1).min(usize::from(size.columns) - 1) as u16;
                    let left = bounds.left.saturating_sub(1) as u16;
                    (left..=right).map(move |column| CellPosition { row, column })
                })
                .collect(),
        }
    }

    fn see(&mut self, place: CellPosition, glyph: Glyph, changes: &mut Vec<Change>) {
        let cell = &mut self.glyphs[index(self.size, place)];
        if cell.is_identical(glyph) {
            return;
        }
        self.cells_hash ^= cell_hash(place, *cell) ^ cell_hash(place, glyph);
        *cell = glyph;
        if glyph.is_inverse() {
            self.inverse.insert(place)
        } else {
            self.inverse.remove(&place)
        };
        changes.push(Change { place, glyph });
    }
}

/// All cells, row by row.
pub(crate) fn places(size: Size) -> impl Iterator<Item = CellPosition> {
    (0..size.rows)
        .flat_map(move |row| (0..size.columns).map(move |column| CellPosition { row, column }))
}

fn contains(size: Size, place: CellPosition) -> bool {
    place.row < size.rows && place.column < size.columns
}

fn index(size: Size, place: CellPosition) -> usize {
    usize::from(place.row) * usize::from(size.columns) + usize::from(place.column)
}

/// A number for a cell and its text; 0 for blank, so that a blank screen of any size is 0.
fn cell_hash(place: CellPosition, glyph: Glyph) -> u64 {
    if glyph == Glyph::BLANK || glyph == Glyph::ABSENT {
        return 0;
    }
    let place = u64::from(place.row) << 16 | u64::from(place.column);
    mixed(place << 32 | u64::from(glyph.text()))
}

/// Takes stamps out of titles.
struct TitleReader(Rc<Cell<Option<Stamp>>>);

impl EventListener for TitleReader {
    fn send_event(&self, event: Event) {
        if let Event::Title(title) = event
            && let Some(stamp) = Stamp::in_title(&title)
        {
            self.0.set(Some(stamp));
        }
    }
}

/// A synchronised update (mode 2026) is shown as it comes: peers that keep a screen of their own
/// do not pass it on, and the judge owns no clock to end it with.
#[derive(Default)]
pub(crate) struct NoTimeout;

impl Timeout for NoTimeout {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.rows.into()
    }

    fn screen_lines(&self) -> usize {
        self.rows.into()
    }

    fn columns(&self) -> usize {
        self.columns.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size {
        columns: 10,
        rows: 3,
    };

    fn shown(bytes: &str) -> ScreenObserver {
        let mut observer = ScreenObserver::new(SMALL);
        observer.show(bytes.as_bytes(), &mut Vec::new());
        observer
    }

    fn at(row: u16, column: u16) -> CellPosition {
        CellPosition { row, column }
    }

    #[test]
    fn text_and_cursor_are_seen() {
        let observer = shown("ab\r\n\tc");
        assert_eq!(
            (observer.row_text(0), observer.row_text(1)),
            ("ab".to_owned(), "        c".to_owned())
        );
        assert_eq!(observer.cursor().seen(), Some(at(1, 9)));
        assert_eq!(shown("\x1b[?25l").cursor().seen(), None);
    }

    #[test]
    fn colours_do_not_count_and_text_does() {
        assert_eq!(shown("\x1b[31;7mab").hash(), shown("ab").hash());
        assert_eq!(shown("ab \x1b[D").hash(), shown("ab").hash());
        assert_ne!(shown("ab").hash(), shown("ac").hash());
        assert_ne!(shown("ab").hash(), shown("ab\r").hash());
        assert_ne!(shown("e\u{301}").hash(), shown("e\u{300}").hash());
        assert_eq!(shown("xy\x1b[2J\x1b[H").hash(), shown("").hash());
    }

    #[test]
    fn a_cursor_that_a_program_draws_is_one() {
        let drawn = |bytes: &str| shown(&format!("\x1b[?25l{bytes}")).cursor().seen();
        assert_eq!(drawn("ab\x1b[7m \x1b[27mc"), Some(at(0, 2)));
        // It moves on over blanks, which leaves the text as it was.
        assert_eq!(
            drawn("ab\x1b[7m \r\x1b[2C\x1b[27m \x1b[7m "),
            Some(at(0, 3))
        );
        assert_eq!(drawn("\x1b[7mbar"), None);
        assert_eq!(drawn("\x1b[7m \x1b[27m\r \x1b[K"), None);
        let with_own = shown("\x1b[7m \x1b[27mab").cursor().seen();
        assert_eq!(with_own, Some(at(0, 3)));
    }

    #[test]
    fn what_programs_draw_with_is_understood() {
        assert_eq!(shown("-\x1b[4b").row_text(0), "-----");
        assert_eq!(shown("\x1b(0lq\x1b(Bq").row_text(0), "┌─q");
        assert_eq!(shown("bc\r\x1b[4ha\x1b[4l").row_text(0), "abc");
        assert_eq!(shown("日本").row_text(0), "日本");
        assert_eq!(shown("ab\x1b[?1049hcd\x1b[?1049l").row_text(0), "ab");
    }

    #[test]
    fn grey_is_noticed_and_makes_no_difference() {
        let observer = shown("\x1b[2ma\x1b[0;90mb\x1b[0;38;5;240mc\x1b[0;38;5;250md\x1b[me");
        let greys: Vec<bool> = (0..5)
            .map(|column| observer.glyph(at(0, column)).is_grey())
            .collect();
        assert_eq!(greys, [true, true, true, false, false]);
        let is_grey = |color: u8| {
            let observer = shown(&format!("\x1b[38;5;{color}mx"));
            observer.glyph(at(0, 0)).is_grey()
        };
        assert_eq!([7, 8, 9].map(is_grey), [false, true, false]);
        assert_eq!(
            [231, 232, 246, 247].map(is_grey),
            [false, true, true, false]
        );
        assert_eq!(observer.hash(), shown("abcde").hash());
    }

    #[test]
    fn changes_are_what_is_different_afterwards() {
        let mut observer = shown("ab");
        let mut changes = Vec::new();
        observer.show(b"\rx\x08a\x1b[1;2Hy", &mut changes);
        let glyph = Glyph::character('y');
        assert_eq!(
            changes,
            [Change {
                place: at(0, 1),
                glyph
            }]
        );
    }

    #[test]
    fn half_of_a_wide_character_and_marks_are_not_missed() {
        let mut observer = shown("日e");
        let mut changes = Vec::new();
        observer.show("\u{301}".as_bytes(), &mut changes);
        assert_eq!(changes.len(), 1);
        changes.clear();
        observer.show(b"\x1b[1;2Hx", &mut changes);
        assert_eq!(observer.row_text(0).chars().next(), Some(' '));
        assert_eq!(changes.len(), 2);
    }

    #[test]
    fn another_size_keeps_what_fits() {
        let mut observer = shown("abcdefgh");
        let mut changes = Vec::new();
        observer.resize(
            Size {
                columns: 4,
                rows: 3,
            },
            &mut changes,
        );
        assert_eq!(observer.glyph(at(0, 6)), Glyph::ABSENT);
        let gone = changes
            .iter()
            .filter(|change| change.glyph == Glyph::ABSENT);
        assert_eq!(gone.count(), 18);
        observer.resize(SMALL, &mut changes);
        assert_eq!(observer.size(), SMALL);
    }

    #[test]
    fn stamps_are_read_behind_any_prefix() {
        assert_eq!(shown(&Stamp(17).sequence()).stamp(), Some(Stamp(17)));
        assert_eq!(
            shown("\x1b]0;[mosh] fulmar-lab 9\x07").stamp(),
            Some(Stamp(9))
        );
        assert_eq!(shown("\x1b]0;vim\x07").stamp(), None);
    }
}
