//! Keys, echoes and losses, through a client and a server.

#![no_main]

#[path = "../../crates/fulmar-core/tests/fuzzed/key_trace.rs"]
mod key_trace;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| key_trace::check(bytes));
