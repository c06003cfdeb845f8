//! Bytes as a datagram, as fragments under the seal, as a compressed stream and as an instruction.

#![no_main]

#[path = "../../crates/fulmar-transport/tests/fuzzed/instruction.rs"]
mod instruction;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| instruction::check(bytes));
