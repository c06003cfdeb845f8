//! The output of ssh and of the remote side, and the offers of clients.

#![no_main]

#[path = "../../crates/fulmar-login/tests/fuzzed/bootstrap.rs"]
mod bootstrap;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bootstrap::check(bytes));
