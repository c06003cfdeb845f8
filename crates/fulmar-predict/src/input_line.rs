//! The line that is being edited.
//!
//! Source: docs/prediction.md §3.

use std::sync::Arc;

use fulmar_terminal::{Position, Row};

use crate::brackets::BracketMark;
use crate::canvas::Canvas;
use crate::caret::CaretKind;
use crate::gutter::gutter;
use crate::input_context::{InputContext, InputKind};
use crate::overlay::{CellContent, Grapheme};
use crate::prompt::is_secret_asked;
use crate::text::{Ground, OTHER_GAP, PROMPT_GAP, grey_end, starts, text_between, text_end};
use crate::tty_hints::TtyHints;

/// The line that the user types into: a row, and where on it the text begins.
#[derive(Clone, Debug)]
pub(crate) struct InputLine {
    pub(crate) row: Row,
    /// The column at which the text of the line begins.
    pub(crate) margin: u16,
    /// The prefix: the text left of the margin, as a rule a prompt.
    prefix: Vec<Grapheme>,
    /// The text of the row above, when the line was found.
    pub(crate) above: Box<str>,
    pub(crate) context: InputContext,
    /// A character typed into this very line was seen to be echoed.
    pub(crate) is_echoed: bool,
    /// One beyond the last column that was typed to: blanks at the end cannot be seen.
    pub(crate) end: u16,
    /// Behind the text stands what nobody typed, in the colour of text.
    pub(crate) suggests: bool,
    /// The caret behind the letter or digit that was echoed last, if nothing was behind it.
    pub(crate) open_end: Option<Position>,
    /// The columns that the text has right of the caret: behind all keys, and behind those that were confirmed.
    pub(crate) tail: u16,
    pub(crate) confirmed_tail: u16,
    /// The column from which on the text left of the caret was typed since the caret came here.
    pub(crate) typed_from: u16,
    /// Text was pushed out of sight: what comes back from there is unknown.
    pub(crate) has_pushed_out: bool,
    /// The column to which keys that go up and down return.
    pub(crate) goal_column: Option<u16>,
    /// The lines that were submitted here, the newest first.
    pub(crate) submitted: Arc<[Box<str>]>,
    /// The line is the one that was submitted so many before; 0 if it is none of them.
    pub(crate) recalled: usize,
    /// The mark of a closing bracket that was just typed.
    pub(crate) brackets: Option<BracketMark>,
    /// The ground of the character that was echoed last.
    pub(crate) ground: Option<Ground>,
    /// The placeholder: grey text of the empty line, each cell with its distance from the margin.
    placeholder: Vec<(u16, CellContent)>,
    /// The same where only memory knows that it is no text.
    pub(crate) known_placeholder: Option<Box<str>>,
}

impl InputLine {
    /// Returns a line of which `typed` columns left of the caret are text of the user.
    pub(crate) fn at_caret(canvas: &Canvas, typed: u16, hints: Option<&TtyHints>) -> InputLine {
        let at = canvas.caret();
        let margin = at.column.0.saturating_sub(typed);
        let context = InputContext::of(canvas, margin, hints);
        let margin = match context.kind {
            InputKind::Editor => gutter(canvas.screen(), at.row).min(at.column.0),
            _ => margin,
        };
        InputLine {
            row: at.row,
            margin,
            prefix: prefix(canvas, margin),
            above: text_above(canvas, at.row),
            context,
            is_echoed: false,
            end: text_end(canvas.screen(), at),
            suggests: false,
            open_end: None,
            tail: 0,
            confirmed_tail: 0,
            typed_from: at.column.0.saturating_sub(typed),
            has_pushed_out: false,
            goal_column: None,
            submitted: Arc::default(),
            recalled: 0,
            brackets: None,
            ground: None,
            placeholder: placeholder(canvas, margin).unwrap_or_default(),
            known_placeholder: None,
        }
    }

    /// True if the caret of `canvas` is still in this line, perhaps on another row.
    pub(crate) fn holds_caret_of(&self, canvas: &Canvas) -> bool {
        match self.context.kind {
            // In an editor each row is a line of its own. Elsewhere a line may be moved, if the
            // text left of it tells it from others.
            InputKind::Editor => self.row == canvas.caret().row,
            _ => {
                canvas.caret().column.0 >= self.margin
                    && canvas.size().columns() > self.margin
                    && (self.row == canvas.caret().row || self.has_prefix())
                    && looks_alike(&self.prefix, &prefix(canvas, self.margin))
            }
        }
    }

    /// Counts the characters left of the margin.
    pub(crate) fn prefix_length(&self) -> usize {
        let visible = self.prefix.iter().filter(|grapheme| !grapheme.is_blank());
        visible.count()
    }

    /// True if there is anything left of the margin.
    pub(crate) fn has_prefix(&self) -> bool {
        self.prefix.iter().any(|grapheme| !grapheme.is_blank())
    }

    /// True if the prefix, or the row above, asks for a secret.
    pub(crate) fn asks_for_secret(&self, canvas: &Canvas) -> bool {
        is_secret_asked(canvas.screen(), self.at(self.margin))
    }

