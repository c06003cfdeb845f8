//! A snapshot of a screen, as far as a prediction is judged by it.

use std::sync::Arc;

use fulmar_terminal::{
    Attributes, Cell, CellRow, Color, ColorKind, Column, Glyph, Position, Screen, SharedRow, Style,
};

use crate::judge::{CellPosition, Cursor, KeyEffect};

/// The look of one cell: its text, whether it is inverse, and its background. Colours of the text and the
/// like do not count.
///
/// Never written, erased, blank and no-break space are the same.
#[derive(Clone, Copy, Debug)]
pub struct CellLook {
    text: u32,
    back: u32,
    is_grey: bool,
}

/// Marks text of several characters, of which the rest is a hash.
const CLUSTER: u32 = 1 << 31;

impl CellLook {
    /// A plain blank.
    pub(crate) const BLANK: CellLook = CellLook {
        text: ' ' as u32,
        back: 0,
        is_grey: false,
    };

    fn of(row: &CellRow, column: Column, cell: &Cell) -> CellLook {
        let text = match row.glyph(column) {
            Glyph::Blank | Glyph::Char('\u{a0}') => ' ' as u32,
            Glyph::Spacer => 0,
            Glyph::Char(character) => character as u32,
            Glyph::Cluster(text) => CLUSTER | hash(text),
        };
        CellLook {
            text,
            back: back(cell.attributes(), cell.background()),
            is_grey: is_grey(cell),
        }
    }

    /// A blank in a rendition.
    pub(crate) fn blank(style: &Style) -> CellLook {
        CellLook {
            back: back(style.attributes, style.background),
            ..CellLook::BLANK
        }
    }

    /// The same text, inverse and background of another.
    #[must_use]
    pub(crate) fn dressed_as(self, other: CellLook) -> CellLook {
        CellLook {
            text: self.text,
            ..other
        }
    }

    /// The same cell with another character, or blank.
    #[must_use]
    pub fn with(self, character: char) -> CellLook {
        CellLook {
            text: match character {
                '\u{a0}' => ' ' as u32,
                other => other as u32,
            },
            ..self
        }
    }

    /// The character, if it is a single one.
    pub fn character(self) -> Option<char> {
        char::from_u32(self.text).filter(|character| *character != '\0')
    }

    /// Returns the text as a number that is the same for equal text.
    pub(crate) fn text(self) -> u32 {
        self.text
    }

    /// Returns true if it looks like a space, whatever is behind it.
    pub fn is_blank(self) -> bool {
        self.text == ' ' as u32
    }

    /// Returns true if the text has a colour that suggestions are written in: dim, bright black, a dark grey.
    pub fn is_grey(self) -> bool {
        self.is_grey
    }

    /// Returns true if it is in inverse video.
    pub fn is_inverse(self) -> bool {
        self.back >> 31 != 0
    }

    /// Returns true if the text is equal, inverse and background apart.
    pub(crate) fn has_text_of(self, other: CellLook) -> bool {
        self.text == other.text
    }
}

impl PartialEq for CellLook {
    fn eq(&self, other: &CellLook) -> bool {
        self.text == other.text && self.back == other.back
    }
}

impl Eq for CellLook {}

/// A number for inverse video and background.
fn back(attributes: Attributes, background: Color) -> u32 {
    let inverse = u32::from(attributes.contains(Attributes::INVERSE)) << 31;
    inverse
        | match background.kind() {
            ColorKind::Default => 0,
            ColorKind::Indexed(index) => 1 << 24 | u32::from(index),
            ColorKind::Rgb(red, green, blue) => {
                2 << 24 | u32::from(red) << 16 | u32::from(green) << 8 | u32::from(blue)
            }
        }
}

/// Dim, bright black, or one of the greys 232 to 246.
///
/// Source: docs/prediction.md, on grey text.
fn is_grey(cell: &Cell) -> bool {
    cell.attributes().contains(Attributes::DIM)
        || matches!(cell.foreground().kind(), ColorKind::Indexed(8 | 232..=246))
}

