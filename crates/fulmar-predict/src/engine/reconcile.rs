//! Reconciles the pending keys with the newest frame.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::decision::{EpochReason, KeyClass};
use crate::effect::KeyEffect;
use crate::frame_match::{all_match_frame, longest_match, longest_shifted_match, shortest_match};
use crate::input_context::InputKind;
use crate::input_line::is_line_untouched;
use crate::key::Key;
use crate::pending::{CursorSnapshot, PendingKey, Prediction};

/// The meaning of a frame for the keys at the front of the queue.
enum FrameFinding {
    /// It says nothing yet.
    Undecided,
    /// So many are as predicted.
    Confirmed(usize),
    /// So many are as predicted, so many rows further down.
    Shifted(usize, i32),
    /// The key without a rule behind so many known ones has been answered.
    Overtaken(usize),
    /// The key without a rule has had its time.
    Answered,
    /// Something changed that is none of the user's doing.
    Drifted,
    /// The program has had its time for the first key, but has not answered at all.
    Unanswered,
    /// The first key did not do what was predicted.
    Mispredicted,
}

impl PredictionEngine {
    /// Settles what the newest frame tells. Every round but the last settles a key or moves the base, so it
    /// ends.
    pub(super) fn reconcile(&mut self, now: Time) {
        loop {
            match self.next_finding() {
                // Hints come with the frame that they belong to: keys that it confirms were typed before
                // they changed.
                FrameFinding::Undecided if std::mem::take(&mut self.hints_changed) => {
                    self.handle_changed_hints(now)
                }
                FrameFinding::Undecided => break,
                FrameFinding::Confirmed(count) => self.confirm_keys(now, count),
                FrameFinding::Shifted(count, rows) => self.confirm_shifted(now, count, rows),
                FrameFinding::Overtaken(count) => self.drop_overtaken(now, count),
                FrameFinding::Answered => self.handle_answer(now),
                FrameFinding::Drifted => {
                    // What a program writes left of the caret on its own is its next question.
                    let canvas = self.frame.canvas.clone();
                    self.forget_abandoned_line(&canvas);
                    self.replay(now, EpochReason::Moved);
                }
                FrameFinding::Unanswered => self.handle_late_answer(now),
                FrameFinding::Mispredicted => self.handle_misprediction(now),
            }
        }
        self.learn_suggestion();
        self.redraw_predicted();
    }

    /// Begins an epoch for other hints: what is still pending was typed for another reader. Behind a key
    /// without a rule that the server has, it waits for the answer anyway.
    fn handle_changed_hints(&mut self, now: Time) {
        if let Some(line) = &mut self.line {
            line.is_echoed = false;
        }
        self.echo_confidence.accept_echo();
        let front = self.queue.front();
        let waits = front.is_some_and(|key| {
            key.known_effect().is_none() && key.is_received(self.frame.received)
        });
        if waits {
            return self.begin_epoch(now, EpochReason::Hints);
        }
        self.replay(now, EpochReason::Hints);
    }

    /// Returns what the frame says next, in the order of §7.
    fn next_finding(&self) -> FrameFinding {
        let Some(front) = self.queue.front() else {
            return FrameFinding::Undecided;
        };
        let frame = &self.frame;
        // Right predictions come first, by what is on the screen and not by the echo ack, which is 50 ms
        // later.
        let known = self.queue.received_predictions(frame.received);
        let right = longest_match(known.map(|(_, effect)| effect), &frame.canvas);
        if right > 0 {
            return FrameFinding::Confirmed(right);
        }
        if front.known_effect().is_none() {
            return self.finding_of_unpredicted(front);
        }
        // A shift without any key only moves the line: whether it was the answer to a later key counts for
        // more.
        let overtaken = self.overtaken();
        match self.shifted() {
            Some((count, rows)) if count > 0 || overtaken.is_none() => {
                return FrameFinding::Shifted(count, rows);
            }
            _ => {}
        }
        // Keys that the server did not have cannot be wrong, but they may be predicted on an old screen.
        if !front.is_received(frame.received) {
            return match self.shown_unacknowledged() {
                _ if !self.has_drifted() => FrameFinding::Undecided,
                0 => FrameFinding::Drifted,
                count => FrameFinding::Confirmed(count),
            };
        }
        if let Some(count) = overtaken {
            return FrameFinding::Overtaken(count);
        }
        // Before the program has had its time, a frame that does not fit may be half of its answer.
        if !front.is_received(frame.echoed) || self.is_partly_answered(front) {
            FrameFinding::Undecided
        } else if !self.is_unanswered(front) {
            FrameFinding::Mispredicted
        } else if front.is_late {
            FrameFinding::Undecided
        } else {
            FrameFinding::Unanswered
        }
    }

