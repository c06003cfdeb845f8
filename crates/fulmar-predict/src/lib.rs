//! Speculative local echo: predicts what a key will show, and how sure that is.
//!
//! A [`PredictionEngine`] is told what the user types and what the server's screen looks like, and says which
//! cells to draw over that screen until the server's own come. It is a state machine without clock,
//! socket or thread; its rules are in docs/prediction.md.
//!
//! ```
//! use fulmar_base::Time;
//! use fulmar_predict::{PredictionConfig, PredictionEngine};
//! use fulmar_terminal::{Screen, Size};
//!
//! let mut engine = PredictionEngine::new(PredictionConfig::default(), Size::default());
//! let screen = Screen::new(Size::default());
//! engine.handle_frame(Time::ZERO, &screen, 0, 0);
//! engine.handle_keys(Time::ZERO, 0, b"l");
//! // Nobody knows yet whether the program echoes.
//! assert!(engine.overlay(Time::ZERO).is_empty());
//! ```

mod brackets;
mod canvas;
mod caret;
mod config;
mod contained_keys;
mod context_memory;
mod decision;
mod decision_log;
mod display_policy;
mod echo_confidence;
mod editor;
mod effect;
mod engine;
mod epoch;
mod frame_match;
mod gutter;
mod input_context;
mod input_line;
mod key;
mod key_class;
mod key_confidence;
mod key_parser;
mod overlay;
mod pending;
mod prediction_score;
mod prompt;
mod rules;
mod stty_detector;
#[cfg(test)]
mod testing;
mod text;
mod tty_hints;
mod word_style;
mod work_count;

pub use config::{PredictionConfig, PredictionMode};
pub use decision::{EpochReason, KeyClass, KeyRule, PredictionDecision, PredictionVerdict};
pub use engine::PredictionEngine;
pub use overlay::{CellContent, Grapheme, Overlay, OverlayCell};
pub use prediction_score::PredictionScore;
pub use tty_hints::{ProgramClass, TtyHints};
