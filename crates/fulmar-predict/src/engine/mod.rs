//! The engine: one state machine that predicts keys, reconciles them with frames and composes overlays.
//!
//! Source: docs/prediction.md §2.

mod compose_overlay;
mod confirm;
mod explain;
mod learn_enter;
mod locate_cursor;
mod misprediction;
mod predict_key;
mod reconcile;
mod replay;
mod settle;

use std::time::Duration;

use fulmar_base::Time;
use fulmar_terminal::{Screen, Size};

use crate::canvas::Canvas;
use crate::config::{PredictionConfig, PredictionMode};
use crate::context_memory::{ContextHistory, ContextMemory};
use crate::decision::{EpochReason, PredictionDecision};
use crate::decision_log::DecisionLog;
use crate::display_policy::DisplayPolicy;
use crate::echo_confidence::EchoConfidence;
use crate::epoch::Epochs;
use crate::input_line::InputLine;
use crate::key::Key;
use crate::key_parser::KeyParser;
use crate::overlay::Overlay;
use crate::pending::PendingQueue;
use crate::prediction_score::PredictionScore;
use crate::stty_detector::SttyDetector;
use crate::tty_hints::TtyHints;

/// More bytes than this in one read are a paste.
///
/// Source: docs/prediction.md §3.
const PASTE_ABOVE: usize = 100;

/// Two reads within this time may hold halves of one sequence.
///
/// Source: docs/prediction.md §4.
const ONE_SEQUENCE: Duration = Duration::from_millis(30);

/// After a pause of this length the terminal has to echo again before anything is shown: a program may have turned the
/// echo off in the middle of the line. Measured: of cooked input, 89.1 % is at once over 100 ms instead of 91.7 %
/// (`fulmar-lab predict --links 100 --traces own-cooked --predictor engine`).
///
/// Source: docs/prediction.md §6, S10.
const PAUSE: Duration = Duration::from_millis(400);

/// The time for which steady hints count. The server looks once a second until 10 s after whatever happened last.
///
/// Source: docs/protocol.md §13.7.
const STEADY_FOR: Duration = Duration::from_secs(9);

/// Predicts what keys will show.
///
/// Hand over what happens, in order, with [`handle_keys`](PredictionEngine::handle_keys) and its sisters; then
/// ask for the [`overlay`](PredictionEngine::overlay) before drawing and for
/// [`poll_timeout`](PredictionEngine::poll_timeout) before sleeping. It draws nothing and calls nobody.
///
/// ```text
///  keys ─► KeyParser ─► rules ─► PendingQueue ─► compose_overlay ─► Overlay
///                         ▲           │
///  frames ─► reconcile: confirm, replay
///                         │           ▼
///      InputLine, EchoConfidence, ContextMemory: may it be shown?
/// ```
#[derive(Debug)]
pub struct PredictionEngine {
    config: PredictionConfig,
    key_parser: KeyParser,
    stty_detector: SttyDetector,
    /// The time of the last read.
    last_read_at: Time,
    /// The number of its first byte.
    last_read_from: u64,
    /// Something was typed since the last Enter.
    is_line_begun: bool,
    frame: ServerFrame,
    /// The frame on which the first pending key was predicted.
    base: Canvas,
    /// The frame with all known pending keys drawn.
    predicted: Canvas,
    queue: PendingQueue,
    epochs: Epochs,
    line: Option<InputLine>,
    echo_confidence: EchoConfidence,
    memory: ContextMemory,
    hints: Option<TtyHints>,
    /// The next frame is the first with these hints.
    hints_changed: bool,
    /// The time since which frames have come with hints that are steady.
    steady_since: Option<Time>,
    display: DisplayPolicy,
    score: PredictionScore,
    log: DecisionLog,
    /// The time of the last call of `overlay`.
    viewed_at: Time,
}

/// The newest screen of the server's.
#[derive(Debug)]
struct ServerFrame {
    canvas: Canvas,
    /// Counts the user's bytes that the server had.
    received: u64,
    /// Counts those that the program had had time for.
    echoed: u64,
    /// The window has got another size since.
    is_stale: bool,
}

impl PredictionEngine {
    /// Returns an engine that has seen nothing.
    pub fn new(config: PredictionConfig, size: Size) -> PredictionEngine {
        let blank = Canvas::new(&Screen::new(size));
        PredictionEngine {
            config,
            key_parser: KeyParser::default(),
            stty_detector: SttyDetector::default(),
            last_read_at: Time::ZERO,
            last_read_from: 0,
            is_line_begun: false,
            frame: ServerFrame {
                canvas: blank.clone(),
                received: 0,
                echoed: 0,
                is_stale: false,
            },
            base: blank.clone(),
            predicted: blank,
            queue: PendingQueue::default(),
            epochs: Epochs::new(),
            line: None,
            echo_confidence: EchoConfidence::new(),
            memory: ContextMemory::default(),
            hints: None,
            hints_changed: false,
            steady_since: None,
            display: DisplayPolicy::default(),
            score: PredictionScore::default(),
            log: DecisionLog::default(),
            viewed_at: Time::ZERO,
        }
    }

