//! Keys come in: each is predicted on what will be on the screen by then.

use std::sync::Arc;

use fulmar_base::Time;
use fulmar_terminal::Row;

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::context_memory::{ContextHistory, EnterEffect};
use crate::decision::{EpochReason, KeyClass, KeyRule, PredictionDecision};
use crate::echo_confidence::{EchoQuery, TypeAhead, may_fall_silent};
use crate::effect::{Agreement, CellChange, KeyEffect};
use crate::input_context::InputKind;
use crate::input_line::InputLine;
use crate::key::{Key, Keystroke};
use crate::key_confidence;
use crate::pending::{CursorSnapshot, PendingKey, Prediction};
use crate::rules::{self, EditState, RuleOutcome};
use crate::text::is_vacant_from;
use crate::work_count;

impl PredictionEngine {
    /// Takes in a key that was typed now.
    pub(super) fn handle_key(&mut self, now: Time, stroke: Keystroke) {
        self.score.keys += 1;
        self.is_line_begun = stroke.key != Key::Enter;
        // A line that runs `stty` may turn the echo off (docs/prediction.md §6).
        if self.stty_detector.note(stroke.key) {
            self.echo_confidence.note_tty_command(stroke.end);
        }
        if self.queue.is_full() {
            self.discard_pending(now, EpochReason::Overflow);
        }
        if self.queue.is_empty() {
            self.reset_to_frame();
            self.locate_cursor(now, 0, TypeAhead::Nothing);
        }
        self.queue_key(
            now,
            PendingKey {
                stroke,
                typed_at: now,
                epoch: self.epochs.current(),
                prediction: Prediction::Blind,
                before: None,
                shown_at: None,
                is_wrong: false,
                is_hidden: self.hints.is_some_and(|hints| hints.is_silent()),
                is_late: false,
            },
        );
        let Some(key) = self.queue.iter().next_back() else {
            return;
        };
        let decision = PredictionDecision::Typed {
            key: stroke.start,
            class: KeyClass::of(stroke.key),
            rule: rule_of(&key.prediction),
            epoch: key.epoch.get(),
            shown: self.is_shown(now, self.queue.len() - 1),
        };
        self.log.note(now, decision);
    }

    /// The user types again after a pause, from this byte on: where the tty echoes, it may have been told not to, and
    /// is to echo once more before anything is shown (S10).
    pub(super) fn handle_pause(&mut self, now: Time, first: u64) {
        // The first of a line follows a question, of which hints may tell.
        self.echo_confidence
            .note_pause(self.is_line_begun.then_some(first));
        // Where nothing is pending, the next key asks for the echo anyway.
        if !self.queue.is_empty() && self.may_fall_silent() {
            self.begin_epoch(now, EpochReason::Paused);
        }
    }

    /// True if the echo of the present line may stop without a word.
    pub(super) fn may_fall_silent(&self) -> bool {
        let Some(line) = &self.line else { return true };
        may_fall_silent(&EchoQuery {
            canvas: &self.predicted,
            line,
            memory: &self.memory,
            hints: self.hints.as_ref(),
            type_ahead: TypeAhead::Nothing,
            is_steady: false,
        })
    }

    /// Puts a key behind those that are pending, with what it is expected to do to them. What was
    /// predicted of it before does not count.
    pub(super) fn queue_key(&mut self, now: Time, key: PendingKey) {
        work_count::note_keys(1);
        let epoch = self.epochs.current();
        let is_blind = self.queue.is_blinded();
        let prediction = if is_blind {
            Prediction::Blind
        } else {
            self.predict_key(&key)
        };
        let before = matches!(prediction, Prediction::Unknown { .. })
            .then(|| CursorSnapshot::of(&self.predicted));
        if let Prediction::Known(effect) = &prediction {
            self.predicted.draw(effect);
        } else if !is_blind {
            // S4: nothing that was proven before a key without a rule counts behind it.
            self.begin_epoch(now, EpochReason::Unknown);
        }
        self.queue.push(PendingKey {
            epoch,
            prediction,
            before,
            is_wrong: false,
            ..key
        });
    }

