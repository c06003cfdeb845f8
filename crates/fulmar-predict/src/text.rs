//! Geometry of text on a row: where it ends, what moves when something is typed inside it, and what is
//! there but is not text.
//!
//! Columns are counted from 0; ends are one beyond the last.
//!
//! Source: docs/prediction.md §5.

use fulmar_terminal::{
    Attributes, CellRow, Color, ColorKind, Column, Glyph, Position, Row, Screen, Size, Style,
};

use crate::overlay::{CellContent, Grapheme, OverlayCell};

/// The number of blanks that end the text from the cursor on.
///
/// Source: docs/prediction.md §5.
pub(crate) const TEXT_GAP: u16 = 4;

/// The number of blanks that keep what is behind them from moving, at a prompt.
///
/// Source: docs/prediction.md §5.
pub(crate) const PROMPT_GAP: u16 = 2;

/// The number of blanks that keep what is behind them from moving, elsewhere.
///
/// Source: docs/prediction.md §5.
pub(crate) const OTHER_GAP: u16 = 5;

/// Returns the character at a column; a space where nothing is, and right of a wide character.
pub(crate) fn char_at(row: &CellRow, column: u16) -> char {
    match row.glyph(Column(column)) {
        Glyph::Blank | Glyph::Spacer => ' ',
        Glyph::Char(character) => character,
        Glyph::Cluster(text) => text.chars().next().unwrap_or(' '),
    }
}

/// Returns the text between two columns as it is seen: right halves are left out.
pub(crate) fn text_between(row: &CellRow, start: u16, end: u16) -> String {
    let mut text = String::new();
    for column in starts(row, start, end.min(row.columns())) {
        match row.glyph(Column(column)) {
            Glyph::Blank | Glyph::Spacer => text.push(' '),
            Glyph::Char(character) => text.push(character),
            Glyph::Cluster(cluster) => text.push_str(cluster),
        }
    }
    text
}

/// True if two rows have the same text.
pub(crate) fn reads_alike(one: &CellRow, other: &CellRow) -> bool {
    one.columns() == other.columns()
        && (0..one.columns())
            .map(Column)
            .all(|column| Grapheme::of(one, column).looks_like(&Grapheme::of(other, column)))
}

/// True if a cell looks empty. The right half of a wide character does not.
pub(crate) fn is_vacant(row: &CellRow, column: u16) -> bool {
    matches!(
        row.glyph(Column(column)),
        Glyph::Blank | Glyph::Char(' ' | '\u{a0}')
    )
}

/// True if everything from `column` on looks empty.
pub(crate) fn is_vacant_from(row: &CellRow, column: u16) -> bool {
    (column..row.columns()).all(|column| is_vacant(row, column))
}

/// Returns one beyond the last column of the row that does not look empty.
pub(crate) fn row_end(row: &CellRow) -> u16 {
    let last = (0..row.columns())
        .rev()
        .find(|&column| !is_vacant(row, column));
    last.map_or(0, |last| last + 1)
}

/// Returns the column of the character left of `column`; `None` at the start of the row.
pub(crate) fn left_of(row: &CellRow, column: u16) -> Option<u16> {
    let left = column.min(row.columns()).checked_sub(1)?;
    match row.glyph(Column(left)) {
        Glyph::Spacer => left.checked_sub(1),
        _ => Some(left),
    }
}

/// Returns the column behind the character at `column`.
pub(crate) fn right_of(row: &CellRow, column: u16) -> u16 {
    let width = row
        .cells()
        .get(usize::from(column))
        .map_or(1, |cell| cell.width());
    column.saturating_add(width.max(1))
}

/// True if `character` is a box-drawing line that goes down.
fn is_bar(character: char) -> bool {
    matches!(
        character,
        '│' | '┃' | '║' | '╎' | '╏' | '┆' | '┇' | '┊' | '┋' | '▏' | '▕' | '▐' | '▌'
    )
}

fn is_corner(character: char) -> bool {
    matches!(character, '┌'..='╋' | '╒'..='╰' | '╷' | '╵' | '╻' | '╹')
}

