//! Replays pending keys on the newest frame, as a rollback does after a misprediction.
//!
//! Source: docs/prediction.md §7.

use std::collections::VecDeque;

use fulmar_base::Time;
use fulmar_terminal::char_columns;

use super::PredictionEngine;
use crate::contained_keys::{ContainedKeys, contained_keys};
use crate::decision::{EpochReason, PredictionVerdict};
use crate::echo_confidence::TypeAhead;
use crate::frame_match::is_telling_character;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::pending::{CursorSnapshot, PendingKey, Prediction};

/// The number of characters that prove an echo that was not predicted. One may stand there by chance.
///
/// Source: docs/prediction.md §7.
const ECHOED_MIN: usize = 2;

impl PredictionEngine {
    /// Drops the keys that the frame contains and replays the others on it, in a new epoch.
    pub(super) fn replay(&mut self, now: Time, reason: EpochReason) {
        let contained = self.contained_keys();
        self.replay_behind(now, reason, contained);
    }

    /// Waits for a program that is slow to answer: the keys stay pending, and are not shown before it goes on.
    pub(super) fn handle_late_answer(&mut self, now: Time) {
        let echoed = self.frame.echoed;
        for key in self.queue.iter_mut().filter(|key| key.is_received(echoed)) {
            key.is_late = true;
        }
        if let Some(line) = &mut self.line {
            line.is_echoed = false;
        }
        self.replay_behind(now, EpochReason::Misprediction, ContainedKeys::default());
    }

    /// Drops the keys that are contained and replays the others.
    fn replay_behind(&mut self, now: Time, reason: EpochReason, contained: ContainedKeys) {
        // Whatever confirms the old epoch was predicted on a screen that never came.
        self.begin_epoch(now, reason);
        let mut dropped = self.queue.take();
        let rest = dropped.split_off(contained.keys.min(dropped.len()));
        let echoed = UnpredictedEcho::of(&dropped, contained.run);
        let last = dropped.back().map(|key| key.stroke.key);
        let is_not_echoed = contained.run == 0 && last.as_ref().is_some_and(is_telling_character);
        // Each of them says something about the keys behind it, the last one most: in order.
        for key in dropped {
            self.drop_key(now, key);
        }
        self.reset_to_frame();
        let ahead = match rest.front() {
            _ if is_not_echoed => TypeAhead::NotEchoed,
            None => TypeAhead::Nothing,
            Some(key) if key.is_received(self.frame.received) => TypeAhead::Received,
            Some(_) => TypeAhead::Unreceived,
        };
        // The line has to be known before the rules can apply, and whether it echoes before the keys
        // get their epoch.
        self.locate_cursor(now, echoed.columns, ahead);
        if echoed.is_evidence {
            self.note_echo();
            self.locate_cursor(now, 0, ahead);
        }
        for key in rest {
            self.queue_key(
                now,
                PendingKey {
                    prediction: Prediction::Blind,
                    ..key
                },
            );
        }
    }

    fn contained_keys(&self) -> ContainedKeys {
        let frame = &self.frame;
        let kind = self.line.as_ref().map(|line| line.context.kind);
        contained_keys(
            self.queue.iter(),
            &frame.canvas,
            frame.received,
            frame.echoed,
            kind.is_none_or(|kind| kind == InputKind::Prompt),
        )
    }

    /// Drops a key that the frame contains, or that is not known to be right.
    fn drop_key(&mut self, now: Time, key: PendingKey) {
        if key.known_effect().is_some() {
            let has_effect = CursorSnapshot::of(&self.base).has_effect(&self.frame.canvas);
            self.echo_confidence
                .note_unconfirmed(key.stroke.key, has_effect);
        } else {
            if key.stroke.key == Key::Enter {
                self.learn_submitted(key.before.as_ref());
            }
            self.echo_confidence.note_unpredicted(
                key.stroke.key,
                key.before.as_ref(),
                &self.frame.canvas,
            );
            // S6: the key may have ended the line, and what was known of that says nothing of the
            // next.
            if !key.stroke.key.keeps_line() {
                self.line = None;
            }
        }
        let verdict = if key.is_wrong {
            PredictionVerdict::Wrong
        } else {
            PredictionVerdict::Open
        };
        self.note_settled(now, &key, verdict);
    }
}

/// Characters at the caret that follow a key without a rule: they were echoed without a prediction.
#[derive(Clone, Copy, Debug, Default)]
struct UnpredictedEcho {
    /// The columns that they take left of the caret.
    columns: u16,
    /// They prove that the line echoes.
    is_evidence: bool,
}

impl UnpredictedEcho {
    /// Returns what the last `run` keys of those that the frame contains are of it.
    fn of(dropped: &VecDeque<PendingKey>, run: usize) -> UnpredictedEcho {
        let before = dropped.len().checked_sub(run + 1);
        let before = before.and_then(|index| dropped.get(index));
        if before.is_none_or(|key| key.known_effect().is_some()) {
            return UnpredictedEcho::default();
        }
        let run = dropped.iter().skip(dropped.len() - run);
        let run: Vec<Key> = run.map(|key| key.stroke.key).collect();
        let telling = run.iter().filter(|key| is_telling_character(key));
        UnpredictedEcho {
            columns: columns(&run),
            is_evidence: telling.count() >= ECHOED_MIN,
        }
    }
}

/// Counts the columns of the characters.
fn columns(run: &[Key]) -> u16 {
    let columns = run.iter().map(|key| match key {
        Key::Text(character) => char_columns(*character),
        _ => 0,
    });
    columns.sum()
}
