//! Confirms predictions that the newest frame shows, and learns from them.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;
use fulmar_terminal::{Position, Row};

use super::PredictionEngine;
use crate::brackets;
use crate::canvas::Canvas;
use crate::decision::{EpochReason, PredictionVerdict};
use crate::effect::{Agreement, KeyEffect};
use crate::frame_match::is_evidence;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::overlay::Grapheme;
use crate::pending::{PendingKey, Prediction};
use crate::text::{Ground, char_at, is_grey, is_vacant, row_end};

impl PredictionEngine {
    /// Confirms the first `count` keys, which the frame shows.
    pub(super) fn confirm_keys(&mut self, now: Time, count: usize) {
        let mut expected = self.base.clone();
        for _ in 0..count {
            let Some(key) = self.queue.pop() else { break };
            self.learn_success(&key);
            if let Some(effect) = key.known_effect() {
                expected.draw(effect);
                self.note_end(&key, effect, &expected);
            }
            self.learn_brackets(&key);
            self.learn_ground(&key);
            // A key that moves proves nothing, nor does a character that stood there before: only an
            // echo lets the epoch be shown. Below a question for a secret not even that counts.
            if let Some(effect) = key.known_effect()
                && is_evidence(&key, effect, &self.frame.canvas)
                && !self.is_below_secret()
            {
                self.confirm_epoch(now, key.epoch, EpochReason::Evidence);
                self.echo_confidence.note_echo_of(key.stroke.start);
                self.note_echo();
            }
            self.note_settled(now, &key, PredictionVerdict::Right);
        }
        // Later keys were predicted on these: they now stand on the frame itself.
        self.base = self.frame.canvas.clone();
    }

    fn is_below_secret(&self) -> bool {
        let canvas = &self.frame.canvas;
        let line = self.line.as_ref();
        line.is_some_and(|line| line.is_below_secret(canvas))
    }

    fn learn_success(&mut self, key: &PendingKey) {
        if let Some(effect) = key.known_effect()
            && let Some(history) = self.history_mut()
        {
            let is_telling = effect.agreement != Agreement::Same;
            history.note_right(key.stroke.key, is_telling.then_some(effect.variant));
        }
    }

    /// Notes whether text that nobody typed may appear behind a key: none was `expected` there. Of brackets and quotes some
    /// close themselves.
    fn note_end(&mut self, key: &PendingKey, effect: &KeyEffect, expected: &Canvas) {
        let Some(line) = &mut self.line else { return };
        line.confirmed_tail = effect.own_tail.unwrap_or(line.confirmed_tail);
        let is_word = matches!(key.stroke.key, Key::Text(c) if c.is_alphanumeric());
        let at = effect.caret;
        let is_open = is_word && is_vacant(expected.row(at.row), at.column.0);
        line.open_end = is_open.then_some(at);
    }

    /// Learns whether the program puts text behind what is typed, in the colour of text. It may come later than the character.
    pub(super) fn learn_suggestion(&mut self) {
        let (frame, Some(line)) = (&self.frame.canvas, &mut self.line) else {
            return;
        };
        let at = frame.caret();
        let is_new = line.open_end == Some(at)
            && line.context.kind == InputKind::Prompt
            && !is_vacant(frame.line(), at.column.0)
            && !is_grey(frame.line(), at.column.0);
        if !is_new {
            return;
        }
        line.open_end = None;
        self.memory.entry(line.context.id).suggests = true;
        // What is pending was predicted without it.
        let mut end = at;
        for key in self.queue.iter_mut() {
            let Prediction::Known(effect) = &mut key.prediction else {
                break;
            };
            if effect.typed_at != Some(end) {
                break;
            }
            effect.own_tail = Some(0);
            end = effect.caret;
        }
    }

    /// Learns whether the program marks the bracket that was typed last.
    fn learn_brackets(&mut self, key: &PendingKey) {
        let Some(effect) = key.known_effect() else {
            return;
        };
        let frame = &self.frame.canvas;
        let is_bracket = matches!(key.stroke.key, Key::Text(c) if brackets::is_closing_bracket(c));
        if is_bracket
            && effect.caret == frame.caret()
            && let Some(seen) = brackets::bracket_mark_at_caret(frame)
            && let Some(history) = self.history_mut()
        {
            history.brackets = seen;
        }
    }

    /// Learns what ground the program gives to typed text. Brackets may be marked.
    fn learn_ground(&mut self, key: &PendingKey) {
        let at = key.known_effect().and_then(|effect| effect.typed_at);
        let (Key::Text(character), Some(at)) = (key.stroke.key, at) else {
            return;
        };
        let content = self.frame.canvas.content(at);
        if character.is_alphanumeric() && content.grapheme == Grapheme::Char(character) {
            let ground = Some(Ground::of(&content.style));
            if let Some(line) = &mut self.line {
                line.ground = ground;
            }
            if let Some(history) = self.history_mut() {
                history.ground = ground;
            }
        }
    }

    /// Confirms the first `count` keys, which the frame shows so many rows further down; so the others will
    /// be, too.
    pub(super) fn confirm_shifted(&mut self, now: Time, count: usize, rows: i32) {
        let size = self.frame.canvas.size();
        let moved = |at: Position| {
            let row = i32::from(at.row.0) + rows;
            let row = u16::try_from(row).ok()?;
            Some(Position::new(row, at.column.0)).filter(|&at| size.contains(at))
        };
        // Effects have absolute positions. Behind the first key without one nothing was predicted.
        for key in self.queue.iter_mut() {
            let Prediction::Known(effect) = &mut key.prediction else {
                break;
            };
            effect.changes.retain_mut(|change| match moved(change.at) {
                Some(at) => {
                    change.at = at;
                    true
                }
                None => false,
            });
            effect.typed_at = effect.typed_at.and_then(moved);
            effect.caret = moved(effect.caret).unwrap_or(effect.caret);
        }
        self.queue.recount();
        if let Some(line) = &mut self.line {
            line.row = self.frame.canvas.caret().row;
        }
        self.base = self.frame.canvas.clone();
        self.confirm_keys(now, count);
    }

    /// Drops the first `count` keys without blame: a later key has been answered, and its answer may have
    /// taken theirs off the screen.
    pub(super) fn drop_overtaken(&mut self, now: Time, count: usize) {
        // A shell leaves the line above its command's output: that is an echo all the same.
        let echoed = self.typed_line_is_above();
        for _ in 0..count {
            if let Some(key) = self.queue.pop() {
                self.note_settled(now, &key, PredictionVerdict::Open);
            }
        }
        if echoed {
            self.note_echo();
        }
    }

    /// True if the line as it was predicted stands somewhere above the caret, with at least one typed
    /// character.
    fn typed_line_is_above(&self) -> bool {
        let Some(line) = &self.line else { return false };
        let mut expected = self.base.clone();
        for effect in self.queue.iter().map_while(PendingKey::known_effect) {
            expected.draw(effect);
        }
        let cells = expected.row(line.row);
        let end = row_end(cells);
        let typed = (line.margin..end).filter(|&column| char_at(cells, column) != ' ');
        if typed.count() == 0 {
            return false;
        }
        let frame = &self.frame.canvas;
        (0..=frame.caret().row.0).rev().any(|row| {
            let there = frame.row(Row(row));
            (0..end).all(|column| char_at(there, column) == char_at(cells, column))
        })
    }
}
