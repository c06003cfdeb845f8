//! The words of a server with the key, and what its client then writes to the user's terminal.

#![no_main]

#[path = "../../crates/fulmar-core/tests/absurd/victim.rs"]
mod victim;
#[path = "../../crates/fulmar-core/tests/fuzzed/client_output.rs"]
mod client_output;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| client_output::check(bytes));