    fn predict_key(&mut self, pending: &PendingKey) -> Prediction {
        let key = pending.stroke.key;
        // S7: this may be the second half of a command.
        if self.echo_confidence.take_prefix_key() {
            return Prediction::Unknown { preview: None };
        }
        if key == Key::Enter && !self.is_in_editor() {
            // One that the server has may have been answered by this very frame.
            let may_be_answered = pending.is_received(self.frame.received);
            let preview = (!may_be_answered).then(|| self.preview_enter());
            return Prediction::Unknown {
                preview: preview.flatten(),
            };
        }
        match self.predict_effect(key) {
            Some(effect) => Prediction::Known(effect),
            None => Prediction::Unknown { preview: None },
        }
    }

    /// Returns the effect of the key behind those that are pending, if there is a rule.
    pub(super) fn predict_effect(&mut self, key: Key) -> Option<KeyEffect> {
        let mut line = self.line.clone()?;
        let context = self.memory.get(line.context.id);
        line.brackets = context.and_then(|context| context.brackets);
        line.submitted = context.map_or_else(Arc::default, |context| context.submitted.clone());
        // Elsewhere than in an editor or at a prompt, lines have nothing in common.
        if line.context.kind != InputKind::Other {
            line.ground = line.ground.or(context.and_then(|context| context.ground));
        }
        line.known_placeholder = context.and_then(|context| context.placeholder.clone());
        line.suggests = context.is_some_and(|context| context.suggests);
        // What it accepts is not known while the suggestion to the last character is still to come.
        let may_accept = matches!(
            KeyClass::of(key),
            KeyClass::Right | KeyClass::End | KeyClass::WordRight
        );
        let is_to_come = line.suggests && line.tail == 0 && !self.queue.is_empty();
        if may_accept && is_to_come && line.suggestion_end(&self.predicted).is_none() {
            return None;
        }
        let record = context.map(|context| context.record(key));
        let record = record.unwrap_or_default();
        let variant = key_confidence::variant(key, &record);
        let kind = line.context.kind;
        let before = line.clone();
        let (canvas, outcome) = self.apply_rule(key, variant, &mut line)?;
        let mut changes = self.predicted.changes(&canvas);
        // S7: one that does nothing may be the first half of a command, as the prefix of a multiplexer is.
        let does_nothing = changes.is_empty() && canvas.caret() == self.predicted.caret();
        if does_nothing && matches!(key, Key::Control(_)) {
            return None;
        }
        if outcome.is_uncertain {
            changes
                .iter_mut()
                .for_each(|change| change.is_uncertain = Some(change.at) != outcome.typed_at);
        }
        // Of a suggestion in plain colour it uncovers one character, and the next frame may have another.
        if let Some(at) = outcome.typed_at.filter(|_| line.suggests)
            && changes.iter().all(|change| change.at != at)
        {
            changes.push(CellChange {
                at,
                content: canvas.content(at),
                before: self.predicted.grapheme(at),
                is_uncertain: false,
            });
        }
        let others = (0..rules::variants(KeyClass::of(key))).filter(|other| *other != variant);
        let agreement = Agreement::of(others.map(|other| {
            let mut line = before.clone();
            let other = self.apply_rule(key, other, &mut line);
            other.is_some_and(|(other, _)| canvas.reads_as(&other))
        }));
        let effect = KeyEffect {
            changes,
            leaves_line_at: None,
            scrolls: false,
            caret: canvas.caret(),
            typed_at: outcome.typed_at,
            own_tail: line.suggests.then_some(line.tail),
            variant,
            agreement,
            is_confident: key_confidence::is_confident(key, kind, &record, agreement),
            is_harmless: key_confidence::is_harmless(key, &record),
        };
        if !self.queue.has_room(effect.changes.len()) || self.is_beyond_edge(&effect) {
            return None;
        }
        // Only now: a key without a rule leaves the line as it was.
        self.line = Some(line);
        Some(effect)
    }

