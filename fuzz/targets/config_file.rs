//! The content of a configuration file.

#![no_main]

#[path = "../../crates/fulmar-settings/tests/support/config_file.rs"]
mod config_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| config_file::check(bytes));