/// FNV-1a, cut to 31 bits.
fn hash(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step) & !CLUSTER
}

/// The snapshot of a whole screen. A clone shares its rows.
#[derive(Clone, Debug)]
pub struct ScreenSnapshot {
    rows: Vec<Arc<[CellLook]>>,
    /// The terminal's own cursor.
    pub cursor: Cursor,
    /// The only cell in inverse video, if there is one.
    only_inverse: Option<CellPosition>,
}

impl ScreenSnapshot {
    /// Looks at a screen. With another screen and its snapshot it takes over the rows that are the same in both.
    pub fn of(screen: &Screen, known: Option<(&Screen, &ScreenSnapshot)>) -> ScreenSnapshot {
        let known = known.filter(|(other, _)| other.size() == screen.size());
        let mut known = known.map(|(other, snapshot)| other.rows().zip(&snapshot.rows));
        let look = |row: &SharedRow| match known.as_mut().and_then(Iterator::next) {
            Some((other, known)) if SharedRow::ptr_eq(row, other) || row == other => {
                Arc::clone(known)
            }
            _ => looks(row),
        };
        let mut snapshot = ScreenSnapshot {
            rows: screen.rows().map(look).collect(),
            cursor: Cursor {
                place: cell_position(screen.cursor().position),
                is_visible: screen.cursor().visible,
            },
            only_inverse: None,
        };
        snapshot.find_inverse();
        snapshot
    }

    /// Looks for the cell that may be a cursor, which matters only while the terminal's own is hidden.
    fn find_inverse(&mut self) {
        let is_hidden = !self.cursor.is_visible;
        let rows = (0..).zip(&self.rows).filter(|_| is_hidden);
        let mut inverse = rows.flat_map(|(row, cells)| {
            let cells = (0..).zip(cells.iter());
            cells
                .filter(|(_, look)| look.is_inverse())
                .map(move |(column, _)| CellPosition::new(row, column))
        });
        let first = inverse.next();
        self.only_inverse = first.filter(|_| inverse.next().is_none());
    }

