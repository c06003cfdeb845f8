//! Programs' output, and the differences between the screens that it makes.

#![no_main]

#[path = "../../crates/fulmar-core/tests/fuzzed/screens.rs"]
mod screens;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| screens::check(bytes));