/// True if a frame or the border of a pane stands at `column`.
///
/// A box-drawing bar is one when nothing is behind it, or when it goes on in the row above or
/// below. A plain `|` is one when it is inverse and goes on.
fn is_border(screen: &Screen, row: Row, column: u16) -> bool {
    let cells = screen.row(row);
    let character = char_at(cells, column);
    if is_bar(character) {
        return is_vacant_from(cells, column + 1) || goes_on(screen, row, column);
    }
    character == '|' && is_inverse(cells, column) && goes_on(screen, row, column)
}

fn goes_on(screen: &Screen, row: Row, column: u16) -> bool {
    let own = char_at(screen.row(row), column);
    neighbours(screen, row).any(|neighbour| {
        let there = char_at(screen.row(neighbour), column);
        there == own || (own != '|' && (is_bar(there) || is_corner(there)))
    })
}

/// The rows above and below.
fn neighbours(screen: &Screen, row: Row) -> impl Iterator<Item = Row> {
    let above = row.0.checked_sub(1);
    let below = row
        .0
        .checked_add(1)
        .filter(|&below| below < screen.size().rows());
    [above, below].into_iter().flatten().map(Row)
}

/// Returns the first border at the cursor or right of it, or the number of columns.
pub(crate) fn border(screen: &Screen, at: Position) -> u16 {
    let columns = screen.size().columns();
    (at.column.0..columns)
        .find(|&column| is_border(screen, at.row, column))
        .unwrap_or(columns)
}

/// Returns the column behind the last border left of the cursor, or 0: where its pane begins.
pub(crate) fn left_border(screen: &Screen, at: Position) -> u16 {
    let end = at.column.0.min(screen.size().columns());
    (0..end)
        .rev()
        .find(|&column| is_border(screen, at.row, column))
        .map_or(0, |column| column + 1)
}

/// True if a line is drawn across at least half of the row.
pub(crate) fn is_rule(row: &CellRow) -> bool {
    let is_other = |&column: &u16| {
        !matches!(
            char_at(row, column),
            '─' | '━' | '═' | '┄' | '┈' | '┴' | '┬' | '┼'
        )
    };
    let half = usize::from(row.columns() / 2);
    (0..row.columns()).filter(is_other).nth(half).is_none()
}

/// Returns the end of the run of text from `at` on that no `gap` of blanks and no border
/// interrupts; `at` itself if there is none.
pub(crate) fn run_end(screen: &Screen, at: Position, gap: u16) -> u16 {
    let row = screen.row(at.row);
    let mut end = at.column.0;
    for column in at.column.0..border(screen, at) {
        if !is_vacant(row, column) {
            end = column + 1;
        } else if column + 1 - end >= gap {
            break;
        }
    }
    end
}

/// Returns the end of the text that the cursor is in.
pub(crate) fn text_end(screen: &Screen, at: Position) -> u16 {
    run_end(screen, at, TEXT_GAP)
}

/// The part of a row that moves when something is put in or taken out at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShiftRun {
    row: Row,
    start: u16,
    /// One beyond what moves.
    end: u16,
    /// One beyond what it can move to.
    room: u16,
    /// The text goes on where it cannot be seen: what comes from there is unknown.
    overflows: bool,
}

impl ShiftRun {
    /// Returns what moves at `at`, up to the first `gap` of blanks.
    pub(crate) fn at(screen: &Screen, at: Position, gap: u16) -> ShiftRun {
        let row = screen.row(at.row);
        let columns = screen.size().columns();
        let border = border(screen, at);
        let end = run_end(screen, at, gap);
        let is_full = end >= columns;
        // The last column may show an editor's mark in place of text (docs/prediction.md §5).
        let marked = is_full && columns > 1 && is_overflow_mark(char_at(row, columns - 1));
        let end = if marked { columns - 1 } else { end };
        ShiftRun {
            row: at.row,
            start: at.column.0.min(end),
            end,
            room: if marked { columns - 1 } else { border },
            overflows: is_full,
        }
    }

    /// Returns the run with everything from `column` on before it.
    pub(crate) fn preceded_by(mut self, column: u16) -> ShiftRun {
        self.start = self.start.min(column);
        self
    }

