//! Remembers for each context how its keys did.
//!
//! Source: docs/prediction.md §6.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::brackets::BracketMark;
use crate::key::Key;
use crate::prompt::ContextId;
use crate::text::Ground;

/// The number of contexts that are remembered.
///
/// Source: docs/prediction.md §3.
pub(crate) const CONTEXTS_MAX: usize = 256;

/// The number of keys that have a record of their own in each context.
///
/// Source: docs/prediction.md §3.
const KEYS_MAX: usize = 64;

/// The most confirmations that are asked for after failures.
///
/// Source: docs/prediction.md §6.
const NEEDED_MAX: u32 = 6;

/// The number of submitted lines that a context keeps.
///
/// Source: docs/prediction.md §3.
const SUBMITTED_MAX: usize = 16;

/// A prompt that was answered so often without anything in between is a shell's. Chosen by eye: a
/// program asks for fewer things before it asks for a secret.
const LINES_REPEATED: u32 = 4;

/// All contexts, the least recently used of which is forgotten first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextMemory {
    contexts: BTreeMap<ContextId, (u64, ContextHistory)>,
    /// Counts the calls that asked for a context: the clock by which the least recently used one is found.
    uses: u64,
}

impl ContextMemory {
    /// Returns the history of a context, a new one if need be.
    pub(crate) fn entry(&mut self, id: ContextId) -> &mut ContextHistory {
        self.uses += 1;
        let is_new = !self.contexts.contains_key(&id);
        if is_new && self.contexts.len() >= CONTEXTS_MAX {
            self.forget_oldest();
        }
        let (used, context) = self.contexts.entry(id).or_default();
        *used = self.uses;
        context
    }

    /// Returns the history of a context if it is known.
    pub(crate) fn get(&self, id: ContextId) -> Option<&ContextHistory> {
        self.contexts.get(&id).map(|(_, context)| context)
    }

    /// The context, if it is known, is there below a row that does not begin like it: something was written since it was last typed in.
    pub(crate) fn note_output_between(&mut self, id: ContextId, above: &str) {
        if let Some((_, context)) = self.contexts.get_mut(&id) {
            context.note_output_between(above);
        }
    }

    /// A line was submitted, of which it is not known where.
    pub(crate) fn forget_submitted(&mut self) {
        for (_, context) in self.contexts.values_mut() {
            context.submitted = Arc::default();
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.contexts.iter().min_by_key(|(_, (used, _))| *used);
        if let Some(id) = oldest.map(|(&id, _)| id) {
            self.contexts.remove(&id);
        }
    }
}

/// The effect of Enter at a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EnterEffect {
    /// The cursor goes to the start of the next row; on the last, everything scrolls by one.
    NextRow {
        /// A right prompt goes.
        clears_right: bool,
    },
    /// The line is emptied where it is.
    ClearLine,
}

/// The record of a key in one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyRecord {
    /// Counts right predictions in a row.
    pub(crate) right_in_a_row: u32,
    /// Counts wrong predictions.
    pub(crate) wrong: u32,
    /// The variant of its rule that was right last where others would have been wrong.
    pub(crate) variant: Option<u8>,
}

/// The history of one context: a prompt or an editor.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextHistory {
    echoed_lines: u32,
    missing_echoes: u32,
    echoes_needed: u32,
    /// Something was written between two of its questions, as a shell's commands do.
    has_output_between: bool,
    /// The row above the line in which typed text was last echoed.
    echoed_below: Option<Box<str>>,
    keys: BTreeMap<Key, KeyRecord>,
    pub(crate) enter: Option<EnterEffect>,
    /// The mark of a closing bracket that was just typed.
    pub(crate) brackets: Option<BracketMark>,
    /// The ground of the character that was echoed last.
    pub(crate) ground: Option<Ground>,
    /// The placeholder: text of an empty line in the colour of text, which goes with the first character.
    pub(crate) placeholder: Option<Box<str>>,
    /// Behind the user's text stands what nobody typed, in the colour of text.
    pub(crate) suggests: bool,
    /// The lines that were submitted and shown, the newest first.
    pub(crate) submitted: Arc<[Box<str>]>,
    /// Nothing is predicted from this column on.
    pub(crate) right_edge: Option<u16>,
}

