//! Any bytes, to a terminal: it keeps its promises, its caps, and answers nothing but what is ours.
//!
//! `cargo +nightly fuzz run terminal`. What it finds goes into `corpus/terminal`, which the tests of `fulmar-terminal`
//! replay with any compiler.

#![no_main]

#[path = "../../crates/fulmar-terminal/tests/support/any_program.rs"]
#[allow(dead_code)]
mod any_program;

libfuzzer_sys::fuzz_target!(|input: &[u8]| any_program::check_bytes(input));