    /// Returns the row below if the text may go on there: it reaches the last column, without an editor's mark.
    pub(crate) fn continuation(&self, size: Size) -> Option<Row> {
        let is_last = self.row >= size.last_row();
        (self.end >= size.columns() && !is_last).then(|| Row(self.row.0 + 1))
    }

    /// True if the text gets longer than its room when so many columns are put in.
    pub(crate) fn pushes_out(&self, columns: u16) -> bool {
        self.end > self.start && self.end + columns > self.room
    }

    /// True if the text goes on where it cannot be seen in this row.
    pub(crate) fn overflows(&self) -> bool {
        self.overflows
    }

    /// Returns the cells after `content`, `columns` wide, was put in at the start.
    pub(crate) fn insert(
        &self,
        screen: &Screen,
        content: CellContent,
        columns: u16,
    ) -> Vec<OverlayCell> {
        let row = screen.row(self.row);
        let mut cells = Vec::new();
        if self.start + columns <= self.room {
            cells.push(self.cell(self.start, content));
        }
        for column in starts(row, self.start, self.end) {
            let width = right_of(row, column) - column;
            if column + columns + width <= self.room {
                cells.push(self.cell(column + columns, CellContent::of(row, Column(column))));
            }
        }
        cells
    }

    /// Returns the cells after the first `columns` were taken out.
    pub(crate) fn remove(&self, screen: &Screen, columns: u16) -> Vec<OverlayCell> {
        let row = screen.row(self.row);
        let from = (self.start + columns).min(self.end.max(self.start));
        let mut cells: Vec<OverlayCell> = starts(row, from, self.end)
            .map(|column| self.cell(column - columns, CellContent::of(row, Column(column))))
            .collect();
        // Else others come in here.
        if !self.overflows {
            let emptied = self.end.saturating_sub(columns).max(self.start)..self.end;
            let blank = self.blank(row);
            cells.extend(emptied.map(|column| self.cell(column, blank.clone())));
        }
        cells
    }

    /// Returns the content that is left where text was: that of the cell behind it, if that is empty and
    /// the text has a background, too.
    fn blank(&self, row: &CellRow) -> CellContent {
        let behind = self.end;
        let last = self.end.checked_sub(1).map(Column);
        let is_plain = last.is_some_and(|last| row.style(last).background.is_default());
        if !is_plain && behind < row.columns() && is_vacant(row, behind) {
            return CellContent {
                grapheme: Grapheme::Blank,
                style: Style::erased(row.style(Column(behind)).background),
            };
        }
        CellContent {
            grapheme: Grapheme::Blank,
            style: Style::default(),
        }
    }

    fn cell(&self, column: u16, content: CellContent) -> OverlayCell {
        OverlayCell {
            at: Position {
                row: self.row,
                column: Column(column),
            },
            content,
            key: None,
        }
    }
}

/// The columns in a range at which characters start: all but right halves.
pub(crate) fn starts(row: &CellRow, start: u16, end: u16) -> impl Iterator<Item = u16> {
    (start..end).filter(|&column| row.glyph(Column(column)) != Glyph::Spacer)
}

/// True if an editor says with this, in the last column, that the line goes on.
pub(crate) fn is_overflow_mark(character: char) -> bool {
    matches!(character, '>' | '$' | '\\' | '»' | '…' | '›')
}

/// Returns how a character typed at `column` looks: as its left neighbour, without what marks
/// neighbours out; on an empty cell, in front of what is behind that.
pub(crate) fn typed_style(row: &CellRow, column: u16) -> Style {
    let mut style = match left_of(row, column) {
        Some(left) => row.style(Column(left)),
        None => Style::default(),
    };
    style.attributes -= Attributes::INVERSE | Attributes::DIM | Attributes::UNDERLINE;
    style.link = None;
    if left_of(row, column).is_some_and(|left| is_vacant(row, left)) {
        // The colour of a blank says nothing: it may have been part of a suggestion.
        style.foreground = Color::DEFAULT;
    }
    if column < row.columns() && is_vacant(row, column) {
        let place = row.style(Column(column));
        style.background = place.background;
        style.attributes |= place.attributes & Attributes::INVERSE;
    }
    style
}

