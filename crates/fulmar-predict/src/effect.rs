//! Effects of keys: the cells that they change, and where they take the caret.

use fulmar_terminal::Position;

use crate::overlay::{CellContent, Grapheme};

/// The predicted effect of a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyEffect {
    /// Cells that it changes.
    pub(crate) changes: Vec<CellChange>,
    /// The position at which Enter leaves the line: a suggestion behind it goes first.
    pub(crate) leaves_line_at: Option<Position>,
    /// All rows move up by one before.
    pub(crate) scrolls: bool,
    /// The position of the caret after it.
    pub(crate) caret: Position,
    /// The position of a typed character.
    pub(crate) typed_at: Option<Position>,
    /// The columns that the user's own text has right of the caret behind it, where suggestions look like text.
    pub(crate) own_tail: Option<u16>,
    /// The variant of the rule that gave it.
    pub(crate) variant: u8,
    /// True if the key has worked this way before, or usually does.
    pub(crate) is_confident: bool,
    /// True if it has, and shows nothing that was typed: it moves the caret, or removes text.
    pub(crate) is_harmless: bool,
    /// The agreement of the ways in which the key may work.
    pub(crate) agreement: Agreement,
}

impl KeyEffect {
    /// True if the character that it puts at a position is the one that stands there.
    pub(crate) fn uncovers(&self, at: Position, there: &Grapheme) -> bool {
        let change = self.changes.iter().find(|change| change.at == at);
        change.is_none_or(|change| change.content.grapheme.looks_like(there))
    }
}

/// A cell that an effect changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellChange {
    pub(crate) at: Position,
    /// The content after the change.
    pub(crate) content: CellContent,
    /// The text before the change.
    pub(crate) before: Grapheme,
    /// Whatever the frame has there is right.
    pub(crate) is_uncertain: bool,
}

/// The agreement of the ways in which a key may work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// There is one way.
    OneWay,
    /// All come to the same.
    Same,
    Different,
}

impl Agreement {
    /// Returns the agreement of a way with all others, of each of which it is known whether it comes to the same.
    pub(crate) fn of(mut others: impl Iterator<Item = bool>) -> Agreement {
        match others.next() {
            None => Agreement::OneWay,
            Some(first) if first && others.all(|is_same| is_same) => Agreement::Same,
            Some(_) => Agreement::Different,
        }
    }
}
