//! Instructions for a receiver, in any order.

#![no_main]

#[path = "../../crates/fulmar-transport/tests/support/objects.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod objects;
#[path = "../../crates/fulmar-transport/tests/fuzzed/receiver.rs"]
mod receiver;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| receiver::check(bytes));
