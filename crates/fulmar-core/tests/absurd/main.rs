//! Peers that have the key and say what nobody can mean.
//!
//! Source: T-H1 of docs/threat-model.md §12.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "what is defined is not said yet"
)]

mod definitions;
