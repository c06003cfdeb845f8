//! Locates the input line at the cursor, and confirms its epoch where echo may be expected.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::decision::{EpochReason, PredictionDecision};
use crate::echo_confidence::{EchoQuery, TypeAhead};
use crate::epoch::Epoch;
use crate::input_context::InputKind;
use crate::input_line::{InputLine, is_line_untouched};

impl PredictionEngine {
    /// Finds the line that the caret of the frame is in. So many columns left of the caret are known
    /// to have been typed into it. Confirms the present epoch if echo may be expected, and leaves a
    /// confirmed one if it is not.
    pub(super) fn locate_cursor(&mut self, now: Time, typed: u16, ahead: TypeAhead) {
        let hints = self.hints.as_ref();
        // The same line keeps what it has echoed; another one has to show it anew.
        let line = match self
            .line
            .take()
            .filter(|line| line.holds_caret_of(&self.predicted))
        {
            Some(mut line) => {
                line.refresh(&self.predicted, hints);
                line
            }
            None => InputLine::at_caret(&self.predicted, typed, hints),
        };
        let reason = self.echo_confidence.reason_to_confirm(&EchoQuery {
            canvas: &self.predicted,
            line: &line,
            memory: &self.memory,
            hints,
            type_ahead: ahead,
            is_steady: self.has_steady_hints(now),
        });
        // Something was written between two prompts, as a shell's commands do: S3.
        let is_prompt = line.context.kind == InputKind::Prompt;
        if is_prompt && !line.is_echoed && !line.repeats_row_above(&self.predicted) {
            self.memory
                .note_output_between(line.context.id, &line.above);
        }
        self.line = Some(line);
        let epoch = self.epochs.current();
        match reason {
            Some(reason) => self.confirm_epoch(now, epoch, reason),
            // A confirmed epoch speaks of another line.
            None if self.epochs.is_confirmed(epoch) => self.begin_epoch(now, EpochReason::Moved),
            None => {}
        }
    }

    /// Forgets the line if the program went on although nobody had typed anything.
    pub(super) fn forget_abandoned_line(&mut self, after: &Canvas) {
        let before = &self.base;
        self.line.take_if(|_| !is_line_untouched(before, after));
    }

    /// Confirms an epoch and all before it.
    pub(super) fn confirm_epoch(&mut self, now: Time, epoch: Epoch, reason: EpochReason) {
        if self.epochs.confirm(epoch) {
            let epoch = epoch.get();
            self.log
                .note(now, PredictionDecision::EpochConfirmed { epoch, reason });
        }
    }

    /// Notes that a character typed into the present line was echoed.
    pub(super) fn note_echo(&mut self) {
        self.echo_confidence.accept_echo();
        let Some(line) = &mut self.line else { return };
        if !std::mem::replace(&mut line.is_echoed, true) {
            self.memory.entry(line.context.id).note_echo(&line.above);
        }
    }
}
