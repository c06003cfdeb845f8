//! Small values that pass between crates which know nothing of each other.
//!
//! A type is here if the core, the simulator and the system's side mean the same by it. Nothing here
//! depends on anything, decides anything or knows a format. What means something to one crate alone
//! stays in that crate.
//!
//! Source: docs/decisions/029-shared-values.md.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod address_family;
mod ecn;
mod hint;
mod path_id;
mod send_error;
mod time;

pub use address_family::AddressFamily;
pub use ecn::Ecn;
pub use hint::Hint;
pub use path_id::PathId;
pub use send_error::SendError;
pub use time::Time;
