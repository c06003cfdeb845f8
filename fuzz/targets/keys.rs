//! Differences of a user stream.

#![no_main]

#[path = "../../crates/fulmar-core/tests/fuzzed/keys.rs"]
mod keys;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keys::check(bytes));