impl ContextHistory {
    /// Typed text was shown here, below a row of that text.
    pub(crate) fn note_echo(&mut self, above: &str) {
        self.echoed_below = Some(above.into());
        self.echoed_lines = self.echoed_lines.saturating_add(1);
        self.echoes_needed = self.echoes_needed.saturating_sub(1);
    }

    /// Typed text was not shown here: it takes two confirmations, and one more for each earlier
    /// failure, to expect echo here again.
    ///
    /// Source: docs/prediction.md §6, S5.
    pub(crate) fn note_missing_echo(&mut self) {
        self.echoes_needed = self.missing_echoes.saturating_add(2).min(NEEDED_MAX);
        self.missing_echoes = self.missing_echoes.saturating_add(1);
    }

    /// A line was submitted that was to be seen. Of one that repeats the last, or is empty, shells take no note.
    pub(crate) fn note_submitted(&mut self, line: Box<str>) {
        if !line.is_empty() && self.submitted.first() != Some(&line) {
            let known = self.submitted.iter().take(SUBMITTED_MAX - 1).cloned();
            self.submitted = std::iter::once(line).chain(known).collect();
        }
    }

    /// True if typed text may be expected to be echoed here.
    pub(crate) fn expects_echo(&self) -> bool {
        self.echoed_lines > 0 && self.echoes_needed == 0
    }

    /// True if typed text was not echoed here, and has not been echoed often enough since.
    pub(crate) fn misses_echo(&self) -> bool {
        self.echoes_needed > 0
    }

    /// Something was written since the context was known, and here it is again. Below the row below which it echoed last
    /// it may be the same question still.
    pub(crate) fn note_output_between(&mut self, above: &str) {
        let is_same = self.echoed_below.as_deref() == Some(above);
        self.has_output_between |= self.expects_echo() && !is_same;
    }

    /// True if the same prompt again can be taken for the same program's.
    ///
    /// Source: docs/prediction.md §6, S3.
    pub(crate) fn may_repeat(&self) -> bool {
        self.has_output_between || self.echoed_lines >= LINES_REPEATED
    }

    /// True if no typed text was ever missed here.
    pub(crate) fn always_echoed(&self) -> bool {
        self.missing_echoes == 0
    }

    /// Counts the lines in which typed text was echoed.
    pub(crate) fn echoed_lines(&self) -> u32 {
        self.echoed_lines
    }

    /// Returns the record of a key; all characters have one together.
    pub(crate) fn record(&self, key: Key) -> KeyRecord {
        self.keys.get(&record_key(key)).copied().unwrap_or_default()
    }

    /// The prediction for a key was right; of its variants, only `proven` would have been, if that is known.
    pub(crate) fn note_right(&mut self, key: Key, proven: Option<u8>) {
        if let Some(record) = self.record_mut(key) {
            let is_other = proven.is_some_and(|_| record.variant != proven);
            record.right_in_a_row = if is_other {
                1
            } else {
                record.right_in_a_row.saturating_add(1)
            };
            record.variant = proven.or(record.variant);
        }
    }

    /// The prediction for a key was wrong.
    pub(crate) fn note_wrong(&mut self, key: Key) {
        if let Some(record) = self.record_mut(key) {
            record.right_in_a_row = 0;
            record.wrong = record.wrong.saturating_add(1);
        }
    }

    /// Another effect of a key explains what was seen: it is the one to expect.
    pub(crate) fn adopt_variant(&mut self, key: Key, variant: u8) {
        if let Some(record) = self.record_mut(key) {
            record.right_in_a_row = 1;
            record.variant = Some(variant);
        }
    }

    fn record_mut(&mut self, key: Key) -> Option<&mut KeyRecord> {
        let key = record_key(key);
        if !self.keys.contains_key(&key) && self.keys.len() >= KEYS_MAX {
            return None;
        }
        Some(self.keys.entry(key).or_default())
    }

    /// The column at which a prediction failed because the line was narrower than the screen.
    pub(crate) fn learn_edge(&mut self, column: u16) {
        self.right_edge = Some(self.right_edge.map_or(column, |edge| edge.min(column)));
    }
}

fn record_key(key: Key) -> Key {
    match key {
        Key::Text(_) => Key::Text(' '),
        _ => key,
    }
}

#[cfg(test)]
mod tests;
