//! Traces of measured links: where they come from, and links that are like them ([`links`]). And key traces: what
//! a user typed and what the programs wrote back, with times.
//!
//! The form of key traces is described in `testdata/README.md`.

mod alternate_screen;
mod form;
mod keys;
pub mod links;
mod meta;
mod record;
mod recorder;

pub use alternate_screen::SingleScreenTrace;
pub use form::FormError;
pub(crate) use keys::typed_keys;
pub use keys::{Keystroke, KeystrokeKind, keystrokes};
pub use links::{DATA_VARIABLE, LinkTraces, ORIGIN};
pub use meta::{Mark, Meta, MetaError, Note, TtyState};
pub use record::{Event, NoSize, NoTrace, Record, SIZE_MAX, Size, Trace};
pub use recorder::{Clock, FIRST, Recorder};
