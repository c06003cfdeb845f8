//! Remembers for each context how its keys did.
//!
//! Source: docs/prediction.md §6.

use std::collections::BTreeMap;

use crate::brackets::Mark;
use crate::key::Key;
use crate::prompt::ContextId;

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

/// A prompt that was answered so often without anything in between is a shell's. Chosen by eye: a
/// program asks for fewer things before it asks for a secret.
const LINES_REPEATED: u32 = 4;

/// All places, the least recently used of which is forgotten first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextMemory {
    contexts: BTreeMap<ContextId, (u64, ContextHistory)>,
    /// How often a place was asked for.
    uses: u64,
}

impl ContextMemory {
    /// Returns the place, a new one if need be.
    pub(crate) fn context(&mut self, signature: ContextId) -> &mut ContextHistory {
        self.uses += 1;
        let is_new = !self.contexts.contains_key(&signature);
        if is_new && self.contexts.len() >= CONTEXTS_MAX {
            self.forget_oldest();
        }
        let (used, context) = self.contexts.entry(signature).or_default();
        *used = self.uses;
        context
    }

    /// Returns the place if it is known.
    pub(crate) fn get(&self, signature: ContextId) -> Option<&ContextHistory> {
        self.contexts.get(&signature).map(|(_, context)| context)
    }

    /// Something was written since the place, if it is known, was last typed in.
    pub(crate) fn note_answered(&mut self, signature: ContextId) {
        if let Some((_, context)) = self.contexts.get_mut(&signature) {
            context.note_answered();
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.contexts.iter().min_by_key(|(_, (used, _))| *used);
        if let Some(signature) = oldest.map(|(&signature, _)| signature) {
            self.contexts.remove(&signature);
        }
    }
}

/// The effect of Enter in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EnterEffect {
    /// The cursor goes to the start of the next row; on the last, everything scrolls by one.
    NextRow,
    /// The line is emptied where it is.
    ClearLine,
    /// The line is split in the text of an editor; the new row begins below the text of the old, or
    /// in the first column.
    Split {
        /// True if the new row begins below the text.
        indents: bool,
    },
}

/// The record of a key in one context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyRecord {
    /// How often in a row its guess was right.
    pub(crate) agreed: u32,
    /// How often it was wrong.
    pub(crate) failed: u32,
    /// Which of its effects was the right one last.
    pub(crate) variant: u8,
}

/// One place: a prompt or an editor.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextHistory {
    confirmed: u32,
    failed: u32,
    needed: u32,
    /// Something was written between two of its questions, as a shell's commands do.
    is_answered: bool,
    keys: BTreeMap<Key, KeyRecord>,
    pub(crate) enter: Option<EnterEffect>,
    /// The mark of a closing bracket that was just typed.
    pub(crate) brackets: Option<Mark>,
    /// What stands in an empty line in the colour of text, and goes with the first character.
    pub(crate) placeholder: Option<Box<str>>,
    /// Nothing is guessed from this column on.
    pub(crate) right_edge: Option<u16>,
}

impl ContextHistory {
    /// Typed text was shown here.
    pub(crate) fn confirm(&mut self) {
        self.confirmed = self.confirmed.saturating_add(1);
        self.needed = self.needed.saturating_sub(1);
    }

    /// Typed text was not shown here: it takes two confirmations, and one more for each earlier
    /// failure, to trust the place again.
    ///
    /// Source: docs/prediction.md §6, S5.
    pub(crate) fn fail(&mut self) {
        self.needed = self.failed.saturating_add(2).min(NEEDED_MAX);
        self.failed = self.failed.saturating_add(1);
    }

    /// Whether typed text may be expected to be shown here.
    pub(crate) fn is_trusted(&self) -> bool {
        self.confirmed > 0 && self.needed == 0
    }

    /// Whether typed text was not shown here, and has not been shown often enough since.
    pub(crate) fn is_doubted(&self) -> bool {
        self.needed > 0
    }

    /// Something was written since the place was known, and here it is again.
    pub(crate) fn note_answered(&mut self) {
        self.is_answered |= self.is_trusted();
    }

    /// True if the same prompt again can be taken for the same program's.
    ///
    /// Source: docs/prediction.md §6, S3.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_answered || self.confirmed >= LINES_REPEATED
    }

    /// How often typed text was shown here.
    pub(crate) fn confirmed(&self) -> u32 {
        self.confirmed
    }

    /// Returns the record of a key; all characters have one together.
    pub(crate) fn record(&self, key: Key) -> KeyRecord {
        self.keys.get(&record_key(key)).copied().unwrap_or_default()
    }

    /// The guess for a key, made with `variant`, was right.
    pub(crate) fn agree(&mut self, key: Key, variant: u8) {
        if let Some(record) = self.record_mut(key) {
            record.agreed = if record.variant == variant {
                record.agreed.saturating_add(1)
            } else {
                1
            };
            record.variant = variant;
        }
    }

    /// The guess for a key was wrong.
    pub(crate) fn disagree(&mut self, key: Key) {
        if let Some(record) = self.record_mut(key) {
            record.agreed = 0;
            record.failed = record.failed.saturating_add(1);
        }
    }

    /// Another effect of a key explains what was seen: it is the one to expect.
    pub(crate) fn adopt(&mut self, key: Key, variant: u8) {
        if let Some(record) = self.record_mut(key) {
            record.agreed = 1;
            record.variant = variant;
        }
    }

    fn record_mut(&mut self, key: Key) -> Option<&mut KeyRecord> {
        let key = record_key(key);
        if !self.keys.contains_key(&key) && self.keys.len() >= KEYS_MAX {
            return None;
        }
        Some(self.keys.entry(key).or_default())
    }

    /// The column at which a guess failed because the line was narrower than the screen.
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
