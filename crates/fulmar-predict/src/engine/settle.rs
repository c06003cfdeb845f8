//! Keys leave the queue: right, wrong, or overtaken.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;
use fulmar_terminal::{Position, Row, char_columns};

use super::PredictionEngine;
use crate::brackets;
use crate::contained_keys::contained;
use crate::context_memory::EnterEffect;
use crate::decision::{EpochReason, KeyClass, PredictionDecision, PredictionVerdict};
use crate::echo_confidence::TypeAhead;
use crate::frame_match::{is_evidence, is_mask};
use crate::input_context::InputKind;
use crate::key::Key;
use crate::pending::{CursorSnapshot, PendingKey, Prediction, reads_alike};
use crate::rules::{self, EditState};
use crate::text::{char_at, row_end};

impl PredictionEngine {
    /// The frame shows the first `count` keys.
    pub(super) fn confirm(&mut self, now: Time, count: usize) {
        for _ in 0..count {
            let Some(key) = self.queue.pop() else { break };
            self.learn_success(&key);
            self.learn_brackets(&key);
            if let Some(effect) = key.known()
                && is_evidence(&key, effect, &self.frame.canvas)
                && !self.is_below_secret()
            {
                self.confirm_epoch(now, key.epoch, EpochReason::Evidence);
                self.trust.note_echo_of(key.stroke.start);
                self.note_echo();
            }
            self.note_settled(now, &key, PredictionVerdict::Right);
        }
        self.base = self.frame.canvas.clone();
    }

    fn is_below_secret(&self) -> bool {
        let canvas = &self.frame.canvas;
        let line = self.line.as_ref();
        line.is_some_and(|line| line.is_below_secret(canvas))
    }

    fn learn_success(&mut self, key: &PendingKey) {
        let (Some(effect), Some(line)) = (key.known(), &self.line) else {
            return;
        };
        let context = self.memory.context(line.place.signature);
        context.agree(key.stroke.key, effect.variant);
    }

    /// Whether the program marks the bracket that was typed last.
    fn learn_brackets(&mut self, key: &PendingKey) {
        let (Some(effect), Some(line)) = (key.known(), &self.line) else {
            return;
        };
        let frame = &self.frame.canvas;
        let is_bracket = matches!(key.stroke.key, Key::Text(c) if brackets::is_closing(c));
        if is_bracket
            && effect.caret == frame.caret()
            && let Some(seen) = brackets::seen(frame)
        {
            self.memory.context(line.place.signature).brackets = seen;
        }
    }