    /// Returns the cursor as a person sees it: the terminal's own, or the one that the program draws instead.
    pub fn caret(&self) -> Cursor {
        let drawn = self.only_inverse.filter(|_| !self.cursor.is_visible);
        drawn.map_or(self.cursor, |place| Cursor {
            place,
            is_visible: true,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> u16 {
        self.rows.len() as u16
    }

    /// The number of columns.
    pub fn columns(&self) -> u16 {
        self.rows.first().map_or(0, |row| row.len() as u16)
    }

    /// The cells of a row; none where there is no such row.
    pub fn row(&self, row: u16) -> &[CellLook] {
        self.rows.get(usize::from(row)).map_or(&[], |row| row)
    }

    /// Returns true if a row is, for certain and without looking, the one that another snapshot has there.
    pub(crate) fn shares_row(&self, other: &ScreenSnapshot, row: u16) -> bool {
        let row = usize::from(row);
        match (self.rows.get(row), other.rows.get(row)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Returns the look of a cell; outside it is blank.
    pub fn look(&self, at: CellPosition) -> CellLook {
        let row = self.row(at.row);
        row.get(usize::from(at.column))
            .copied()
            .unwrap_or(CellLook::BLANK)
    }

    /// Puts something into a cell.
    pub fn set(&mut self, at: CellPosition, look: CellLook) {
        if let Some(row) = self.rows.get_mut(usize::from(at.row))
            && let Some(cell) = Arc::make_mut(row).get_mut(usize::from(at.column))
        {
            let was_inverse = std::mem::replace(cell, look).is_inverse();
            if was_inverse || look.is_inverse() {
                self.find_inverse();
            }
        }
    }

    /// The cells in which two snapshots of one size differ.
    pub fn differences<'a>(
        &'a self,
        other: &'a ScreenSnapshot,
    ) -> impl Iterator<Item = CellPosition> + 'a {
        let rows = (0..self.rows()).filter(|row| !self.shares_row(other, *row));
        rows.flat_map(move |row| {
            let cells = self.row(row).iter().zip(other.row(row)).enumerate();
            cells
                .filter(|(_, (one, other))| one != other)
                .map(move |(column, _)| CellPosition::new(row, column as u16))
        })
    }

    /// Returns true if it agrees with another where the effect of a key is to be seen.
    pub fn agrees(&self, other: &ScreenSnapshot, effect: &KeyEffect<usize>) -> bool {
        let mut places = effect.places.iter();
        (!effect.has_cursor || self.caret().seen() == other.caret().seen())
            && places.all(|at| self.look(*at) == other.look(*at))
    }

    /// Returns true if nothing is different, cursor included.
    pub fn is_same(&self, other: &ScreenSnapshot) -> bool {
        self.caret().seen() == other.caret().seen() && self.differences(other).next().is_none()
    }

    /// The text of a row without the blanks at its end.
    pub fn text(&self, row: u16) -> String {
        let cells = self.row(row).iter().filter(|look| look.text != 0);
        let text: String = cells
            .map(|look| look.character().unwrap_or('\u{fffd}'))
            .collect();
        text.trim_end().to_owned()
    }
}

fn looks(row: &CellRow) -> Arc<[CellLook]> {
    let cells = row.cells().iter().enumerate();
    cells
        .map(|(column, cell)| CellLook::of(row, Column(column as u16), cell))
        .collect()
}

/// Returns the judge's name for a cell.
pub(super) fn cell_position(at: Position) -> CellPosition {
    CellPosition::new(at.row.0, at.column.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_terminal::{Size, Terminal};

    fn terminal(rows: u16, columns: u16, bytes: &str) -> Terminal {
        let mut terminal = Terminal::new(Size::new(rows, columns).unwrap());
        terminal.process(bytes.as_bytes());
        terminal
    }

    fn snapshot(bytes: &str) -> ScreenSnapshot {
        ScreenSnapshot::of(terminal(3, 10, bytes).screen(), None)
    }

    fn at(row: u16, column: u16) -> CellPosition {
        CellPosition::new(row, column)
    }

    /// The look of the first cell.
    fn look(bytes: &str) -> CellLook {
        snapshot(bytes).look(at(0, 0))
    }

    #[test]
    fn blanks_of_all_kinds_look_alike() {
        for blank in ["", " ", "\u{a0}", "x\x1b[2J"] {
            assert_eq!(look(blank), CellLook::BLANK, "{blank:?}");
            assert!(look(blank).is_blank());
        }
        assert!(!look("x").is_blank());
        assert_eq!(CellLook::BLANK.with('\u{a0}'), CellLook::BLANK);
    }

    #[test]
    fn text_inverse_and_background_count_and_other_colours_do_not() {
        for same in ["\x1b[31mx", "\x1b[1;4mx", "\x1b[2mx"] {
            assert_eq!(look(same), look("x"), "{same:?}");
        }
        let others = [
            "y",
            "\x1b[7mx",
            "\x1b[41mx",
            "\x1b[42mx",
            "\x1b[48;5;200mx",
            "\x1b[48;2;0;0;1mx",
            "x\u{301}",
            "x\u{300}",
            "x",
        ];
        for (number, one) in others.iter().enumerate() {
            for other in &others[number + 1..] {
                assert_ne!(look(one), look(other), "{one:?} {other:?}");
            }
        }
        assert!(look("\x1b[7mx").is_inverse() && !look("\x1b[41mx").is_inverse());
    }

    #[test]
    fn grey_is_dim_or_bright_black_or_a_dark_grey() {
        let greys = ["2", "90", "38;5;8", "38;5;232", "38;5;246"];
        for grey in greys {
            assert!(look(&format!("\x1b[{grey}mx")).is_grey(), "{grey}");
        }
        for other in [
            "0",
            "30",
            "97",
            "38;5;7",
            "38;5;231",
            "38;5;247",
            "38;2;9;9;9",
        ] {
            assert!(!look(&format!("\x1b[{other}mx")).is_grey(), "{other}");
        }
    }

    #[test]
    fn a_cell_can_be_dressed_as_another() {
        let (plain, inverse) = (look("x"), look("\x1b[7my"));
        assert_eq!(plain.dressed_as(inverse), inverse.with('x'));
        assert!(plain.has_text_of(look("\x1b[7mx")) && !plain.has_text_of(inverse));
        let styled = terminal(1, 1, "\x1b[7;44m");
        let blank = CellLook::blank(styled.screen().style());
        assert_eq!(blank, look("\x1b[7;44m "));
    }

    #[test]
    fn wide_characters_and_clusters_are_text() {
        let wide = snapshot("日x\u{301}z  ");
        assert_eq!(wide.look(at(0, 0)).character(), Some('日'));
        assert_eq!(wide.look(at(0, 1)).character(), None);
        assert_eq!(wide.look(at(0, 2)).character(), None);
        assert_eq!(wide.text(0), "日\u{fffd}z");
        assert_eq!((wide.text(1), wide.text(9)), (String::new(), String::new()));
    }

    #[test]
    fn outside_of_it_everything_is_blank_and_stays_so() {
        let mut snapshot = snapshot("abc");
        assert_eq!((snapshot.rows(), snapshot.columns()), (3, 10));
        for outside in [at(0, 10), at(3, 0), at(9, 99)] {
            snapshot.set(outside, CellLook::BLANK.with('x'));
            assert_eq!(snapshot.look(outside), CellLook::BLANK);
        }
        assert!(snapshot.row(3).is_empty());
        snapshot.set(at(2, 9), CellLook::BLANK.with('x'));
        assert_eq!(snapshot.text(2), "         x");
    }

    #[test]
    fn differences_are_found_cell_by_cell() {
        let (one, mut other) = (
            snapshot("abc\r\nd"),
            snapshot("axc\r\nd\x1b[3;4Hy\x1b[2;2H"),
        );
        assert_eq!(
            one.differences(&other).collect::<Vec<_>>(),
            [at(0, 1), at(2, 3)]
        );
        assert!(!one.is_same(&other));
        other.set(at(0, 1), one.look(at(0, 1)));
        other.set(at(2, 3), CellLook::BLANK);
        assert!(one.is_same(&other));
        other.cursor.place = at(0, 0);
        assert!(!one.is_same(&other));
        // Where neither is shown it does not matter.
        let hidden = |bytes: &str| snapshot(&format!("\x1b[?25l{bytes}"));
        assert!(hidden("a").is_same(&hidden("a\r")));
        assert!(!hidden("a").is_same(&snapshot("a")));
    }

    #[test]
    fn rows_that_are_known_are_shared_and_right() {
        let mut terminal = terminal(3, 10, "one\r\ntwo");
        let before = terminal.screen().clone();
        let known = ScreenSnapshot::of(&before, None);
        terminal.process(b"\x1b[3;1Hthree");
        let after = ScreenSnapshot::of(terminal.screen(), Some((&before, &known)));
        assert!(after.is_same(&ScreenSnapshot::of(terminal.screen(), None)));
        assert_eq!(
            [0, 1, 2].map(|row| after.shares_row(&known, row)),
            [true, true, false]
        );
        // A screen of another size shares nothing.
        terminal.resize(Size::new(3, 8).unwrap());
        let other = ScreenSnapshot::of(terminal.screen(), Some((&before, &known)));
        assert_eq!((other.columns(), other.text(2)), (8, "three".to_owned()));
    }

    #[test]
    fn only_the_cells_of_an_effect_have_to_agree() {
        let effect = |has_cursor| KeyEffect {
            before: 0,
            after: 1,
            places: vec![at(0, 1)],
            has_cursor,
        };
        let (one, other) = (snapshot("abc"), snapshot("xbx\r"));
        assert!(one.agrees(&other, &effect(false)));
        assert!(!one.agrees(&other, &effect(true)));
        assert!(one.agrees(&snapshot("xbx"), &effect(true)));
        assert!(!one.agrees(&snapshot("axc"), &effect(false)));
    }
}
