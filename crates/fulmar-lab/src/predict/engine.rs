//! Our own engine as a predictor.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::{PredictionConfig, PredictionEngine};
use fulmar_terminal::Size;

use super::predictor::{DrawnScreen, Predictor};
use super::recorded_user::KeyboardRead;
use super::session::ServerFrame;
use super::snapshot::ScreenSnapshot;

/// The engine beside the client.
pub(super) struct Adapter {
    engine: PredictionEngine,
}

impl Adapter {
    pub(super) fn new(size: Size) -> Adapter {
        let mut engine = PredictionEngine::new(PredictionConfig::default(), size);
        engine.set_observed(true);
        Adapter { engine }
    }
}

fn time(now: Duration) -> Time {
    Time::from_origin(now)
}

impl Predictor for Adapter {
    fn type_keys(&mut self, now: Duration, keys: &KeyboardRead, _: &ServerFrame) {
        self.engine.handle_keys(time(now), keys.first, &keys.bytes);
    }

    fn take_frame(&mut self, now: Duration, frame: &ServerFrame) {
        self.engine.handle_link(frame.update.srtt);
        if let Some(hints) = frame.update.hints {
            self.engine.handle_hints(hints);
        }
        let (received, echoed) = (frame.update.received, frame.update.echoed);
        self.engine
            .handle_frame(time(now), &frame.update.screen, received, echoed);
    }

    fn resize(&mut self, now: Duration, size: Size) {
        self.engine.handle_resize(time(now), size);
    }

    fn draw(&mut self, now: Duration, frame: &ServerFrame) -> DrawnScreen {
        let overlay = self.engine.overlay(time(now));
        if overlay.is_empty() {
            return DrawnScreen::plain(frame);
        }
        let mut screen = frame.update.screen.clone();
        overlay.apply(&mut screen);
        DrawnScreen {
            snapshot: ScreenSnapshot::of(&screen, Some((&frame.update.screen, &frame.snapshot))),
            ..DrawnScreen::because(&overlay, frame)
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.engine.poll_timeout().map(|at| at.since_origin())
    }

    fn take_remarks(&mut self) -> Vec<String> {
        let decisions = self.engine.take_decisions();
        decisions
            .iter()
            .map(|(_, decision)| decision.to_string())
            .collect()
    }
}