    /// The frame shows the first `count` keys so many rows further down; so the others will be, too.
    pub(super) fn move_rows(&mut self, now: Time, count: usize, rows: i32) {
        let size = self.frame.canvas.size();
        let moved = |at: Position| {
            let row = i32::from(at.row.0) + rows;
            let row = u16::try_from(row).ok()?;
            Some(Position::new(row, at.column.0)).filter(|&at| size.contains(at))
        };
        for key in self.queue.iter_mut() {
            let Prediction::Known(effect) = &mut key.guess else {
                break;
            };
            effect.patches.retain_mut(|patch| match moved(patch.at) {
                Some(at) => {
                    patch.at = at;
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
        self.confirm(now, count);
    }

    /// The first `count` keys are history: what came after them has been answered.
    pub(super) fn pass(&mut self, now: Time, count: usize) {
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

    /// Whether the line as it was expected stands somewhere above the caret, with at least one
    /// character that was typed.
    fn typed_line_is_above(&self) -> bool {
        let Some(line) = &self.line else { return false };
        let mut expected = self.base.clone();
        for effect in self.queue.iter().map_while(PendingKey::known) {
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

    /// The first key has no rule and has had its time: learns from the answer, and lays what is
    /// left again.
    pub(super) fn settle(&mut self, now: Time) {
        self.learn_answer();
        self.lay_again(now, EpochReason::Unknown);
    }

    /// What Enter did: the line stays and what follows comes below it, or the line is emptied where
    /// it is.
    fn learn_answer(&mut self) {
        let (Some(front), Some(line)) = (self.queue.front(), &self.line) else {
            return;
        };
        let (Key::Enter, Some(before)) = (front.stroke.key, &front.before) else {
            return;
        };
        let frame = &self.frame.canvas;
        if !before.is_answered(frame) {
            return;
        }
        if line.place.kind == InputKind::Editor {
            let place = line.place.signature;
            let effect = self.split_that_explains();
            return self.memory.context(place).enter = effect;
        }
        let is_emptied = frame.caret() == line.at(line.margin)
            && before.caret != frame.caret()
            && line.stands(frame);
        let effect = if before.stays_above(frame) {
            Some(EnterEffect::NextRow)
        } else {
            is_emptied.then_some(EnterEffect::ClearLine)
        };
        self.memory.context(line.place.signature).enter = effect;
    }

    /// How an editor split the line, if that is what took the caret where it is.
    fn split_that_explains(&self) -> Option<EnterEffect> {
        let splits = [true, false].into_iter().filter(|&indents| {
            let mut canvas = self.base.clone();
            rules::split(indents, &mut canvas).is_some()
                && canvas.caret() == self.frame.canvas.caret()
        });
        let effects: Vec<EnterEffect> = splits
            .map(|indents| EnterEffect::Split { indents })
            .collect();
        let place = self.line.as_ref()?.place.signature;
        let known = self.memory.get(place).and_then(|context| context.enter);
        let same = effects.iter().find(|effect| Some(**effect) == known);
        same.or(effects.first()).copied()
    }

    /// The first key did not do what was expected of it.
    pub(super) fn regret(&mut self, now: Time) {
        if let Some((key, variant)) = self.alternative() {
            if let Some(line) = &self.line {
                let context = self.memory.context(line.place.signature);
                context.adopt(key, variant);
            }
            self.trust.note_surprise();
            return self.lay_again(now, EpochReason::Surprise);
        }
        match self.placeholder() {
            Some((text, is_evidence)) => self.learn_placeholder(text, is_evidence),
            None => self.blame(),
        }
        self.trust.note_surprise();
        self.lay_again(now, EpochReason::Surprise);
    }

    /// The text at the margin, if its going away explains the frame, and whether that is evidence.
    fn placeholder(&self) -> Option<(Box<str>, bool)> {
        let mut line = self.line.clone()?;
        let mut canvas = self.base.clone();
        line.renew(&canvas, self.hints.as_ref());
        let (text, _) = line.text_at_margin(&canvas)?;
        line.known_placeholder = Some(text.clone());
        let frame = &self.frame.canvas;
        let mut typed = Vec::new();
        for (key, _) in self.queue.received_known(self.frame.received) {
            let mut sheet = EditState {
                canvas: &mut canvas,
                line: &mut line,
                overwrite: self.config.overwrite,
            };
            matches!(key.stroke.key, Key::Text(_)).then_some(())?;
            rules::apply(key.stroke.key, 0, &mut sheet)?;
            typed.push(key.stroke.key);
            if canvas.caret() == frame.caret() && reads_alike(canvas.line(), frame.line()) {
                return Some((text, typed.iter().any(is_telling)));
            }
        }
        None
    }

    fn learn_placeholder(&mut self, text: Box<str>, is_evidence: bool) {
        if let Some(line) = &self.line {
            let context = self.memory.context(line.place.signature);
            context.placeholder = Some(text);
        }
        if is_evidence {
            self.note_echo();
        }
    }

    /// Another way in which the first key, if it is the only one that the server has, explains the
    /// frame.
    fn alternative(&self) -> Option<(Key, u8)> {
        let mut received = self.queue.received_known(self.frame.received);
        let (key, wrong) = received.next()?;
        if received.next().is_some() {
            return None;
        }
        let ways = rules::variants(KeyClass::of(key.stroke.key));
        let other =
            (0..ways).find(|&variant| variant != wrong.variant && self.explains(key, variant));
        other.map(|variant| (key.stroke.key, variant))
    }

    fn explains(&self, key: &PendingKey, variant: u8) -> bool {
        let Some(mut line) = self.line.clone() else {
            return false;
        };
        let mut canvas = self.base.clone();
        line.renew(&canvas, self.hints.as_ref());
        let mut sheet = EditState {
            canvas: &mut canvas,
            line: &mut line,
            overwrite: self.config.overwrite,
        };
        let frame = &self.frame.canvas;
        rules::apply(key.stroke.key, variant, &mut sheet).is_some()
            && canvas.caret() == frame.caret()
            && reads_alike(canvas.line(), frame.line())
    }

    /// Drops the keys that the frame contains and lays the others on it, in a new epoch.
    pub(super) fn lay_again(&mut self, now: Time, reason: EpochReason) {
        let frame = &self.frame;
        let place = self.line.as_ref().map(|line| line.place.kind);
        let contained = contained(
            self.queue.iter(),
            &frame.canvas,
            frame.received,
            frame.echoed,
            place.is_none_or(|kind| kind == InputKind::Prompt),
        );
        self.begin_epoch(now, reason);
        let mut keys = self.queue.take();
        let rest = keys.split_off(contained.keys.min(keys.len()));
        let follows_unknown = keys
            .len()
            .checked_sub(contained.run + 1)
            .and_then(|index| keys.get(index))
            .is_some_and(|key| key.known().is_none());
        let run: Vec<Key> = keys
            .iter()
            .skip(keys.len() - contained.run)
            .map(|key| key.stroke.key)
            .collect();
        let last = keys.back().map(|key| key.stroke.key);
        let is_missed = contained.run == 0 && last.as_ref().is_some_and(is_telling);
        for key in keys {
            self.drop_contained(now, key);
        }
        self.canvas = self.frame.canvas.clone();
        self.base = self.frame.canvas.clone();
        let typed = columns(&run);
        let ahead = match rest.front() {
            _ if is_missed => TypeAhead::Missed,
            None => TypeAhead::Nothing,
            Some(key) if key.is_received(self.frame.received) => TypeAhead::Received,
            Some(_) => TypeAhead::Unreceived,
        };
        self.survey(now, if follows_unknown { typed } else { 0 }, ahead);
        if follows_unknown && proves_echo(&run) {
            self.note_echo();
            self.survey(now, 0, ahead);
        }
        for key in rest {
            self.lay(
                now,
                PendingKey {
                    guess: Prediction::Blind,
                    ..key
                },
            );
        }
    }

    fn drop_contained(&mut self, now: Time, key: PendingKey) {
        if key.known().is_some() {
            let has_effect = CursorSnapshot::of(&self.base).has_effect(&self.frame.canvas);
            self.trust.note_known(key.stroke.key, has_effect);
        } else {
            self.trust
                .note_break(key.stroke.key, key.before.as_ref(), &self.frame.canvas);
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

    fn note_settled(&mut self, now: Time, key: &PendingKey, verdict: PredictionVerdict) {
        let shown = key.shown_at;
        match (verdict, shown) {
            (PredictionVerdict::Right, Some(shown_at)) => {
                self.score.right += 1;
                self.score.saved += now.since(shown_at);
            }
            (PredictionVerdict::Wrong, Some(_)) => self.score.wrong += 1,
            _ => {}
        }
        let decision = PredictionDecision::Settled {
            key: key.stroke.start,
            class: KeyClass::of(key.stroke.key),
            verdict,
            shown: shown.is_some(),
            after: now.since(key.typed_at),
        };
        self.log.note(now, decision);
    }

    /// Drops everything that is pending, and what is known of the line.
    pub(super) fn forget(&mut self, now: Time, reason: EpochReason) {
        for key in self.queue.take() {
            self.note_settled(now, &key, PredictionVerdict::Open);
        }
        self.trust.note_loss();
        self.line = None;
        self.begin_epoch(now, reason);
        self.canvas = self.frame.canvas.clone();
        self.base = self.frame.canvas.clone();
    }
}

/// How many columns the characters take.
fn columns(run: &[Key]) -> u16 {
    let columns = run.iter().map(|key| match key {
        Key::Text(character) => char_columns(*character),
        _ => 0,
    });
    columns.sum()
}

/// Whether characters that stand where they were typed blindly can hardly be there by chance.
fn proves_echo(run: &[Key]) -> bool {
    run.iter().filter(|key| is_telling(key)).count() >= 2
}

/// Whether a key is a character that does not stand for others, nor is a blank.
fn is_telling(key: &Key) -> bool {
    matches!(key, Key::Text(character) if !character.is_whitespace() && !is_mask(*character))
}