    fn apply_rule(
        &self,
        key: Key,
        variant: u8,
        line: &mut InputLine,
    ) -> Option<(Canvas, RuleOutcome)> {
        let mut canvas = self.predicted.clone();
        let mut edit = EditState {
            canvas: &mut canvas,
            line,
            overwrite: self.config.overwrite,
        };
        let outcome = rules::apply_rule(key, variant, &mut edit)?;
        Some((canvas, outcome))
    }

    fn is_beyond_edge(&self, effect: &KeyEffect) -> bool {
        let context = self.context();
        let edge = context.and_then(|context| context.right_edge);
        edge.is_some_and(|edge| effect.typed_at.is_some_and(|at| at.column.0 >= edge))
    }

    /// Returns the preview of Enter, which is shown before its answer.
    fn preview_enter(&self) -> Option<KeyEffect> {
        let line = self.line.as_ref()?;
        let learned = self.context().and_then(|context| context.enter);
        let by_tty = EnterEffect::NextRow {
            clears_right: false,
        };
        let enter = learned.or(self.goes_to_next_row(line).then_some(by_tty))?;
        let (mut before, mut canvas) = (self.predicted.clone(), self.predicted.clone());
        let scrolls = rules::enter(enter, &mut canvas, line)?;
        if scrolls {
            let caret = canvas.caret();
            before.scroll();
            canvas.scroll();
            canvas.move_caret(caret);
        }
        let changes = before.changes(&canvas);
        self.queue.has_room(changes.len()).then(|| KeyEffect {
            changes,
            leaves_line_at: matches!(enter, EnterEffect::NextRow { .. })
                .then(|| self.predicted.caret()),
            scrolls,
            caret: canvas.caret(),
            typed_at: None,
            own_tail: line.suggests.then_some(line.tail),
            variant: 0,
            agreement: Agreement::OneWay,
            is_confident: true,
            is_harmless: false,
        })
    }

    /// True if Enter is expected to lead to the next row before it was ever seen to: where the tty echoes, it answers
    /// Enter itself, and so do shells at a prompt that has echoed.
    fn goes_to_next_row(&self, line: &InputLine) -> bool {
        let is_prompt = line.context.kind == InputKind::Prompt && line.is_echoed;
        let is_shell = line.prefix_length() > 1 || self.is_above_nothing();
        self.echoes() || is_prompt && !self.may_fall_silent() && is_shell
    }

    /// True if there are rows below the caret, and nothing is in them. What a full screen or a box does with Enter is
    /// its own affair.
    fn is_above_nothing(&self) -> bool {
        let rows = self.predicted.size().rows();
        let below = self.predicted.caret().row.0 + 1;
        below < rows && (below..rows).all(|row| is_vacant_from(self.predicted.row(Row(row)), 0))
    }

    /// True in the text of an editor, where Enter is text like any other.
    fn is_in_editor(&self) -> bool {
        let line = self.line.as_ref();
        line.is_some_and(|line| line.context.kind == InputKind::Editor)
    }

    /// True if the tty itself echoes.
    fn echoes(&self) -> bool {
        let hints = self.hints.as_ref();
        hints.is_some_and(|hints| self.echo_confidence.echoes(hints))
    }

    fn context(&self) -> Option<&ContextHistory> {
        self.memory.get(self.line.as_ref()?.context.id)
    }
}

fn rule_of(prediction: &Prediction) -> KeyRule {
    match prediction {
        Prediction::Blind => KeyRule::Blind,
        Prediction::Unknown { .. } => KeyRule::None,
        Prediction::Known(effect) => KeyRule::Effect {
            variant: effect.variant,
        },
    }
}
