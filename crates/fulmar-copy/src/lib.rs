//! The protocol of a copy (docs/copy-protocol.md), as two state machines: [`Sender`] and [`Receiver`].
//!
//! ```text
//!             Requester ── Hello, Put or Get ──►  Answerer           one exchange at the start,
//!                       ◄── Hello, Ready or Refused ──               then one end is the Sender
//!
//!   Source ─► Sender ═ entries and their data, on many streams ═► Receiver ─► Target
//!                    ◄──── settled entries, parts held ──────
//! ```
//!
//! The crate knows no file, no socket and no clock. A [`Source`] gives entries and bytes, a [`Target`] takes
//! them, and [`Streams`] carry bytes to the other end: ordered and reliable each, and independent of one another.
//!
//! The edge calls `poll` whenever streams, source or target may have become ready, and drains `poll_event`:
//!
//! ```text
//!   loop {
//!       match sender.poll(&mut source, &mut streams, BUDGET)? {
//!           Poll::More => …        // serve others, then come back without sleeping
//!           Poll::Waiting => …     // sleep until something is ready
//!           Poll::Done => break,
//!       }
//!       while let Some(event) = sender.poll_event() { … }
//!   }
//! ```
//!
//! A user may bound how fast a copy goes: [`RateLimit`] is what was asked for, and a [`RateLimiter`] keeps to it.
//!
//! What a peer sends is checked before it is believed. A peer that breaks the rules ends the copy with one
//! [`ProtocolError`]; trouble with one file is a [`EntryError`], and the rest goes on.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

#[cfg(test)]
extern crate self as fulmar_copy;

mod answer;
mod chunks;
mod codec;
mod control;
mod digest;
mod entry;
mod entry_error;
mod event;
mod exchange;
mod inlet;
mod limits;
mod news;
mod outbox;
mod path;
mod protocol_error;
mod rate_limit;
mod rate_limiter;
mod receiver;
mod request;
mod sender;
mod source;
mod streams;
mod target;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use answer::Answer;
pub use entry::{Entry, EntryId, EntryKind, Timestamp};
pub use entry_error::{EntryError, EntryErrorKind};
pub use event::{CopyEnd, CopyEvent, EntryVerdict, Occupant, Poll, Progress, Totals};
pub use exchange::{Answerer, Requester};
pub use limits::{
    CHUNK_BYTES_MIN, CHUNKS_MAX, DEPTH_MAX, EVENTS_MAX, LARGE_FILES_MAX, NAME_BYTES_MAX, SIZE_MAX,
    STREAMS_MAX, VERSION,
};
pub use path::{PathFault, RelativePath};
pub use protocol_error::ProtocolError;
pub use rate_limit::{BadQuantity, RateLimit, parse_memory_size};
pub use rate_limiter::RateLimiter;
pub use receiver::{Allowed, Receiver};
pub use request::{Flags, Request};
pub use sender::Sender;
pub use source::{NextEntry, Piece, Settled, Source};
pub use streams::{Arrived, StreamId, Streams};
pub use target::{ExistingFile, PartialFile, Target};
