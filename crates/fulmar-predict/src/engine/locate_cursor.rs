//! Where the caret is when nothing is pending, and whether that place is trusted.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::decision::{EpochReason, PredictionDecision};
use crate::echo_confidence::{EchoQuery, TypeAhead};
use crate::epoch::Epoch;
use crate::input_context::InputKind;
use crate::input_line::{InputLine, is_left_alone};

impl PredictionEngine {
    /// Finds the line that the caret of the frame is in. So many columns left of the caret are known
    /// to have been typed into it. Confirms the present epoch if the place is trusted, and leaves a
    /// confirmed one if it is not.
    pub(super) fn survey(&mut self, now: Time, typed: u16, ahead: TypeAhead) {
        let hints = self.hints.as_ref();
        let line = match self.line.take().filter(|line| line.stands(&self.canvas)) {
            Some(mut line) => {
                line.renew(&self.canvas, hints);
                line
            }
            None => InputLine::begin(&self.canvas, typed, hints),
        };
        let reason = self.trust.reason(&EchoQuery {
            canvas: &self.canvas,
            line: &line,
            memory: &self.memory,
            hints,
            ahead,
        });
        let is_prompt = line.place.kind == InputKind::Prompt;
        if is_prompt && !line.is_echoed && !line.repeats(&self.canvas) {
            self.memory.note_answered(line.place.signature);
        }
        self.line = Some(line);
        let epoch = self.epochs.current();
        match reason {
            Some(reason) => self.confirm_epoch(now, epoch, reason),
            None if self.epochs.is_confirmed(epoch) => self.begin_epoch(now, EpochReason::Moved),
            None => {}
        }
    }

    /// Forgets the line if the program went on although nobody had typed anything.
    pub(super) fn leave_line(&mut self, after: &Canvas) {
        let before = &self.base;
        self.line.take_if(|_| !is_left_alone(before, after));
    }

    pub(super) fn confirm_epoch(&mut self, now: Time, epoch: Epoch, reason: EpochReason) {
        if self.epochs.confirm(epoch) {
            let epoch = epoch.get();
            self.log
                .note(now, PredictionDecision::Confirmed { epoch, reason });
        }
    }

    /// A character typed into the present line was echoed.
    pub(super) fn note_echo(&mut self) {
        self.trust.accept_echo();
        let Some(line) = &mut self.line else { return };
        if !std::mem::replace(&mut line.is_echoed, true) {
            self.memory.context(line.place.signature).confirm();
        }
    }
}
