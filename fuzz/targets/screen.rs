//! Differences of a screen.

#![no_main]

#[path = "../../crates/fulmar-core/tests/fuzzed/screen.rs"]
mod screen;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| screen::check(bytes));
