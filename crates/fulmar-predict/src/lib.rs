//! Speculative local echo: predicts what a key will show, and how sure that is.
//!
//! An [`Engine`] is told what the user types and what the server's screen looks like, and says which
//! cells to draw over that screen until the server's own come. It is a state machine without clock,
//! socket or thread; its rules are in docs/prediction.md.
//!
//! ```
//! use fulmar_datagram::Time;
//! use fulmar_predict::{Config, Engine};
//! use fulmar_terminal::{Screen, Size};
//!
//! let mut engine = Engine::new(Config::default(), Size::default());
//! let screen = Screen::new(Size::default());
//! engine.handle_frame(Time::ZERO, &screen, 0, 0);
//! engine.handle_keys(Time::ZERO, 0, b"l");
//! // Nobody knows yet whether this place echoes.
//! assert!(engine.overlay(Time::ZERO).is_empty());
//! ```

mod brackets;
mod canvas;
mod caret;
mod class;
mod command;
mod config;
mod decision;
mod display;
mod editor;
mod engine;
mod epoch;
mod gutter;
mod habit;
mod hints;
mod key;
mod line;
mod log;
mod memory;
mod overlay;
mod pending;
mod place;
mod prompt;
mod resync;
mod rules;
mod score;
#[cfg(test)]
mod testing;
mod text;
mod trust;
mod validation;
mod words;
mod work;

pub use config::{Config, Preference};
pub use decision::{Decision, KeyClass, Reason, Rule, Verdict};
pub use engine::Engine;
pub use hints::{Hints, ProgramClass};
pub use overlay::{Ink, Overlay, OverlayCell, Symbol};
pub use score::Score;
