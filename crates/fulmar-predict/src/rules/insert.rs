//! Characters.

use std::ops::Range;

use fulmar_terminal::{CellRow, Color, Column, Position, char_columns};

use super::line_ends::suggestion_end;
use super::split_line::open_row;
use super::vertical::is_vim_filler;
use super::{EditState, RuleOutcome};
use crate::brackets;
use crate::editor::EditorKind;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::overlay::{CellContent, Grapheme};
use crate::text::{
    ShiftRun, border, char_at, first_style, is_vacant, left_border, left_of, typed_style,
};

/// Puts the character at the caret.
pub(super) fn print(key: Key, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let Key::Text(character) = key else {
        return None;
    };
    let columns = char_columns(character);
    let at = edit.canvas.caret();
    // In the last column of a pane the same happens as in that of the screen.
    let edge = border(edit.canvas.screen(), at);
    if columns == 0 || at.column.0 + columns > edge || is_near_inner_edge(columns, edge, edit) {
        return None;
    }
    if at.column.0 + columns == edge {
        return last_column(character, edit);
    }
    let mark = edit.line.brackets;
    if let Some(mark) = mark {
        brackets::erase_bracket_mark(edit.canvas, mark, edit.line.margin);
    }
    let suggestion = suggestion_end(edit);
    // A stock server sends no dim text. There a placeholder is known by its words alone
    // (docs/prediction.md §5).
    let suggestion = suggestion.or_else(|| placeholder_end(edit));
    match suggestion {
        Some(end) => before_suggestion(character, end, edit),
        None => insert(character, columns, edit),
    }
    edit.canvas.move_caret_in_row(at.column.0 + columns);
    if let Some(mark) = mark.filter(|_| brackets::is_closing_bracket(character)) {
        brackets::draw_bracket_mark(edit.canvas, mark, edit.line.margin);
    }
    Some(RuleOutcome {
        typed_at: Some(at),
        is_uncertain: suggestion.is_some(),
    })
}

/// Between the text of a box or a field and its edge there are so many columns at most: for a cursor behind the text, and
/// for a blank.
///
/// Chosen by eye.
const INNER_MARGIN: u16 = 2;

/// True if so many columns more may reach the inner edge of a box, or of a field that is as wide as the screen: there the
/// text is wrapped or pushed to the left. Only editors, and prompts outside of boxes, are known to use all of a row.
fn is_near_inner_edge(columns: u16, edge: u16, edit: &EditState<'_>) -> bool {
    let screen = edit.canvas.screen();
    let at = edit.canvas.caret();
    // Between the border of a box and its text there is a blank; that of a pane has none.
    let start = left_border(screen, at);
    let is_in_box = || {
        let is_framed = start > 0 && edge < screen.size().columns();
        is_framed && is_vacant(screen.row(at.row), start)
    };
    let may_end_before = match edit.line.context.kind {
        InputKind::Prompt => is_in_box(),
        InputKind::Editor => false,
        InputKind::Other => true,
    };
    may_end_before && at.column.0 + columns + INNER_MARGIN >= edge
}

/// Returns the end of a known placeholder, if it is at the caret.
fn placeholder_end(edit: &EditState<'_>) -> Option<u16> {
    let known = edit.line.known_placeholder.as_ref()?;
    let (text, end) = edit.line.text_at_margin(edit.canvas)?;
    (text == *known).then_some(end)
}

fn insert(character: char, columns: u16, edit: &mut EditState<'_>) {
    let at = edit.canvas.caret();
    let content = typed_ink(character, edit);
    let end = edit.line.text_end(edit.canvas);
    if edit.overwrite || edit.replaces() {
        edit.canvas.put(at, &content);
        edit.line.end = end.max(at.column.0 + columns);
        return;
    }
    if edit.line.context.kind == InputKind::Editor && is_vim_filler(edit.canvas.line()) {
        edit.canvas.blank(at.row, 0..1);
    }
    if let Some(columns) = crowded_right_prompt(columns, edit) {
        edit.canvas.blank(at.row, columns);
    }
    let run = ShiftRun::at(edit.canvas.screen(), at, edit.line.gap());
    edit.line.has_pushed_out |= run.pushes_out(columns);
    let mut cells = run.insert(edit.canvas.screen(), content, columns);
    if marks_overflow(edit) {
        let last = edit.canvas.size().last_column();
        // What would reach the last column is covered by the mark.
        cells.retain(|cell| cell.at.column < last || cell.at == at);
    }
    edit.put_all(cells);
    edit.line.end = end.max(at.column.0) + columns;
}

