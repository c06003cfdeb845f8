//! Instruments: measurements that are no typed session.
//!
//! Each is a type that does the [`Work`](crate::experiment::Work) of a run, and has a function
//! `cells`, which the catalogue of experiments calls.

pub mod agreement;
pub mod bulk;
pub mod collection;
pub mod copy;
mod figures;
mod kernel;
pub mod lan;
pub mod load;
#[cfg(test)]
mod tests;
pub mod tinygram;
mod transfer;

pub use kernel::{Congestion, Kernel};
