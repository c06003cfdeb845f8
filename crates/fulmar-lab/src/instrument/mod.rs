//! Instruments: measurements that are no typed session.
//!
//! Each is a type that does the [`Work`] of a run, and has a function `cells`, which the catalogue of experiments
//! calls.

pub mod agreement;
pub mod bulk;
pub mod collection;
pub mod copy;
mod figures;
mod hosts;
mod kernel;
pub mod lan;
pub mod load;
#[cfg(test)]
mod tests;
pub mod tinygram;
mod transfer;
mod watcher;

use std::time::Duration;

use crate::experiment::{Cell, Work};
use crate::trace::Size;
pub use kernel::{Congestion, Kernel};
pub(crate) use transfer::TcpTransfer;
pub use transfer::TransferDirection;

/// The terminal of a session, unless the measurement needs another.
const WINDOW: Size = Size {
    columns: 80,
    rows: 24,
};

/// Returns a cell beside whose runs others may be under way.
fn cell(
    name: impl Into<String>,
    title: impl Into<String>,
    peers: &[&str],
    takes: Duration,
    work: impl Work + 'static,
) -> Cell {
    Cell {
        name: name.into(),
        title: title.into(),
        peers: peers.iter().map(|&peer| peer.to_owned()).collect(),
        takes,
        is_alone: false,
        work: Box::new(work),
    }
}
