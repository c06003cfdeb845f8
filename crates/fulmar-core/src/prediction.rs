//! Showing keys before the server has answered: what the engine needs of the conversation.

use std::collections::VecDeque;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::{
    Overlay, PredictionConfig, PredictionDecision, PredictionEngine, PredictionMode,
    PredictionScore, TtyHints,
};
use fulmar_terminal::Size;
use fulmar_transport::StateNumber;

use crate::host_screen::HostScreen;

/// Sent states whose number of bytes is remembered. With more, the newest take one another's place,
/// so that keys count as received a little later than they were.
///
/// Source: docs/threat-model.md §6.
const SENT_STATES_MAX: usize = 1024;

/// The engine, and what connects it with numbered states. Nothing is kept or computed if the user
/// wants no prediction.
#[derive(Debug)]
pub(crate) struct Prediction {
    engine: Option<PredictionEngine>,
    /// Bytes that were ever typed.
    typed: u64,
    sent: SentBytes,
    /// The time at which the picture may change although nothing happens, as of the last drawing.
    due: Option<Time>,
}

impl Prediction {
    pub(crate) fn new(config: PredictionConfig, size: Size) -> Prediction {
        let is_wanted = config.mode != PredictionMode::Never;
        Prediction {
            engine: is_wanted.then(|| PredictionEngine::new(config, size)),
            typed: 0,
            sent: SentBytes::default(),
            due: None,
        }
    }

    /// Takes in what one read of the keyboard brought for the program.
    pub(crate) fn handle_keys(&mut self, now: Time, bytes: &[u8]) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        engine.handle_keys(now, self.typed, bytes);
        self.typed += bytes.len() as u64;
    }

    /// Notes that state `number` of the user stream was sent, which has so many bytes in all.
    pub(crate) fn note_sent(&mut self, number: StateNumber, bytes: impl FnOnce() -> u64) {
        if self.engine.is_some() && number != StateNumber::SHUTDOWN {
            self.sent.note(number, bytes());
        }
    }

    /// Takes in the newest state of the screen. The instruction that brought it says that the server
    /// had state `acknowledged` of the user stream. `hints` are those that go with it, if they count.
    pub(crate) fn handle_frame(
        &mut self,
        now: Time,
        state: &HostScreen,
        acknowledged: StateNumber,
        hints: Option<TtyHints>,
    ) {
        let Some(engine) = &mut self.engine else {
            return;
        };
        let echoed = self.sent.bytes_of(state.echo_ack());
        // What the program has had time to answer, the server has had.
        let received = self.sent.bytes_of(acknowledged).max(echoed);
        self.sent.forget_before(state.echo_ack().min(acknowledged));
        // Before the frame: they tell what it is to be taken for (docs/protocol.md §13.7).
        if let Some(hints) = hints {
            engine.handle_hints(hints);
        }
        engine.handle_frame(now, state.screen(), received, echoed);
    }

    /// Takes note of the window's size.
    pub(crate) fn handle_resize(&mut self, now: Time, size: Size) {
        if let Some(engine) = &mut self.engine {
            engine.handle_resize(now, size);
        }
    }

    /// Takes note of the smoothed round trip; `None` before the first was measured.
    pub(crate) fn handle_link(&mut self, round_trip: Option<Duration>) {
        if let Some(engine) = &mut self.engine {
            engine.handle_link(round_trip);
        }
    }

    /// Returns what to draw over the newest screen; nothing if it is to be shown as it is.
    pub(crate) fn overlay(&mut self, now: Time) -> Option<Overlay> {
        let engine = self.engine.as_mut()?;
        let overlay = engine.overlay(now);
        self.due = engine.poll_timeout().filter(|due| *due > now);
        (!overlay.is_empty()).then_some(overlay)
    }

    /// Returns the time at which the picture may change although nothing happens.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Returns how good the predictions were, if there are any.
    pub(crate) fn score(&self) -> Option<PredictionScore> {
        self.engine.as_ref().map(PredictionEngine::score)
    }

    /// Has decisions noted from now on.
    pub(crate) fn observe(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.set_observed(true);
        }
    }

    /// Returns what was decided since the last time.
    pub(crate) fn take_decisions(&mut self) -> Vec<(Time, PredictionDecision)> {
        let engine = self.engine.as_mut();
        engine
            .map(PredictionEngine::take_decisions)
            .unwrap_or_default()
    }
}

/// The number of bytes that had been typed by each state that was sent.
#[derive(Debug, Default)]
struct SentBytes {
    /// Oldest first; only states that have more bytes than the one before.
    states: VecDeque<(StateNumber, u64)>,
}

impl SentBytes {
    fn note(&mut self, number: StateNumber, bytes: u64) {
        if self.newest_bytes() == bytes {
            return;
        }
        if self.states.len() >= SENT_STATES_MAX {
            self.states.pop_back();
        }
        self.states.push_back((number, bytes));
    }

    fn newest_bytes(&self) -> u64 {
        self.states.back().map_or(0, |&(_, bytes)| bytes)
    }

    /// Returns how many bytes state `number` has, which was not forgotten.
    fn bytes_of(&self, number: StateNumber) -> u64 {
        let place = self.states.partition_point(|&(known, _)| known <= number);
        let state = place.checked_sub(1).and_then(|last| self.states.get(last));
        state.map_or(0, |&(_, bytes)| bytes)
    }

    /// Forgets states before `number`, of which it will not be asked again.
    fn forget_before(&mut self, number: StateNumber) {
        let place = self.states.partition_point(|&(known, _)| known <= number);
        self.states.drain(..place.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(number: u64) -> StateNumber {
        StateNumber::new(number)
    }

    #[test]
    fn a_state_has_the_bytes_of_the_last_one_that_brought_any() {
        let mut sent = SentBytes::default();
        for (number, bytes) in [(1, 0), (2, 3), (3, 3), (5, 4)] {
            sent.note(state(number), bytes);
        }
        let bytes = [0, 1, 2, 3, 4, 5, 99].map(|number| sent.bytes_of(state(number)));
        assert_eq!(bytes, [0, 0, 3, 3, 3, 4, 4]);
        sent.forget_before(state(4));
        assert_eq!(sent.states.len(), 2);
        assert_eq!(sent.bytes_of(state(4)), 3);
        sent.forget_before(state(5));
        assert_eq!(sent.bytes_of(state(5)), 4);
    }

    #[test]
    fn a_long_silence_costs_no_memory_and_nothing_counts_too_early() {
        let mut sent = SentBytes::default();
        for number in 1..100_000 {
            sent.note(state(number), number);
            assert!(sent.states.len() <= SENT_STATES_MAX);
        }
        for number in [1, 1000, 50_000] {
            assert!(sent.bytes_of(state(number)) <= number);
        }
        assert_eq!(sent.bytes_of(state(99_999)), 99_999);
    }

    #[test]
    fn who_wants_no_prediction_has_none() {
        let config = PredictionConfig {
            mode: PredictionMode::Never,
            ..PredictionConfig::default()
        };
        let mut never = Prediction::new(config, Size::default());
        never.handle_keys(Time::ZERO, b"x");
        never.note_sent(state(1), || panic!("nobody asks"));
        assert_eq!(never.overlay(Time::ZERO), None);
        assert_eq!((never.typed, never.score()), (0, None));
    }
}
