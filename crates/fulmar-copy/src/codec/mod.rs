//! Frames as bytes (docs/copy-protocol.md §2).

mod decoder;
mod frame;
mod numbers;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use decoder::{Decoder, Item};
pub(crate) use frame::{Ending, Frame};
pub(crate) use writer::data_head;
