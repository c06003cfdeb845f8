//! Any bytes, to a server that waits and to a client that has begun: nobody answers a stranger.
//!
//! `cargo +nightly fuzz run gate`. What it finds goes into `corpus/gate`, which the tests of
//! `fulmar-quic` replay with any compiler.

#![no_main]

#[path = "../../crates/fulmar-quic/tests/support/gate.rs"]
mod gate;

libfuzzer_sys::fuzz_target!(|datagram: &[u8]| gate::check(datagram));
