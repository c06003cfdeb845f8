//! Settles keys that leave the queue: counts them and tells the log.

use fulmar_base::Time;

use super::PredictionEngine;
use crate::decision::{EpochReason, KeyClass, PredictionDecision, PredictionVerdict};
use crate::pending::PendingKey;

impl PredictionEngine {
    /// Counts a key that is not pending any more, and tells the log.
    pub(super) fn note_settled(&mut self, now: Time, key: &PendingKey, verdict: PredictionVerdict) {
        let shown = key.shown_at;
        match (verdict, shown) {
            (PredictionVerdict::Right, Some(shown_at)) => {
                self.score.right += 1;
                self.score.saved += now.since(shown_at);
            }
            (PredictionVerdict::Wrong, Some(_)) => self.score.wrong += 1,
            (PredictionVerdict::Open, Some(_)) => self.score.open += 1,
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
    pub(super) fn discard_pending(&mut self, now: Time, reason: EpochReason) {
        for key in self.queue.take() {
            self.note_settled(now, &key, PredictionVerdict::Open);
        }
        self.echo_confidence.note_discarded();
        self.line = None;
        self.begin_epoch(now, reason);
        self.reset_to_frame();
    }
}
