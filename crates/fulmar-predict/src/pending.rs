//! Keys that are typed and not yet settled.

use std::collections::VecDeque;

use fulmar_base::Time;
use fulmar_terminal::{Position, Row, SharedRow};

use crate::canvas::Canvas;
use crate::effect::KeyEffect;
use crate::epoch::Epoch;
use crate::key::Keystroke;
use crate::text::{TEXT_GAP, is_grey, is_vacant, is_vacant_from, reads_alike, text_between};

/// The number of pending keys that are kept.
///
/// Source: docs/prediction.md §3.
pub(crate) const PENDING_MAX: usize = 512;

/// The number of changed cells that all of them may hold together; with more, a key gets no rule.
///
/// Source: docs/prediction.md §3.
pub(crate) const CHANGES_MAX: usize = 32_768;

/// The prediction for a key.
#[derive(Clone, Debug)]
pub(crate) enum Prediction {
    /// It stands behind a key of unknown effect.
    Blind,
    /// There is no rule for it. The keys behind it are blind.
    Unknown {
        /// An effect that is shown all the same, until there is an answer.
        preview: Option<KeyEffect>,
    },
    /// It does this.
    Known(KeyEffect),
}

/// A key that is not settled.
#[derive(Clone, Debug)]
pub(crate) struct PendingKey {
    pub(crate) stroke: Keystroke,
    pub(crate) typed_at: Time,
    pub(crate) epoch: Epoch,
    pub(crate) prediction: Prediction,
    /// The surroundings of the caret before it, if they are known.
    pub(crate) before: Option<CursorSnapshot>,
    /// The time since which it has been drawn.
    pub(crate) shown_at: Option<Time>,
    /// The server's screen shows something else.
    pub(crate) is_wrong: bool,
    /// It was under way while the terminal showed nothing: it is never drawn.
    pub(crate) is_hidden: bool,
    /// The program had its time, and nothing had changed yet.
    pub(crate) is_late: bool,
}

/// The surroundings of the caret that tell whether a key was answered: the caret, its row and the one
/// above.
#[derive(Clone, Debug)]
pub(crate) struct CursorSnapshot {
    pub(crate) caret: Position,
    own: SharedRow,
    above: Option<SharedRow>,
}

/// The text of a line that stands above the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextAbove {
    pub(crate) text: Box<str>,
    /// Nothing is right of it.
    pub(crate) stands_alone: bool,
}

impl CursorSnapshot {
    pub(crate) fn of(canvas: &Canvas) -> CursorSnapshot {
        let caret = canvas.caret();
        let above = caret.row.0.checked_sub(1);
        CursorSnapshot {
            caret,
            own: SharedRow::clone(canvas.screen().row(caret.row)),
            above: above.map(|row| SharedRow::clone(canvas.screen().row(Row(row)))),
        }
    }

    /// True if the caret is elsewhere, or the row above reads differently: so much is to be seen of Enter
    /// at least.
    pub(crate) fn is_answered(&self, canvas: &Canvas) -> bool {
        let now = CursorSnapshot::of(canvas);
        self.caret != now.caret
            || match (&self.above, &now.above) {
                (Some(before), Some(after)) => !reads_alike(before, after),
                _ => false,
            }
    }

    /// Returns the text of the row from a column on, without a suggestion or a right prompt, if it stands in a row of the
    /// canvas above the caret.
    pub(crate) fn text_above(&self, start: u16, canvas: &Canvas) -> Option<TextAbove> {
        let caret = self.caret.column.0;
        let last = if is_grey(&self.own, caret) {
            caret
        } else {
            self.own.columns()
        };
        let mut end = start;
        for column in start..last {
            if !is_vacant(&self.own, column) {
                end = column + 1;
            } else if column + 1 - end >= TEXT_GAP {
                break;
            }
        }
        let text = text_between(&self.own, 0, end);
        let mut above = canvas
            .screen()
            .rows()
            .take(usize::from(canvas.caret().row.0));
        let there = above.find(|row| text_between(row, 0, end) == text)?;
        Some(TextAbove {
            text: text_between(&self.own, start, end).into(),
            stands_alone: is_vacant_from(there, end),
        })
    }

    /// True if the caret is elsewhere, or its row reads differently.
    pub(crate) fn has_effect(&self, canvas: &Canvas) -> bool {
        let now = CursorSnapshot::of(canvas);
        self.caret != now.caret || !reads_alike(&self.own, &now.own)
    }
}

impl PendingKey {
    pub(crate) fn is_received(&self, received: u64) -> bool {
        self.stroke.end <= received
    }

    pub(crate) fn known_effect(&self) -> Option<&KeyEffect> {
        match &self.prediction {
            Prediction::Known(effect) => Some(effect),
            _ => None,
        }
    }

    /// Returns the effect that is drawn, known or a preview.
    pub(crate) fn drawn_effect(&self) -> Option<&KeyEffect> {
        match &self.prediction {
            Prediction::Known(effect) => Some(effect),
            Prediction::Unknown { preview } => preview.as_ref(),
            Prediction::Blind => None,
        }
    }
}

/// The keys in the order in which they were typed.
#[derive(Debug, Default)]
pub(crate) struct PendingQueue {
    keys: VecDeque<PendingKey>,
    changes: usize,
}

impl PendingQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.keys.len() >= PENDING_MAX
    }

    /// True if an effect of so many cells may be kept.
    pub(crate) fn has_room(&self, changes: usize) -> bool {
        self.changes + changes <= CHANGES_MAX
    }

    /// True if a key pushed now would be blind.
    pub(crate) fn is_blinded(&self) -> bool {
        self.keys
            .back()
            .is_some_and(|key| key.known_effect().is_none())
    }

    pub(crate) fn front(&self) -> Option<&PendingKey> {
        self.keys.front()
    }

    pub(crate) fn front_mut(&mut self) -> Option<&mut PendingKey> {
        self.keys.front_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Counts the changed cells anew.
    pub(crate) fn recount(&mut self) {
        self.changes = self.keys.iter().map(count).sum();
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &PendingKey> {
        self.keys.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PendingKey> {
        self.keys.iter_mut()
    }

    pub(crate) fn push(&mut self, key: PendingKey) {
        self.changes += count(&key);
        self.keys.push_back(key);
    }

    pub(crate) fn pop(&mut self) -> Option<PendingKey> {
        let key = self.keys.pop_front()?;
        self.changes = self.changes.saturating_sub(count(&key));
        Some(key)
    }

    /// Takes all of them.
    pub(crate) fn take(&mut self) -> VecDeque<PendingKey> {
        self.changes = 0;
        std::mem::take(&mut self.keys)
    }

    /// The keys at the front that have a known effect and that the server has.
    pub(crate) fn received_predictions(
        &self,
        received: u64,
    ) -> impl Iterator<Item = (&PendingKey, &KeyEffect)> {
        self.keys
            .iter()
            .take_while(move |key| key.is_received(received))
            .map_while(|key| Some((key, key.known_effect()?)))
    }
}

fn count(key: &PendingKey) -> usize {
    key.drawn_effect().map_or(0, |effect| effect.changes.len())
}