/// Returns how the first character of a line looks: what is left of it is a prompt or a line number and tells nothing.
pub(crate) fn first_style(row: &CellRow, column: u16) -> Style {
    let mut style = Style::default();
    if column < row.columns() {
        style.background = row.style(Column(column)).background;
        if is_vacant(row, column) {
            style.attributes |= row.style(Column(column)).attributes & Attributes::INVERSE;
        }
    }
    style
}

/// The ground that typed text gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ground {
    background: Color,
    is_inverse: bool,
}

impl Ground {
    /// Returns that of a cell.
    pub(crate) fn of(style: &Style) -> Ground {
        Ground {
            background: style.background,
            is_inverse: style.attributes.contains(Attributes::INVERSE),
        }
    }

    /// Gives a cell this ground.
    pub(crate) fn put_below(self, style: &mut Style) {
        style.background = self.background;
        style.attributes -= Attributes::INVERSE;
        if self.is_inverse {
            style.attributes |= Attributes::INVERSE;
        }
    }
}

/// True if the cell is inverse.
pub(crate) fn is_inverse(row: &CellRow, column: u16) -> bool {
    row.cells()
        .get(usize::from(column))
        .is_some_and(|cell| cell.attributes().contains(Attributes::INVERSE))
}

/// The brightest grey, per part, of which a suggestion is: that of palette entry 246.
///
/// Source: docs/prediction.md §5.
const GREY_MAX: u8 = 148;

/// The distance between the parts of a grey. Chosen by eye: themes give greys a tint.
const GREY_TINT_MAX: u8 = 32;

/// True if a cell holds something in the grey of suggestions and placeholders.
pub(crate) fn is_grey(row: &CellRow, column: u16) -> bool {
    let Some(cell) = row.cells().get(usize::from(column)) else {
        return false;
    };
    if cell.is_blank() {
        return false;
    }
    let is_grey = match cell.foreground().kind() {
        ColorKind::Default => false,
        ColorKind::Indexed(index) => matches!(index, 8 | 232..=246),
        ColorKind::Rgb(red, green, blue) => {
            let (low, high) = (red.min(green).min(blue), red.max(green).max(blue));
            high <= GREY_MAX && high - low <= GREY_TINT_MAX
        }
    };
    is_grey || cell.attributes().contains(Attributes::DIM)
}

/// Returns the column right of `at` and left of `end` at which grey text begins, or `None`.
pub(crate) fn suggestion_start(screen: &Screen, at: Position, end: u16) -> Option<u16> {
    let row = screen.row(at.row);
    let is_all_grey =
        |from: u16| (from..end).all(|column| is_grey(row, column) || is_vacant(row, column));
    (at.column.0 + 1..end)
        .find(|&column| is_grey(row, column) && !is_grey(row, column - 1) && is_all_grey(column))
}

/// Returns the end of the grey text that begins exactly at `at`, or `None`.
///
/// Blanks inside it belong to it; a gap that ends text ends it. One blank may be its first
/// character, which need not be grey then. Where the cursor is drawn by the program, the cell under
/// it may have lost its grey.
pub(crate) fn grey_end(screen: &Screen, at: Position, drawn_cursor: bool) -> Option<u16> {
    let row = screen.row(at.row);
    let start = at.column.0;
    let may_have_lost_it = is_vacant(row, start) || (drawn_cursor && is_inverse(row, start));
    let begins = is_grey(row, start) || (may_have_lost_it && is_grey(row, right_of(row, start)));
    let left_is_grey =
        left_of(row, start).is_some_and(|left| is_grey(row, left) && !is_vacant(row, left));
    if !begins || left_is_grey {
        return None;
    }
    let mut end = right_of(row, start);
    let last = run_end(screen, at, TEXT_GAP);
    while end < last {
        let behind = (end..last).find(|&column| !is_vacant(row, column) || is_grey(row, column));
        match behind {
            Some(column) if is_grey(row, column) => end = right_of(row, column),
            _ => break,
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests;
