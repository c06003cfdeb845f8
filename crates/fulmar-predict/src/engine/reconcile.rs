//! A frame comes in: what it says about the pending keys.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::decision::EpochReason;
use crate::frame_match::{holds, longest_match, longest_moved_match};
use crate::input_line::is_left_alone;
use crate::pending::{KeyEffect, PendingKey, Prediction};

/// What a frame says about the keys at the front.
enum FrameFinding {
    /// Nothing yet.
    Open,
    /// So many are as expected.
    Right(usize),
    /// So many are as expected, so many rows further down.
    Moved(usize, i32),
    /// The key without a rule behind so many known ones has been answered.
    Passed(usize),
    /// The key without a rule has had its time.
    Answered,
    /// Something changed that is none of the user's doing.
    Drifted,
    /// The first key did not do what was expected.
    Surprise,
}

impl PredictionEngine {
    /// Settles what the newest frame tells. Every round but the last settles a key or moves the base.
    pub(super) fn judge(&mut self, now: Time) {
        loop {
            match self.finding() {
                FrameFinding::Open if std::mem::take(&mut self.hints_are_news) => {
                    self.heed_hints(now)
                }
                FrameFinding::Open => break,
                FrameFinding::Right(count) => self.confirm(now, count),
                FrameFinding::Moved(count, rows) => self.move_rows(now, count, rows),
                FrameFinding::Passed(count) => self.pass(now, count),
                FrameFinding::Answered => self.settle(now),
                FrameFinding::Drifted => {
                    let canvas = self.frame.canvas.clone();
                    self.leave_line(&canvas);
                    self.lay_again(now, EpochReason::Moved);
                }
                FrameFinding::Surprise => self.regret(now),
            }
        }
        self.redraw();
    }

    /// The frame came with other hints: what is still pending was typed for another reader. Behind
    /// a key without a rule that the server has, it waits for the answer anyway.
    fn heed_hints(&mut self, now: Time) {
        if let Some(line) = &mut self.line {
            line.is_echoed = false;
        }
        self.trust.accept_echo();
        let front = self.queue.front();
        let waits =
            front.is_some_and(|key| key.known().is_none() && key.is_received(self.frame.received));
        if waits {
            return self.begin_epoch(now, EpochReason::Hints);
        }
        self.lay_again(now, EpochReason::Hints);
    }

    fn finding(&self) -> FrameFinding {
        let Some(front) = self.queue.front() else {
            return FrameFinding::Open;
        };
        let frame = &self.frame;
        let known = self.queue.received_known(frame.received);
        let right = longest_match(known.map(|(_, effect)| effect), &frame.canvas);
        if right > 0 {
            return FrameFinding::Right(right);
        }
        if front.known().is_none() {
            return self.finding_of_unknown(front);
        }
        let passed = self.passed();
        match self.moved() {
            Some((count, rows)) if count > 0 || passed.is_none() => {
                return FrameFinding::Moved(count, rows);
            }
            _ => {}
        }
        if !front.is_received(frame.received) {
            return if self.has_drifted() {
                FrameFinding::Drifted
            } else {
                FrameFinding::Open
            };
        }
        if let Some(count) = passed {
            return FrameFinding::Passed(count);
        }
        if front.is_received(frame.echoed) && !self.is_half_way(front) {
            return FrameFinding::Surprise;
        }
        FrameFinding::Open
    }

    fn finding_of_unknown(&self, front: &PendingKey) -> FrameFinding {
        if front.is_received(self.frame.echoed) {
            FrameFinding::Answered
        } else if !front.is_received(self.frame.received) && self.has_drifted() {
            FrameFinding::Drifted
        } else {
            FrameFinding::Open
        }
    }

    /// How many keys the frame shows with everything on other rows.
    fn moved(&self) -> Option<(usize, i32)> {
        if self.base.caret().row == self.frame.canvas.caret().row && self.line.is_none() {
            return None;
        }
        let known = self.queue.received_known(self.frame.received);
        longest_moved_match(
            known.map(|(_, effect)| effect),
            &self.base,
            &self.frame.canvas,
        )
    }

    /// Whether the caret, or the line it is in, is not where it was when the first key was laid,
    /// although the server had none of the keys.
    fn has_drifted(&self) -> bool {
        let frame = &self.frame.canvas;
        frame.caret() != self.base.caret()
            || frame.caret_kind() != self.base.caret_kind()
            || self
                .line
                .as_ref()
                .is_some_and(|line| line.row == frame.caret().row && !line.stands(frame))
    }

    /// The number of known keys before a received one without a rule whose answer is to be seen.
    fn passed(&self) -> Option<usize> {
        let frame = &self.frame;
        let known = self.queue.received_known(frame.received).count();
        let unknown = self.queue.iter().nth(known)?;
        if known == 0 || !unknown.is_received(frame.received) {
            return None;
        }
        let caret = frame.canvas.caret();
        // A program's answer may leave the caret in the column where one of them would, too.
        let explains = |effect: &KeyEffect| {
            let mut patches = effect.patches.iter();
            effect.caret == caret && patches.all(|patch| holds(patch, &frame.canvas))
        };
        let mut effects = self.queue.received_known(frame.received);
        let has_nothing_yet =
            caret == self.base.caret() && is_left_alone(&self.base, &frame.canvas);
        let is_explained = has_nothing_yet || effects.any(|(_, effect)| explains(effect));
        (!is_explained).then_some(known)
    }

    /// Whether the key's cells are as expected, and a later key that the program may be busy with
    /// explains why the caret is not.
    fn is_half_way(&self, front: &PendingKey) -> bool {
        let Some(effect) = front.known() else {
            return false;
        };
        let has_later = self
            .queue
            .iter()
            .any(|key| key.is_received(self.frame.received) && !key.is_received(self.frame.echoed));
        let agrees = |patch| holds(patch, &self.frame.canvas);
        has_later && !effect.patches.is_empty() && effect.patches.iter().all(agrees)
    }

    /// Draws the pending keys on the newest frame.
    fn redraw(&mut self) {
        let mut canvas = self.frame.canvas.clone();
        for effect in self.queue.iter().map_while(PendingKey::known) {
            canvas.draw(effect);
        }
        self.canvas = canvas;
        self.hide_answered_glimpse();
        if self.queue.is_empty() {
            self.base = self.frame.canvas.clone();
        }
    }

    /// What was shown of Enter is in the way when its answer is to be seen.
    fn hide_answered_glimpse(&mut self) {
        let frame = &self.frame;
        let Some(key) = self.queue.front_mut() else {
            return;
        };
        let is_answered = key.is_received(frame.received)
            && key
                .before
                .as_ref()
                .is_some_and(|before| before.has_effect(&frame.canvas));
        if is_answered && let Prediction::Unknown { glimpse } = &mut key.guess {
            *glimpse = None;
        }
    }
}
