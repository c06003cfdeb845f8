//! Takes a misprediction back: finds the key, remembers it, and has the keys replayed. `explain` looks for other reasons first.
//!
//! Source: docs/prediction.md §6, §7.

use fulmar_base::Time;
use fulmar_terminal::Position;

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::context_memory::ContextHistory;
use crate::decision::EpochReason;
use crate::frame_match::all_match_frame;
use crate::key::{Key, Keystroke};
use crate::pending::PendingKey;

/// A key that did not do what was expected of it.
struct Misprediction {
    stroke: Keystroke,
    /// The position where a character was expected.
    typed_at: Option<Position>,
    /// It was under way while the terminal showed nothing.
    is_hidden: bool,
}

impl Misprediction {
    fn new(key: &PendingKey, typed_at: Option<Position>) -> Misprediction {
        Misprediction {
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
    /// Finds out why the first key did not do what was predicted, remembers it, and replays the keys.
    pub(super) fn handle_misprediction(&mut self, now: Time) {
        // Explanations that blame nobody come first: a key that works another way here, and text that
        // was a placeholder.
        if let Some((key, variant)) = self.alternative() {
            if let Some(history) = self.history_mut() {
                history.adopt_variant(key, variant);
            }
        } else if let Some((text, is_evidence)) = self.placeholder() {
            self.learn_placeholder(text, is_evidence);
        } else {
            self.record_misprediction();
        }
        self.echo_confidence.note_misprediction();
        self.replay(now, EpochReason::Misprediction);
    }

    /// Finds out which of the keys that have had their time was mispredicted, and remembers it.
    fn record_misprediction(&mut self) {
        let Some(misprediction) = self.find_misprediction() else {
            return;
        };
        // What was typed while the terminal showed nothing was not expected to appear.
        if misprediction.is_text() && !misprediction.is_hidden {
            self.echo_confidence.refute_echo();
        }
        self.learn_misprediction(&misprediction);
        let is_mispredicted = |key: &&mut PendingKey| key.stroke == misprediction.stroke;
        for key in self.queue.iter_mut().filter(is_mispredicted) {
            key.is_wrong = true;
        }
    }

    /// Returns the first key of which a cell is not as predicted; if all are, the first.
    fn find_misprediction(&self) -> Option<Misprediction> {
        let frame = &self.frame;
        let mut echoed = self.queue.received_predictions(frame.echoed);
        match echoed.find(|(_, effect)| !all_match_frame(effect, &frame.canvas)) {
            Some((key, effect)) => Some(Misprediction::new(key, effect.typed_at)),
            None => self.queue.front().map(|key| Misprediction::new(key, None)),
        }
    }

    /// Remembers in the context how the key did; after a character, neither context nor line is expected to echo.
    fn learn_misprediction(&mut self, misprediction: &Misprediction) {
        let Some(line) = &mut self.line else { return };
        let history = self.memory.entry(line.context.id);
        history.note_wrong(misprediction.stroke.key);
        if !misprediction.is_text() {
            return;
        }
        history.suggests = false;
        // S5: neither what this line echoed before counts any more, nor what the context did.
        line.is_echoed = false;
        if !misprediction.is_hidden {
            history.note_missing_echo();
        }
        learn_edge(history, misprediction.typed_at, &self.frame.canvas);
    }
}

/// Learns that a line is narrower than the screen: a prediction in the last quarter of the row failed, and the
/// caret went left. Chosen by eye: further left it may be any misprediction.
fn learn_edge(history: &mut ContextHistory, typed_at: Option<Position>, frame: &Canvas) {
    let Some(at) = typed_at else { return };
    let is_right = u32::from(at.column.0) * 4 >= u32::from(frame.size().columns()) * 3;
    if is_right && frame.caret().column < at.column {
        history.learn_edge(at.column.0);
    }
}
