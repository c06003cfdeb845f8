//! The one state machine.

use std::time::Duration;

use fulmar_datagram::Time;
use fulmar_terminal::{Screen, Size};

use crate::config::Config;
use crate::decision::Decision;
use crate::hints::Hints;
use crate::overlay::Overlay;
use crate::score::Score;

/// Guesses what keys will show.
///
/// Hand over what happens, in order, with [`handle_keys`](Engine::handle_keys) and its sisters; then
/// ask for the [`overlay`](Engine::overlay) before drawing and for
/// [`poll_timeout`](Engine::poll_timeout) before sleeping. It draws nothing and calls nobody.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    size: Size,
    screen: Screen,
    score: Score,
}

impl Engine {
    /// Returns an engine that has seen nothing.
    pub fn new(config: Config, size: Size) -> Engine {
        Engine {
            config,
            size,
            screen: Screen::new(size),
            score: Score::default(),
        }
    }

    /// Takes in one read of the user's keyboard. `first` is the number of its first byte among all
    /// bytes ever typed, counted from 0. More than 100 bytes are a paste.
    pub fn handle_keys(&mut self, _now: Time, _first: u64, bytes: &[u8]) {
        self.score.keys += u64::from(!bytes.is_empty());
    }

    /// Takes in a newer screen of the server's. `received` says how many of the user's bytes the
    /// server had when it made the screen, `echoed` for how many of them the program had had 50 ms.
    pub fn handle_frame(&mut self, _now: Time, screen: &Screen, _received: u64, _echoed: u64) {
        self.screen = screen.clone();
    }

    /// Takes in what the server says about the program; just before the frame that it belongs to.
    pub fn handle_hints(&mut self, _now: Time, _hints: Hints) {}

    /// Takes note of another size of the window: nothing stays pending.
    pub fn handle_resize(&mut self, _now: Time, size: Size) {
        self.size = size;
    }

    /// Takes note of the smoothed round trip; `None` while there is none.
    pub fn handle_link(&mut self, _srtt: Option<Duration>) {}

    /// Takes note of the user's wishes.
    pub fn set_config(&mut self, config: Config) {
        self.config = config;
    }

    /// Returns what to draw over the last frame.
    pub fn overlay(&mut self, _now: Time) -> Overlay {
        Overlay::default()
    }

    /// Returns when the overlay may change although nothing happens.
    pub fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// How good the guesses were.
    pub fn score(&self) -> Score {
        self.score
    }

    /// Says whether decisions are to be noted for [`take_decisions`](Engine::take_decisions).
    pub fn set_observed(&mut self, _is_observed: bool) {}

    /// Returns what was decided since the last call, at most 1024 of them, each with its time.
    pub fn take_decisions(&mut self) -> Vec<(Time, Decision)> {
        Vec::new()
    }
}
