//! Any two programs: the frame between their screens, read by a terminal again, leads from one to the other.
//!
//! `cargo +nightly fuzz run frames`. What it finds goes into `corpus/frames`, which the tests of `fulmar-terminal`
//! replay with any compiler.

#![no_main]

#[path = "../../crates/fulmar-terminal/tests/support/any_program.rs"]
#[allow(dead_code)]
mod any_program;

libfuzzer_sys::fuzz_target!(|input: &[u8]| any_program::check_frames(input));
