//! Learns what Enter does from the program's answer.
//!
//! Source: docs/prediction.md §7.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::context_memory::EnterEffect;
use crate::decision::EpochReason;
use crate::input_context::InputKind;
use crate::key::Key;
use crate::rules;

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
        if line.context.kind == InputKind::Editor {
            let effect = self.split_that_explains();
            return self.learn_enter_effect(effect);
        }
        let is_emptied = frame.caret() == line.at(line.margin)
            && before.caret != frame.caret()
            && line.holds_caret_of(frame);
        let effect = if before.stays_above(frame) {
            Some(EnterEffect::NextRow)
        } else {
            is_emptied.then_some(EnterEffect::ClearLine)
        };
        self.learn_enter_effect(effect);
    }

    fn learn_enter_effect(&mut self, effect: Option<EnterEffect>) {
        if let Some(history) = self.history_mut() {
            history.enter = effect;
        }
    }

    /// Returns the way in which an editor split the line, if that explains the caret.
    fn split_that_explains(&self) -> Option<EnterEffect> {
        let splits = [true, false].into_iter().filter(|&indents| {
            let mut canvas = self.base.clone();
            rules::split(indents, &mut canvas).is_some()
                && canvas.caret() == self.frame.canvas.caret()
        });
        let effects: Vec<EnterEffect> = splits
            .map(|indents| EnterEffect::Split { indents })
            .collect();
        let context = self.line.as_ref()?.context.id;
        let known = self.memory.get(context).and_then(|history| history.enter);
        // Both ways come to the same where there is nothing to indent: then what is known stands.
        let same = effects.iter().find(|effect| Some(**effect) == known);
        same.or(effects.first()).copied()
    }
}
