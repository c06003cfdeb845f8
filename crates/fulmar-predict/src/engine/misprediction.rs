//! Which key was wrong, and what is remembered of it.
//!
//! Source: docs/prediction.md §6, §7.

use fulmar_terminal::Position;

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::context_memory::ContextHistory;
use crate::frame_match::holds;
use crate::key::{Key, Keystroke};
use crate::pending::{KeyEffect, PendingKey};

/// A key that did not do what was expected of it.
struct Culprit {
    stroke: Keystroke,
    /// Where a character was expected.
    typed_at: Option<Position>,
    /// It was under way while the terminal showed nothing.
    is_hidden: bool,
}

impl Culprit {
    fn new(key: &PendingKey, typed_at: Option<Position>) -> Culprit {
        Culprit {
            stroke: key.stroke,
            typed_at,
            is_hidden: key.is_hidden,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self.stroke.key, Key::Text(_))
    }
}

impl PredictionEngine {
    /// Finds out which of the keys that have had their time was wrong, and remembers it.
    pub(super) fn blame(&mut self) {
        let Some(culprit) = self.culprit() else {
            return;
        };
        if culprit.is_text() && !culprit.is_hidden {
            self.trust.refute_echo();
        }
        self.remember(&culprit);
        let is_blamed = |key: &&mut PendingKey| key.stroke == culprit.stroke;
        for key in self.queue.iter_mut().filter(is_blamed) {
            key.is_wrong = true;
        }
    }

    /// The first key of which a cell is not as expected; if all are, the first.
    fn culprit(&self) -> Option<Culprit> {
        let frame = &self.frame;
        let agrees = |effect: &KeyEffect| {
            let mut patches = effect.patches.iter();
            patches.all(|patch| holds(patch, &frame.canvas))
        };
        let mut echoed = self.queue.received_known(frame.echoed);
        match echoed.find(|(_, effect)| !agrees(effect)) {
            Some((key, effect)) => Some(Culprit::new(key, effect.typed_at)),
            None => self.queue.front().map(|key| Culprit::new(key, None)),
        }
    }

    /// The place remembers how the key did; a character takes the place's trust away, and the line's.
    fn remember(&mut self, culprit: &Culprit) {
        let Some(line) = &mut self.line else { return };
        let context = self.memory.context(line.place.signature);
        context.disagree(culprit.stroke.key);
        if !culprit.is_text() {
            return;
        }
        line.is_echoed = false;
        if !culprit.is_hidden {
            context.fail();
        }
        learn_edge(context, culprit.typed_at, &self.frame.canvas);
    }
}

/// A line may be narrower than the screen: a guess near its right end failed, and the caret went
/// left.
fn learn_edge(context: &mut ContextHistory, typed_at: Option<Position>, frame: &Canvas) {
    let Some(at) = typed_at else { return };
    let is_right = u32::from(at.column.0) * 4 >= u32::from(frame.size().columns()) * 3;
    if is_right && frame.caret().column < at.column {
        context.learn_edge(at.column.0);
    }
}
