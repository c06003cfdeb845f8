//! Keys come in: each is laid on what is expected to be on the screen by then.

use std::time::Duration;

use fulmar_base::Time;

use super::PredictionEngine;
use crate::context_memory::{ContextHistory, EnterEffect};
use crate::decision::{EpochReason, KeyClass, KeyRule, PredictionDecision};
use crate::echo_confidence::TypeAhead;
use crate::key::{Key, Keystroke};
use crate::key_confidence;
use crate::pending::{CursorSnapshot, KeyEffect, PendingKey, Prediction};
use crate::rules::{self, EditState};
use crate::work_count;

/// Nobody answers sooner to what has come to be seen. Chosen by eye.
const LOOKS_FOR: Duration = Duration::from_millis(100);

impl PredictionEngine {
    /// Takes in a key that was typed now.
    pub(super) fn type_key(&mut self, now: Time, stroke: Keystroke) {
        self.score.keys += 1;
        if self.command.note(stroke.key) {
            self.trust.note_settings(stroke.end);
        }
        if self.queue.is_full() {
            self.forget(now, EpochReason::Overflow);
        }
        if self.queue.is_empty() {
            self.base = self.frame.canvas.clone();
            self.canvas = self.frame.canvas.clone();
            let has_looked = now.since(self.came_at) >= LOOKS_FOR;
            let ahead = if has_looked {
                TypeAhead::Nothing
            } else {
                TypeAhead::Unreceived
            };
            self.survey(now, 0, ahead);
        }
        self.lay(
            now,
            PendingKey {
                stroke,
                typed_at: now,
                epoch: self.epochs.current(),
                guess: Prediction::Blind,
                before: None,
                shown_at: None,
                is_wrong: false,
                is_hidden: self.hints.is_some_and(|hints| hints.is_silent()),
            },
        );
        let Some(key) = self.queue.iter().next_back() else {
            return;
        };
        let decision = PredictionDecision::Typed {
            key: stroke.start,
            class: KeyClass::of(stroke.key),
            rule: rule_of(&key.guess),
            epoch: key.epoch.get(),
            shown: self.is_shown(now, self.queue.len() - 1),
        };
        self.log.note(now, decision);
    }

    /// Puts a key behind those that are pending, with what it is expected to do to them. What was
    /// believed of it before does not count.
    pub(super) fn lay(&mut self, now: Time, key: PendingKey) {
        work_count::note_keys(1);
        let epoch = self.epochs.current();
        let is_blind = self.queue.is_blinded();
        let guess = if is_blind {
            Prediction::Blind
        } else {
            self.guess(key.stroke.key)
        };
        let before =
            matches!(guess, Prediction::Unknown { .. }).then(|| CursorSnapshot::of(&self.canvas));
        if let Prediction::Known(effect) = &guess {
            self.canvas.draw(effect);
        } else if !is_blind {
            self.begin_epoch(now, EpochReason::Unknown);
        }
        self.queue.push(PendingKey {
            epoch,
            guess,
            before,
            is_wrong: false,
            ..key
        });
    }

    fn guess(&mut self, key: Key) -> Prediction {
        if self.trust.take_prefix() {
            return Prediction::Unknown { glimpse: None };
        }
        if key == Key::Enter {
            return Prediction::Unknown {
                glimpse: self.glimpse(),
            };
        }
        match self.effect(key) {
            Some(effect) => Prediction::Known(effect),
            None => Prediction::Unknown { glimpse: None },
        }
    }

    /// Returns the effect of the key behind those that are pending, if there is a rule.
    pub(super) fn effect(&mut self, key: Key) -> Option<KeyEffect> {
        let mut line = self.line.clone()?;
        let context = self.memory.get(line.place.signature);
        line.brackets = context.and_then(|context| context.brackets);
        line.known_placeholder = context.and_then(|context| context.placeholder.clone());
        let record = context.map(|context| context.record(key));
        let record = record.unwrap_or_default();
        let variant = key_confidence::variant(key, &record);
        let mut canvas = self.canvas.clone();
        let done = rules::apply(
            key,
            variant,
            &mut EditState {
                canvas: &mut canvas,
                line: &mut line,
                overwrite: self.config.overwrite,
            },
        )?;
        let mut patches = self.canvas.changes(&canvas);
        if done.is_loose {
            patches
                .iter_mut()
                .for_each(|patch| patch.is_loose = Some(patch.at) != done.typed_at);
        }
        let effect = KeyEffect {
            patches,
            leaves: None,
            scrolls: false,
            caret: canvas.caret(),
            typed_at: done.typed_at,
            variant,
            is_proven: key_confidence::is_proven(key, &record),
        };
        if !self.queue.has_room(effect.patches.len()) || self.is_beyond_edge(&effect) {
            return None;
        }
        self.line = Some(line);
        Some(effect)
    }

    fn is_beyond_edge(&self, effect: &KeyEffect) -> bool {
        let context = self.context();
        let edge = context.and_then(|context| context.right_edge);
        edge.is_some_and(|edge| effect.typed_at.is_some_and(|at| at.column.0 >= edge))
    }

    /// What is shown of Enter before its answer.
    fn glimpse(&self) -> Option<KeyEffect> {
        let line = self.line.as_ref()?;
        let learned = self.context().and_then(|context| context.enter);
        let enter = learned.or(self.echoes().then_some(EnterEffect::NextRow))?;
        let mut canvas = self.canvas.clone();
        let scrolls = rules::enter(enter, &mut canvas, line)?;
        let patches = if scrolls {
            Vec::new()
        } else {
            self.canvas.changes(&canvas)
        };
        self.queue.has_room(patches.len()).then(|| KeyEffect {
            patches,
            leaves: (enter == EnterEffect::NextRow).then(|| self.canvas.caret()),
            scrolls,
            caret: canvas.caret(),
            typed_at: None,
            variant: 0,
            is_proven: true,
        })
    }

    /// True if the tty itself echoes.
    fn echoes(&self) -> bool {
        let hints = self.hints.as_ref();
        hints.is_some_and(|hints| self.trust.echoes(hints))
    }

    fn context(&self) -> Option<&ContextHistory> {
        self.memory.get(self.line.as_ref()?.place.signature)
    }
}

fn rule_of(guess: &Prediction) -> KeyRule {
    match guess {
        Prediction::Blind => KeyRule::Blind,
        Prediction::Unknown { .. } => KeyRule::None,
        Prediction::Known(effect) => KeyRule::Effect {
            variant: effect.variant,
        },
    }
}
