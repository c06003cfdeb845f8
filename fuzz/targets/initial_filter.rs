//! Any bytes, to a server that waits and to a client that has begun: neither answers who lacks the secret.
//!
//! `cargo +nightly fuzz run initial_filter`. What it finds goes into `corpus/initial_filter`, which the tests of
//! `fulmar-quic` replay with any compiler.

#![no_main]

#[path = "../../crates/fulmar-quic/tests/support/initial_filter.rs"]
mod initial_filter;

libfuzzer_sys::fuzz_target!(|datagram: &[u8]| initial_filter::check(datagram));
