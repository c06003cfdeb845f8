//! The screen as it is expected to be: a frame of the server's with predictions drawn into it.

use std::sync::Arc;

use fulmar_terminal::{
    Cell, CellRow, Column, Glyph, Position, Row, Screen, SharedRow, Size, Style,
};

use crate::caret::{Caret, CaretKind};
use crate::effect::{CellChange, KeyEffect};
use crate::overlay::{CellContent, Grapheme};
use crate::text::{grey_end, is_grey, is_vacant, reads_alike, right_of, text_end};
use crate::work_count;

/// A screen that effects of keys are drawn into. The mark of a software cursor is not on it.
///
/// A clone costs nothing until one of them is drawn into; then it shares all rows but those.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    screen: Arc<Screen>,
    caret: Caret,
}

impl Canvas {
    /// Returns a frame as a canvas.
    pub(crate) fn new(screen: &Screen) -> Canvas {
        let caret = Caret::of(screen);
        let mut canvas = Canvas {
            screen: Arc::new(screen.clone()),
            caret,
        };
        if caret.kind == CaretKind::Software {
            let mut content = canvas.content(caret.at);
            content.style = style_below(canvas.line(), &caret);
            canvas.put(caret.at, &content);
        }
        canvas
    }

    pub(crate) fn size(&self) -> Size {
        self.screen.size()
    }

    /// The whole, for rules that look beyond a row.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    pub(crate) fn row(&self, row: Row) -> &CellRow {
        self.screen.row(row)
    }

    /// Returns the position of the next character.
    pub(crate) fn caret(&self) -> Position {
        self.caret.at
    }

    /// Gives a cell the look of the caret that the program draws.
    pub(crate) fn mark_caret(&self, style: &mut Style) {
        self.caret.mark(style);
    }

    pub(crate) fn caret_kind(&self) -> CaretKind {
        self.caret.kind
    }

    /// The row that the caret is in.
    pub(crate) fn line(&self) -> &CellRow {
        self.row(self.caret.at.row)
    }

    pub(crate) fn content(&self, at: Position) -> CellContent {
        CellContent::of(self.row(at.row), at.column)
    }

    pub(crate) fn grapheme(&self, at: Position) -> Grapheme {
        self.content(at).grapheme
    }

    pub(crate) fn put(&mut self, at: Position, content: &CellContent) {
        work_count::note_cells(1);
        Arc::make_mut(&mut self.screen).overlay_cell(at, content.grapheme.glyph(), &content.style);
    }

    /// Blanks the cells of a row from one column to below another, keeping their background.
    pub(crate) fn blank(&mut self, row: Row, columns: std::ops::Range<u16>) {
        work_count::note_cells(columns.len() as u64);
        for column in columns.map(Column) {
            let style = Style::erased(self.row(row).style(column).background);
            let at = Position { row, column };
            Arc::make_mut(&mut self.screen).overlay_cell(at, Glyph::Blank, &style);
        }
    }

    pub(crate) fn move_caret(&mut self, at: Position) {
        self.caret.at = self.size().clamp(at);
    }

    pub(crate) fn move_caret_in_row(&mut self, column: u16) {
        self.move_caret(Position::new(self.caret.at.row.0, column));
    }

    /// Draws what a key does.
    pub(crate) fn draw(&mut self, effect: &KeyEffect) {
        work_count::note_keys(1);
        let is_plain = effect.own_tail == Some(0);
        if let Some(at) = effect.leaves_line_at {
            self.drop_suggestion(at, is_plain);
        }
        // The suggestion may be a newer one than when the key was predicted.
        if let Some(at) = effect.typed_at.filter(|at| *at == self.caret.at)
            && !effect.uncovers(at, &self.grapheme(at))
        {
            self.drop_suggestion(at, is_plain);
        }
        if effect.scrolls {
            self.scroll();
        }
        for change in &effect.changes {
            self.put(change.at, &change.content);
        }
        self.move_caret(effect.caret);
    }

    /// Blanks the suggestion that begins at a position; a plain one is not grey.
    fn drop_suggestion(&mut self, at: Position, is_plain: bool) {
        let is_drawn = self.caret.kind == CaretKind::Software;
        let grey = grey_end(&self.screen, at, is_drawn);
        if let Some(end) = grey.or_else(|| is_plain.then(|| text_end(&self.screen, at))) {
            self.blank(at.row, at.column.0..end);
        }
    }

    /// Moves all rows up by one, that of the caret included.
    pub(crate) fn scroll(&mut self) {
        Arc::make_mut(&mut self.screen).overlay_scroll();
        let Position { row, column } = self.caret.at;
        self.move_caret(Position::new(row.0.saturating_sub(1), column.0));
    }

    /// True if both have the same text and caret.
    pub(crate) fn reads_as(&self, other: &Canvas) -> bool {
        let mut rows = self.screen.rows().zip(other.screen.rows());
        self.caret == other.caret
            && rows.all(|(one, other)| SharedRow::ptr_eq(one, other) || reads_alike(one, other))
    }

    /// Returns the cells that `after`, made from this canvas, shows otherwise.
    pub(crate) fn changes(&self, after: &Canvas) -> Vec<CellChange> {
        let rows = self.screen.rows().zip(after.screen.rows());
        // A row that both share was not drawn into.
        let changed = (0..)
            .zip(rows)
            .filter(|(_, (a, b))| !SharedRow::ptr_eq(a, b));
        let mut changes = Vec::new();
        for (row, (before, after)) in changed {
            push_changes(Row(row), before, after, &mut changes);
        }
        changes
    }
}

fn push_changes(row: Row, before: &CellRow, after: &CellRow, changes: &mut Vec<CellChange>) {
    work_count::note_cells(u64::from(after.columns()));
    let cells = (0..)
        .map(Column)
        .zip(before.cells().iter().zip(after.cells()));
    let suspects = cells.filter(|(_, (one, other))| one != other || !is_whole(one));
    for (column, _) in suspects {
        let grapheme = after.glyph(column);
        let is_same =
            grapheme == before.glyph(column) && after.style(column) == before.style(column);
        if !is_same && grapheme != Glyph::Spacer {
            changes.push(CellChange {
                at: Position { row, column },
                content: CellContent::of(after, column),
                before: Grapheme::of(before, column),
                is_uncertain: false,
            });
        }
    }
}

/// True if a cell holds all of its content, so that it can be compared without its row.
fn is_whole(cell: &Cell) -> bool {
    !cell.has_extra() && !cell.is_cluster()
}

/// Returns how the cell below a software cursor would look: as its right neighbour if that is grey,
/// since suggestions begin at the cursor.
fn style_below(row: &CellRow, caret: &Caret) -> Style {
    let column = caret.at.column;
    let right = right_of(row, column.0);
    let beside = if right < row.columns() {
        row.style(Column(right))
    } else {
        Style::default()
    };
    let mut style = row.style(column);
    if is_grey(row, right) && !is_vacant(row, column.0) {
        style = beside.clone();
    }
    caret.unmark(&mut style, &beside);
    style
}
