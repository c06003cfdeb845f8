//! The inputs that fuzzing has kept are tried again with any compiler.

#[path = "support/initial_filter.rs"]
mod initial_filter;

use std::fs;
use std::path::Path;

#[test]
fn the_corpus_of_the_initial_filter_gets_no_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/initial_filter");
    let mut tried = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let datagram = fs::read(entry.unwrap().path()).unwrap();
        initial_filter::check(&datagram);
        // Cut anywhere, and with each byte of what is in the clear changed.
        for at in 0..datagram.len().min(40) {
            initial_filter::check(&datagram[..at]);
            let mut other = datagram.clone();
            other[at] ^= 0x55;
            initial_filter::check(&other);
        }
        tried += 1;
    }
    assert!(tried >= 6, "{tried} datagrams");
}
