//! A copy without files and network: what tests of both ends share.

#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "each test uses its part"
)]

pub(crate) mod memory;
pub(crate) mod streams;
pub(crate) mod tree;
