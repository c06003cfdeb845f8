//! The words after `mosh`, `mosh-server` and `mosh-client`, and the lines that their login reads.

#![no_main]

#[path = "../../crates/fulmar-compat/tests/support/words.rs"]
mod words;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| words::check(bytes));