/// Returns the columns of a prompt at the right edge if so many more of text leave only one blank before it: then shells
/// take it away.
fn crowded_right_prompt(columns: u16, edit: &EditState<'_>) -> Option<Range<u16>> {
    let at = edit.canvas.caret();
    let row = edit.canvas.line();
    let edge = border(edit.canvas.screen(), at);
    let start = at.column.0 + columns + 1;
    let end = (start..edge)
        .rev()
        .find(|column| !is_vacant(row, *column))?
        + 1;
    let is_crowded = edit.line.context.kind == InputKind::Prompt
        && end + 1 >= edge
        && !is_vacant(row, start)
        && (at.column.0..start).all(|column| is_vacant(row, column));
    is_crowded.then_some(start..end)
}

/// True if the last column gets a mark when the text reaches it.
fn marks_overflow(edit: &EditState<'_>) -> bool {
    let editor = edit.line.context.editor;
    editor.is_some_and(|editor| !matches!(editor.kind, EditorKind::Insert | EditorKind::Replace))
}

/// A character takes away what stands for an empty line, and a suggestion that it does not agree
/// with; of one that it agrees with it uncovers one.
fn before_suggestion(character: char, end: u16, edit: &mut EditState<'_>) {
    let at = edit.canvas.caret();
    let typed = Grapheme::Char(character);
    let agrees = edit.canvas.grapheme(at).looks_like(&typed);
    if !agrees || at.column.0 <= edit.line.margin {
        edit.canvas.blank(at.row, at.column.0..end);
    }
    let content = typed_ink(character, edit);
    edit.canvas.put(at, &content);
    edit.line.end = at.column.0 + char_columns(character).max(1);
}

/// At a prompt the text goes on in the row below, if that is empty. In an editor that wraps, a row opens below.
fn last_column(character: char, edit: &mut EditState<'_>) -> Option<RuleOutcome> {
    let at = edit.canvas.caret();
    let content = typed_ink(character, edit);
    if edit.line.context.kind == InputKind::Editor && is_vacant(edit.canvas.line(), at.column.0) {
        open_row(edit)?;
        edit.canvas.put(at, &content);
    } else {
        let screen = edit.canvas.screen();
        let below = Position::new(at.row.0 + 1, left_border(screen, at));
        let goes_on = edit.line.context.kind == InputKind::Prompt
            && edit.canvas.size().contains(below)
            && (below.column.0..border(screen, below))
                .all(|column| is_vacant(edit.canvas.row(below.row), column));
        if !goes_on {
            return None;
        }
        edit.canvas.put(at, &content);
        edit.canvas.move_caret(below);
    }
    Some(RuleOutcome {
        typed_at: Some(at),
        is_uncertain: false,
    })
}

fn typed_ink(character: char, edit: &EditState<'_>) -> CellContent {
    let at = edit.canvas.caret();
    let row = edit.canvas.row(at.row);
    let is_first = at.column.0 <= edit.line.margin;
    let mut style = if is_first {
        first_style(row, at.column.0)
    } else {
        typed_style(row, at.column.0)
    };
    let is_plain_left = left_of(row, at.column.0)
        .is_none_or(|left| row.style(Column(left)).background.is_default());
    let is_behind_text = match edit.line.context.kind {
        InputKind::Prompt => true,
        InputKind::Other => at.column.0 > edit.line.margin || is_behind_word(row, at.column.0),
        InputKind::Editor => false,
    };
    if is_behind_text && is_plain_left {
        // A shell does not know what colour another program has left behind.
        style.background = Color::DEFAULT;
    }
    if let Some(ground) = edit.line.ground {
        ground.put_below(&mut style);
    }
    CellContent {
        grapheme: Grapheme::Char(character),
        style,
    }
}

fn is_behind_word(row: &CellRow, column: u16) -> bool {
    left_of(row, column).is_some_and(|left| char_at(row, left).is_alphanumeric())
}