    /// Takes in one read of the user's keyboard. `first` is the number of its first byte among all
    /// bytes ever typed, counted from 0. More than 100 bytes are a paste.
    pub fn handle_keys(&mut self, now: Time, first: u64, bytes: &[u8]) {
        let pause = now.since(self.last_read_at);
        let at_once = pause <= ONE_SEQUENCE;
        self.last_read_at = now;
        self.last_read_from = first;
        let mut strokes = Vec::new();
        self.key_parser.read(at_once, first, bytes, &mut strokes);
        if self.config.mode == PredictionMode::Never {
            return;
        }
        if bytes.len() > PASTE_ABOVE {
            self.is_line_begun = strokes.last().is_none_or(|stroke| stroke.key != Key::Enter);
            return self.discard_pending(now, EpochReason::Paste);
        }
        if pause >= PAUSE {
            self.handle_pause(now, first);
        }
        for stroke in strokes.into_iter().filter(|stroke| stroke.key.is_key()) {
            self.handle_key(now, stroke);
        }
    }

    /// Takes in a newer screen of the server's. `received` says how many of the user's bytes the
    /// server had when it made the screen, `echoed` for how many of them the program had had 50 ms.
    pub fn handle_frame(&mut self, now: Time, screen: &Screen, received: u64, echoed: u64) {
        if self.config.mode == PredictionMode::Never {
            return;
        }
        if screen.size() != self.predicted.size() {
            self.discard_pending(now, EpochReason::Resize);
        }
        let canvas = Canvas::new(screen);
        if self.queue.is_empty() {
            self.forget_abandoned_line(&canvas);
        }
        self.steady_since = match self.hints {
            Some(hints) if hints.steady => self.steady_since.or(Some(now)),
            _ => None,
        };
        self.frame = ServerFrame {
            canvas,
            received: received.max(self.frame.received),
            echoed: echoed.max(self.frame.echoed),
            is_stale: false,
        };
        self.reconcile(now);
    }

    /// Takes in what the server says about the program; just before the frame that it belongs to.
    pub fn handle_hints(&mut self, hints: TtyHints) {
        self.hints_changed |= self.hints.is_some_and(|old| !old.agrees_with(&hints));
        self.hints = Some(hints);
        // For good: what was typed while nothing echoed is not shown when echo comes back
        // (docs/prediction.md §9).
        if hints.is_silent() {
            self.queue.iter_mut().for_each(|key| key.is_hidden = true);
        }
    }

    /// Takes note of another size of the window: nothing stays pending.
    pub fn handle_resize(&mut self, now: Time, _size: Size) {
        self.frame.is_stale = true;
        self.discard_pending(now, EpochReason::Resize);
    }

    /// Takes note of the smoothed round trip; `None` while there is none.
    pub fn handle_link(&mut self, srtt: Option<Duration>) {
        self.display.set_link(srtt);
    }

    /// Returns what to draw over the last frame.
    pub fn overlay(&mut self, now: Time) -> Overlay {
        self.viewed_at = now;
        self.compose_overlay(now)
    }

    /// Returns when the overlay may change although nothing happens.
    pub fn poll_timeout(&self) -> Option<Time> {
        let oldest = self.queue.front().map(|key| key.typed_at);
        self.display.due(self.config.mode, self.viewed_at, oldest)
    }

    /// Returns counts of right and wrong predictions.
    pub fn score(&self) -> PredictionScore {
        self.score
    }

    /// Says whether decisions are to be noted for [`take_decisions`](PredictionEngine::take_decisions).
    pub fn set_observed(&mut self, is_observed: bool) {
        self.log.set_watched(is_observed);
    }

    /// Returns what was decided since the last call, at most 1024 of them, each with its time.
    pub fn take_decisions(&mut self) -> Vec<(Time, PredictionDecision)> {
        self.log.take()
    }

    /// True if the hints are of a look that was late enough, that the server has not long given up, and that was taken
    /// when it had everything but what is being typed.
    fn has_steady_hints(&self, now: Time) -> bool {
        let since = self.steady_since;
        since.is_some_and(|since| now.since(since) <= STEADY_FOR)
            && self.frame.received >= self.last_read_from
    }

    /// Takes the newest frame for the screen that the next key is predicted on.
    fn reset_to_frame(&mut self) {
        self.predicted = self.frame.canvas.clone();
        self.base = self.frame.canvas.clone();
    }

    /// Returns the history of the context that the user types in, a new one if need be.
    fn history_mut(&mut self) -> Option<&mut ContextHistory> {
        let line = self.line.as_ref()?;
        Some(self.memory.entry(line.context.id))
    }

    /// Begins an unconfirmed epoch.
    fn begin_epoch(&mut self, now: Time, reason: EpochReason) {
        let epoch = self.epochs.begin().get();
        self.log
            .note(now, PredictionDecision::EpochBegun { epoch, reason });
    }
}

#[cfg(test)]
mod tests;
