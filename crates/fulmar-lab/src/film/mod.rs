//! Films: what a terminal showed in a session, with times.

mod asciicast;

pub use asciicast::{Asciicast, NoAsciicast};