    /// True if the row above asks for a secret and the line itself asks nothing: what is typed here was
    /// meant for that question, or for the next, which comes when this answer was refused.
    pub(crate) fn is_below_secret(&self, canvas: &Canvas) -> bool {
        !self.has_prefix() && self.asks_for_secret(canvas)
    }

    /// True if the row above begins as the line does: nothing was written since the same was asked.
    pub(crate) fn repeats_row_above(&self, canvas: &Canvas) -> bool {
        let above = self.row.0.checked_sub(1);
        above.is_some_and(|row| looks_alike(&self.prefix, &start_of(canvas, row, self.margin)))
    }

    /// Brings a line that still stands up to date with what is to be seen.
    pub(crate) fn refresh(&mut self, canvas: &Canvas, hints: Option<&TtyHints>) {
        let at = canvas.caret();
        self.row = at.row;
        self.context = InputContext::of(canvas, self.margin, hints);
        self.end = text_end(canvas.screen(), at);
        self.tail = self.confirmed_tail;
        self.has_pushed_out = false;
        if let Some(placeholder) = placeholder(canvas, self.margin) {
            self.placeholder = placeholder;
        }
    }

    /// Returns the text at the margin and where it ends, if the caret is there.
    pub(crate) fn text_at_margin(&self, canvas: &Canvas) -> Option<(Box<str>, u16)> {
        let at = canvas.caret();
        let end = text_end(canvas.screen(), at);
        let is_there = at.column.0 == self.margin && end > self.margin;
        let may = is_there && self.context.kind != InputKind::Editor;
        may.then(|| (text_between(canvas.line(), self.margin, end).into(), end))
    }

    /// Draws what stands in the line while it is empty, if it is; returns whether there is such a
    /// thing.
    pub(crate) fn draw_placeholder(&self, canvas: &mut Canvas) -> bool {
        let at = canvas.caret();
        let is_empty = at.column.0 == self.margin && text_end(canvas.screen(), at) <= self.margin;
        if !is_empty || self.placeholder.is_empty() {
            return false;
        }
        for (offset, content) in &self.placeholder {
            canvas.put(
                Position::new(at.row.0, self.margin.saturating_add(*offset)),
                content,
            );
        }
        true
    }

    /// Counts the blanks that keep what is behind them from moving.
    pub(crate) fn gap(&self) -> u16 {
        match self.context.kind {
            InputKind::Prompt => PROMPT_GAP,
            _ => OTHER_GAP,
        }
    }

    /// Returns the end of the text from the caret on: the visible text, or blanks that were typed.
    pub(crate) fn text_end(&self, canvas: &Canvas) -> u16 {
        let at = canvas.caret();
        if self.suggests {
            return at.column.0 + self.tail;
        }
        text_end(canvas.screen(), at).max(self.end)
    }

    /// Returns the end of the suggestion that begins at the caret, grey or not.
    pub(crate) fn suggestion_end(&self, canvas: &Canvas) -> Option<u16> {
        let (screen, at) = (canvas.screen(), canvas.caret());
        if self.context.kind == InputKind::Editor {
            return None;
        }
        let grey = grey_end(screen, at, canvas.caret_kind() == CaretKind::Software);
        let plain = || (self.suggests && self.tail == 0).then(|| text_end(screen, at));
        grey.or_else(|| plain().filter(|end| *end > at.column.0))
    }

    pub(crate) fn at(&self, column: u16) -> Position {
        Position::new(self.row.0, column)
    }
}

/// The grey text at the margin, if the caret is there.
fn placeholder(canvas: &Canvas, margin: u16) -> Option<Vec<(u16, CellContent)>> {
    let at = canvas.caret();
    if at.column.0 != margin {
        return None;
    }
    let end = grey_end(
        canvas.screen(),
        at,
        canvas.caret_kind() == CaretKind::Software,
    )?;
    let columns = starts(canvas.line(), margin, end.min(canvas.size().columns()));
    let contents = columns.map(|column| {
        let place = Position::new(at.row.0, column);
        (column - margin, canvas.content(place))
    });
    Some(contents.collect())
}

/// True if the program has left the line of the caret alone, but perhaps for its row: the same stands left
/// of the caret. Text that a program writes there by itself is its next question.
pub(crate) fn is_line_untouched(before: &Canvas, after: &Canvas) -> bool {
    let column = before.caret().column.0;
    let left = |canvas: &Canvas| prefix(canvas, column);
    after.caret().column.0 == column && looks_alike(&left(before), &left(after))
}

fn prefix(canvas: &Canvas, margin: u16) -> Vec<Grapheme> {
    start_of(canvas, canvas.caret().row.0, margin)
}

fn start_of(canvas: &Canvas, row: u16, margin: u16) -> Vec<Grapheme> {
    (0..margin)
        .map(|column| canvas.grapheme(Position::new(row, column)))
        .collect()
}

/// Returns the text of the row above; empty on the first.
fn text_above(canvas: &Canvas, row: Row) -> Box<str> {
    let above = row
        .0
        .checked_sub(1)
        .map(|above| canvas.screen().row(Row(above)));
    above.map_or_else(Box::default, |above| {
        text_between(above, 0, above.columns()).into()
    })
}

fn looks_alike(one: &[Grapheme], other: &[Grapheme]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.looks_like(b))
}