    /// Returns what the frame says of a first key that has no rule: only its time tells that it was answered.
    fn finding_of_unpredicted(&self, front: &PendingKey) -> FrameFinding {
        if front.is_received(self.frame.echoed) {
            FrameFinding::Answered
        } else if !front.is_received(self.frame.received) && self.has_drifted() {
            FrameFinding::Drifted
        } else {
            FrameFinding::Undecided
        }
    }

    /// Counts the keys that the frame shows with everything on other rows, and by how many rows.
    fn shifted(&self) -> Option<(usize, i32)> {
        if self.base.caret().row == self.frame.canvas.caret().row && self.line.is_none() {
            return None;
        }
        let known = self.queue.received_predictions(self.frame.received);
        longest_shifted_match(
            known.map(|(_, effect)| effect),
            &self.base,
            &self.frame.canvas,
        )
    }

    /// True if the caret, or its line, is not where it was when the first key was predicted, although the
    /// server had none of the keys.
    fn has_drifted(&self) -> bool {
        let frame = &self.frame.canvas;
        frame.caret() != self.base.caret()
            || frame.caret_kind() != self.base.caret_kind()
            || self
                .line
                .as_ref()
                .is_some_and(|line| line.row == frame.caret().row && !line.holds_caret_of(frame))
    }

    /// Counts the keys that explain where the caret is although the server does not say that it had them: of the states
    /// that it gets it acknowledges only some (docs/protocol.md §5.2).
    fn shown_unacknowledged(&self) -> usize {
        let known = self.queue.iter().map_while(PendingKey::known_effect);
        shortest_match(known, &self.frame.canvas)
    }

    /// Counts the known keys before a received one without a rule whose answer is to be seen.
    fn overtaken(&self) -> Option<usize> {
        let frame = &self.frame;
        let known = self.queue.received_predictions(frame.received).count();
        let unknown = self.queue.iter().nth(known)?;
        if known == 0 || !unknown.is_received(frame.received) {
            return None;
        }
        let caret = frame.canvas.caret();
        // A program's answer may leave the caret in the column where one of them would, too.
        let explains =
            |effect: &KeyEffect| effect.caret == caret && all_match_frame(effect, &frame.canvas);
        let mut effects = self.queue.received_predictions(frame.received);
        let has_nothing_yet =
            caret == self.base.caret() && is_line_untouched(&self.base, &frame.canvas);
        let is_explained = has_nothing_yet || effects.any(|(_, effect)| explains(effect));
        (!is_explained).then_some(known)
    }

    /// True if the key's cells are as predicted, and a later key that the program may be busy with explains
    /// why the caret is not.
    fn is_partly_answered(&self, front: &PendingKey) -> bool {
        let Some(effect) = front.known_effect() else {
            return false;
        };
        let has_later = self
            .queue
            .iter()
            .any(|key| key.is_received(self.frame.received) && !key.is_received(self.frame.echoed));
        has_later && !effect.changes.is_empty() && all_match_frame(effect, &self.frame.canvas)
    }

    /// True if the program may still be busy with a character, or at a prompt with a key that removes some: its line is as it
    /// was before, and it echoes by itself. Where the terminal does, that is how the echo that is turned off looks.
    fn is_unanswered(&self, front: &PendingKey) -> bool {
        let (Some(line), Some(effect)) = (&self.line, front.known_effect()) else {
            return false;
        };
        let is_editor = line.context.kind == InputKind::Editor;
        let may_be_slow = match front.stroke.key {
            Key::Text(_) => true,
            // An editor may leave what was there before.
            key => !is_editor && KeyClass::of(key).removes(),
        };
        let is_believed =
            front.is_late || self.epochs.is_confirmed(front.epoch) || effect.is_harmless;
        is_believed
            && may_be_slow
            && (front.is_late || line.is_echoed || is_editor)
            && !self.may_fall_silent()
            && !CursorSnapshot::of(&self.base).has_effect(&self.frame.canvas)
    }

    /// Draws the pending keys on the newest frame.
    fn redraw_predicted(&mut self) {
        let mut canvas = self.frame.canvas.clone();
        for effect in self.queue.iter().map_while(PendingKey::known_effect) {
            canvas.draw(effect);
        }
        self.predicted = canvas;
        self.hide_answered_preview();
        if self.queue.is_empty() {
            self.base = self.frame.canvas.clone();
        }
    }

    /// Hides the preview of Enter once the answer is on the screen, where it would be in the way.
    fn hide_answered_preview(&mut self) {
        let frame = &self.frame;
        let Some(key) = self.queue.front_mut() else {
            return;
        };
        let Prediction::Unknown { preview } = &mut key.prediction else {
            return;
        };
        let has_effect = match (&preview, &key.before) {
            // An empty prompt in the bottom row looks the same behind its answer, and so may the row above.
            (Some(effect), _) if effect.scrolls => !self.base.reads_as(&frame.canvas),
            (_, Some(before)) => before.has_effect(&frame.canvas),
            _ => false,
        };
        if has_effect && key.stroke.end <= frame.received {
            *preview = None;
        }
    }
}
