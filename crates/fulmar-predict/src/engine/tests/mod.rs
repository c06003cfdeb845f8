//! An engine, a program's terminal, and a link that delivers when the test says so.

use super::*;
use crate::testing::text;
use fulmar_terminal::{CursorShape, Terminal};

mod bounds;
mod echo;
mod looks;
mod secrets;
mod working;

/// Bracketed paste on, as line editors have it.
pub(super) const EDITING: &str = "\x1b[?2004h";

/// … and off, as while a command runs.
pub(super) const RUNNING: &str = "\x1b[?2004l";

pub(super) struct Scene {
    pub(super) engine: PredictionEngine,
    pub(super) server: Terminal,
    pub(super) now: Time,
    typed: u64,
}

impl Scene {
    /// A slow link, a screen of 10 rows of 40 columns, and what the program has written.
    pub(super) fn new(written: &str) -> Scene {
        Scene::with(PredictionConfig::default(), written)
    }

    pub(super) fn with(config: PredictionConfig, written: &str) -> Scene {
        Scene::build(config, Size::new(10, 40).unwrap(), written)
    }

    /// The same on a screen of another size.
    pub(super) fn sized(rows: u16, columns: u16, written: &str) -> Scene {
        Scene::build(
            PredictionConfig::default(),
            Size::new(rows, columns).unwrap(),
            written,
        )
    }

    fn build(config: PredictionConfig, size: Size, written: &str) -> Scene {
        let mut engine = PredictionEngine::new(config, size);
        engine.handle_link(Some(Duration::from_millis(100)));
        let mut scene = Scene {
            engine,
            server: Terminal::new(size),
            now: Time::ZERO,
            typed: 0,
        };
        scene.answer(written);
        scene
    }

    /// Types, each character at a time of its own.
    pub(super) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.key(key.encode_utf8(&mut [0; 4]));
        }
    }

    /// Types one key.
    pub(super) fn key(&mut self, key: &str) {
        self.now += Duration::from_millis(100);
        self.engine
            .handle_keys(self.now, self.typed, key.as_bytes());
        self.typed += key.len() as u64;
    }

    /// Lets time pass.
    pub(super) fn pause(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    /// The program writes; the frame shows that it has had time for everything typed.
    pub(super) fn answer(&mut self, written: &str) {
        self.answer_early(written, self.typed);
    }

    /// The program writes; it has had time for so many bytes.
    pub(super) fn answer_early(&mut self, written: &str, echoed: u64) {
        self.partial(written, self.typed, echoed);
    }

    pub(super) fn partial(&mut self, written: &str, received: u64, echoed: u64) {
        self.now += Duration::from_millis(10);
        self.server.process(written.as_bytes());
        let screen = self.server.screen().clone();
        self.engine
            .handle_frame(self.now, &screen, received, echoed);
    }

    /// Counts the typed bytes.
    pub(super) fn typed(&self) -> u64 {
        self.typed
    }

    /// Returns the screen as the user sees it.
    pub(super) fn seen(&mut self) -> Screen {
        let mut screen = self.server.screen().clone();
        self.engine.overlay(self.now).apply(&mut screen);
        screen
    }

    /// The text of a row that the user sees.
    pub(super) fn row(&mut self, row: u16) -> String {
        text(&self.seen(), row).trim_end().to_owned()
    }

    /// True if anything is shown beyond the frame.
    pub(super) fn shows(&mut self) -> bool {
        !self.engine.overlay(self.now).is_empty()
    }

    /// The column of the cursor that the user sees.
    pub(super) fn column(&mut self) -> u16 {
        self.seen().cursor().position.column.0
    }
}
