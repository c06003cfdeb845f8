//! Learns what Enter does from the program's answer.
//!
//! Source: docs/prediction.md §7.

use std::sync::Arc;

use fulmar_base::Time;

use super::PredictionEngine;
use crate::context_memory::EnterEffect;
use crate::decision::EpochReason;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::pending::CursorSnapshot;

impl PredictionEngine {
    /// Learns from the answer to the first key, which has no rule and has had its time, and replays what is
    /// left.
    pub(super) fn handle_answer(&mut self, now: Time) {
        self.learn_enter();
        self.replay(now, EpochReason::Unknown);
    }

    /// Learns the effect of Enter: the line stays and what follows comes below it, or the line is emptied
    /// where it is.
    fn learn_enter(&mut self) {
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
        let is_emptied = frame.caret() == line.at(line.margin)
            && before.caret != frame.caret()
            && line.holds_caret_of(frame);
        let effect = match before.text_above(line.margin, frame) {
            Some(above) => Some(EnterEffect::NextRow {
                clears_right: above.stands_alone,
            }),
            None => is_emptied.then_some(EnterEffect::ClearLine),
        };
        if let Some(history) = self.history_mut() {
            history.enter = effect.or(history.enter);
        }
    }

    /// Remembers the line that Enter submitted, as the server's screen has it: what was typed in secret is not there.
    pub(super) fn learn_submitted(&mut self, before: Option<&CursorSnapshot>) {
        let Some(line) = self
            .line
            .as_ref()
            .filter(|line| line.context.kind == InputKind::Prompt)
        else {
            // It may have been typed behind a prompt that was not yet to be seen.
            return self.memory.forget_submitted();
        };
        let text = before.and_then(|before| before.text_above(line.margin, &self.frame.canvas));
        let history = self.memory.entry(line.context.id);
        match text {
            Some(above) => history.note_submitted(above.text),
            // Which line comes before the next is unknown.
            None => history.submitted = Arc::default(),
        }
    }
}
