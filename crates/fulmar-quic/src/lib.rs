//! One QUIC connection as ordered *streams* over datagrams, for bulk data.
//!
//! Two ends that share a [`Secret`] each make a [`Connection`]: the client's begins, the server's
//! waits for the first datagram that was made with the secret, and for nobody else. A stream is an
//! ordered reliable sequence of bytes. Stream 0 runs both ways; the others carry what either end writes
//! to them, and none waits for another.
//!
//! ```text
//!   write, read ─► Streams ─► quinn-proto ─► Transmit ─► the edge's socket
//!                              ▲    ▲
//!  datagram ─► InitialFilter ──┘    └── windows, congestion control
//! ```
//!
//! The [`InitialFilter`] stands before the protocol: what was not made with the secret gets no answer and
//! changes nothing but a counter. `docs/copy-protocol.md` tells how streams are carried.
//!
//! Not here: sockets, clocks, addresses (a path is a number) and what the streams carry. The keys of
//! the handshake are the one exception to the rule that randomness comes in as an argument:
//! `ring` asks the system for them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod connection;
mod connection_id;
mod control;
mod event;
mod initial_filter;
mod keys;
mod options;
mod secret;
mod streams;
mod window;

pub use connection::Connection;
pub use event::{ConnectionEnd, ConnectionEvent, DatagramVerdict, Statistics, Transmit};
pub use initial_filter::{InitialFilter, Rejected, RejectedCounts};
pub use options::{CongestionControl, ConnectionOptions, STREAMS_MAX, WINDOW_MAX};
pub use secret::{Secret, SecretError};
pub use streams::StreamId;
