//! Films: sessions as one animated drawing, each on a terminal of its own, side by side and at the same time.
//!
//! ```text
//!   fulmar-lab replay --keep ──► trace ─ fulmar-lab cast ─► asciicast ─┐
//!                                                           asciicast ─┴ fulmar-lab film ─► SVG
//! ```
//!
//! An [`Asciicast`] may also come from `asciinema rec`. The drawing is animated by its own stylesheet: it has no
//! script, fetches nothing, and moves wherever a page shows it as a picture. Where nothing moves, it shows the end.

mod asciicast;
mod colour;
mod drawing;
mod screen;
mod strip;

pub use asciicast::{Asciicast, NoAsciicast};
pub use drawing::{Film, Note};
