//! Learns what Enter does from the program's answer.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::context_memory::EnterEffect;
use crate::decision::EpochReason;
use crate::key::Key;

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
        let effect = if before.stays_above(frame) {
            Some(EnterEffect::NextRow)
        } else {
            is_emptied.then_some(EnterEffect::ClearLine)
        };
        if let Some(history) = self.history_mut() {
            history.enter = effect;
        }
    }
}
